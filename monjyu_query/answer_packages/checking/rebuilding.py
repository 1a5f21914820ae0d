"""What a package states, and the same taken from the collection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from monjyu_query.answer_packages.canonical import rounded
from monjyu_query.answer_packages.crate import AUTHOR, METADATA, WORKFLOW
from monjyu_query.answers.citing import cite_again
from monjyu_query.answers.segments import answer_markdown
from monjyu_query.asking.passages import hit_of, load_passages
from monjyu_query.asking.result import SearchResult
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.search.hit_details import describe_hits, retracted_sources


class _LeftOut(BaseModel):
    why: Literal["purged", "gone"]
    sentence_ids: list[str] = []


class _Again(BaseModel):
    snapshot_id: str
    differs: list[str]
    left_out: list[_LeftOut]


class Question(BaseModel):
    """`question.json`, whose other fields follow from these."""

    trace_id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    asked_at: str | None
    request: dict[str, Any]
    settings: dict[str, dict[str, Any]]
    asked_of: str
    again: _Again


class Stated(NamedTuple):
    """`answer` has hashes as the texts of its hits; `version` is that of Monjyu."""

    question: Question
    answer: SearchResult
    author: str | None
    version: str


def read_stated(files: Mapping[str, bytes]) -> Stated:
    """ValueError (pydantic's and JSON's are kinds of it), LookupError, TypeError, AttributeError or RecursionError for
    what Monjyu did not write."""
    question = Question.model_validate_json(files["question.json"])
    if question.settings.keys() != {"search", "answer"}:  # others name services and files
        raise ValueError("settings")
    answer = json.loads(files["answer.json"])
    hits = [{name.removesuffix("_sha256"): value for name, value in hit.items()} for hit in answer["hits"]]
    result = SearchResult.model_validate(answer | {"trace_id": question.trace_id, "hits": hits})
    if question.request["collection"] != result.collection:
        raise ValueError("collection")
    nodes = json.loads(files[METADATA])["@graph"]
    author = next((str(node["name"]) for node in nodes if node["@id"] == AUTHOR), None)
    return Stated(question, result, author, str(json.loads(files[WORKFLOW])["software"]["version"]))


def misquoted(index: OpenIndex, result: SearchResult) -> list[str]:
    """The marks of the citations that the snapshot does not hold as they are stated: sentences, paper, page, boxes."""
    again = cite_again(index.snapshot.cursor(), result.citations)
    held = {citation.n: rounded(citation.model_dump(mode="json")) for citation in again}
    return [f"[{one.n}]" for one in result.citations if held.get(one.n) != rounded(one.model_dump(mode="json"))]


def restated(index: OpenIndex, query: str, result: SearchResult) -> SearchResult:
    """A stated answer with the quotes, passages and papers of the snapshot: all of it that needs no model."""
    cursor = index.snapshot.cursor()
    citations = cite_again(cursor, result.citations)
    numbers = {citation.n for citation in citations}
    scores = {hit.chunk_id: hit.score for hit in result.hits}
    hits = [hit_of(one) for one in load_passages(cursor, list(scores), list(scores.values()), index.kept)]
    describe_hits(index, query, hits, None)
    chosen = {hit.chunk_id: {"scores": hit.scores, "found_by": hit.found_by} for hit in result.hits}
    warnings = [one for one in retracted_sources(index, citations) if one not in result.warnings]
    segments = [
        one.model_copy(update={"citations": [n for n in one.citations if n in numbers]}) for one in result.segments
    ]
    return result.model_copy(
        update={
            "query": query,
            "snapshot_id": index.snapshot.id,
            "level": index.snapshot.manifest.level,
            "warnings": [*result.warnings, *warnings],
            "segments": segments,
            "answer": answer_markdown(segments, result.tables),
            "verified": bool(citations),
            "citations": citations,
            "hits": [hit.model_copy(update=chosen[hit.chunk_id]) for hit in hits],
        }
    )
