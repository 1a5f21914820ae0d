"""The map step without a model: findings to points, each scored 0 to 10 and resting on source sentences."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_query.answers.claims import Claim
from monjyu_query.answers.selection import is_prose
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.knowledge.reports import Report
from monjyu_query.knowledge.source_sentences import in_order, sentences_by_id
from monjyu_query.modes.global_search.asking import Asking

_OVERVIEW = {"abstract": 1.0, "introduction": 0.95, "conclusion": 0.95}
_DETAIL = 0.8
"""Sections whose sentences tell what a paper is about, and what those of others count beside them."""
_HEAD_WEIGHT = 0.3
"""What a term counts that only the report's title or the finding's summary has."""
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
    keywords = asking.ask.index.keywords
    terms = iter(keywords.terms([sentence.text for some in sources for sentence in some]))
    heads = keywords.terms([f"{report.title}\n{finding.summary}" for report, finding in findings])
    points: list[Claim] = []
    for (report, _), some, head in zip(findings, sources, heads, strict=True):
        scored = [(_score(asking, report, next(terms), head, sentence), sentence) for sentence in some]
        scored.sort(key=lambda pair: -pair[0])
        if scored and scored[0][0] > 0:
            kept = tuple(sentence for _, sentence in scored[:MOST_SENTENCES])
            text = " ".join(kept[0].text.split())
            text = f"{report.title}: {text}" if asking.whole and report.title else text
            points.append(Claim(text, kept, scored[0][0], report.id, "extractive"))
    return points


def _score(
    asking: Asking, report: Report, terms: Sequence[str], head: Sequence[str], sentence: PassageSentence
) -> float:
    """A sentence must speak of the question itself; what its headings add counts less."""
    if asking.whole:
        return report.rating * _OVERVIEW.get(sentence.passage.section_type, _DETAIL)
    own, both = asking.terms.share(set(terms)), asking.terms.share({*terms, *head})
    return asking.relevance(own + _HEAD_WEIGHT * (both - own), asking.similarity(sentence)) if own else 0.0
