"""The extractive engine of reports: central sentences as findings, the community's main entities as its title."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from monjyu_assets.levels.phrases.prose import statement_of
from monjyu_assets.levels.reports.report_engine import Finding, Report, ReportResult
from monjyu_assets.levels.reports.report_sources import Central, CommunitySource, Member

VERSION = "3"
IN_TITLE, IN_SUMMARY = 3, 2
SUBJECTS = frozenset({"concept", "method", "model", "dataset", "metric", "task", "tool"})
WORDS = {
    "en": {"and": " and ", "works": "It holds the works {titles}.", "people": "Its people are {names}.",
           "papers": "It stands in {count} of the papers, most in {titles}.", "names": "{names} in “{title}”",
           "reason": "{entities} entities with {mentions} mentions in {papers} papers."},
    "ja": {"and": "、", "works": "扱われる文献は{titles}である。", "people": "関わる人物は{names}である。",
           "papers": "{count}本の論文に現れ、主なものは{titles}である。", "names": "「{title}」における{names}",
           "reason": "{papers}本の論文に{mentions}回現れる{entities}個の実体。"},
}  # fmt: skip


class ExtractiveReports:
    """Deterministic; every finding is a sentence of a paper."""

    name = f"extractive-{VERSION}"
    made_with = name

    def __init__(self, max_findings: int) -> None:
        self.max_findings = max_findings

    def run(self, communities: Sequence[CommunitySource]) -> Iterator[ReportResult]:
        for source in communities:
            yield ReportResult(source.community_id, self.report(source))

    def report(self, source: CommunitySource) -> Report:
        words = WORDS.get(source.language, WORDS["en"])
        chosen = sorted(
            source.sentences[: self.max_findings + IN_SUMMARY], key=lambda one: (-one.score, one.sentence_id)
        )
        findings = tuple(_finding(source, sentence, words) for sentence in chosen[: self.max_findings])
        return Report(
            title=_title(source, words),
            summary=_summary(source, chosen, words),
            findings=findings,
            rating=rating(source),
            rating_reason=words["reason"].format(
                entities=source.size, mentions=source.mentions, papers=len(source.papers)
            ),
        )


def rating(source: CommunitySource) -> float:
    """The rating, 0 to 10: how many papers share the community and how much they say about it, both as logarithms."""
    papers = min(1.0, math.log2(1 + len(source.papers)) / 5)
    mentions = min(1.0, math.log2(1 + source.mentions) / 9)
    return round(10 * (0.6 * papers + 0.4 * mentions), 1)


def main_members(source: CommunitySource, most: int) -> list[Member]:
    """The subjects with most relationships inside; without subjects its works, then anyone else."""
    subjects = [member for member in source.members if member.type in SUBJECTS]
    works = [member for member in source.members if member.type == "paper"]
    return (subjects or works or list(source.members))[:most]


def _title(source: CommunitySource, words: dict[str, str]) -> str:
    return _joined([member.name for member in main_members(source, IN_TITLE)], words)


def _joined(names: Sequence[str], words: dict[str, str]) -> str:
    names = list(dict.fromkeys(names))
    return ", ".join(names[:-1]) + words["and"] + names[-1] if len(names) > 1 else "".join(names)


def _summary(source: CommunitySource, chosen: Sequence[Central], words: dict[str, str]) -> str:
    sentences = [statement_of(sentence.text) for sentence in chosen[:IN_SUMMARY]]
    titles = [f"“{title}”" for _, title in source.papers[:3]]
    sentences.append(words["papers"].format(count=len(source.papers), titles=_joined(titles, words)))
    works = [f"“{member.name}”" for member in source.members if member.type == "paper"]
    if works and len(sentences) < 3:
        sentences.append(words["works"].format(titles=_joined(works[:5], words)))
    people = [member.name for member in source.members if member.type == "researcher"]
    if people and len(sentences) < 3:
        sentences.append(words["people"].format(names=_joined(people[:5], words)))
    return " ".join(sentences)


def _finding(source: CommunitySource, sentence: Central, words: dict[str, str]) -> Finding:
    names = [source.members[n].name for n in sentence.entities if n < len(source.members)][:3]
    titles = dict(source.papers)
    summary = words["names"].format(names=_joined(names, words), title=titles.get(sentence.paper_id, sentence.paper_id))
    return Finding(summary, sentence.text, (sentence.sentence_id,))
