"""Global search from a question to a result: select reports, map them to points, combine the points into an answer.

Edge and others 2024, "From Local to Global: A Graph RAG Approach to Query-Focused Summarization"; dynamic selection as
in Microsoft Research, "GraphRAG: Improving global search via dynamic community selection" (November 2024).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field

from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.factory import room_for_sources
from monjyu_core.models.prompts import fence
from monjyu_core.models.types import Message
from monjyu_core.text.language import message_language
from monjyu_core.text.quotes import rests_on
from monjyu_core.text.tokens import count_many
from monjyu_query.answers.answer import Answer, abstained, result_of
from monjyu_query.answers.claims import MOST, Claim, claim_passages, compose_claims, in_batches, merged, within_tokens
from monjyu_query.answers.composition import model_answer, or_extractive
from monjyu_query.answers.evidence import spread_answer
from monjyu_query.asking.passages import Passage, in_order
from monjyu_query.asking.result import SearchResult
from monjyu_query.knowledge.reports import Report, Reports, load_reports
from monjyu_query.modes.global_question import (
    MOST_SENTENCES,
    Asking,
    Sentences,
    begin,
    dynamic_selection,
    extractive_points,
    own_ratings,
    sentences_of,
    static_selection,
)
from monjyu_query.modes.lazy.model_roles import ModelRoles
from monjyu_query.ranking.open_index import OpenIndex, PerSnapshot
from monjyu_query.ranking.tools import Ask, Tools

# Rates reports by their titles and summaries, and derives points from their findings, with a model.
_LONGEST_POINT = 1000


class ReportRating(BaseModel):
    report: int = Field(ge=1)
    score: Annotated[float, Field(ge=0, le=10)]


class ReportRatings(BaseModel):
    ratings: list[ReportRating]


class ModelPoint(BaseModel):
    point: str = Field(min_length=1)
    score: Annotated[int, Field(ge=0, le=100)]
    report: int
    findings: list[int]


class ModelPoints(BaseModel):
    points: list[ModelPoint]


class ModelRater:
    """Rates reports with a model, which reads as many titles and summaries per call as fit. If a call fails, its
    reports are rated by `own_ratings`, with a warning."""

    def __init__(self, asking: Asking, roles: ModelRoles) -> None:
        self._asking = asking
        self._roles = roles
        self._prompt = roles.prompt("rate_reports")

    def __call__(self, places: Sequence[int]) -> list[float]:
        reports = self._asking.reports.all
        texts = [f"{reports[place].title}\n{reports[place].summary}" for place in places]
        most = room_for_sources(self._roles.settings, "assess", self._asking.ask.settings.reports.map_tokens)
        batches = in_batches(count_many(texts), most)
        work = [lambda some=some: self._ask([texts[n] for n in some]) for some in batches]
        ratings: list[float] = []
        for some, answer in zip(batches, self._roles.gather(work), strict=True):
            ratings += self._read(answer, [places[n] for n in some])
        return ratings

    async def _ask(self, texts: Sequence[str]) -> ReportRatings:
        sources = "\n\n".join(fence(n, text) for n, text in enumerate(texts, start=1))
        message = Message("user", self._prompt.render(sources=sources, question=self._asking.ask.request.query))
        return await self._roles.session.structured("assess", [message], self._prompt.hash, ReportRatings)

    def _read(self, answer: ReportRatings | BaseException, places: Sequence[int]) -> list[float]:
        if isinstance(answer, ReportRatings):
            found = {rating.report: rating.score for rating in answer.ratings}
            return [found.get(n, 0.0) for n in range(1, len(places) + 1)]
        why = answer.message if isinstance(answer, ModelCallError) else str(answer) or "cancelled"
        self._asking.warnings.append(f"Reports were rated without a model: {why}")
        own = own_ratings(self._asking)
        return [own[place] for place in places]


class ModelMapper:
    """Derives points from reports with a model, in calls of up to `map_tokens`. A point whose findings have no source
    sentence is dropped."""

    def __init__(self, asking: Asking, roles: ModelRoles) -> None:
        self._asking = asking
        self._roles = roles
        self._prompt = roles.prompt("map_reports")
        self.dropped = 0
        self.failed: list[str] = []

    def points(self, reports: Sequence[Report], sentences: Sentences) -> list[Claim]:
        texts = [report_text(report) for report in reports]
        most = room_for_sources(self._roles.settings, "claims", self._asking.ask.settings.reports.map_tokens)
        batches = in_batches(count_many(texts), most)
        work = [lambda some=some: self._ask([texts[n] for n in some]) for some in batches]
        found: list[Claim] = []
        for some, answer in zip(batches, self._roles.gather(work), strict=True):
            if isinstance(answer, ModelPoints):
                found += self._read(answer, [reports[n] for n in some], sentences)
            elif isinstance(answer, ModelCallError | asyncio.CancelledError):
                self.failed.append(str(answer) or "cancelled")
            else:
                raise answer
        return found

    async def _ask(self, texts: Sequence[str]) -> ModelPoints:
        sources = "\n\n".join(fence(n, text) for n, text in enumerate(texts, start=1))
        message = Message("user", self._prompt.render(sources=sources, question=self._asking.ask.request.query))
        return await self._roles.session.structured("claims", [message], self._prompt.hash, ModelPoints)

    def _read(self, answer: ModelPoints, reports: Sequence[Report], sentences: Sentences) -> list[Claim]:
        found = []
        for answered_point in answer.points:
            report = reports[answered_point.report - 1] if 0 < answered_point.report <= len(reports) else None
            named = (
                [report.findings[n - 1] for n in answered_point.findings if 0 < n <= len(report.findings)]
                if report
                else []
            )
            ids = list(dict.fromkeys(name for finding in named for name in finding.sentence_ids))
            sources = in_order(sentences, ids)[: 2 * MOST_SENTENCES]
            if report is None or not sources:
                self.dropped += 1
            elif answered_point.score > 0:
                point = " ".join(answered_point.point.split())[:_LONGEST_POINT]
                if not rests_on(point, " ".join([report_text(report), *(one.text for one in sources)])):
                    point = " ".join(sources[0].text.split())
                found.append(Claim(point, sources, answered_point.score / 10, report.id, "llm"))
        return found


def report_text(report: Report) -> str:
    """The text of a report for a model, with numbered findings."""
    findings = [f"{n}. {finding.text}" for n, finding in enumerate(report.findings, start=1)]
    return "\n".join([report.title, report.summary, *findings])


# The reduce step: the answer from the best points, with the sources of every sentence.
MOST_SOURCES = 24
"""The maximum number of chunks from which a model writes an answer; it receives a few sentences of each."""


def answer_points(asking: Asking, points: Sequence[Claim], tools: Tools) -> tuple[Answer, str]:
    """Answer with the engine of the role `answer`; if its model fails, compose the answer and mark it as partial."""
    passages = [] if asking.ask.cancel.is_set() else claim_passages(points, every=True)[:MOST_SOURCES]
    written = model_answer(tools, asking.ask, passages, asking.asked)
    return or_extractive(*written, lambda: compose(asking, points, tools))


def compose(asking: Asking, points: Sequence[Claim], tools: Tools) -> Answer:
    """Compose the answer from the passages that support the points; for a question about the collection as a whole,
    from the best points themselves, one of each report before a second of any."""
    if not points:
        return abstained("no community report was judged relevant", message_language(asking.ask.request.query))
    if asking.whole:
        return spread_answer(asking.ask, points)
    similarity = max(asking.similarity(point.sentences[0]) for point in points)
    return compose_claims(tools, asking.ask, asking.terms, points, similarity)


class GlobalSearch:
    """Global searches of one collection. May be shared by threads."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self._reports = PerSnapshot(_reports_with_terms)

    def search(self, ask: Ask) -> SearchResult:
        """The result of one question. `claims` are the points of the answer."""
        asking = begin(self.tools, *self._reports.of(ask.index), ask)
        chosen = self._selected(asking)
        points = self._points(asking, chosen)
        answer, engine = Answer([], "complete"), "none"
        if ask.request.answer:
            answer, engine = (
                answer_points(asking, points, self.tools) if points else (self._nothing(asking), "extractive")
            )
        if ask.cancel.is_set():
            asking.warnings.append("The search was cancelled; this is what it had found.")
            answer = replace(answer, status="partial")
        return result_of(
            ask,
            answer,
            engine,
            _passages(points),
            warnings=[*asking.ranking.warnings, *asking.warnings],
            claims=[point.as_dict() for point in points],
            communities=[report.id for report in chosen],
        )

    def _selected(self, asking: Asking) -> list[Report]:
        """The selected reports, best first. A model rates them only in dynamic selection, with the role `assess`."""
        settings, reports = asking.ask.settings.reports, asking.reports
        own = own_ratings(asking)
        if settings.selection == "static":
            places = sorted(static_selection(reports, settings.level), key=lambda place: (-own[place], place))
        elif asking.roles is not None and self.tools.uses_model("assess"):
            places = dynamic_selection(reports, ModelRater(asking, asking.roles), settings.relevant_from)
        elif asking.whole:
            places = sorted(reports.roots, key=lambda place: (-own[place], place))
        else:
            places = dynamic_selection(reports, lambda some: [own[place] for place in some], settings.relevant_from)
        for place in places:
            report = reports.all[place]
            asking.ask.emit({"event": "community", "community_id": report.id, "level": report.level, "subquery": 0})
        return [reports.all[place] for place in places]

    def _points(self, asking: Asking, reports: list[Report]) -> list[Claim]:
        """Points by the engine of the role `claims`, best first, without duplicates, within the token budget."""
        sentences = sentences_of(asking, reports)
        points: list[Claim] = []
        if asking.roles is not None and self.tools.uses_model("claims") and not asking.ask.cancel.is_set():
            mapper = ModelMapper(asking, asking.roles)
            points = mapper.points(reports, sentences)
            if mapper.dropped:
                asking.warnings.append(f"{mapper.dropped} points of the model rest on no finding and were left out.")
            if mapper.failed:
                asking.warnings.append(f"{len(mapper.failed)} calls for points failed: {mapper.failed[0]}")
        if not points:
            points = extractive_points(asking, reports, sentences)
        lowest = asking.ask.settings.min_score
        points = [point for point in points if lowest is None or round(point.score, 2) >= lowest]
        points.sort(key=lambda point: (-point.score, point.sentences[0].sentence_id))
        terms = asking.ask.index.keywords.terms([point.statement for point in points[:MOST]])
        distinct = merged(list(zip(points[:MOST], map(frozenset, terms), strict=True)))
        kept = within_tokens(distinct, asking.ask.settings.reports.reduce_tokens)
        for point in kept:
            asking.ask.emit({"event": "claim", **point.as_dict()})
        return kept

    def _nothing(self, asking: Asking) -> Answer:
        if not asking.reports.all:
            return abstained("the collection has no community reports", message_language(asking.ask.request.query))
        lowest = asking.ask.settings.min_score
        reason = (
            "no community report was judged relevant" if lowest is None else f"no point reaches the score {lowest:g}"
        )
        return abstained(reason, message_language(asking.ask.request.query))


def _reports_with_terms(index: OpenIndex) -> tuple[Reports, list[frozenset[str]]]:
    reports = load_reports(index.snapshot.cursor())
    terms = index.keywords.terms([f"{report.title}\n{report.text}" for report in reports.all])
    return reports, [frozenset(own) for own in terms]


def _passages(points: list[Claim]) -> list[Passage]:
    """The chunks that support the points, by their best point."""
    found: dict[str, Passage] = {}
    for point in points:
        for sentence in point.sentences:
            passage = sentence.passage
            found.setdefault(passage.chunk_id, replace(passage, score=round(point.score, 2)))
    return list(found.values())
