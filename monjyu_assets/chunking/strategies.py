"""The chunking strategies. Each groups the sentences of a section into chunks within the limits. All preserve the order
and the whole text, and overlaps repeat whole sentences where possible.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from monjyu_core.settings.settings import ChunkStrategy

Count = Callable[[Sequence[str]], Sequence[int]]
"""Maps texts to their lengths in tokens."""

_BREAK = re.compile(r"\s+|(?<=[、，；])")
_WORD = re.compile(r"[^\s、，；]+[、，；]*|[、，；]+")


@dataclass(frozen=True)
class Measure:
    """Measures texts in cl100k_base tokens, and in the embedding model's word pieces."""

    tokens: Count
    word_pieces: Count


@dataclass(frozen=True)
class Piece:
    """A sentence of a section, or a part of one. Offsets are relative to the section."""

    sentence_id: str
    start: int
    end: int


@dataclass(frozen=True)
class SectionText:
    """A section to chunk. `topics` are the offsets of sentences that begin a new topic."""

    header: str
    text: str
    sentences: tuple[Piece, ...]
    topics: frozenset[int] = frozenset()

    def cut(self, piece: Piece) -> str:
        return self.text[piece.start : piece.end]


@dataclass(frozen=True)
class Limits:
    """The limits of a chunk: the tokens of its text (`size`) and of its `overlap`, the word pieces of its text
    (`room`), and its `sentences`, which only one strategy uses. A chunk of fewer than `least` tokens joins a
    neighbour."""

    size: int
    overlap: int
    room: int
    sentences: int = 1
    least: int = 0


@dataclass(frozen=True)
class Units:
    """The pieces that a strategy groups, in order, with their lengths."""

    pieces: list[Piece]
    tokens: list[int]
    word_pieces: list[int]

    def fit(self, first: int, last: int, limits: Limits) -> bool:
        """Whether the units from `first` to `last`, inclusive, fit into one chunk."""
        within = slice(first, last + 1)
        return sum(self.tokens[within]) <= limits.size and sum(self.word_pieces[within]) <= limits.room

    def is_small(self, first: int, last: int, limits: Limits) -> bool:
        """Whether the units from `first` to `last`, inclusive, are too small for a chunk."""
        return sum(self.tokens[first : last + 1]) < limits.least


def sentence_units(section: SectionText, limits: Limits, measure: Measure) -> Units:
    """The sentences of a section as units; long sentences are divided."""
    pieces = split_long(section, section.sentences, limits, measure)
    texts = [section.cut(piece) for piece in pieces]
    return Units(pieces, list(measure.tokens(texts)), list(measure.word_pieces(texts)))


def word_units(section: SectionText, limits: Limits, measure: Measure) -> Units:
    """The words of all sentences as units, each measured with the space before it; in text without spaces, the parts
    between commas."""
    words = [
        Piece(sentence.sentence_id, *word.span())
        for sentence in section.sentences
        for word in _WORD.finditer(section.text, sentence.start, sentence.end)
    ]
    pieces = split_long(section, words, limits, measure)
    before = [0, *(piece.end for piece in pieces)]
    texts = [section.text[max(end, piece.start - 1) : piece.end] for end, piece in zip(before, pieces, strict=False)]
    return Units(pieces, list(measure.tokens(texts)), list(measure.word_pieces(texts)))


def split_long(section: SectionText, pieces: Sequence[Piece], limits: Limits, measure: Measure) -> list[Piece]:
    """Halve the pieces that exceed the size or the room, at a space if possible, until all parts fit."""
    size = min(limits.size, limits.room)
    result: list[Piece] = []
    waiting = list(reversed(pieces))
    lengths = dict(zip(waiting, _lengths(section, waiting, measure), strict=True))
    while waiting:
        piece = waiting.pop()
        tokens, word_pieces = lengths.get(piece) or _lengths(section, [piece], measure)[0]
        if (tokens <= size and word_pieces <= limits.room) or piece.end - piece.start < 2:
            result.append(piece)
            continue
        middle = _middle(section.text, piece)
        halves = (Piece(piece.sentence_id, piece.start, middle), Piece(piece.sentence_id, middle, piece.end))
        waiting += reversed([_trimmed(section, half) for half in halves if section.cut(half).strip()])
    return result


def _lengths(section: SectionText, pieces: Sequence[Piece], measure: Measure) -> list[tuple[int, int]]:
    texts = [section.cut(piece) for piece in pieces]
    return list(zip(measure.tokens(texts), measure.word_pieces(texts), strict=True))


def _middle(text: str, piece: Piece) -> int:
    """The offset of the space or Japanese comma nearest to the middle of a piece, otherwise of the middle itself."""
    half = (piece.start + piece.end) // 2
    breaks = [match.start() for match in _BREAK.finditer(text, piece.start + 1, piece.end - 1)]
    return min(breaks, key=lambda place: abs(place - half), default=half)


def _trimmed(section: SectionText, piece: Piece) -> Piece:
    body = section.cut(piece)
    return Piece(
        piece.sentence_id, piece.start + len(body) - len(body.lstrip()), piece.end - len(body) + len(body.rstrip())
    )


Grouping = Callable[[SectionText, Limits, Measure], list[list[Piece]]]
"""Maps a section to the pieces of each of its chunks."""

Range = tuple[int, int]
"""The indices of the first and the last unit; in segments, of the first unit and the one after the last."""

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def by_size(section: SectionText, limits: Limits, measure: Measure) -> list[list[Piece]]:
    """Chunks of as many sentences as fit. Each repeats the last sentences of the previous one, up to the overlap."""
    units = sentence_units(section, limits, measure)
    return _pieces(units, _joined_up(units, list(_windows(units, 0, len(units.pieces), limits)), limits))


def by_sentences(section: SectionText, limits: Limits, measure: Measure) -> list[list[Piece]]:
    """Chunks of `limits.sentences` sentences, or fewer if they do not fit. They overlap if they have several sentences.

    Small chunks are kept, because the user set a number of sentences.
    """
    units = sentence_units(section, limits, measure)
    return _pieces(units, _windows(units, 0, len(units.pieces), limits, limits.sentences))


def by_words(section: SectionText, limits: Limits, measure: Measure) -> list[list[Piece]]:
    """Chunks of the full size, cut between words. The overlap begins with a sentence if one begins within it."""
    units = word_units(section, limits, measure)
    begins = {sentence.start for sentence in section.sentences}
    groups: list[Range] = []
    first = 0
    while first < len(units.pieces):
        last = _fill(units, first, len(units.pieces), limits)
        groups.append((first, last))
        if last + 1 >= len(units.pieces):
            break
        earliest = _step_back(units, first, last, limits)
        sentences = (i for i in range(earliest, last + 1) if units.pieces[i].start in begins)
        first = next(sentences, earliest)
    return [_joined(group) for group in _pieces(units, _joined_up(units, groups, limits))]


def by_paragraphs(section: SectionText, limits: Limits, measure: Measure) -> list[list[Piece]]:
    """Chunks of as many whole paragraphs as fit. A paragraph that is too large is split by size, with overlaps; whole
    paragraphs do not overlap."""
    units = sentence_units(section, limits, measure)
    groups: list[Range] = []
    for first, stop in _segments(units, _paragraphs(section)):
        last = stop - 1
        if groups and units.fit(groups[-1][0], last, limits):
            groups[-1] = (groups[-1][0], last)
        else:
            groups += _windows(units, first, stop, limits)
    return _pieces(units, _joined_up(units, groups, limits))


def by_topics(section: SectionText, limits: Limits, measure: Measure) -> list[list[Piece]]:
    """One chunk for the sentences between two topic breaks. If they are too many, they are split by size."""
    units = sentence_units(section, limits, measure)
    groups = [
        group for first, stop in _segments(units, section.topics) for group in _windows(units, first, stop, limits)
    ]
    return _pieces(units, _joined_up(units, groups, limits))


STRATEGIES: dict[ChunkStrategy, Grouping] = {
    "section": by_size,
    "fixed": by_words,
    "sentence": by_sentences,
    "paragraph": by_paragraphs,
    "semantic": by_topics,
}
"""The strategies by their names in the setting `chunking.strategy`."""


def _windows(units: Units, first: int, stop: int, limits: Limits, most: int | None = None) -> Iterator[Range]:
    """Yield chunks of the units `first` to `stop - 1`, each of up to `most` units and beginning with the overlap."""
    while first < stop:
        last = _fill(units, first, min(stop, first + most) if most else stop, limits)
        yield first, last
        if last + 1 >= stop:
            return
        first = _step_back(units, first, last, limits)


def _fill(units: Units, first: int, stop: int, limits: Limits) -> int:
    """The last unit before `stop` that fits into a chunk that begins with `first`; at least `first` itself."""
    last, tokens, word_pieces = first, units.tokens[first], units.word_pieces[first]
    while last + 1 < stop:
        tokens += units.tokens[last + 1]
        word_pieces += units.word_pieces[last + 1]
        if tokens > limits.size or word_pieces > limits.room:
            break
        last += 1
    return last


def _step_back(units: Units, first: int, last: int, limits: Limits) -> int:
    """The first unit of the next chunk, which repeats the longest tail within the overlap that leaves room for more."""
    start = last + 1
    while (
        start - 1 > first
        and sum(units.tokens[start - 1 : last + 1]) <= limits.overlap
        and units.fit(start - 1, last + 1, limits)
    ):
        start -= 1
    return start


def _joined_up(units: Units, groups: list[Range], limits: Limits) -> list[Range]:
    """Remove small groups as far as the limits allow. A small group joins the next one, otherwise the previous one; if
    it fits into neither, it repeats some of their units."""
    by_next = _merged(units, groups, limits, small=0)
    return [_grown(units, first, last, limits) for first, last in _merged(units, by_next, limits, small=1)]


def _merged(units: Units, groups: list[Range], limits: Limits, small: int) -> list[Range]:
    """Join neighbours that fit together if the first (`small=0`) or the second (`small=1`) is small."""
    result: list[Range] = []
    for group in groups:
        if (
            result
            and units.is_small(*(result[-1], group)[small], limits)
            and units.fit(result[-1][0], group[1], limits)
        ):
            result[-1] = (result[-1][0], group[1])
        else:
            result.append(group)
    return result


def _grown(units: Units, first: int, last: int, limits: Limits) -> Range:
    while first and units.is_small(first, last, limits) and units.fit(first - 1, last, limits):
        first -= 1
    while last + 1 < len(units.pieces) and units.is_small(first, last, limits) and units.fit(first, last + 1, limits):
        last += 1
    return first, last


def _segments(units: Units, begins: frozenset[int]) -> Iterator[Range]:
    """Divide the units into segments (first, stop). A new segment begins at each offset in `begins`."""
    places = [i for i, piece in enumerate(units.pieces) if i and piece.start in begins]
    return pairwise([0, *places, len(units.pieces)])


def _paragraphs(section: SectionText) -> frozenset[int]:
    """The offsets of the sentences that follow an empty line, which all parsers put between paragraphs."""
    return frozenset(
        after.start
        for before, after in pairwise(section.sentences)
        if _BLANK_LINE.search(section.text, before.end, after.start)
    )


def _pieces(units: Units, groups: Iterator[Range] | list[Range]) -> list[list[Piece]]:
    return [units.pieces[first : last + 1] for first, last in groups]


def _joined(words: list[Piece]) -> list[Piece]:
    """The pieces, with consecutive words of the same sentence joined to one piece."""
    pieces: list[Piece] = []
    for word in words:
        if pieces and pieces[-1].sentence_id == word.sentence_id:
            pieces[-1] = Piece(word.sentence_id, pieces[-1].start, word.end)
        else:
            pieces.append(word)
    return pieces
