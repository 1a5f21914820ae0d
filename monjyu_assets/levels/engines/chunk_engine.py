"""The protocol of what works chunk by chunk, and what comes of a chunk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from monjyu_assets.levels.engines.paper_sources import SourceChunk, SourcePaper

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Failure:
    """Why there is no result. `message` holds no text of a paper: it is shown in logs that outlive a purge."""

    error_type: str
    message: str


@dataclass
class ChunkResult:
    """Rows by table of one chunk (without paper_id and engine), or its failure; `dropped` were not in the source."""

    chunk_id: str
    rows: dict[str, Rows] = field(default_factory=dict)
    failure: Failure | None = None
    dropped: int = 0


class ChunkEngine(Protocol):
    """Makes rows of chunks. Equal keys give equal rows, or rows that were paid for and are to be kept."""

    @property
    def name(self) -> str:
        """With its version, as it stands in every row: `extractive-1`."""
        ...

    @property
    def made_with(self) -> str:
        """All that its rows depend on beside settings and papers: versions, models, prompts."""
        ...

    @property
    def pays(self) -> bool:
        """Whether it calls a model: shards are then written one by one, so that little is lost with a process."""
        ...

    def key(self, paper: SourcePaper, chunk: SourceChunk) -> str:
        """What the rows of this chunk are made from."""
        ...

    def run(self, papers: Sequence[SourcePaper], wanted: Mapping[str, set[str]]) -> Iterator[ChunkResult]:
        """The results of these chunks, given by paper."""
        ...


def failure_row(key: dict[str, str], failure: Failure | None, dropped: int) -> dict[str, Any]:
    """A row of a table of failures."""
    if failure is None:
        what = {"error_type": "NotInSource", "message": "What was said is not in the source and was dropped."}
    else:
        what = {"error_type": failure.error_type, "message": failure.message}
    return key | what | {"failed": failure is not None, "dropped": dropped}
