"""A checked draft as text, the worst first. Draft and papers are untrusted: no control character gets through."""

from __future__ import annotations

from collections.abc import Iterator

from monjyu_query.answers.render import safe
from monjyu_query.drafts.checked import WORST_FIRST, CheckedCitation, CheckedDraft, CheckedSentence, Verdict

WORDS: dict[Verdict, str] = {
    "contradicted": "CONTRADICTED", "not_found": "NOT FOUND", "partly": "ONLY PARTLY",
    "not_resolved": "citation not resolved", "not_checked": "not checked",
    "not_in_collection": "not in the collection", "supported": "supported",
}  # fmt: skip
SHOWN = {"supported": 1, "contradicted": 2, "not_found": 2, "partly": 2}
"""Passages of a citation by its verdict."""


def as_text(draft: CheckedDraft) -> str:
    """The counts, then sentence by sentence."""
    counts = [f"{draft.counts[verdict]} {WORDS[verdict].lower()}" for verdict in WORST_FIRST if draft.counts[verdict]]
    lines = [
        f"{sum(draft.counts.values())} citations in {len(draft.sentences)} sentences: {', '.join(counts) or 'none'}"
    ]
    lines += [f"Note: {safe(warning)}" for warning in draft.warnings]
    for sentence in sorted(draft.sentences, key=lambda one: (WORST_FIRST.index(one.verdict), one.number)):
        lines += ["", *_sentence(draft, sentence)]
    return "\n".join(lines)


def _sentence(draft: CheckedDraft, sentence: CheckedSentence) -> Iterator[str]:
    yield f"{sentence.number}. {safe(sentence.text)}"
    for check in sorted(sentence.checks, key=lambda one: WORST_FIRST.index(one.verdict)):
        yield f"   {WORDS[check.verdict]}{_sure(check)}: {safe(check.paper_title or check.work or check.cited)}"
        if check.reasons:
            yield f"     {safe('; '.join(check.reasons))}"
        if check.claim and len(sentence.checks) > 1 and check.paper_id and check.verdict != "supported":
            yield f"     said of it: {safe(check.claim)}"
        for number in check.citations[: SHOWN.get(check.verdict, 0)]:
            citation = draft.citations[number - 1]
            page = f"p. {citation.page}: " if citation.page else ""
            retracted = " (retracted)" if citation.retracted else ""
            yield f"     {page}“{safe(citation.quote)}”{retracted}"


def _sure(check: CheckedCitation) -> str:
    if check.method == "model":
        return " (by the model)"
    return "" if check.score is None else f" ({check.score:.0%})"
