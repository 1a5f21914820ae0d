"""Errors of model calls. Each class states whether the same call may succeed later, so that it is worth a retry."""

from collections.abc import Mapping
from typing import Any

from monjyu_core.errors import LLMError


class ModelCallError(LLMError):
    """Base class. `may_pass`: the same call may succeed later. `retry_after`: seconds that the server asks to wait, or
    None. `status`: the HTTP status of a refusal."""

    may_pass = False

    def __init__(
        self, message: str, hint: str = "", *, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after
        self.status = status


class ModelUnreachable(ModelCallError):
    """There was no connection, or it was closed before an answer, or it timed out."""

    may_pass = True


class ModelRateLimited(ModelCallError):
    """Status 429: too many requests or tokens. If `retry_after` is None, the caller chooses the wait."""

    may_pass = True


class ModelServerError(ModelCallError):
    """The server failed: status 5xx, 409, 424 or 425, or a reply that does not follow its API (`status` is None)."""

    may_pass = True

    @property
    def may_be_of_input(self) -> bool:
        """Whether the input may be the cause: Text Embeddings Inference returns 424 for errors of its own backend."""
        return self.status in (None, 424, 500)


class ModelRefused(ModelCallError):
    """A refusal that a retry cannot change: wrong key, unknown model, bad request, redirection, exhausted quota."""


class PromptTooLong(ModelRefused):
    """The prompt exceeds the model's context window."""


class ModelContentFiltered(ModelCallError):
    """The server's content filter stopped the question or the answer."""


class ModelAnswerUnusable(ModelCallError):
    """The answer is empty, truncated, or does not follow the schema even after the second request; or the vectors or
    scores of a reply are unusable."""


class TextsNotEmbedded(ModelCallError):
    """Some of several texts could not be embedded. `vectors`: (n, d), zero at the positions in `failures`."""

    def __init__(self, vectors: Any, failures: Mapping[int, ModelCallError]) -> None:
        first = next(iter(failures.values()))
        super().__init__(f"{len(failures)} of {len(vectors)} texts could not be embedded: {first.message}", first.hint)
        self.vectors = vectors
        self.failures = failures


class ModelUnfit(ModelCallError):
    """The model is wrong about known facts, so none of its answers are used."""


class ModelUnavailable(ModelCallError):
    """The last calls all failed, so further ones are refused for a while. `cause` is the last failure."""

    cause: ModelCallError | None = None


SERVER_FAILED = frozenset(
    error.__name__
    for error in (ModelUnreachable, ModelRateLimited, ModelServerError, ModelRefused, PromptTooLong, ModelUnavailable)
)
"""Names of the errors that say nothing about the model, because its server was not reached, failed or refused."""


class CostCapReached(ModelCallError):
    """The next call would exceed the cap on money or calls; results so far are kept."""
