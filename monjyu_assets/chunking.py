"""Sections to chunks: whole sentences up to a size, overlapping by whole sentences, never across a section.

A chunk must fit the embedding model's window together with its header, or its end would be lost without a word. So two
measures bound it: its size in cl100k_base tokens, and header and text in the model's own word pieces.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from monjyu_core.ids import digest

NOT_RETRIEVED = ("references", "acknowledgments")
"""Section types that are not chunked for retrieval."""

_BREAK = re.compile(r"\s+|(?<=[、，；])")

Count = Callable[[Sequence[str]], Sequence[int]]
"""Texts to their lengths in tokens."""


@dataclass(frozen=True)
class Piece:
    """A sentence of a section, or a part of one that is longer than a chunk may be."""

    sentence_id: str
    start: int
    end: int


@dataclass(frozen=True)
class ChunkSizes:
    """Most tokens of a chunk, most tokens of its overlap with the one before, and the model's window in pieces."""

    size: int
    overlap: int
    window: int


@dataclass(frozen=True)
class Chunk:
    """`text` is `section_text[start:end]`; the pieces' offsets are those of the section."""

    chunk_id: str
    start: int
    end: int
    text: str
    header: str
    input_hash: str
    tokens: int
    pieces: int
    sentences: tuple[Piece, ...]


def header_for(title: str, heading: str, count_pieces: Count, most: int) -> str:
    """`title > heading`, cut at words to `most` pieces; the heading alone adds nothing where it repeats the title."""
    title, heading = " ".join(title.split()), " ".join(heading.split())
    header = f"{title} > {heading}" if title and heading and heading != title else title or heading
    words = header.split(" ")
    while len(words) > 1 and count_pieces([" ".join(words)])[0] > most:
        words = words[: max(1, len(words) * 3 // 4)]
    return " ".join(words)


def input_text(header: str, text: str) -> str:
    """What is embedded and full-text indexed."""
    return f"{header}\n{text}" if header else text


def chunk_section(
    paper_id: str,
    header: str,
    text: str,
    sentences: Sequence[Piece],
    sizes: ChunkSizes,
    count_tokens: Count,
    count_pieces: Count,
) -> list[Chunk]:
    """The chunks of one section, in order. Ids are unique within the section's paper only with `unique_ids`."""
    room = sizes.window - count_pieces([input_text(header, "")])[0]
    groups, joined, lengths = _groups_within(header, text, sentences, sizes, count_tokens, count_pieces, room)
    bodies = [text[group[0].start : group[-1].end] for group in groups]
    counts = zip(count_tokens(bodies), lengths, strict=True)
    return [
        Chunk(
            chunk_id=digest(paper_id, header, body, length=20),
            start=group[0].start,
            end=group[-1].end,
            text=body,
            header=header,
            input_hash=digest(whole, length=32),
            tokens=body_tokens,
            pieces=whole_pieces,
            sentences=tuple(group),
        )
        for group, body, whole, (body_tokens, whole_pieces) in zip(groups, bodies, joined, counts, strict=True)
    ]


def _groups_within(
    header: str,
    text: str,
    sentences: Sequence[Piece],
    sizes: ChunkSizes,
    count_tokens: Count,
    count_pieces: Count,
    room: int,
) -> tuple[list[list[Piece]], list[str], list[int]]:
    """The pieces of each chunk, its whole input and the length of that.

    A text may have a word piece or two more than its parts, where the model's pieces span sentences that no space
    divides: what does not fit then is grouped again with less room.
    """
    pieces = _split_long(text, sentences, min(sizes.size, room), count_tokens, count_pieces, room)
    texts = [text[piece.start : piece.end] for piece in pieces]
    tokens, word_pieces = list(count_tokens(texts)), list(count_pieces(texts))
    groups = [pieces[first : last + 1] for first, last in _group(tokens, word_pieces, sizes, room)]
    joined = [input_text(header, text[group[0].start : group[-1].end]) for group in groups]
    lengths = [int(length) for length in count_pieces(joined)]
    excess = max(lengths, default=0) - sizes.window
    if excess > 0 and room > excess:
        return _groups_within(header, text, sentences, sizes, count_tokens, count_pieces, room - excess)
    return groups, joined, lengths


def unique_ids(chunks: Sequence[Chunk]) -> list[str]:
    """The chunks' ids, a text that stands twice in a paper told apart by its occurrence."""
    seen: Counter[str] = Counter()
    ids = []
    for chunk in chunks:
        seen[chunk.chunk_id] += 1
        occurrence = seen[chunk.chunk_id]
        ids.append(chunk.chunk_id if occurrence == 1 else digest(chunk.chunk_id, occurrence, length=20))
    return ids


def _group(tokens: list[int], pieces: list[int], sizes: ChunkSizes, room: int) -> list[tuple[int, int]]:
    """First and last piece of each chunk. A new chunk goes back by whole sentences up to the overlap."""
    groups: list[tuple[int, int]] = []
    first = 0
    while first < len(tokens):
        last = _fill(tokens, pieces, first, sizes.size, room)
        groups.append((first, last))
        if last + 1 >= len(tokens):
            break
        first = _step_back(tokens, pieces, first, last, sizes, room)
    return groups


def _fill(tokens: list[int], pieces: list[int], first: int, size: int, room: int) -> int:
    """The last piece that still fits; always at least the first."""
    last, total_tokens, total_pieces = first, tokens[first], pieces[first]
    while last + 1 < len(tokens):
        total_tokens += tokens[last + 1]
        total_pieces += pieces[last + 1]
        if total_tokens > size or total_pieces > room:
            break
        last += 1
    return last


def _step_back(tokens: list[int], pieces: list[int], first: int, last: int, sizes: ChunkSizes, room: int) -> int:
    """Where the next chunk begins: it repeats the longest tail within the overlap that leaves room for a new piece."""
    start = last + 1
    while (
        start - 1 > first
        and sum(tokens[start - 1 : last + 1]) <= sizes.overlap
        and sum(tokens[start - 1 : last + 2]) <= sizes.size
        and sum(pieces[start - 1 : last + 2]) <= room
    ):
        start -= 1
    return start


def _split_long(
    text: str, sentences: Sequence[Piece], size: int, count_tokens: Count, count_pieces: Count, room: int
) -> list[Piece]:
    """Sentences as they are; one that passes the size or the window is halved at a word until its parts fit."""
    result: list[Piece] = []
    waiting = list(reversed(sentences))
    bodies = [text[piece.start : piece.end] for piece in waiting]
    lengths = dict(zip(waiting, zip(count_tokens(bodies), count_pieces(bodies), strict=True), strict=True))
    while waiting:
        piece = waiting.pop()
        tokens, pieces = lengths.get(piece) or _lengths(text, piece, count_tokens, count_pieces)
        if (tokens <= size and pieces <= room) or piece.end - piece.start < 2:
            result.append(piece)
            continue
        middle = _middle(text, piece)
        halves = (Piece(piece.sentence_id, piece.start, middle), Piece(piece.sentence_id, middle, piece.end))
        waiting += reversed([_trimmed(text, half) for half in halves if text[half.start : half.end].strip()])
    return result


def _lengths(text: str, piece: Piece, count_tokens: Count, count_pieces: Count) -> tuple[int, int]:
    body = [text[piece.start : piece.end]]
    return count_tokens(body)[0], count_pieces(body)[0]


def _middle(text: str, piece: Piece) -> int:
    """The white space or Japanese comma nearest to the middle, else the middle itself."""
    half = (piece.start + piece.end) // 2
    breaks = [match.start() for match in _BREAK.finditer(text, piece.start + 1, piece.end - 1)]
    return min(breaks, key=lambda place: abs(place - half), default=half)


def _trimmed(text: str, piece: Piece) -> Piece:
    body = text[piece.start : piece.end]
    return Piece(
        piece.sentence_id, piece.start + len(body) - len(body.lstrip()), piece.end - len(body) + len(body.rstrip())
    )
