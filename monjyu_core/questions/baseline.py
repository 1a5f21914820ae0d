"""The answer that a question is held to, as hashes and places: it keeps no word of a paper, so nothing of one that is
deleted or purged stays in it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict

from monjyu_core.questions.saved_answer import SavedAnswer, SavedCitation, SavedPassage
from monjyu_core.storage.ids import digest

_EXACT = 3
"""Decimals of a similarity: the same text under the same model is as near, whatever else the collection holds."""
_ROUNDING = 0.002


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class BaselineCitation(_Model):
    """`quote` and `places` are hashes of the words, and of the pages with their rectangles."""

    paper_id: str
    page: int | None
    quote: str
    places: str


class BaselinePassage(_Model):
    """What the same input must give again: the hash of the embedded text, its similarity, and the words it matches."""

    input_hash: str
    similarity: float | None
    matched: str


class Baseline(_Model):
    snapshot_id: str
    status: str
    answer: str
    citations: list[BaselineCitation]
    passages: dict[str, BaselinePassage]


def baseline_of(answer: SavedAnswer) -> Baseline:
    return Baseline(
        snapshot_id=answer.snapshot_id,
        status=answer.status,
        answer=digest(answer.answer),
        citations=[_citation(one) for one in answer.citations],
        passages={one.chunk_id: _passage(one) for one in answer.passages},
    )


def differences(before: Baseline, answer: SavedAnswer) -> Iterator[str]:
    """What of an answer is not as in the baseline, in words."""
    now = baseline_of(answer)
    if now.status != before.status:
        yield f"it is {now.status}, not {before.status}"
    yield from _citations_differ(before, now)
    for chunk_id, was in before.passages.items():
        found = now.passages.get(chunk_id)
        if found is None or found.input_hash != was.input_hash:
            continue
        if _apart(found.similarity, was.similarity):
            values = f"{found.similarity}, not {was.similarity}"
            yield f"passage {chunk_id} has the same text and another similarity: {values}"
        if found.matched != was.matched:
            yield f"passage {chunk_id} has the same text and matches other words of the question"
    if now.answer != before.answer and now.citations == before.citations:
        yield "its words differ"


def _citations_differ(before: Baseline, now: Baseline) -> Iterator[str]:
    if now.citations == before.citations:
        return
    old, new = ({(one.paper_id, one.quote): one for one in side.citations} for side in (before, now))
    yield from (f"a quote of {key[0]} is gone{_page(old[key])}" for key in old if key not in new)
    yield from (f"a quote of {key[0]} is new{_page(new[key])}" for key in new if key not in old)
    both = [key for key in old if key in new]
    yield from (f"a quote of {key[0]} stands elsewhere{_page(new[key])}" for key in both if old[key] != new[key])
    if both == list(old) and len(old) == len(new) and list(old) != list(new):
        yield "its citations come in another order"


def _page(citation: BaselineCitation) -> str:
    return f" (page {citation.page})" if citation.page else ""


def _citation(one: SavedCitation) -> BaselineCitation:
    places = json.dumps([span.model_dump() for span in one.spans])
    return BaselineCitation(paper_id=one.paper_id, page=one.page, quote=digest(one.quote), places=digest(places))


def _passage(one: SavedPassage) -> BaselinePassage:
    similarity = None if one.similarity is None else round(one.similarity, _EXACT)
    return BaselinePassage(input_hash=one.input_hash, similarity=similarity, matched=digest(*one.matched))


def _apart(one: float | None, other: float | None) -> bool:
    """Beyond rounding."""
    if one is None or other is None:
        return one is not other
    return abs(one - other) > _ROUNDING
