"""Whether an answer is as its question expects."""

from __future__ import annotations

from collections.abc import Iterator

from monjyu_core.questions.baseline import differences
from monjyu_core.questions.question import CitedPlace, Question
from monjyu_core.questions.saved_answer import Failure, SavedAnswer, SavedCitation

_SHOWN = 3
"""Differences from the baseline that are told."""


def judge(question: Question, answer: SavedAnswer) -> list[Failure]:
    """The expectations that do not hold, with why; one that could not be asked fails as a whole."""
    if answer.error:
        return [Failure(expectation="answered", detail=answer.error)]
    return [Failure(expectation=name, detail=detail, about=about) for name, detail, about in _failing(question, answer)]


def _failing(question: Question, answer: SavedAnswer) -> Iterator[tuple[str, str, str]]:
    expect, cited = question.expect, {one.paper_id for one in answer.citations}
    for place in expect.must_cite:
        if not any(_is_at(one, place) for one in answer.citations):
            yield "must_cite", f"{_named(place)} is not cited", place.paper
    for paper_id in expect.must_not_cite:
        if paper_id in cited:
            yield "must_not_cite", f"{paper_id} is cited", paper_id
    said = _plain(" ".join([answer.answer, *(one.quote for one in answer.citations)]))
    for words in expect.must_mention:
        if _plain(words) not in said:
            yield "must_mention", f"“{words}” is not mentioned", words
    if expect.must_abstain and answer.status != "abstained":
        yield "must_abstain", f"it is answered ({answer.status})", answer.status
    if expect.min_papers is not None and len(cited) < expect.min_papers:
        yield "min_papers", f"{len(cited)} papers are cited, not {expect.min_papers}", str(len(cited))
    if expect.same_answer and question.baseline is not None:
        found = list(differences(question.baseline, answer))
        more = f" (and {len(found) - _SHOWN} more)" if len(found) > _SHOWN else ""
        if found:
            yield "same_answer", "; ".join(found[:_SHOWN]) + more, ""


def _is_at(citation: SavedCitation, place: CitedPlace) -> bool:
    pages = {span.page for span in citation.spans} | {citation.page}
    return (
        citation.paper_id == place.paper
        and (place.page is None or place.page in pages)
        and (place.text is None or _squeezed(place.text) in _squeezed(citation.quote))
    )


def _named(place: CitedPlace) -> str:
    """Without the sentence: it is a paper's, and Dagster's log, where this stands, outlives a purge."""
    what = " with the sentence that is expected" if place.text else ""
    return f"{place.paper}{what}{f' on page {place.page}' if place.page else ''}"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _squeezed(text: str) -> str:
    """Without white space: line ends differ from copy to copy."""
    return "".join(text.casefold().split())
