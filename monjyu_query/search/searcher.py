"""Search in one collection: follows its published snapshots, runs a mode or controller, writes a trace."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
from pydantic import BaseModel

from monjyu_core.errors import QueryError, StorageError, among
from monjyu_core.models.account import Account, Accounting
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.models.ledger import Scope
from monjyu_core.observability import set_up_observability
from monjyu_core.storage.collection import collection_settings, known_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.manifest import unreadable
from monjyu_core.storage.snapshot import OPEN_TRIES, PinnedReader, SnapshotReader, read_current
from monjyu_core.values import Values
from monjyu_query.answers.answer import not_settled
from monjyu_query.asking.events import Emit, heard_by, unheard
from monjyu_query.asking.request import LONGEST_QUERY, Filters, SearchRequest
from monjyu_query.asking.result import SearchResult, Status
from monjyu_query.asking.which_collection import require_collection
from monjyu_query.modes.passage_search import search_for_nothing
from monjyu_query.papers.names import one_paper
from monjyu_query.questions.catalogue_answer import catalogue_answer
from monjyu_query.questions.described_papers import ask_of_described, follow_up_on_papers
from monjyu_query.questions.intents import Intent, recognised
from monjyu_query.ranking.open_index import OpenIndex, open_index
from monjyu_query.ranking.ranker import Ranking, best_rows, rank, rankings_of_search
from monjyu_query.ranking.scripts import foreign
from monjyu_query.ranking.tools import ROLES, Ask, Tools
from monjyu_query.search.all_modes import CONTROLLERS, all_modes
from monjyu_query.search.hit_details import describe_hits, retracted_sources, with_telemetry
from monjyu_query.search.routing.choose import cap_of, parameters_of, refuse, route, settings_for
from monjyu_query.search.routing.learned_router import asked_kind, learned_router
from monjyu_query.search.routing.question_kinds import Kind, kind_of
from monjyu_query.search.traces import TraceLog, new_trace_id, trace_of

if TYPE_CHECKING:
    from monjyu_query.questions.tension_list import Tensions

_LEADS_ON = ("vector", "hybrid", "lazy", "local", "global", "multi")
"""Modes whose answers end with further questions."""
FORGET_SECONDS = 5.0
"""The minimum number of seconds between two rereadings of a snapshot whose files fail."""


class Searcher:
    """Searches of one collection. Thread-safe; a request uses one snapshot until it ends."""

    def __init__(
        self,
        data: DataFolder,
        collection: str,
        traces: TraceLog | None = None,
        instead: Mapping[str, Any] | None = None,
        snapshot_id: str | None = None,
    ) -> None:
        """`instead`: groups of settings, as in a trace, that replace the collection's. With `snapshot_id`, only that
        snapshot is searched."""
        self.collection = collection
        self.folder = require_collection(data, collection)
        self._reader = PinnedReader(self.folder, snapshot_id) if snapshot_id else SnapshotReader(self.folder)
        settings = collection_settings(known_record(data, collection))
        replaced = {name: _settings_group(getattr(settings, name), values) for name, values in (instead or {}).items()}
        self.settings = settings.model_copy(update=replaced)
        set_up_observability(self.settings)
        self.tools = Tools(self.settings, Accounting(self.settings, data))
        self._traces = traces
        self._lock = threading.Lock()
        self._index: OpenIndex | None = None
        self._forgotten_at = -FORGET_SECONDS
        self._modes = all_modes(self.tools)

    @property
    def local(self) -> bool:
        """Whether no search uses a model or a service, so that equal questions on a snapshot have equal answers."""
        roles, chosen = self.settings.roles, self.settings.search
        models = any(getattr(roles, role).engine == "llm" for role in type(roles).model_fields)
        services = chosen.backend != "local" or chosen.router == "model" or self.settings.embedding.remote is not None
        return not models and not services

    def at(self, snapshot_id: str) -> Searcher:
        """A searcher of another snapshot with the same models and settings, which it releases when closed."""
        other = copy.copy(self)
        other._reader, other._index = PinnedReader(self._reader.collection, snapshot_id), None
        other._lock = threading.Lock()
        return other

    def prepare(self, mode: str = "hybrid") -> None:
        """Load the model and the current snapshot concurrently; later searches find them in memory."""
        loading = self.tools.embedder.prepare() if mode != "keyword" else None
        self.current()
        if loading is not None:
            loading.result()

    def current(self) -> OpenIndex:
        """The published snapshot, read into memory once; the previous one is released when its last request ends."""
        with self._lock:
            for tries_left in reversed(range(OPEN_TRIES)):
                snapshot = self._reader.current()
                if self._index is not None and self._index.snapshot is snapshot:
                    break
                self._index = None  # releases it, so that memory need not hold both
                try:
                    self._index = open_index(snapshot, self.settings)
                except (StorageError, duckdb.Error, OSError, RuntimeError) as error:
                    if not tries_left or read_current(self._reader.collection) == snapshot.id:
                        self._reader.forget()
                        raise self._as_storage_error(snapshot.id, error) from error
            assert self._index is not None
            return self._index

    def with_models(self, models: Mapping[str, str]) -> Searcher:
        """A copy of the searcher with `models` in its roles. Raises QueryError for an unknown role or model."""
        roles: Values = {}
        for role, name in models.items():
            if role not in ROLES:
                raise QueryError(f"models: {role!r} is not a role of a search.", among(role, ROLES))
            if name not in self.settings.models:
                raise QueryError(f"models: {name!r} is not set up.", among(name, list(self.settings.models)))
            roles[role] = getattr(self.settings.roles, role).model_copy(update={"engine": "llm", "model": name})
        other = copy.copy(self)
        other.settings = self.settings.model_copy(update={"roles": self.settings.roles.model_copy(update=roles)})
        other.tools = Tools(other.settings, self.tools.accounting)
        other._modes, other._lock = all_modes(other.tools), threading.Lock()
        return other

    def untraced(self) -> Searcher:
        """A copy of the searcher without traces, for repeating questions."""
        other = copy.copy(self)
        other._traces = None
        return other

    def forget(self) -> None:
        """Read the snapshot again for the next request, because its files failed and may have been repaired.

        This is limited in frequency, because reading a whole snapshot takes seconds.
        """
        with self._lock:
            if time.monotonic() - self._forgotten_at >= FORGET_SECONDS:
                self._forgotten_at = time.monotonic()
                self._index = None
                self._reader.forget()

    def search(
        self, request: SearchRequest, emit: Emit | None = None, cancel: threading.Event | None = None
    ) -> SearchResult:
        """Hits and, unless `answer` is off, a cited answer. Raises QueryError for invalid questions.

        `emit` is called for the checked sentences of a model's answer and for each step of a search that has steps;
        `cancel` ends such a search with a partial result.
        """
        if request.models:
            chosen, request = self.with_models(request.models), request.model_copy(update={"models": {}})
            return chosen.search(request, emit, cancel)
        if not self.tools.uses_model("answer"):
            _refuse_wishes(request)
        return with_telemetry(request, lambda: self._search(request, emit, cancel))

    def _search(self, asked: SearchRequest, emit: Emit | None, cancel: threading.Event | None) -> SearchResult:
        request = asked
        started = time.perf_counter()
        refuse(request)
        if request.mode != "keyword" or request.answer:
            self.tools.embedder.prepare()
        events: list[Values] = []
        heard = emit if self._traces is None else heard_by([events.append, *filter(None, [emit])])
        ask = self._ask(self.current(), request, heard, cancel)
        request = ask.request
        routed = time.perf_counter()
        rankings: dict[str, Ranking] = {}
        rankings_of_search.set(rankings)
        try:
            ask, result = self._answered(ask)
        except (duckdb.Error, OSError, RuntimeError) as error:
            held = ask.index.snapshot.id
            if read_current(self._reader.collection) == held:
                self.forget()
                raise self._as_storage_error(held, error) from error
            events.clear()
            ask = self._ask(self.current(), asked, heard, cancel)
            ask, result = self._answered(ask)  # a later publish deleted the files of the previous snapshot
        if ask.account.failures:
            result = not_settled(result, ask.account.failures[0].message)
        written_out = ask.read_as or request.query
        result.query, result.resolved_query = asked.query, written_out if written_out != asked.query else None
        searched = time.perf_counter()
        self._describe(result, ask, rankings)
        phases = result.phases or {"search": searched - routed}
        whole = {"route": routed - started, **phases, "describe": time.perf_counter() - searched}
        result.phases = {name: round(seconds, 6) for name, seconds in whole.items()}
        result.usage.seconds = round(time.perf_counter() - started, 6)
        kept = self.settings.traces
        if self._traces is not None and not kept.newest:
            self._traces.forget(self.collection)
        elif self._traces is not None:
            settings = self.settings.model_dump(mode="json", include={"search", "answer"})
            self._traces.write(result.trace_id, trace_of(asked, result, settings, events), kept)
        return result

    def _describe(self, result: SearchResult, ask: Ask, rankings: Mapping[str, Ranking]) -> None:
        """Add what all modes share: why each hit was found, and which model wrote the answer."""
        describe_hits(ask.index, ask.request.query, result.hits, rankings.get(ask.request.query))
        result.warnings += retracted_sources(ask.index, result.citations)
        if ask.request.context:
            from monjyu_query.answers.model.checking import context_of

            result.context = context_of(ask.index, ask.request.query, result.hits, result.claims, ask.request.context)
        if result.segments and result.mode in _LEADS_ON:
            from monjyu_query.knowledge.follow_ups import follow_ups

            result.follow_ups = follow_ups(ask.index, ask.request.query, result)
        if result.answer_engine == "llm":
            roles = self.settings.roles
            result.model = self.settings.models[roles.answer.model].model

    def account(self, index: OpenIndex) -> Account:
        """The account of calls outside a search, with the caps of one question."""
        return self._account(index, new_trace_id())

    def tensions(self, concept: str | None = None, most: int = 50) -> Tensions:
        """Contradictions between papers, as judged by the model of `roles.verify`; about a concept, or all."""
        from monjyu_query.questions.tension_list import tensions_of

        index = self.current()
        return tensions_of(index, self.tools, self.account(index), concept, most)

    def rank_papers(self, query: str, mode: str, depth: int) -> list[tuple[str, float]]:
        """The best `depth` papers with the score of their best chunk, best first, for measuring retrieval."""
        index = self.current()
        with charged_to(self._account(index, "evaluation")):
            ranking = rank(index, self.tools.embedder, query, mode, Filters(), self.settings.search)
        rows = best_rows(ranking.scores, index.corpus.paper, depth, per_paper=1)
        papers = index.corpus.paper_ids
        return [(papers[index.corpus.paper[row]], float(ranking.scores[row])) for row in rows]

    def _ask(self, index: OpenIndex, request: SearchRequest, emit: Emit | None, cancel: threading.Event | None) -> Ask:
        account = self._account(index, new_trace_id(), request)
        asked, (request, first) = request, follow_up_on_papers(index, request)
        resolved = self._resolved(request, account)
        request = request if resolved is None else request.model_copy(update={"query": resolved[:LONGEST_QUERY]})
        request = _of_present_papers(index, request)
        settings = self.settings.search
        level = index.snapshot.manifest.level
        kind = self._kind(request, account)
        unread = foreign(request.query, index.languages) and not self.tools.uses_model("assess")
        written = index.written_reports
        mode, routing = route(request, settings, level, kind, written_reports=written, unread=unread)
        settings = settings_for(request, settings)
        routing.params = parameters_of(
            request, settings, mode, level, reranks=bool(self.tools.rerank_engine(request, enabled=settings.rerank))
        )
        return Ask(
            index=index,
            request=request,
            settings=settings,
            mode=mode,
            routing=routing,
            account=account,
            emit=emit or unheard,
            cancel=cancel or threading.Event(),
            first=tuple(first) if request.query != asked.query else (),
        )

    def _resolved(self, request: SearchRequest, account: Account) -> str | None:
        """A follow-up rewritten as a complete question, by the model of `roles.expand` if that role has one; None if
        the question is complete by itself."""
        if not request.history:
            return None
        from monjyu_query.search.follow_up import resolve, resolved_by_model

        if self.tools.uses_model("expand"):
            return resolved_by_model(self.tools, request.query, request.history, account)
        return resolve(request.query, request.history)

    def _account(self, index: OpenIndex, trace_id: str, request: SearchRequest | None = None) -> Account:
        level = index.snapshot.manifest.level
        scope = Scope("query", trace_id, level, self.collection, run_id=trace_id)
        return self.tools.accounting.account(scope, cap_of(self.settings.spending, request))

    def _kind(self, request: SearchRequest, account: Account) -> Kind:
        """The kind of the question by packaged weights, by patterns or, if set and needed for the mode, by a model."""
        if self.settings.search.router == "patterns":
            return kind_of(request.query)
        if self.settings.search.router == "model" and request.mode == "auto":
            return asked_kind(self.tools, request.query, account, lambda: self._learned_kind(request))
        return self._learned_kind(request)

    def _learned_kind(self, request: SearchRequest) -> Kind:
        """The learned kind, with the question's vector if the search needs it and the weights fit its model."""
        router = learned_router()
        model = self.tools.embedder.local_model()
        if request.mode == "keyword" or model not in router.models():
            return router.kind(request.query)
        return router.kind(request.query, self.tools.embedder.vector(request.query), model)

    def _as_storage_error(self, snapshot_id: str, error: Exception) -> StorageError:
        return error if isinstance(error, StorageError) else unreadable(self.collection, snapshot_id, error)

    def _answered(self, ask: Ask) -> tuple[Ask, SearchResult]:
        """Answer by the question's intent, otherwise as a digest, otherwise by a search: of the described paper, of the
        previous answer's papers, or of all. A question that could not be embedded is answered by keywords, unless mode
        vector was requested."""
        with charged_to(ask.account):
            try:
                found = self._known(ask)
                if found is None:
                    ask, found = ask_of_described(ask)
                found = found or search_for_nothing(self.tools, ask) or self._of_first(ask)
                return ask, found or CONTROLLERS[ask.request.controller](self._modes, ask)
            except ModelCallError as error:
                if ask.request.mode in ("vector", "keyword"):
                    raise
                settings = ask.settings.model_copy(update={"min_score": None})  # it had another scale
                result = self._modes.search(replace(ask, mode="keyword", settings=settings))
                status: Status = "partial" if result.status == "complete" else result.status
                told = f"Passages were found by keywords alone, because the question could not be embedded: {error}"
                return ask, result.model_copy(update={"status": status, "warnings": [told, *result.warnings]})

    def _of_first(self, ask: Ask) -> SearchResult | None:
        """Answer a follow-up from the papers of the previous answer; None if these do not answer it."""
        if not ask.first or ask.request.filters.paper_ids:
            return None
        filters = ask.request.filters.model_copy(update={"paper_ids": list(ask.first)})
        narrow = replace(ask, request=ask.request.model_copy(update={"filters": filters}))
        result = CONTROLLERS[ask.request.controller](self._modes, narrow)
        return result if result.status == "complete" else None

    def _known(self, ask: Ask) -> SearchResult | None:
        """Answer a question about the collection as a whole from existing knowledge: with the handlers of its intent,
        in order, or with a digest. Intents are those of `monjyu_query/questions/intents.py`."""
        intent = recognised(ask.request.query)
        if intent is not None:
            for handler in _handlers(intent.name):
                if (found := handler(ask, self.tools, intent)) is not None:
                    return found
        if not ask.request.open_ended:
            return None
        from monjyu_query.digests.questions import digest_in_plain_words

        return digest_in_plain_words(self, ask)


def _handlers(intent: str) -> tuple[Callable[[Ask, Tools, Intent], SearchResult | None], ...]:
    """The handlers of an intent, in order; the catalogue handles all other intents. What papers cite or refer to may be
    a subject instead of a paper."""
    if intent == "tensions":
        from monjyu_query.questions.tension_list import tension_answer

        return (tension_answer,)
    if intent == "themes":
        from monjyu_query.questions.theme_answer import theme_answer

        return (theme_answer,)
    if intent in ("papers", "often", "citing"):
        from monjyu_query.questions.paper_list_answer import paper_list_answer

        return (catalogue_answer, paper_list_answer) if intent == "citing" else (paper_list_answer,)
    return (catalogue_answer,)


def _refuse_wishes(request: SearchRequest) -> None:
    """Raise QueryError for requests that only an answering model can fulfil."""
    hint = "Set roles.answer.engine to llm, or name a model for this question (`models`, --model answer=NAME)."
    if request.style:
        raise QueryError(f"response_type: {request.style!r} is understood only if a model answers.", hint)
    if request.system_prompt:
        raise QueryError("system_prompt: is used only if a model answers.", hint)


def _of_present_papers(index: OpenIndex, request: SearchRequest) -> SearchRequest:
    """The request with the current ids of the papers in its filter, which may also name or describe them. Raises
    QueryError for one that names no paper, or several."""
    asked = request.filters.paper_ids
    present = [paper if paper in index.about_papers else one_paper(index, paper) for paper in asked]
    if present == asked:
        return request
    return request.model_copy(update={"filters": request.filters.model_copy(update={"paper_ids": present})})


def _settings_group(group: BaseModel, values: Mapping[str, object]) -> BaseModel:
    """A group of settings with other values; unknown names, as in old traces, are ignored."""
    known = {name: value for name, value in values.items() if name in type(group).model_fields}
    return type(group)(**known)
