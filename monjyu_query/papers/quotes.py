"""Locates a quote in the papers: finds passages by its words, and its place in their sections by its letters."""

import re
import sys
import time
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel
from rapidfuzz import fuzz

from monjyu_core.errors import QueryError
from monjyu_core.paper import Box, Span
from monjyu_query.asking.passages import spans_by_page
from monjyu_query.ranking.open_index import OpenIndex

# Texts are compared without anything that copying changes: line ends, hyphens, spaces, punctuation, case, ligatures,
# and the width of characters.
_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\s*\n\s*(?=[^\W\d_])")
"""Matches a word broken by a line end."""
_END = sys.maxsize
LONGEST_WORD = 40
"""The maximum number of letters in a word. Longer runs are text in a script without spaces."""


_RUN = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Squeezed:
    """The letters and digits of a text. `runs` are (first letter, position in the text, length) of consecutive ones."""

    letters: str
    runs: list[tuple[int, int, int]]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The positions in the text from letter `start` up to, but not including, letter `end`."""
        return self._place(start, 0), self._place(end - 1, 1)

    def widen_to_words(self, start: int, end: int) -> tuple[int, int]:
        """From letter `start` up to `end`, widened to whole words; scripts without spaces have none."""
        first, last = self._word(start), self._word(end - 1)
        widened = [one if one[1] - one[0] <= LONGEST_WORD else (start, end) for one in (first, last)]
        return widened[0][0], widened[1][1]

    def _word(self, letter: int) -> tuple[int, int]:
        """The first letter of this letter's run, and the one after its last."""
        at = bisect_right(self.runs, (letter, _END, 0))
        return self.runs[at - 1][0], self.runs[at][0] if at < len(self.runs) else len(self.letters)

    def _place(self, letter: int, after: int) -> int:
        first, place, length = self.runs[bisect_right(self.runs, (letter, _END, 0)) - 1]
        return place + min(letter - first, length - 1) + after


def squeeze(text: str) -> Squeezed:
    """The letters and digits of a text in lower case; ligatures and full-width letters are resolved."""
    letters: list[str] = []
    runs: list[tuple[int, int, int]] = []
    at = 0
    for match in _RUN.finditer(text):
        run = match.group()
        plain = run.lower() if run.isascii() else unicodedata.normalize("NFKC", run).casefold()
        letters.append(plain)
        runs.append((at, match.start(), len(run)))
        at += len(plain)
    return Squeezed("".join(letters), runs)


def unbroken(text: str) -> str:
    """The text on one line, with words that were broken at line ends joined."""
    return " ".join(_BROKEN.sub("", text).split())


FEWEST_LETTERS, FEWEST_WIDE, MOST_CHARACTERS = 12, 5, 5_000
"""The minimum number of letters and digits of a quote (lower for Chinese, Japanese or Korean), and the maximum number
of characters."""
PASSAGES = 20
"""The number of passages that are compared with the quote by letters."""
LEAST_SCORE = 75.0
"""The minimum similarity out of 100; unrelated texts of one language reach about 60 by chance."""
LEAST_OF_PASSAGE = 45.0
"""The minimum similarity of a passage out of 100; it is low because a quote may continue in the next passage."""

_SECTION = """SELECT DISTINCT s.section_ord, c.text FROM chunk_sentences l JOIN sentences s USING (sentence_id)
JOIN sections c ON c.paper_id = s.paper_id AND c.section_ord = s.section_ord
WHERE l.chunk_id = ? AND s.paper_id = ? AND c.paper_id = ?"""
_SENTENCES = """SELECT sentence_id, spans FROM sentences
WHERE paper_id = ? AND section_ord = ? AND start < ? AND "end" > ? ORDER BY ord"""


class Place(BaseModel):
    """The place of a quote. `score` is 1 if all letters and digits agree; `text` is its text in the paper, `boxes`
    those on `page`, `spans` those of all its pages; `page` is null if the source has no pages."""

    paper_id: str
    paper_title: str
    section_type: str
    text: str
    score: float
    sentence_ids: list[str]
    page: int | None
    boxes: list[Box]
    spans: list[Span]


class Located(BaseModel):
    """The places of a quote, the best first; none if nothing in the collection is similar."""

    quote: str
    collection: str
    snapshot_id: str
    places: list[Place]
    seconds: float


@dataclass(frozen=True)
class _Passage:
    row: int
    score: float


def locate(index: OpenIndex, quote: str, most: int = 5) -> Located:
    """Up to `most` places of a quote, which may differ from the source in hyphens, line ends, spaces, punctuation, and
    in some words. Raises QueryError if it is too short to be distinctive, or too long."""
    started = time.perf_counter()
    wanted = squeeze(unbroken(quote))
    _check(quote, wanted)
    places: list[Place] = []
    for passage in _passages(index, unbroken(quote), wanted)[: 2 * most]:
        for place in _places(index, passage, wanted):
            if len(places) < most and not any(set(place.sentence_ids) & set(other.sentence_ids) for other in places):
                places.append(place)
    places.sort(key=lambda place: (-place.score, place.paper_id))
    return Located(
        quote=quote,
        collection=index.snapshot.collection.name,
        snapshot_id=index.snapshot.id,
        places=places,
        seconds=round(time.perf_counter() - started, 4),
    )


def _check(quote: str, wanted: Squeezed) -> None:
    if len(quote) > MOST_CHARACTERS:
        raise QueryError(f"A quote has at most {MOST_CHARACTERS:,} characters.", "Look for its first sentences.")
    wide = sum("\u3040" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af" for letter in wanted.letters)
    if len(wanted.letters) < (FEWEST_WIDE if wide > len(wanted.letters) / 2 else FEWEST_LETTERS):
        raise QueryError("The quote is too short.", "Give a sentence, or most of one.")


def _passages(index: OpenIndex, quote: str, wanted: Squeezed) -> list[_Passage]:
    """The passages that share words with the quote and are similar to it, the most similar first."""
    if not len(index.corpus):
        return []
    scores = index.keywords.scores(quote)
    rows = np.flatnonzero(scores > 0)
    if len(rows) > PASSAGES:
        rows = rows[np.argpartition(-scores[rows], PASSAGES)[:PASSAGES]]
    rows = rows[np.argsort(-scores[rows], kind="stable")]
    texts = [squeeze(chunk.text).letters for chunk in index.chunks.at(rows.tolist())]
    whole = [_Passage(row, 100.0) for row, text in zip(rows.tolist(), texts, strict=True) if wanted.letters in text]
    if whole:
        return whole
    alike = [
        _Passage(row, fuzz.partial_ratio(wanted.letters, text)) for row, text in zip(rows.tolist(), texts, strict=True)
    ]
    near = [passage for passage in alike if passage.score >= LEAST_OF_PASSAGE]
    return sorted(near, key=lambda passage: -passage.score)


def _places(index: OpenIndex, passage: _Passage, wanted: Squeezed) -> list[Place]:
    """The places of the quote in the sections of the passage."""
    paper_id = index.corpus.paper_ids[index.corpus.paper[passage.row]]
    chunk_id = index.corpus.chunk_ids[passage.row]
    cursor = index.snapshot.cursor_of([paper_id])
    found = []
    for section, text in cursor.execute(_SECTION, [chunk_id, paper_id, paper_id]).fetchall():
        here = squeeze(text)
        start, end, score = _aligned(wanted.letters, here.letters)
        if score >= LEAST_SCORE and end > start:
            first, last = here.span(*here.widen_to_words(start, end))
            about = index.about_papers[paper_id]
            kind = index.corpus.section_name(passage.row)
            sentences = cursor.execute(_SENTENCES, [paper_id, section, last, first]).fetchall()
            found.append(_place(paper_id, about.title, kind, text[first:last], score, sentences))
    return found


def _aligned(quote: str, text: str) -> tuple[int, int, float]:
    """The most similar place in the text as (start, end), and its similarity (0 to 100)."""
    at = text.find(quote)
    if at >= 0:
        return at, at + len(quote), 100.0
    if not text:
        return 0, 0, 0.0
    if len(quote) > len(text):
        return 0, len(text), fuzz.ratio(quote, text)
    found = fuzz.partial_ratio_alignment(quote, text)
    if found is None:
        return 0, 0, 0.0
    return found.dest_start, found.dest_end, fuzz.ratio(quote, text[found.dest_start : found.dest_end])


def _place(
    paper_id: str, title: str, kind: str, text: str, score: float, sentences: Sequence[tuple[str, list[object]]]
) -> Place:
    spans = spans_by_page(span for _, some in sentences for span in some or ())
    return Place(
        paper_id=paper_id,
        paper_title=title,
        section_type=kind,
        text=text,
        score=round(score / 100, 4),
        sentence_ids=[sentence_id for sentence_id, _ in sentences],
        page=spans[0].page if spans else None,
        boxes=spans[0].boxes if spans else [],
        spans=spans,
    )
