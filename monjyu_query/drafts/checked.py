"""The result of checking a draft."""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel

from monjyu_query.answers.render import safe
from monjyu_query.asking.result import Citation, Usage
from monjyu_query.drafts.resolving import How

Support = Literal["supported", "partly", "not_found", "contradicted"]
"""A model's verdict on a paper that it was shown."""
Verdict = Literal[Support, "not_judged", "not_in_collection", "not_resolved", "not_checked"]
WORST_FIRST: tuple[Verdict, ...] = (
    "contradicted", "not_found", "partly", "not_judged", "not_resolved", "not_checked", "not_in_collection", "supported"
)  # fmt: skip
FAULTS = frozenset(("contradicted", "not_found", "partly"))
"""Verdicts on papers that do not support the claim, or only in part."""


class CheckedCitation(BaseModel):
    """One cited work of one sentence. `cited` is the mark as written, `claim` the text compared with the paper, `work`
    the draft's description of the work, `found_by` how it was found in the collection. `score` is the similarity of the
    best passage to the claim (0 to 1), null if nothing was compared; `citations` are the numbers of the best passages;
    `reasons` of an unjudged claim name its parts that do not occur in the paper; `method` is `model` if the model of
    `roles.verify` judged.
    """

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
        """Whether the paper was compared and does not support the claim, or lacks a name or figure of it."""
        return self.verdict in FAULTS or (self.verdict == "not_judged" and bool(self.reasons))


class CheckedSentence(BaseModel):
    """A citing sentence, as written; `verdict` is the worst verdict on its citations."""

    number: int
    text: str
    verdict: Verdict
    checks: list[CheckedCitation]


class CheckedDraft(BaseModel):
    """A draft's citing sentences in their order. `counts` are citations by verdict; `citations` the passages, each with
    its `relevance` (0 to 1: the mean of nearness to the claim and of the share of its words)."""

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


# A checked draft as text, the worst first. Draft and papers are untrusted, so control characters are removed.
WORDS: dict[Verdict, str] = {
    "contradicted": "CONTRADICTED", "not_found": "NOT FOUND", "partly": "ONLY PARTLY", "not_judged": "not judged",
    "not_resolved": "citation not resolved", "not_checked": "not checked",
    "not_in_collection": "not in the collection", "supported": "supported",
}  # fmt: skip
SHOWN = {"supported": 1, "contradicted": 2, "not_found": 2, "partly": 2, "not_judged": 2}
"""The number of passages shown for a citation, by its verdict."""


def as_text(draft: CheckedDraft) -> str:
    """The result as text: the counts, then the sentences, the worst first."""
    counts = [f"{draft.counts[verdict]} {WORDS[verdict].lower()}" for verdict in WORST_FIRST if draft.counts[verdict]]
    lines = [
        f"{sum(draft.counts.values())} citations in {len(draft.sentences)} sentences: {', '.join(counts) or 'none'}"
    ]
    lines += [f"Note: {safe(warning)}" for warning in draft.warnings]
    for sentence in sorted(draft.sentences, key=_place):
        lines += ["", *_sentence(draft, sentence)]
    return "\n".join(lines)


def _place(sentence: CheckedSentence) -> tuple[int, bool, int]:
    """The order of sentences: the worst first; among those not judged, those without any match first."""
    return WORST_FIRST.index(sentence.verdict), not any(one.fault for one in sentence.checks), sentence.number


def _sentence(draft: CheckedDraft, sentence: CheckedSentence) -> Iterator[str]:
    yield f"{sentence.number}. {safe(sentence.text)}"
    for check in sorted(sentence.checks, key=lambda one: WORST_FIRST.index(one.verdict)):
        judged = " (by the model)" if check.method == "model" else ""
        yield f"   {WORDS[check.verdict]}{judged}: {safe(check.paper_title or check.work or check.cited)}"
        if check.reasons:
            yield f"     {safe('; '.join(check.reasons))}"
        if check.claim and len(sentence.checks) > 1 and check.paper_id and check.verdict != "supported":
            yield f"     claim: {safe(check.claim)}"
        for number in check.citations[: SHOWN.get(check.verdict, 0)]:
            citation = draft.citations[number - 1]
            page = f"p. {citation.page}: " if citation.page else ""
            retracted = " (retracted)" if citation.retracted else ""
            yield f"     {page}“{safe(citation.quote)}”{retracted}"
