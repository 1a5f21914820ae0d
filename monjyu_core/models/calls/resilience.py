"""Guards the calls of one role to a server: limits, time-outs, retries with jitter, a circuit breaker, and a report of
each attempt.

A call that succeeded or cannot succeed is never retried. Nor is a stream that broke off after its first piece of text:
the text so far is then the answer, marked as `broken`. Cancelling ends the call immediately.
"""

import asyncio
import logging
import math
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar, cast

from monjyu_core.models.call_errors import (
    ModelCallError,
    ModelRateLimited,
    ModelServerError,
    ModelUnavailable,
    ModelUnreachable,
)
from monjyu_core.models.types import ChatReply, TokenUsage
from monjyu_core.settings.models import RoleSettings

# The limits of one role on its server: concurrent calls, requests and tokens per minute, and pauses that the server
# asks for.
MINUTE = 60.0
LONGEST_PAUSE = 120.0
"""In seconds. If a server asks for a longer pause, calls fail with a message instead of waiting."""
_SHORTEST_SLEEP = 0.001


@dataclass(frozen=True)
class Timing:
    """Clock, sleep and random numbers, so that tests depend on neither time nor chance. `now` is in seconds from any
    start; `chance` returns numbers from 0 up to 1."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


REAL = Timing()


@dataclass(eq=False)
class Entry:
    """An amount that counts in a window from `at` on; it is corrected when the actual amount is known."""

    at: float
    amount: int


class Window:
    """Admits at most `most` in any `MINUTE` (a sliding window; a bucket would admit twice as much at first). `most` 0
    means no limit. An amount above `most` passes when nothing else is in the window.
    """

    def __init__(self, most: int, timing: Timing) -> None:
        self._most = most
        self._timing = timing
        self._entries: deque[Entry] = deque()

    def wait(self, amount: int) -> float:
        """Seconds until the amount fits; 0 if it fits now."""
        if not self._most:
            return 0.0
        now = self._timing.now()
        while self._entries and self._entries[0].at + MINUTE <= now:
            self._entries.popleft()
        too_many = sum(entry.amount for entry in self._entries) + amount - self._most
        for entry in self._entries:
            if too_many <= 0:
                return 0.0
            too_many -= entry.amount
            if too_many <= 0:
                return max(entry.at + MINUTE - now, _SHORTEST_SLEEP)
        return max(self._entries[-1].at + MINUTE - now, _SHORTEST_SLEEP) if self._entries else 0.0

    def add(self, amount: int) -> Entry:
        entry = Entry(self._timing.now(), amount)
        if self._most:
            self._entries.append(entry)
        return entry


class Limits:
    """The limits of one role in one process. Belongs to one event loop."""

    def __init__(self, settings: RoleSettings, timing: Timing = REAL) -> None:
        self._timing = timing
        self._places = asyncio.Semaphore(settings.concurrency)
        self._turn = asyncio.Lock()
        self._requests = Window(settings.requests_per_minute, timing)
        self._tokens = Window(settings.tokens_per_minute, timing)
        self._paused_until = 0.0
        self.counts_tokens = settings.tokens_per_minute > 0

    async def enter(self, tokens: int) -> Entry:
        """Wait for a slot and for the limits, first come, first served. `leave` returns the slot.

        Raises ModelRateLimited if the server has asked for a pause that is too long to wait for.
        """
        await self._places.acquire()
        try:
            async with self._turn:
                while (wait := self._wait(tokens)) > 0:
                    await self._timing.sleep(wait)
                self._requests.add(1)
                return self._tokens.add(tokens)
        except BaseException:
            self._places.release()
            raise

    def leave(self, entry: Entry, tokens: int | None) -> None:
        """Return the slot. `tokens`: the number used, or None if unknown."""
        if tokens is not None:
            entry.amount = tokens
        self._places.release()

    def pause(self, seconds: float) -> None:
        """Start no call of this role for `seconds` and up to a tenth more (at most one second), drawn at random so that
        processes do not start at the same time."""
        until = self._timing.now() + seconds + self._timing.chance() * min(1.0, seconds / 10)
        self._paused_until = max(self._paused_until, until)

    def _wait(self, tokens: int) -> float:
        pause = max(0.0, self._paused_until - self._timing.now())
        if pause > LONGEST_PAUSE + 1:
            raise ModelRateLimited(
                f"The server asks to wait {pause:.0f} seconds.", "Try again later.", retry_after=pause
            )
        return max(pause, self._requests.wait(1), self._tokens.wait(tokens))


FAILURES = 5
"""The number of consecutive failures that opens the breaker."""
PAUSE = 30.0
"""Seconds that the breaker stays open."""


class Breaker:
    """A circuit breaker. Closed: calls pass. Open: no call passes for `pause` seconds. Half open: one call passes and
    decides. Failures of concurrent calls count as one, so that a brief fault does not stop all calls.
    """

    def __init__(self, failures: int = FAILURES, pause: float = PAUSE, timing: Timing = REAL) -> None:
        self._most = failures
        self._pause = pause
        self._timing = timing
        self._failures = 0
        self._failed_at = self._open_until = -math.inf
        self._trying = False
        self._last: ModelCallError | None = None

    def check(self) -> None:
        """Raise ModelUnavailable if a call would not pass now."""
        if self._failures < self._most:
            return
        left = self._open_until - self._timing.now()
        if left > 0 or self._trying:
            reason = self._last.message if self._last else ""
            error = ModelUnavailable(
                f"No call was made, because the last {self._failures} failed: {reason}",
                f"The next is tried in {max(left, 1):.0f} seconds. Check the server, or use the extractive engine.",
                retry_after=max(left, 0.0),
            )
            error.cause = self._last
            raise error

    def admit(self) -> None:
        """Like `check`, for a call that is about to start. One of `succeeded`, `failed` or `left` must follow."""
        self.check()
        self._trying = self._failures >= self._most

    def succeeded(self) -> None:
        """Record that the server has answered, even with a refusal."""
        self._failures = 0
        self._trying = False
        self._last = None

    def failed(self, error: ModelCallError, started: float) -> None:
        """Record a failure; `started` is when the call began, on the breaker's clock."""
        self._trying = False
        self._last = error
        if started < self._failed_at:
            return
        self._failures += 1
        self._failed_at = self._timing.now()
        if self._failures >= self._most:
            self._open_until = self._failed_at + self._pause

    def left(self) -> None:
        """Record a call that says nothing about the server: it was cancelled, rate limited, or its input was wrong."""
        self._trying = False


FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds: the wait before retry n is drawn from 0 to `FIRST_WAIT * 2**(n-1)`, at most `LONGEST_WAIT` ("full jitter",
M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015)."""
STREAM_FACTOR = 10
"""The factor on `timeout_seconds` that limits a streamed answer in total; each wait for a piece may take
`timeout_seconds`."""

T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Attempt:
    """One attempt of a call. `usage` is None if the tokens are unknown; `error` is CancelledError if the caller gave
    up; `again`: a retry follows."""

    number: int
    seconds: float
    usage: TokenUsage | None
    error: BaseException | None
    again: bool = False


OnAttempt = Callable[[Attempt], None]


def ignore_attempt(_: Attempt) -> None: ...


@dataclass
class _Open:
    """An attempt in progress."""

    number: int
    started: float
    entry: Entry
    on_attempt: OnAttempt


class Guard:
    """The guard between one role and its server. Belongs to one event loop; create one per role and process."""

    def __init__(
        self,
        name: str,
        settings: RoleSettings,
        timing: Timing = REAL,
        place: str = "the role's ",
    ) -> None:
        """`name` is for messages, `place` the prefix of setting names in them (`roles.verify.`)."""
        self._name = name
        self._place = place
        self._settings = settings
        self._timing = timing
        self._limits = Limits(settings, timing)
        self._breaker = Breaker(timing=timing)

    @property
    def concurrency(self) -> int:
        """The maximum number of concurrent calls."""
        return self._settings.concurrency

    @property
    def counts_tokens(self) -> bool:
        """Whether the number of tokens must be known before the call."""
        return self._limits.counts_tokens

    async def call(
        self,
        work: Callable[[], Awaitable[T]],
        usage: Callable[[T], TokenUsage],
        tokens: int,
        on_attempt: OnAttempt,
        *,
        input_may_be_wrong: bool = False,
    ) -> T:
        """The result of `work`, which makes one request; `tokens` is the number that it is expected to use. Raises
        ModelCallError.

        `input_may_be_wrong`: the input may cause a failure with status 500 or 424 or a malformed reply, so such a
        failure is not retried and does not count as a failure of the server.
        """
        for number in count(1):
            attempt = await self._begin(number, tokens, on_attempt)
            try:
                async with asyncio.timeout(self._settings.timeout_seconds):
                    result = await work()
            except BaseException as error:
                of_input = input_may_be_wrong and isinstance(error, ModelServerError) and error.may_be_of_input
                await self._repeat_or_raise(attempt, error, lasting=of_input)
            else:
                self._end(attempt, usage(result))
                return result
        raise AssertionError("unreachable")

    async def stream(
        self,
        work: Callable[[], AsyncIterator[str | ChatReply]],
        spent: Callable[[str], TokenUsage],
        tokens: int,
        on_attempt: OnAttempt,
    ) -> AsyncGenerator[str | ChatReply, None]:
        """Yield the items of `work`: pieces of text, then the reply. If the stream breaks off after its first piece,
        the reply is the text so far, with the usage that `spent` estimates for it."""
        for number in count(1):
            attempt = await self._begin(number, tokens, on_attempt)
            text = ""
            try:
                async with aclosing(self._timed(work())) as items:
                    async for item in items:
                        if isinstance(item, ChatReply):
                            break
                        text += item
                        yield item
                    else:
                        raise ModelUnreachable(f"{self._name}: the stream ended without a reply.")
            except BaseException as error:
                problem = self._problem(error)
                if text and isinstance(problem, ModelCallError):
                    used = spent(text)
                    self._report(attempt, problem, used)
                    yield ChatReply(text, "broken", used, "", refusal=problem.message)
                    return
                await self._repeat_or_raise(attempt, error, spent(text) if text else None)
            else:
                self._end(attempt, item.usage)
                yield item
                return

    async def _timed(self, items: AsyncIterator[T]) -> AsyncGenerator[T, None]:
        """The items, with the role's time-out on each and `STREAM_FACTOR` times it on all."""
        clock = asyncio.get_running_loop()
        last = clock.time() + STREAM_FACTOR * self._settings.timeout_seconds
        try:
            while True:
                try:
                    async with asyncio.timeout_at(min(last, clock.time() + self._settings.timeout_seconds)):
                        item = await anext(items)
                except StopAsyncIteration:
                    return
                yield item
        finally:
            await cast("AsyncGenerator[Any, None]", items).aclose()

    async def _begin(self, number: int, tokens: int, on_attempt: OnAttempt) -> _Open:
        self._breaker.check()
        entry = await self._limits.enter(tokens)
        try:
            self._breaker.admit()
        except BaseException:
            self._limits.leave(entry, 0)
            raise
        return _Open(number, self._timing.now(), entry, on_attempt)

    def _end(self, attempt: _Open, usage: TokenUsage) -> None:
        self._breaker.succeeded()
        self._limits.leave(attempt.entry, usage.prompt_tokens + usage.completion_tokens)
        attempt.on_attempt(Attempt(attempt.number, self._timing.now() - attempt.started, usage, None))

    async def _repeat_or_raise(
        self, attempt: _Open, error: BaseException, spent: TokenUsage | None = None, *, lasting: bool = False
    ) -> None:
        """Report a failed attempt; then wait before the next one, or raise. `spent`: the usage of text that was already
        passed on; a `lasting` error is due to the input. Neither is retried."""
        problem = self._problem(error)
        passes = isinstance(problem, ModelCallError) and problem.may_pass and not lasting and spent is None
        again = passes and attempt.number <= self._settings.retries
        try:
            self._report(attempt, problem, spent, of_server=not lasting, again=again)
        finally:
            if not isinstance(problem, ModelCallError):
                raise problem
        if not again:
            raise problem from None
        if isinstance(problem, ModelUnreachable):  # the attempts may take long, so users who wait are informed
            _log.warning("%s Retrying (%d of %d).", problem.message, attempt.number, self._settings.retries)
        if problem.retry_after is None:
            longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt.number - 1))
            await self._timing.sleep(longest * self._timing.chance())

    def _problem(self, error: BaseException) -> BaseException:
        if isinstance(error, TimeoutError):
            return ModelUnreachable(
                f"{self._name}: no answer in {self._settings.timeout_seconds:g} seconds.",
                f"Raise {self._place}timeout_seconds if the model is slow, or lower {self._place}concurrency if its "
                "server answers one call at a time.",
            )
        return error

    def _report(
        self,
        attempt: _Open,
        problem: BaseException,
        spent: TokenUsage | None,
        *,
        of_server: bool = True,
        again: bool = False,
    ) -> None:
        """Report a failed attempt to limits, breaker and caller."""
        self._note(problem, attempt.started, of_server=of_server)
        self._limits.leave(attempt.entry, 0 if isinstance(problem, ModelRateLimited) else None)
        cause = asyncio.CancelledError() if isinstance(problem, GeneratorExit) else problem
        attempt.on_attempt(Attempt(attempt.number, self._timing.now() - attempt.started, spent, cause, again))

    def _note(self, problem: BaseException, started: float, *, of_server: bool) -> None:
        """Record what the failure says about the server."""
        if not of_server:
            self._breaker.left()
        elif isinstance(problem, ModelServerError | ModelUnreachable):
            self._breaker.failed(problem, started)
        elif isinstance(problem, ModelCallError) and not isinstance(problem, ModelRateLimited):
            self._breaker.succeeded()
        else:
            self._breaker.left()
        if isinstance(problem, ModelCallError) and problem.retry_after is not None:
            self._limits.pause(problem.retry_after)
