"""What the check of a draft gives."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from monjyu_query.asking.result import Citation, Usage
from monjyu_query.drafts.resolving import How

Support = Literal["supported", "partly", "not_found", "contradicted"]
"""What a model says of a paper that it was shown."""
Verdict = Literal[Support, "not_judged", "not_in_collection", "not_resolved", "not_checked"]
WORST_FIRST: tuple[Verdict, ...] = (
    "contradicted", "not_found", "partly", "not_judged", "not_resolved", "not_checked", "not_in_collection", "supported"
)  # fmt: skip
FAULTS = frozenset(("contradicted", "not_found", "partly"))
"""Verdicts of papers that were read and do not say it, or not all of it."""


class CheckedCitation(BaseModel):
    """One cited work of one sentence. `cited` is the mark as written, `claim` what was held against the paper, `work`
    what the draft says of the work, `found_by` how it was found in the collection.

    `score` is how near its best passage comes to the claim (0 to 1), null where nothing was compared; `citations` are
    the numbers of the best passages; `reasons` of a claim that is not judged are what of it stands nowhere in the
    paper; `method` is `model` where the model of `roles.verify` judged."""

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

    @property
    def fault(self) -> bool:
        """Whether the paper was read and does not say it, or has not all that it names."""
        return self.verdict in FAULTS or (self.verdict == "not_judged" and bool(self.reasons))


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
        return sum(check.fault for sentence in self.sentences for check in sentence.checks)
