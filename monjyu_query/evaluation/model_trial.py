"""Tries one model with small tasks within a time limit; reports results by role, and suggests settings."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel

from monjyu_core.embedding.remote import RemoteEmbedder
from monjyu_core.models.account import Accounting
from monjyu_core.models.call_errors import ModelCallError, PromptTooLong
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.models.calls.event_loop import run
from monjyu_core.models.calls.gateway import Gateway, Session
from monjyu_core.models.clients.learned_options import learned_of
from monjyu_core.models.factory import named_model, rerank_client, server_of
from monjyu_core.models.ledger import Scope
from monjyu_core.models.types import ChatReply, Message
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.text.tokens import count_tokens
from monjyu_query.evaluation.trial_tasks import COURSE, HOW_LONG, ICE, Task, tasks

Kind = Literal["chat", "embed", "rerank"]
Outcome = Literal["right", "wrong", "failed", "no time"]
Verdict = Literal["good", "in part", "no", "failed", "not tried"]
SECONDS = 60.0
LEAST_SECONDS = 5.0
"""Seconds that must be left to start a task."""
_SHARE_OF_CONTEXT = 0.7
_SLOW = 15.0
"""Output tokens per second below which an answer takes most of a minute."""
_FILLER = "The station was visited in the morning and the instruments were read by hand. "
_CODE = "HERON-7314"


class Tried(BaseModel):
    """The result of one task; `why` is the reason why it is wrong or failed."""

    role: str
    roles: list[str]
    about: str
    outcome: Outcome
    why: str = ""
    seconds: float = 0.0


class RoleVerdict(BaseModel):
    role: str
    right: int
    tried: int
    verdict: Verdict
    why: str = ""


class ModelTrial(BaseModel):
    """The result of `monjyu models try`, in the form that `--json` prints. Speeds are tokens per second, prices US
    dollars."""

    name: str
    model: str
    address: str
    tasks: list[Tried]
    roles: list[RoleVerdict]
    facts: list[str]
    settings: list[str]
    seconds: float
    calls: int
    cost_usd: float


def kinds_of(settings: Settings, name: str) -> list[Kind]:
    """Return the purposes for which the settings use the model, or chat if they do not use it."""
    kinds: list[Kind] = ["embed"] if settings.embedding.remote == name else []
    roles = settings.roles
    if roles.rerank.engine == "llm" and roles.rerank.model == name:
        kinds.append("rerank")
    others = set(type(roles).model_fields) - {"embed", "rerank"}
    chats = any(getattr(roles, role).engine == "llm" and getattr(roles, role).model == name for role in others)
    return ["chat", *kinds] if chats or not kinds else kinds


def try_model(
    settings: Settings,
    name: str,
    kinds: Sequence[Kind] = (),
    seconds: float = SECONDS,
    told: Callable[[Tried], None] = lambda _: None,
) -> ModelTrial:
    """Try the model called `name` within `seconds`; `told` is called with the result of each task. Raises
    ConfigurationError if the model is not set up."""
    trial = _Trial(settings, name, seconds, told)
    for kind in kinds or kinds_of(settings, name):
        {"chat": trial.chat, "embed": trial.embed, "rerank": trial.rerank}[kind]()
    return trial.result()


class _Trial:
    def __init__(self, settings: Settings, name: str, seconds: float, told: Callable[[Tried], None]) -> None:
        self._began, self._until = time.monotonic(), time.monotonic() + seconds
        self._name, self._told = name, told
        self._settings = _only(settings, name, seconds)
        self._model = named_model(self._settings, name, "`monjyu models try`")[1]
        self._server = server_of(name, self._model)
        self._account = Accounting(self._settings, DataFolder.default()).account(Scope("query", "models try"))
        self.tasks: list[Tried] = []
        self.facts: list[str] = []
        self.follows: list[str] = []

    @property
    def _left(self) -> float:
        return self._until - time.monotonic()

    def chat(self) -> None:
        """Try the roles that request text."""
        run(self._chat())

    async def _chat(self) -> None:
        gateway = Gateway(self._account.accounting)
        try:
            session = gateway.session(self._account)
            for task in tasks():
                await self._try(task, session)
                if all(one.outcome == "failed" for one in self.tasks):
                    break  # no server answers, or it refuses everything: the other tasks would fail in the same way
            await self._context(session)
        finally:
            await gateway.close()
        self._facts_of_chat()

    async def _try(self, task: Task, session: Session) -> None:
        outcome, why, began = "no time", "", time.monotonic()
        if self._left > LEAST_SECONDS:
            try:
                async with asyncio.timeout(self._left):
                    why = await task.ask(session, self._settings)
                outcome = "wrong" if why else "right"
            except TimeoutError:
                why = "there was no time left for it"
            except ModelCallError as error:
                outcome, why = "failed", str(error)
        self._done(task.roles, task.about, outcome, why, began)

    def _done(self, roles: Sequence[str], about: str, outcome: str, why: str, began: float) -> None:
        seconds = round(time.monotonic() - began, 2)
        tried = Tried.model_validate(
            {"role": roles[0], "roles": roles, "about": about, "outcome": outcome, "why": why, "seconds": seconds}
        )
        self.tasks.append(tried)
        self._told(tried)

    async def _context(self, session: Session) -> None:
        """Test whether a prompt that fills most of `context_tokens` is read from its beginning."""
        window = self._model.context_tokens
        wanted = int(_SHARE_OF_CONTEXT * window)
        read, _ = self._speeds()
        if not any(one.outcome in ("right", "wrong") for one in self.tasks):
            return
        if self._left < LEAST_SECONDS or (read and wanted / read > self._left):
            self.facts.append(f"context: not tried, because {wanted} tokens would take too long")
            return
        repeats = wanted // count_tokens(_FILLER)
        text = (
            f"The code of the station is {_CODE}.\n{_FILLER * repeats}\nWhat is the code of the station? Write it only."
        )
        try:
            async with asyncio.timeout(self._left):
                reply = await session.chat("answer", [Message("user", text)], "context")
        except TimeoutError:
            self.facts.append(f"context: not known, because {wanted} tokens took too long")
        except PromptTooLong as error:
            self.facts.append(f"context: {wanted} tokens are refused: {error.message}")
            self.follows.append(f"models.{self._name}.context_tokens: what the server was started with, not {window}")
        except ModelCallError as error:
            self.facts.append(f"context: not known: {error.message}")
        else:
            self._note_context(reply, wanted, window)

    def _note_context(self, reply: ChatReply, wanted: int, window: int) -> None:
        if _CODE.casefold() in reply.text.casefold():
            self.facts.append(f"context: {wanted} tokens are read whole")
            return
        counted = reply.usage.prompt_tokens
        if not reply.usage.estimated and counted < wanted / 2:
            self.facts.append(f"context: of {wanted} tokens the server read {counted}, without an error")
            self.follows.append(f"models.{self._name}.context_tokens: {max(512, counted)}")
        else:
            self.facts.append(f"context: the beginning of a prompt of {wanted} tokens is lost")
            self.follows.append(f"models.{self._name}.context_tokens: {window // 2}")

    def _speeds(self) -> tuple[float, float]:
        """Return the tokens read and written per second, over the total time of the tasks."""
        seconds = sum(one.seconds for one in self.tasks if one.outcome != "no time")
        used = self._account.used
        return (used.prompt_tokens / seconds, used.completion_tokens / seconds) if seconds else (0.0, 0.0)

    def _facts_of_chat(self) -> None:
        done = [one for one in self.tasks if one.outcome in ("right", "wrong")]
        if not done:
            return
        used = self._account.used
        read, written = self._speeds()
        a_call = sum(one.seconds for one in done) / max(used.llm_calls, 1)
        self.facts.append(f"speed: {read:.0f} tokens/s read, {written:.1f} tokens/s written, {a_call:.1f} s per call")
        refused = learned_of(self._server).refused
        if refused:
            self.facts.append(f"parameters that the server refuses, which are omitted: {', '.join(refused)}")
        if "response_format" in refused:
            self.follows.append(f"models.{self._name}.native_schema: false")
        price = self._account.accounting.prices.price(self._model.model)
        if price is None:
            self.facts.append(f"price: {self._model.model} has none in spending.prices")
        else:
            self.facts.append(f"price: ${used.cost_usd:.4f} for {used.llm_calls} calls")
        if written < _SLOW:
            seconds = self._settings.roles.answer.max_tokens / max(written, 0.1)
            self.follows.append("roles.ROLE.concurrency: 1")
            self.follows.append(f"roles.ROLE.timeout_seconds: {max(60, int(2 * seconds))}")
        if any("reasoning used up" in one.why for one in self.tasks):
            self.follows.append("roles.ROLE.max_tokens: 4000, or a model that does not reason")

    def embed(self) -> None:
        """Try embeddings: of a question and two texts, of a full batch, and of a long text."""
        embedder = RemoteEmbedder(self._name, self._model, self._settings)
        began = time.monotonic()
        try:
            with charged_to(self._account):
                vectors = embedder.embed_passages([ICE[0], HOW_LONG, COURSE[0]])
                near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
                why = "" if near > far else "a question is no nearer to its answer than to another text"
                self._done(("embed",), "a question next to its answer", "wrong" if why else "right", why, began)
                began, size = time.monotonic(), self._settings.embedding.batch_size
                embedder.embed_passages([f"{ICE[n % 3]} {n}" for n in range(size)])
                seconds = time.monotonic() - began
                self._done(("embed",), f"{size} texts", "right", "", began)
                began = time.monotonic()
                embedder.embed_query(_FILLER * (self._model.context_tokens // count_tokens(_FILLER)))
                self._done(("embed",), f"a text of {self._model.context_tokens} tokens", "right", "", began)
        except ModelCallError as error:
            self._done(("embed",), "vectors of texts", "failed", str(error), began)
            return
        self.facts.append(f"vectors: {embedder.dimensions} dimensions, {size / max(seconds, 1e-3):.0f} texts/s")
        if embedder.most < size:
            self.facts.append(f"maximum number of texts in a request: {embedder.most}")
            self.follows.append(f"embedding.batch_size: {embedder.most}")
        if embedder.windowed:
            self.facts.append(f"a text of {self._model.context_tokens} tokens is too long: it is embedded in windows")
            self.follows.append(
                f"models.{self._name}.context_tokens: what the model reads, not {self._model.context_tokens}"
            )

    def rerank(self) -> None:
        """Try the ranking of three sentences for a question."""
        began = time.monotonic()
        try:
            scores = run(self._scores())
            why = "" if scores[1] == max(scores) else "the sentence that answers is not first"
            self._done(("rerank",), "the sentence that answers first", "wrong" if why else "right", why, began)
        except ModelCallError as error:
            self._done(("rerank",), "the sentence that answers first", "failed", str(error), began)

    async def _scores(self) -> list[float]:
        client = rerank_client(self._name, self._model, self._settings.roles.rerank.timeout_seconds)
        try:
            return await client.rerank(HOW_LONG, [COURSE[0], ICE[0], COURSE[1]])
        finally:
            await client.close()

    def result(self) -> ModelTrial:
        roles = list(dict.fromkeys(role for task in self.tasks for role in task.roles))
        verdicts = [_verdict(role, [one for one in self.tasks if role in one.roles]) for role in roles]
        good = [one.role for one in verdicts if one.verdict == "good" and one.role not in ("embed", "rerank")]
        roles_of = ", ".join(f"{role}: {{engine: llm, model: {self._name}}}" for role in good)
        follows = [f"roles: {{{roles_of}}}"] if good else []
        bad = [one for one in verdicts if one.verdict == "no" and one.role in ("verify", "judge")]
        follows += [f"roles.{one.role}.engine: extractive  # {one.why}" for one in bad]
        return ModelTrial(
            name=self._name,
            model=self._model.model,
            address=self._server.address,
            tasks=self.tasks,
            roles=verdicts,
            facts=self.facts,
            settings=list(dict.fromkeys([*follows, *self.follows])),
            seconds=round(time.monotonic() - self._began, 1),
            calls=self._account.used.llm_calls,
            cost_usd=self._account.used.cost_usd,
        )


def _verdict(role: str, tried: Sequence[Tried]) -> RoleVerdict:
    done = [one for one in tried if one.outcome != "no time"]
    right = sum(one.outcome == "right" for one in done)
    why = next((one.why for one in done if one.why), "")
    verdict: Verdict = "in part"
    if not done:
        verdict, why = "not tried", "no time was left"
    elif right == len(done):
        verdict = "good"
    elif all(one.outcome == "failed" for one in done):
        verdict = "failed" if "fails on sentences" not in why else "no"
    elif not right:
        verdict = "no"
    return RoleVerdict(role=role, right=right, tried=len(done), verdict=verdict, why=why)


def _only(settings: Settings, name: str, seconds: float) -> Settings:
    """Return the settings with this model in every role, without retries and cache."""
    roles = settings.roles
    update = {"engine": "llm", "model": name, "retries": 0, "timeout_seconds": seconds}
    tried = {role: getattr(roles, role).model_copy(update=update) for role in type(roles).model_fields}
    return settings.model_copy(
        update={
            "roles": roles.model_copy(update=tried),
            "cache": settings.cache.model_copy(update={"enabled": False}),
        }
    )
