"""A checked draft as text, the worst first. Draft and papers are untrusted: no control character gets through."""

from __future__ import annotations

from collections.abc import Iterator

from monjyu_query.answers.render import safe
from monjyu_query.drafts.checked import WORST_FIRST, CheckedDraft, CheckedSentence, Verdict

WORDS: dict[Verdict, str] = {
    "contradicted": "CONTRADICTED", "not_found": "NOT FOUND", "partly": "ONLY PARTLY", "not_judged": "not judged",
    "not_resolved": "citation not resolved", "not_checked": "not checked",
    "not_in_collection": "not in the collection", "supported": "supported",
}  # fmt: skip
SHOWN = {"supported": 1, "contradicted": 2, "not_found": 2, "partly": 2, "not_judged": 2}
"""Passages of a citation by its verdict."""


def as_text(draft: CheckedDraft) -> str:
    """The counts, then sentence by sentence."""
    counts = [f"{draft.counts[verdict]} {WORDS[verdict].lower()}" for verdict in WORST_FIRST if draft.counts[verdict]]
    lines = [
        f"{sum(draft.counts.values())} citations in {len(draft.sentences)} sentences: {', '.join(counts) or 'none'}"
    ]
    lines += [f"Note: {safe(warning)}" for warning in draft.warnings]
    for sentence in sorted(draft.sentences, key=_place):
        lines += ["", *_sentence(draft, sentence)]
    return "\n".join(lines)


def _place(sentence: CheckedSentence) -> tuple[int, bool, int]:
    """The worst first; of those that are not judged, those of which something stands nowhere in the paper."""
    return WORST_FIRST.index(sentence.verdict), not any(one.fault for one in sentence.checks), sentence.number


def _sentence(draft: CheckedDraft, sentence: CheckedSentence) -> Iterator[str]:
    yield f"{sentence.number}. {safe(sentence.text)}"
    for check in sorted(sentence.checks, key=lambda one: WORST_FIRST.index(one.verdict)):
        judged = " (by the model)" if check.method == "model" else ""
        yield f"   {WORDS[check.verdict]}{judged}: {safe(check.paper_title or check.work or check.cited)}"
        if check.reasons:
            yield f"     {safe('; '.join(check.reasons))}"
        if check.claim and len(sentence.checks) > 1 and check.paper_id and check.verdict != "supported":
            yield f"     said of it: {safe(check.claim)}"
        for number in check.citations[: SHOWN.get(check.verdict, 0)]:
            citation = draft.citations[number - 1]
            page = f"p. {citation.page}: " if citation.page else ""
            retracted = " (retracted)" if citation.retracted else ""
            yield f"     {page}“{safe(citation.quote)}”{retracted}"
