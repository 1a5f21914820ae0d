"""What `monjyu index` and `monjyu upgrade` print: counts, usage, and what failed."""

from __future__ import annotations

from collections import Counter

from pydantic import BaseModel

from monjyu_assets.work.closed_set import ALL_FAILURES, HIGHEST, failure_causes
from monjyu_assets.work.work import Work
from monjyu_core.storage.other_files import UnsupportedFile
from monjyu_core.storage.rows.rows_papers import FailureRow


class PaperCounts(BaseModel):
    """`unsupported` files have a type that Monjyu does not read; `skipped` files are passed over for a reason that
    `monjyu status --files` gives. Neither are papers, and no other count includes them."""

    total: int = 0
    added: int = 0
    changed: int = 0
    deleted: int = 0
    unchanged: int = 0
    failed: int = 0
    unsupported: int = 0
    skipped: int = 0


class Failure(BaseModel):
    """A paper that could not be read. With `asset`: a paper of which some passages have no vector, or no result from an
    engine of levels 2 to 4."""

    source_path: str
    error_type: str
    message: str
    asset: str | None = None


class Cause(BaseModel):
    """Why chunks or communities have no result at levels 2 to 4: the server's message and the setting to check."""

    asset: str
    error_type: str
    message: str
    count: int


class Usage(BaseModel):
    """Model calls of a run."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


class IndexResult(BaseModel):
    """What `monjyu index --json` prints. `unsupported` lists the first thousand files."""

    collection: str
    level: int
    snapshot_id: str
    papers: PaperCounts
    chunks: int
    seconds: float
    usage: Usage
    failures: list[Failure]
    causes: list[Cause] = []
    behind: list[str] = []
    unsupported: list[UnsupportedFile] = []


def failure_rows(work: Work) -> list[Failure]:
    rows = [row for part in work.parts.heads("failures") if part.rows for row in part.records(FailureRow)]
    rows.sort(key=lambda row: (row["source_path"], row["paper_id"]))
    return [
        Failure(source_path=row["source_path"], error_type=row["error_type"], message=row["message"]) for row in rows
    ]


def level_failures(work: Work) -> list[Failure]:
    """Failures to embed passages, and those of engines of levels 2 to 4, counted by paper (or `(communities)`) and
    cause."""
    counts: Counter[tuple[str, str, str, str]] = Counter()
    paths: dict[str, str] = {}
    for asset, table in ALL_FAILURES.items():
        rows = [row for part in work.parts.heads(table) if part.rows for row in part.read().to_pylist()]
        for row in rows:
            if row["failed"]:
                paths = paths or _paths(work)
                where = paths.get(row["paper_id"], row["paper_id"]) if "paper_id" in row else "(communities)"
                why = f"{row['paper_id']}: {row['message']}" if asset == "chunk_embeddings" else ""
                counts[where, row["error_type"], asset, why] += 1
    return [
        Failure(source_path=where, error_type=cause, message=_message(asset, count, why), asset=asset)
        for (where, cause, asset, why), count in sorted(counts.items())
    ]


def _message(asset: str, count: int, why: str) -> str:
    if not why:
        return f"{asset}: {count} without a result"
    paper_id, _, said = why.partition(": ")
    what = "1 passage is" if count == 1 else f"{count} passages are"
    return f"{what} found by words only, because {paper_id} could not be embedded: {said}"


def level_causes(work: Work) -> list[Cause]:
    """The same failures by cause, with the message of the model's server."""
    return [Cause(**vars(cause)) for level in range(2, HIGHEST + 1) for cause in failure_causes(work.parts, level)]


def _paths(work: Work) -> dict[str, str]:
    rows = [row for part in work.parts.heads("papers") for row in part.read(["paper_id", "source_path"]).to_pylist()]
    return {row["paper_id"]: row["source_path"] for row in rows}
