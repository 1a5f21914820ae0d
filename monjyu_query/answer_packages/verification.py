"""Verifies a package: reports what matches, what differs, and what could not be compared."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field

from monjyu_core.errors import ConfigurationError, MonjyuError, QueryError
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import Snapshot, open_current, published, read_current
from monjyu_core.storage.state_store import StateStore
from monjyu_core.values import Values
from monjyu_query.answer_packages.asked_answer import AskedAnswer, LeftOut, answer_of
from monjyu_query.answer_packages.crate import AUTHOR, METADATA, WORKFLOW
from monjyu_query.answer_packages.package import Crops, package_of
from monjyu_query.answer_packages.package_files import (
    MANIFEST,
    SIGNATURE,
    ReadPackage,
    read_json,
    read_manifest_file,
    read_package,
    rounded,
    signer_of,
)
from monjyu_query.answers.citing import cite_again
from monjyu_query.answers.segments import answer_markdown
from monjyu_query.asking.passages import hit_of, load_passages
from monjyu_query.asking.request import SearchRequest, make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.ranking.open_index import OpenIndex, open_index
from monjyu_query.search.hit_details import describe_hits, retracted_sources
from monjyu_query.search.searcher import Searcher
from monjyu_query.search.traces import NAMESPACE, trace_of


# The statements of a package, and the same statements derived from the collection.
class _LeftOut(BaseModel):
    why: Literal["purged", "gone"]
    sentence_ids: list[str] = []


class _Again(BaseModel):
    snapshot_id: str
    differs: list[str]
    left_out: list[_LeftOut]


class Question(BaseModel):
    """The fields of `question.json` on which a verification depends. The other fields of the file derive from them."""

    trace_id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    asked_at: str | None
    request: Values
    settings: dict[str, Values]
    asked_of: str
    again: _Again


class Stated(NamedTuple):
    """The statements of a package. In `answer`, the texts of hits are hashes; `version` is that of Monjyu."""

    question: Question
    answer: SearchResult
    author: str | None
    version: str


def read_stated(files: Mapping[str, bytes]) -> Stated:
    """Read the stated answer. Raises ValueError (including pydantic's and JSON's), LookupError, TypeError,
    AttributeError or RecursionError for files that Monjyu did not write."""
    question = Question.model_validate(read_json(files["question.json"]))
    if question.settings.keys() != {"search", "answer"}:  # others name services and files
        raise ValueError("settings")
    answer = read_json(files["answer.json"])
    hits = [{name.removesuffix("_sha256"): value for name, value in hit.items()} for hit in answer["hits"]]
    result = SearchResult.model_validate(answer | {"trace_id": question.trace_id, "hits": hits})
    if question.request["collection"] != result.collection:
        raise ValueError("collection")
    nodes = read_json(files[METADATA])["@graph"]
    author = next((str(node["name"]) for node in nodes if node["@id"] == AUTHOR), None)
    return Stated(question, result, author, str(read_json(files[WORKFLOW])["software"]["version"]))


def misquoted(index: OpenIndex, result: SearchResult) -> list[str]:
    """Return the marks (`[1]`) of the citations that the snapshot lacks, or has with another quote, title or place."""
    again = cite_again(index.snapshot.cursor(), result.citations)
    held = {citation.n: rounded(citation.model_dump(mode="json")) for citation in again}
    return [f"[{one.n}]" for one in result.citations if held.get(one.n) != rounded(one.model_dump(mode="json"))]


def restated(index: OpenIndex, query: str, result: SearchResult) -> SearchResult:
    """Return a stated answer with the quotes, passages and papers of the snapshot, which need no model."""
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


_MOST_NAMED = 20
_OF_TRACE = ("mode", "status", "model", "citations", "quotes", "hits")
_REBUILT = {"query", "collection", "snapshot_id", "level", "answer", "verified", "citations"}
"""Fields that are compared even if a model wrote the answer."""


class Check(BaseModel):
    """A comparison. `said` is for people; `details` names up to twenty files, citations or fields."""

    check: Literal["files", "signature", "contents", "quotes", "answer", "package", "crops", "record"]
    outcome: Literal["holds", "differs", "not_checked"]
    said: str
    details: list[str] = []


class Verified(BaseModel):
    """The result of a verification. `ok`: everything was compared, and nothing differs."""

    package: str
    ok: bool
    checks: list[Check]


@dataclass(frozen=True)
class _Comparing:
    """A comparison of a package with a collection. `vouched`: the required key signed the files."""

    files: Mapping[str, bytes]
    stated: Stated
    data: DataFolder
    name: str
    vouched: bool
    crops: Crops | None

    def checks(self) -> Iterator[Check]:
        folder = self.data.collection(self.name)
        if not folder.record.is_file() or read_current(folder) is None:
            raise ConfigurationError(
                f"Collection {self.name[:64]!r} has no index here.", "Index it, or name it with -c."
            )
        question = self.stated.question
        if (asked_of := question.again.snapshot_id) in published(folder):
            yield from self._rebuilt(Searcher(self.data, self.name, None, question.settings, asked_of))
            return
        wrong = misquoted(open_index(open_current(folder)), self.stated.answer)
        said = f"their snapshot no longer exists; the current one has all but {len(wrong)} of them in the same places"
        yield _not_checked("quotes", said, wrong)
        yield _not_checked("package", "its snapshot no longer exists", sorted(self.files))

    def _rebuilt(self, searcher: Searcher) -> Iterator[Check]:
        """Compare each file with one built again. No model is called and nothing leaves this machine, because a package
        must not cause costs."""
        question, answer = self.stated.question, self.stated.answer
        request = make_request(**question.request)
        here = request.model_copy(update={"collection": self.name})
        local = searcher.local and not request.models and answer.answer_engine != "llm" and answer.model is None
        manifest = read_manifest(searcher.folder, question.again.snapshot_id)
        index = searcher.current() if local else open_index(Snapshot(searcher.folder, manifest))
        trace = StateStore(self.data.state).get(NAMESPACE, question.trace_id)
        trace = trace if isinstance(trace, dict) else None
        if local and trace is not None:
            kept = trace | {"request": here.model_dump(), "settings": question.settings}
            asked = replace(answer_of(self.data, searcher, question.trace_id, kept), request=request)
        else:
            result = searcher.search(here) if local else restated(index, request.query, answer)
            gone = (
                LeftOut((one.sentence_ids or [f"{n}.s"])[0].rpartition(".s")[0], one.sentence_ids, one.why)
                for n, one in enumerate(question.again.left_out)
            )
            asked = AskedAnswer(index, request, question.settings, result, question.trace_id, question.asked_at,
                                question.asked_of, tuple(question.again.differs), tuple(gone))  # fmt: skip
        asked.result.collection = answer.collection
        pictures = {name: content for name, content in self.files.items() if name.startswith("crops/")}
        drawn = self.crops(asked) if self.crops is not None and pictures else {}
        again = package_of(asked, (lambda _: pictures | drawn) if pictures else None, self.stated.author)
        old, new = read_json(self.files["answer.json"]), read_json(again["answer.json"])
        fields = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        files = sorted(name for name in (self.files.keys() | again.keys()) - {SIGNATURE, MANIFEST}
                       if self.files.get(name) != again.get(name))  # fmt: skip
        other = f" (written by Monjyu {self.stated.version[:20]})" if self.stated.version != version("monjyu") else ""
        yield _check("quotes", misquoted(index, answer), "quotes are not in the snapshot as cited")
        if local or fields:
            yield _check("answer", fields, f"fields of the answer differ from those built again{other}")
        else:
            worded = sorted(name for name, value in old.items() if value and name not in _REBUILT)
            yield _not_checked("answer", "a model or a service answered, and is not asked again", worded)
        yield _check("package", files, f"files differ from those built again{other}")
        if undrawn := sorted(pictures.keys() - drawn.keys()):
            yield _not_checked("crops", "these parts of pages were not drawn again", undrawn)
        yield self._record(request, asked, trace)

    def _record(self, request: SearchRequest, asked: AskedAnswer, trace: Values | None) -> Check:
        """Check who asked what and when, against the trace stored here, or else by the signature of a known key."""
        question = self.stated.question
        told: Values = {"request": request.model_dump(mode="json"), "settings": question.settings}
        told |= {"asked_at": question.asked_at, "snapshot_id": question.asked_of}
        if not question.again.differs:
            again = trace_of(request, asked.result, question.settings)
            told |= {name: again[name] for name in _OF_TRACE}
        if wrong := [name for name in told if trace and name in trace and rounded(trace[name]) != rounded(told[name])]:
            return _check("record", wrong, "values differ from those of the stored trace")
        unknown = ["author"] if self.stated.author else []
        unknown += [] if trace else ["trace_id", "asked_at", "again"]
        if unknown and not self.vouched:
            return _not_checked("record", "only the signature of a known key (--key) can vouch for these", unknown)
        return _check("record", [], "")


def verify_package(
    path: Path,
    data: DataFolder,
    collection: str | None = None,
    key: str | None = None,
    crops: Crops | None = None,
) -> Verified:
    """Verify a package. Raises NotAPackage for any other folder or file. `key`: the public key (base64) that must have
    signed it; `collection` replaces the name in the package; `crops` draws parts of pages, otherwise not compared."""
    package = read_package(path)
    files = package.files
    checks = [_files(package), *_signature(files, key)]
    vouched = key is not None and checks[-1].outcome == "holds"
    try:
        stated = read_stated(files)
        checks += _Comparing(files, stated, data, collection or stated.answer.collection, vouched, crops).checks()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, QueryError) as error:
        checks.append(_check("contents", [type(error).__name__], "reason that Monjyu did not write these files"))
    except MonjyuError as error:
        checks.append(_not_checked("package", error.message.rstrip("."), sorted(files)))
    return Verified(package=str(path), ok=all(one.outcome == "holds" for one in checks), checks=checks)


def _check(check: object, wrong: list[str], differs: str, holds: str = "Compared, and the same.") -> Check:
    said = f"{len(wrong)} {differs}." if wrong else holds
    return Check(check=check, outcome="differs" if wrong else "holds", said=said, details=wrong[:_MOST_NAMED])


def _not_checked(check: object, why: str, details: list[str]) -> Check:
    return Check(check=check, outcome="not_checked", said=f"Not compared: {why}.", details=details[:_MOST_NAMED])


def _files(package: ReadPackage) -> Check:
    listed = read_manifest_file(package.files[MANIFEST])
    hashes = {
        name: hashlib.sha256(content).hexdigest() if name not in package.damaged else "damaged"
        for name, content in package.files.items()
        if name not in (MANIFEST, SIGNATURE)
    }
    wrong = sorted(
        name for name in hashes.keys() | (listed or {}).keys() if hashes.get(name) != (listed or {}).get(name)
    )
    wrong += [] if package.framed else ["the archive itself: changed, or packed by another program"]
    return _check("files", wrong or ([] if listed is not None else [MANIFEST]), f"files differ from {MANIFEST}")


def _signature(files: Mapping[str, bytes], key: str | None) -> list[Check]:
    """Check the signature. Returns an empty list for an unsigned package if no signature is required."""
    if key is None and SIGNATURE not in files:
        return []
    signer = signer_of(files)
    wrong = [] if signer is not None and key in (None, signer) else [signer or SIGNATURE]
    said = "" if key else " Pass --key to check whose key it is."
    return [_check("signature", wrong, "signature is missing, or of another key", f"The signature is valid.{said}")]
