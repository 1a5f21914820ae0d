"""The shapes of OpenAI's chat completions, as far as a collection can answer them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, StrictBool

from monjyu_core.errors import QueryError
from monjyu_query.search.request import SearchRequest, Turn, make_request
from monjyu_query.search.result import SearchResult

_ROLES: dict[str, Literal["user", "assistant", "system"]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
"""Roles that become turns of the conversation; results of tools do not."""


class ContentPart(BaseModel):
    """A part of a message; only text is read."""

    type: str = "text"
    text: str = ""


class ChatMessage(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None

    @property
    def words(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    include_usage: StrictBool = False


class ChatRequest(BaseModel):
    """What is not named here (temperature, tools, ...) is taken and changes nothing: answers are the papers' own."""

    model: str = Field(
        description="A collection, or with a mode and a budget: `samples`, `samples:lazy`, `samples:lazy:z100`"
    )
    messages: list[ChatMessage] = Field(min_length=1, description="The last of role user is the question")
    stream: StrictBool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] = 1


class AnswerMessage(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class Choice(BaseModel):
    index: int = 0
    message: AnswerMessage
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class ChatUsage(BaseModel):
    """Tokens that models were paid for; none where the extractive engine answered."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(BaseModel):
    """`monjyu` is the result as POST /search gives it: citations with pages and rectangles, hits, status, warnings."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: ChatUsage
    monjyu: SearchResult


class ModelCard(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "monjyu"


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelCard]


def search_request(asked: ChatRequest) -> SearchRequest:
    """The last question with the conversation before it. QueryError where there is none, or the model names none."""
    collection, _, rest = asked.model.partition(":")
    mode, _, budget = rest.partition(":")
    place = max((n for n, one in enumerate(asked.messages) if one.role == "user"), default=None)
    if place is None:
        raise QueryError("No message has the role user.", "Ask something.")
    turns = [Turn(role=_ROLES[one.role], content=one.words) for one in asked.messages[:place] if one.role in _ROLES]
    return make_request(
        query=asked.messages[place].words,
        collection=collection,
        mode=mode or "auto",
        budget=int(budget) if budget.isdecimal() and len(budget) < 10 else budget or None,
        history=turns,
    )


def usage_of(result: SearchResult) -> ChatUsage:
    used = result.usage
    total = used.prompt_tokens + used.completion_tokens
    return ChatUsage(prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens, total_tokens=total)
