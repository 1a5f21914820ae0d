"""The map step without a model: findings to points, each scored 0 to 10 and resting on source sentences."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_query.answer import is_prose
from monjyu_query.global_search.asking import Asking
from monjyu_query.knowledge.reports import Report
from monjyu_query.knowledge.sentences import in_order, sentences_by_id
from monjyu_query.lazy.claims import Claim
from monjyu_query.passages import PassageSentence

MOST_SENTENCES = 3
"""Of one point."""

Sentences = dict[str, PassageSentence]


def sentences_of(asking: Asking, reports: Sequence[Report]) -> Sentences:
    """The source sentences of the reports' findings that the filters let pass."""
    ids = (name for report in reports for finding in report.findings for name in finding.sentence_ids)
    return sentences_by_id(asking.ask.index.snapshot.cursor(), ids, asking.passing)


def extractive_points(asking: Asking, reports: Sequence[Report], sentences: Sentences) -> list[Claim]:
    """A point for each finding: its best sentence for the question, scored as by lazy search; for a question about the
    whole collection the first one that is prose, scored by the report's rating."""
    findings = [(report, finding) for report in reports for finding in report.findings]
    sources = [[s for s in in_order(sentences, f.sentence_ids) if is_prose(s.text)] for _, f in findings]
    texts = [f"{f.summary}\n{s.text}" for (_, f), some in zip(findings, sources, strict=True) for s in some]
    terms = iter(asking.ask.index.keywords.terms(texts))
    points: list[Claim] = []
    for (report, _), some in zip(findings, sources, strict=True):
        scored = [(_score(asking, report, next(terms), sentence), sentence) for sentence in some]
        scored.sort(key=lambda pair: -pair[0])
        if scored and scored[0][0] > 0:
            kept = tuple(sentence for _, sentence in scored[:MOST_SENTENCES])
            points.append(Claim(" ".join(kept[0].text.split()), kept, scored[0][0], report.id, "extractive"))
    return points


def _score(asking: Asking, report: Report, terms: Sequence[str], sentence: PassageSentence) -> float:
    if asking.whole:
        return report.rating
    return asking.worth(asking.terms.share(set(terms)), asking.similarity(sentence))
