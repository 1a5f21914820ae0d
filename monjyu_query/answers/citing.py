"""Turns sentences into citations, after checking that each is in its source."""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import duckdb

from monjyu_core.language.packs import cues
from monjyu_core.paper import retractions
from monjyu_core.text.quotes import points_outside
from monjyu_query.asking.passages import PassageSentence, load_passages, section_texts, spans_by_page, standing
from monjyu_query.asking.result import Citation

# Quotes of one sentence or of a few consecutive ones: a sentence that refers back to the one before it, or is
# incomplete without its neighbour, is quoted together with it, within one section and one passage.
MOST_BEFORE = 2
"""The number of sentences added before one that refers back."""
_GAP = 3
"""Characters between consecutive sentences; a larger gap contains other text."""
_CONNECTIVE = re.compile(cues("citing.connective"), re.IGNORECASE)
_ITEM = re.compile(r"\W*(?:\(?\d{1,2}[.)]|\(?[a-zivx]{1,3}\))\s")
_ADDS = re.compile(cues("citing.adds"), re.IGNORECASE)
"""Matches words that only add a sentence to the previous one. "However" and "therefore" are part of the statement."""
_RESTS = re.compile(r"^(?:[^\w\s]+\s+){2,}(?=[^\W\d_]{2})")
"""Matches what is left of a formula before the sentence."""
_BULLET = re.compile(r"^(?:[•·▪◦*–—-]\s*|\(?(?:\d{1,2}|[ivx]{1,4})[.)]\s+)(?=[^\W\d])")


def connective(text: str) -> int:
    """The length of a word that only joins a sentence to the one before it ("However, "), with its comma, or of an
    item's number; 0 if there is none, or if the rest of the sentence refers back."""
    found = _CONNECTIVE.match(text) or _ITEM.match(text)
    return found.end() if found and not points_outside(text[found.end() :]) else 0


def without_opening(text: str) -> str:
    """A quote that begins as a sentence does: without an item's bullet or number or the rest of a formula, and without
    a word that only joins it to the previous sentence, unless the rest would refer back."""
    text = _BULLET.sub("", _RESTS.sub("", text, count=1), count=1)
    found = _ADDS.match(text)
    rest = text[found.end() :] if found else ""
    return rest[0].upper() + rest[1:] if rest and not points_outside(rest) else text


@dataclass(frozen=True)
class Window:
    """Consecutive sentences of one passage, quoted as one; `keys` are the selected sentences among them."""

    sentences: tuple[PassageSentence, ...]
    keys: tuple[PassageSentence, ...]

    @property
    def key(self) -> PassageSentence:
        return self.keys[0]

    @property
    def text(self) -> str:
        """The text of all its sentences, on one line."""
        return " ".join(" ".join(sentence.text for sentence in self.sentences).split())

    @property
    def hangs(self) -> bool:
        return points_outside(self.sentences[0].text)


def lone(sentence: PassageSentence) -> Window:
    return Window((sentence,), (sentence,))


class Neighbours:
    """Which sentences follow each other in a passage."""

    def __init__(self, sentences: Iterable[PassageSentence]) -> None:
        self._at = {(s.passage.chunk_id, s.section_ord, s.place): s for s in sentences}

    def beside(self, sentence: PassageSentence, step: int) -> PassageSentence | None:
        """The sentence before (-1) or after it (1), if it is in the same passage and nothing is between them."""
        other = self._at.get((sentence.passage.chunk_id, sentence.section_ord, sentence.place + step))
        if other is None:
            return None
        first, second = (sentence, other) if step > 0 else (other, sentence)
        return other if 0 <= second.start - first.end <= _GAP else None

    def grown(self, sentence: PassageSentence) -> Window:
        """A window with the sentence and the preceding ones that it refers to, if they are in its passage and resolve
        the reference; otherwise the sentence alone."""
        before: list[PassageSentence] = []
        first = sentence
        while points_outside(first.text) and len(before) < MOST_BEFORE and not connective(first.text):
            previous = self.beside(first, -1)
            if previous is None:
                break
            before.insert(0, previous)
            first = previous
        if points_outside(first.text) and not connective(first.text):
            before = before[1:] if len(before) > 1 and not points_outside(before[-1].text) else []
        return Window((*before, sentence), (sentence,))


def joined(windows: Sequence[Window], neighbours: Neighbours) -> list[Window]:
    """Merge windows that overlap or follow each other; a merged window takes the position of the better one."""
    found: list[Window] = []
    for window in windows:
        for place, other in enumerate(found):
            if _touch(window, other, neighbours):
                sentences = {s.sentence_id: s for s in (*window.sentences, *other.sentences)}
                run = sorted(sentences.values(), key=lambda s: s.place)
                found[place] = Window(tuple(run), (*other.keys, *window.keys))
                break
        else:
            found.append(window)
    return found


def _touch(one: Window, other: Window, neighbours: Neighbours) -> bool:
    mine = {s.sentence_id for s in one.sentences}
    if any(s.sentence_id in mine for s in other.sentences):
        return True
    after = neighbours.beside(one.sentences[-1], 1), neighbours.beside(other.sentences[-1], 1)
    return after[0] == other.sentences[0] or after[1] == one.sentences[0]


def each_once(windows: Sequence[Window]) -> list[Window]:
    """The windows without those that share a sentence with an earlier one."""
    found: list[Window] = []
    known: set[str] = set()
    for window in windows:
        names = {sentence.sentence_id for sentence in window.sentences}
        if not names & known:
            found.append(window)
            known |= names
    return found


_SENTENCES = """SELECT sentence_id, paper_id, section_ord, ord, start, "end", text, spans FROM sentences
WHERE sentence_id IN (SELECT unnest($ids::VARCHAR[]))"""


def cite(cursor: duckdb.DuckDBPyConnection, sentences: Sequence[PassageSentence]) -> list[Citation]:
    """A numbered citation for each sentence that is in its source; the others are omitted."""
    return [citation for _, citation in cite_windows(cursor, [lone(sentence) for sentence in sentences])]


def cite_windows(cursor: duckdb.DuckDBPyConnection, windows: Sequence[Window]) -> list[tuple[Window, Citation]]:
    """Each window with its numbered citation, whose quote is the source's text from the window's first sentence to its
    last. Windows with a sentence that is not in the source are omitted."""
    sentences = [sentence for window in windows for sentence in window.sentences]
    texts = section_texts(cursor, sentences)
    real = {sentence.sentence_id for sentence in standing(texts, sentences)}
    retracted = retractions(cursor)
    whole = [window for window in windows if all(s.sentence_id in real for s in window.sentences)]
    return [(window, _citation(n, window, texts, retracted)) for n, window in enumerate(whole, start=1)]


def cite_again(cursor: duckdb.DuckDBPyConnection, citations: Sequence[Citation]) -> list[Citation]:
    """The citations of an earlier answer with the quotes, papers, pages and boxes of this snapshot. Citations are
    omitted if a sentence or the chunk is missing, or a sentence belongs to another paper than the chunk."""
    ids = [name for citation in citations for name in citation.sentence_ids]
    rows = {row[0]: row for row in cursor.execute(_SENTENCES, {"ids": ids}).fetchall()}
    chunks = list({citation.chunk_id for citation in citations})
    passages = {one.chunk_id: one for one in load_passages(cursor, chunks)}
    again: list[Citation] = []
    for citation in citations:
        passage = passages.get(citation.chunk_id)
        found = [rows[name] for name in citation.sentence_ids if name in rows]
        if passage is None or not found or [row[1] for row in found] != [passage.paper_id] * len(citation.sentence_ids):
            continue
        sentences = [PassageSentence.of(passage, (name, *row)) for name, _, *row in found]
        key = next((one for one in sentences if one.text == citation.key), sentences[0])
        known = {"n": citation.n, "relevance": citation.relevance}
        again += [one.model_copy(update=known) for _, one in cite_windows(cursor, [Window(tuple(sentences), (key,))])]
    return again


def _citation(number: int, window: Window, texts: dict[tuple[str, int], str], retracted: Container[str]) -> Citation:
    first, last = window.sentences[0], window.sentences[-1]
    spans = spans_by_page(span for sentence in window.sentences for span in sentence.spans)
    return Citation(
        n=number,
        paper_id=first.passage.paper_id,
        paper_title=first.passage.paper_title,
        chunk_id=first.passage.chunk_id,
        sentence_ids=[sentence.sentence_id for sentence in window.sentences],
        quote=texts[first.passage.paper_id, first.section_ord][first.start : last.end],
        key=window.key.text if len(window.sentences) > 1 else None,
        page=spans[0].page if spans else None,
        boxes=spans[0].boxes if spans else [],
        spans=spans,
        retracted=first.passage.paper_id in retracted,
    )
