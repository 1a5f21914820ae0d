"""The engine `llm` of reports: one question a community. Findings that cite none of its sentences are dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from monjyu_assets.engines.answers import ModelReport, plain
from monjyu_assets.engines.model_calls import ModelCalls, Question, failure_of, model_identity, prompts
from monjyu_assets.engines.protocol import Failure
from monjyu_assets.reports.protocol import Finding, Report, ReportResult
from monjyu_assets.reports.sources import CommunitySource
from monjyu_core.ids import digest
from monjyu_core.models.errors import ModelCallError
from monjyu_core.models.factory import role_model
from monjyu_core.models.prompts import fence
from monjyu_core.models.types import Message
from monjyu_core.settings import Settings

VERSION = "1"
LONGEST_TITLE, LONGEST_TEXT = 200, 2000


class ModelReports:
    """A community without a sentence is written by `otherwise`: there is nothing that a model could cite."""

    def __init__(
        self,
        settings: Settings,
        calls: Callable[[], ModelCalls[ModelReport]],
        otherwise: Callable[[CommunitySource], Report],
    ) -> None:
        self._prompts = prompts(settings, "report")
        self._calls = calls
        self._otherwise = otherwise
        self._most = settings.levels.reports.max_findings
        _, model = role_model(settings, "report")
        self.name = f"llm-{VERSION}/{model.model}"
        hashes = (prompt.hash for prompt in self._prompts.values())
        self.made_with = digest("llm", VERSION, model_identity(settings, "report"), *hashes)

    def question(self, source: CommunitySource) -> Question:
        prompt = self._prompts.get(source.language, self._prompts["en"])
        titles = dict(source.papers)
        sentences = [
            f"{n}. {s.text} ({titles.get(s.paper_id, s.paper_id)})" for n, s in enumerate(source.sentences, start=1)
        ]
        text = prompt.render(
            entities=fence(1, "\n".join(f"{member.name} ({member.type})" for member in source.members)),
            relationships=fence(2, "\n".join(" - ".join(link) for link in source.links) or "-"),
            sources=fence(3, "\n".join(sentences)),
            most=str(self._most),
        )
        papers = tuple(sorted({sentence.paper_id for sentence in source.sentences} | set(titles)))
        return Question(source.community_id, (Message("user", text),), prompt.hash, papers)

    def asked(self, communities: Sequence[CommunitySource]) -> list[CommunitySource]:
        """Those that a model is asked about."""
        return [source for source in communities if source.sentences]

    def run(self, communities: Sequence[CommunitySource]) -> Iterator[ReportResult]:
        for source in communities:
            if not source.sentences:
                yield ReportResult(source.community_id, self._otherwise(source))
        asked = {source.community_id: source for source in self.asked(communities)}
        if not asked:
            return
        for question, answer in self._calls().ask(self.question(source) for source in asked.values()):
            if isinstance(answer, ModelCallError):
                yield ReportResult(question.key, failure=failure_of(answer))
            else:
                yield self._read(asked[question.key], answer)

    def _read(self, source: CommunitySource, answer: ModelReport) -> ReportResult:
        findings: list[Finding] = []
        dropped = 0
        for said in answer.findings:
            at = [source.sentences[n - 1].sentence_id for n in said.sentences if 1 <= n <= len(source.sentences)]
            if at:
                texts = plain(said.summary, LONGEST_TEXT), plain(said.explanation, LONGEST_TEXT)
                findings.append(Finding(*texts, tuple(dict.fromkeys(at))))
            else:
                dropped += 1
        if not findings:
            message = f"No finding cites a sentence of the community ({dropped} were dropped)."
            return ReportResult(source.community_id, failure=Failure("NoFindings", message), dropped=dropped)
        report = Report(
            plain(answer.title, LONGEST_TITLE),
            plain(answer.summary, LONGEST_TEXT),
            tuple(findings[: self._most]),
            round(answer.rating, 1),
            plain(answer.rating_reason, LONGEST_TEXT),
        )
        return ReportResult(source.community_id, report, dropped=dropped)
