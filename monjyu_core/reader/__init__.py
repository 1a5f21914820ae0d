"""One learned model reads a question and a passage together and scores which sentences answer."""

from monjyu_core.reader.passage_reader import PassageReading, Reader, load_reader

__all__ = ["PassageReading", "Reader", "load_reader"]
