from pathlib import Path

from monjyu_core.paper import ParsedPaper
from monjyu_core.settings import ParserSettings


def parse_with_unstructured(path: Path, settings: ParserSettings) -> ParsedPaper:
    raise NotImplementedError
