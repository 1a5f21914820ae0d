"""What can go wrong with a model call. Two questions decide what is done: may it pass, and was it paid for?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monjyu_core.errors import LLMError


class ModelCallError(LLMError):
    """Base. `may_pass`: the same call may succeed later. `retry_after`: seconds the server asks to wait, or None.
    `status`: that of the server's refusal, where it was one."""

    may_pass = False

    def __init__(
        self, message: str, hint: str = "", *, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after
        self.status = status


class ModelUnreachable(ModelCallError):
    """No connection, or it was closed before an answer; a timeout too."""

    may_pass = True


class ModelRateLimited(ModelCallError):
    """429: too many requests or tokens. Where `retry_after` is None the wait is ours to choose."""

    may_pass = True


class ModelServerError(ModelCallError):
    """5xx of the server."""

    may_pass = True

    @property
    def may_be_of_input(self) -> bool:
        """Whether what was sent may be the cause: 424 is what Text Embeddings Inference says of its own backend."""
        return self.status in (None, 424, 500)


class ModelRefused(ModelCallError):
    """4xx that no repetition mends: wrong key, unknown model, bad request, quota used up."""


class PromptTooLong(ModelRefused):
    """The prompt has more tokens than the server reads at once."""


class ModelContentFiltered(ModelCallError):
    """The server's content filter stopped the question or the answer."""


class ModelAnswerUnusable(ModelCallError):
    """The answer is empty, cut off, or does not follow the schema after the one retry."""


class TextsNotEmbedded(ModelCallError):
    """Some of several texts could not be embedded, and others were. `vectors`: (n, d), zero for those of `failures`, by
    place."""

    def __init__(self, vectors: Any, failures: Mapping[int, ModelCallError]) -> None:
        first = next(iter(failures.values()))
        super().__init__(f"{len(failures)} of {len(vectors)} texts could not be embedded: {first.message}", first.hint)
        self.vectors = vectors
        self.failures = failures


class ModelUnfit(ModelCallError):
    """What the model says of things that are known is wrong, so that nothing it says counts."""


class ModelUnavailable(ModelCallError):
    """The circuit breaker is open: the last calls all failed, and no other is made for a while. `cause`: the last."""

    cause: ModelCallError | None = None


SERVER_FAILED = frozenset(
    error.__name__
    for error in (
        ModelUnreachable,
        ModelRateLimited,
        ModelServerError,
        ModelRefused,
        PromptTooLong,
        ModelUnavailable,
    )
)
"""Names of what says that the server could not be reached, failed or refused: nothing was asked of the model."""


class CostCapReached(ModelCallError):
    """The next call would pass the cap on money or calls; what was done is kept."""
