"""What chunks are built from: sentences, parts of long sentences, words; and how long each is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Count = Callable[[Sequence[str]], Sequence[int]]
"""Texts to their lengths in tokens."""

_BREAK = re.compile(r"\s+|(?<=[、，；])")
_WORD = re.compile(r"[^\s、，；]+[、，；]*|[、，；]+")


@dataclass(frozen=True)
class Measure:
    """The two lengths of a text: in cl100k_base tokens, and in the embedding model's word pieces."""

    tokens: Count
    word_pieces: Count


@dataclass(frozen=True)
class Piece:
    """A sentence of a section, or a part of one; offsets are those of the section."""

    sentence_id: str
    start: int
    end: int


@dataclass(frozen=True)
class SectionText:
    """A section to be chunked. `topics` are the offsets of sentences that begin a new topic."""

    header: str
    text: str
    sentences: tuple[Piece, ...]
    topics: frozenset[int] = frozenset()

    def cut(self, piece: Piece) -> str:
        return self.text[piece.start : piece.end]


@dataclass(frozen=True)
class Limits:
    """Most tokens of a chunk and of its overlap, most word pieces of its text; most sentences where they count; the
    tokens below which a chunk joins its neighbours."""

    size: int
    overlap: int
    room: int
    sentences: int = 1
    least: int = 0


@dataclass(frozen=True)
class Units:
    """Pieces in order with their lengths: what a strategy groups."""

    pieces: list[Piece]
    tokens: list[int]
    word_pieces: list[int]

    def fit(self, first: int, last: int, limits: Limits) -> bool:
        """Whether the units `first` to `last` fit into one chunk."""
        within = slice(first, last + 1)
        return sum(self.tokens[within]) <= limits.size and sum(self.word_pieces[within]) <= limits.room

    def is_small(self, first: int, last: int, limits: Limits) -> bool:
        """Whether the units `first` to `last` are too small for a chunk."""
        return sum(self.tokens[first : last + 1]) < limits.least


def sentence_units(section: SectionText, limits: Limits, measure: Measure) -> Units:
    """The sentences, the long ones in parts."""
    pieces = split_long(section, section.sentences, limits, measure)
    texts = [section.cut(piece) for piece in pieces]
    return Units(pieces, list(measure.tokens(texts)), list(measure.word_pieces(texts)))


def word_units(section: SectionText, limits: Limits, measure: Measure) -> Units:
    """The words of all sentences (text without spaces: what stands between commas), each measured with the space
    before it."""
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
    """Pieces as they are; one that exceeds the size or the room is halved at a word until its parts fit."""
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
    """The white space or Japanese comma nearest to the middle, else the middle itself."""
    half = (piece.start + piece.end) // 2
    breaks = [match.start() for match in _BREAK.finditer(text, piece.start + 1, piece.end - 1)]
    return min(breaks, key=lambda place: abs(place - half), default=half)


def _trimmed(section: SectionText, piece: Piece) -> Piece:
    body = section.cut(piece)
    return Piece(
        piece.sentence_id, piece.start + len(body) - len(body.lstrip()), piece.end - len(body) + len(body.rstrip())
    )
