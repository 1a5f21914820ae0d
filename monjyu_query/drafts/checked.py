"""What the check of a draft gives."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from monjyu_query.drafts.resolving import How
from monjyu_query.search.result import Citation, Usage

Verdict = Literal[
    "supported", "partly", "not_found", "contradicted", "not_in_collection", "not_resolved", "not_checked"
]  # fmt: skip
WORST_FIRST: tuple[Verdict, ...] = (
    "contradicted", "not_found", "partly", "not_resolved", "not_checked", "not_in_collection", "supported"
)  # fmt: skip
FAULTS = frozenset(("contradicted", "not_found", "partly"))
"""Verdicts of papers that were read and do not say it, or not all of it."""


class CheckedCitation(BaseModel):
    """One cited work of one sentence. `cited` is the mark as written, `claim` what was held against the paper, `work`
    what the draft says of the work, `found_by` how it was found in the collection.

    `score` is the chance (0 to 1) of the verdict by words, null where nothing was compared; `citations` are the numbers
    of the best passages; `method` is `model` where the model of `roles.verify` had the last word."""

    cited: str
    claim: str
    verdict: Verdict
    paper_id: str | None = None
    paper_title: str = ""
    work: str = ""
    found_by: How = ""
    score: float | None = None
    method: Literal["words", "model", ""] = ""
    reasons: list[str] = []
    citations: list[int] = []


class CheckedSentence(BaseModel):
    """A sentence that cites, as written; `verdict` is the worst of its citations'."""

    number: int
    text: str
    verdict: Verdict
    checks: list[CheckedCitation]


class CheckedDraft(BaseModel):
    """A draft's citing sentences in their order. `counts` are citations by verdict; `citations` the passages, each with
    its `relevance` (nearness to the claim, 0 to 1)."""

    format: str
    collection: str
    snapshot_id: str
    status: Literal["complete", "partial"] = "complete"
    counts: dict[Verdict, int]
    sentences: list[CheckedSentence]
    citations: list[Citation]
    warnings: list[str] = []
    usage: Usage = Usage()

    @property
    def faults(self) -> int:
        """Citations whose paper was read and does not say it."""
        return sum(self.counts.get(verdict, 0) for verdict in WORST_FIRST if verdict in FAULTS)
