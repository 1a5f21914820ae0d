"""Asks a snapshot the saved questions. Answers of snapshots with the same content and settings are reused."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from monjyu_core.errors import ExternalAPIError, LLMError, MonjyuError
from monjyu_core.records.questions import (
    CitedPlace,
    Failure,
    Question,
    SavedAnswer,
    SavedCitation,
    SavedPassage,
    SavedSegment,
    differences,
)
from monjyu_core.records.recorded_answers import add_answers, recorded, stored_answers
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.snapshot import Snapshot, published
from monjyu_query.asking.request import SearchRequest, make_request
from monjyu_query.asking.result import Citation, Hit, SearchResult
from monjyu_query.papers.records import present_paper
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.saved.listing import asked_as, basis_of, key_of, settings_json
from monjyu_query.search.searcher import Searcher

# Checks of an answer against the expectations of its question.
_SHOWN = 3
"""The number of differences from the baseline that are reported."""


def judge(question: Question, answer: SavedAnswer) -> list[Failure]:
    """Return the expectations that the answer fails, with reasons; only `answered` if asking failed."""
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
    """Describe the expected citation without its sentence: it is also in Dagster's log, which a purge keeps."""
    what = " with the sentence that is expected" if place.text else ""
    return f"{place.paper}{what}{f' on page {place.page}' if place.page else ''}"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _squeezed(text: str) -> str:
    """Return the text in lower case without white space, because line ends differ between copies."""
    return "".join(text.casefold().split())


Told = Callable[[int, int], None]
"""Called with (done, total)."""


class Asked(NamedTuple):
    """The answers in the order of the questions, and the number of reused ones."""

    answers: list[SavedAnswer]
    reused: int


def ask_all(
    searcher: Searcher,
    questions: Iterable[Question],
    told: Told = lambda done, total: None,
    *,
    anew: bool = False,
    cancel: threading.Event | None = None,
) -> Asked:
    """Answer and judge questions on the searcher's snapshot. With `anew`, no earlier answer is reused. After `cancel`
    is set, no further question is started."""
    asked = list(questions)
    index = searcher.current()
    basis = basis_of(index.snapshot.manifest, searcher.settings)
    known = {} if anew else _known(index.snapshot.collection, index.snapshot.id)
    answers, reused = [], 0
    for number, question in enumerate(asked, 1):
        if cancel is not None and cancel.is_set():
            break
        before = known.get(key_of(question, basis))
        reused += before is not None
        answers.append(_taken(before, question, index.snapshot) if before else ask(searcher, index, question, basis))
        told(number, len(asked))
    return Asked(answers, reused)


def ask(searcher: Searcher, index: OpenIndex, question: Question, basis: str) -> SavedAnswer:
    """Answer and judge one question. Raises LLMError or ExternalAPIError if a model or a service fails, because that is
    not the snapshot's fault; other errors become the answer's `error`."""
    started = time.perf_counter()
    answer = SavedAnswer(
        question_id=question.id,
        snapshot_id=index.snapshot.id,
        asked=asked_as(question),
        key=key_of(question, basis),
        text=question.text,
        mode=question.mode,
        severity=question.severity,
        settings=settings_json(searcher.settings),
        asked_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    try:
        _fill(answer, searcher.search(request_of(question, searcher.collection)), index)
    except (LLMError, ExternalAPIError):
        raise
    except MonjyuError as error:
        answer.error = str(error)
    answer.failures = judge(of_present_papers(question, index.snapshot), answer)
    answer.seconds = round(time.perf_counter() - started, 6)
    return answer


def of_present_papers(question: Question, snapshot: Snapshot) -> Question:
    """Return the question with the current ids of the papers in its expectations."""
    expect = question.expect
    cited = [one.model_copy(update={"paper": present_paper(snapshot, one.paper)}) for one in expect.must_cite]
    others = [present_paper(snapshot, one) for one in expect.must_not_cite]
    return question.model_copy(
        update={"expect": expect.model_copy(update={"must_cite": cited, "must_not_cite": others})}
    )


def request_of(question: Question, collection: str) -> SearchRequest:
    """Return the search request of a saved question. Raises QueryError if a value is wrong."""
    return make_request(query=question.text, collection=collection, mode=question.mode, budget=question.budget)


def record_answers(searcher: Searcher, snapshot_id: str, answers: list[SavedAnswer]) -> None:
    """Record answers, which were not asked by a publish, for the snapshot, unless it was removed."""
    if answers and snapshot_id in published(searcher.folder):
        add_answers(searcher.folder, searcher.settings, snapshot_id, answers)


def _taken(before: SavedAnswer, question: Question, snapshot: Snapshot) -> SavedAnswer:
    """Return an earlier answer as one of this snapshot, judged by the question's current expectations."""
    about = {"question_id": question.id, "snapshot_id": snapshot.id, "severity": question.severity}
    answer = before.model_copy(update=about, deep=True)
    answer.parts = _parts(snapshot, answer.citations)
    answer.failures = judge(of_present_papers(question, snapshot), answer)
    return answer


def _known(folder: CollectionFolder, snapshot_id: str) -> dict[str, SavedAnswer]:
    """Return earlier answers by key: of this snapshot, and of the two newest snapshots with recorded answers."""
    newest = recorded(folder)[-2:]
    found: dict[str, SavedAnswer] = {}
    for name in dict.fromkeys([*newest, snapshot_id]):
        found |= {one.key: one for one in stored_answers(folder, name).values() if not one.error}
    return found


def _fill(answer: SavedAnswer, result: SearchResult, index: OpenIndex) -> None:
    papers = sorted({one.paper_id for one in result.citations})
    hashes = _sha256(index.snapshot, papers)
    inputs = _input_hashes(index.snapshot, result.hits)
    answer.status, answer.confidence = result.status, result.confidence
    answer.mode, answer.answer_engine, answer.answer = result.mode, result.answer_engine, result.answer
    answer.segments = [SavedSegment(text=one.text, citations=one.citations) for one in result.segments]
    answer.citations = [_citation(one, hashes) for one in result.citations]
    answer.passages = [_passage(one, inputs) for one in result.hits]
    answer.parts = _parts(index.snapshot, answer.citations)


def _citation(one: Citation, hashes: dict[str, str]) -> SavedCitation:
    return SavedCitation.model_validate(one.model_dump() | {"paper_sha256": hashes.get(one.paper_id, "")})


def _passage(hit: Hit, inputs: dict[str, str]) -> SavedPassage:
    scores = hit.scores
    similarity, matched = (scores.vector, scores.matched) if scores else (None, [])
    input_hash = inputs.get(hit.chunk_id, "")
    return SavedPassage(chunk_id=hit.chunk_id, input_hash=input_hash, similarity=similarity, matched=matched)


def _sha256(snapshot: Snapshot, papers: list[str]) -> dict[str, str]:
    found = snapshot.cursor().execute("SELECT paper_id, sha256 FROM manifest WHERE paper_id IN $1", [papers])
    return dict(found.fetchall())


def _input_hashes(snapshot: Snapshot, hits: list[Hit]) -> dict[str, str]:
    cursor = snapshot.cursor_of({one.paper_id for one in hits})
    chunks = [one.chunk_id for one in hits]
    return dict(cursor.execute("SELECT chunk_id, input_hash FROM chunks WHERE chunk_id IN $1", [chunks]).fetchall())


def _parts(snapshot: Snapshot, citations: list[SavedCitation]) -> list[str]:
    """Return the parts that contain the cited papers' sentences and chunks, as `table/shard/version`."""
    buckets = snapshot.buckets_of({one.paper_id for one in citations})
    entries = (part for part in snapshot.manifest.parts if part.table in ("sentences", "chunks"))
    return sorted(f"{part.table}/{part.shard}/{part.version}" for part in entries if part.shard in buckets)
