"""Two answers to one question side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from monjyu_core.questions.saved_answer import SavedAnswer, SavedCitation
from monjyu_query.saved.changes.answer_changes import AnswerDiff, Cause, CitationChange, SentenceChange
from monjyu_query.saved.changes.causes import Causes

What = Literal["page", "boxes", "order", "retracted", "paper_id"]
CausesOf = Callable[[], Causes]
"""Reads the snapshots: not asked for where the answers are equal."""


class _Pair(NamedTuple):
    older: SavedCitation
    newer: SavedCitation


def is_same(older: SavedAnswer, newer: SavedAnswer) -> bool:
    """Whether both say the same from the same places, whatever else of a cited file changed."""
    return _seen(older) == _seen(newer)


def _seen(answer: SavedAnswer) -> tuple[object, ...]:
    citations = [one.model_copy(update={"paper_sha256": "", "chunk_id": ""}) for one in answer.citations]
    return answer.status, answer.error, answer.answer, citations


def compare(
    older: SavedAnswer, newer: SavedAnswer, collection: str, causes_of: CausesOf, recorded: tuple[bool, bool]
) -> AnswerDiff:
    """What the newer answer has gained, lost and moved, and why."""
    diff = AnswerDiff(
        question_id=newer.question_id or None,
        query=newer.text,
        collection=collection,
        older=older.snapshot_id,
        newer=newer.snapshot_id,
        same=is_same(older, newer),
        status=(older.status or older.error, newer.status or newer.error),
        recorded=recorded,
    )
    if not diff.same:
        causes = causes_of()
        diff.citations = list(_citations(older, newer, causes))
        diff.sentences = list(_sentences(older, newer, causes, diff.citations))
    return diff


def _citations(older: SavedAnswer, newer: SavedAnswer, causes: Causes) -> Iterator[CitationChange]:
    pairs, lost, gained = _matched(older.citations, newer.citations, causes)
    for one in gained:
        cause = causes.of(None, one.paper_id, one.quote, gained=True)
        yield _change("gained", None, one, cause)
    for one in lost:
        cause = causes.of(one.paper_id, None, one.quote, gained=False)
        yield _change("lost", one, None, cause)
    shifted = _out_of_order(pairs)
    for place, pair in enumerate(pairs):
        what = _moved(pair, in_order=place not in shifted)
        if what:
            cause = causes.of(pair.older.paper_id, pair.newer.paper_id, pair.newer.quote, gained=True)
            yield _change("marked" if what == ["retracted"] else "moved", pair.older, pair.newer, cause, what)


def _matched(
    older: list[SavedCitation], newer: list[SavedCitation], causes: Causes
) -> tuple[list[_Pair], list[SavedCitation], list[SavedCitation]]:
    """Pairs of one quote of one paper, or of the paper that has its bytes now; then what only one side has."""
    waiting: dict[tuple[str, str], list[SavedCitation]] = {}
    for one in older:
        waiting.setdefault((one.paper_id, one.quote), []).append(one)
    pairs, gained = [], []
    for one in newer:
        names = (one.paper_id, causes.older.by_content.get(one.paper_sha256, ""))
        found = next((waiting[name, one.quote] for name in names if waiting.get((name, one.quote))), None)
        if found:
            pairs.append(_Pair(found.pop(0), one))
        else:
            gained.append(one)
    return pairs, [one for left in waiting.values() for one in left], gained


def _out_of_order(pairs: list[_Pair]) -> set[int]:
    """Places of the pairs whose rank among those that stayed is another: what comes between does not move them."""
    before = sorted(range(len(pairs)), key=lambda place: pairs[place].older.n)
    return {place for rank, place in enumerate(before) if rank != place}


def _moved(pair: _Pair, *, in_order: bool) -> list[What]:
    older, newer = pair
    what: list[What] = []
    if older.page != newer.page:
        what.append("page")
    elif older.spans != newer.spans:
        what.append("boxes")
    if not in_order:
        what.append("order")
    if older.paper_id != newer.paper_id:
        what.append("paper_id")
    if older.retracted != newer.retracted:
        what.append("retracted")
    return what


def _change(
    change: Literal["gained", "lost", "moved", "marked"],
    older: SavedCitation | None,
    newer: SavedCitation | None,
    cause: Cause,
    what: list[What] | None = None,
) -> CitationChange:
    shown = newer or older
    assert shown is not None
    return CitationChange(
        change=change,
        what=what or [],
        paper_id=shown.paper_id,
        paper_title=shown.paper_title,
        quote=shown.quote,
        n=(older.n if older else None, newer.n if newer else None),
        page=(older.page if older else None, newer.page if newer else None),
        sentence_ids=shown.sentence_ids,
        spans=shown.spans,
        cause=cause,
    )


def _sentences(
    older: SavedAnswer, newer: SavedAnswer, causes: Causes, changes: list[CitationChange]
) -> Iterator[SentenceChange]:
    """Pieces of the answer that the other has not, the white space between them aside."""
    said = [{" ".join(one.text.split()) for one in answer.segments} for answer in (older, newer)]
    sides: tuple[tuple[Literal["lost", "gained"], SavedAnswer, set[str], int], ...] = (
        ("lost", older, said[1], 0),
        ("gained", newer, said[0], 1),
    )
    for change, answer, elsewhere, side in sides:
        for segment in answer.segments:
            text = " ".join(segment.text.split())
            if not text or text in elsewhere:
                continue
            found = {one.n[side]: one.cause for one in changes if one.n[side] is not None}
            own = [found[n] for n in segment.citations if n in found] or _of_papers(answer, segment.citations, causes)
            yield SentenceChange(change=change, text=text, causes=_once(own))


def _of_papers(answer: SavedAnswer, cited: list[int], causes: Causes) -> list[Cause]:
    """Where no citation changed: what happened to the papers, as a title that was corrected."""
    papers = {one.paper_id for one in answer.citations if one.n in cited}
    return [cause for paper_id in sorted(papers) if (cause := causes.of_paper(paper_id)) is not None]


def _once(causes: list[Cause]) -> list[Cause]:
    return [one for place, one in enumerate(causes) if one not in causes[:place]]
