"""The shapes of OpenAI's chat completions, as far as a collection can answer them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from monjyu_core.errors import QueryError
from monjyu_query.asking.request import LONGEST_QUERY, SearchRequest, Turn, make_request
from monjyu_query.asking.result import SearchResult, Usage
from monjyu_query.service.chat_api.chat_chores import chore_reply, question_in

_ROLES: dict[str, Literal["user", "assistant"]] = {"user": "user", "assistant": "assistant"}
"""Roles that become turns of the conversation; instructions and results of tools do not."""
MOST_TURNS, LONGEST_TURN = 16, 4000
"""What of a conversation counts for its last question: the rest is left out, however long it is."""


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
    """What is not named here and shapes only how a model words things (temperature, max_tokens, seed, ...) is taken and
    changes nothing: answers are the papers' own. What would make the reply another thing is refused."""

    model_config = ConfigDict(extra="allow")
    model: str = Field(
        description="A collection, or with a mode and a budget: `samples`, `samples:lazy`, `samples:lazy:z100`"
    )
    messages: list[ChatMessage] = Field(min_length=1, description="The last of role user is the question")
    stream: StrictBool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] = 1

    @property
    def refused(self) -> str:
        """The first field that cannot be done, empty where there is none."""
        given = self.model_extra or {}
        return next((name for name, empty in UNSUPPORTED.items() if given.get(name) not in (None, *empty)), "")


UNSUPPORTED: dict[str, tuple[Any, ...]] = {
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "response_format": ({"type": "text"},),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "audio": (),
    "modalities": ([], ["text"]),
    "prediction": (),
    "web_search_options": (),
}
"""Fields of a chat completion that ask for what an answer from papers is not, with the values that ask for nothing."""


class EmbeddingRequest(BaseModel):
    """Texts to embed as questions are, what POST /search/vector takes; `model` is a collection."""

    model: str
    input: (
        Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY)]
        | Annotated[
            list[Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY)]], Field(min_length=1, max_length=256)
        ]
    )
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: str | None = None

    @property
    def texts(self) -> list[str]:
        return [self.input] if isinstance(self.input, str) else self.input


class Embedding(BaseModel):
    """`embedding` (d,) of unit length; with `base64` its bytes as float32, little-endian."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingUsage(BaseModel):
    prompt_tokens: int
    total_tokens: int


class EmbeddingList(BaseModel):
    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: EmbeddingUsage


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
    """`monjyu` is the result as POST /search gives it: citations with pages and rectangles, hits, status, warnings.

    It is null where a chat program asked for a title or tags of the chat, which no search answers.
    """

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: ChatUsage
    monjyu: SearchResult | None


class ModelCard(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "monjyu"


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelCard]


def about_the_chat(asked: ChatRequest) -> str | None:
    """The answer to a request for a title or tags of the chat; None where it is a question to the collection."""
    return chore_reply([(one.role, one.words) for one in asked.messages], asked.model.partition(":")[0])


def search_request(asked: ChatRequest) -> SearchRequest:
    """The last question with what counts of the conversation before it. QueryError where there is none, or the model
    names none."""
    collection, _, rest = asked.model.partition(":")
    mode, _, budget = rest.partition(":")
    place = max((n for n, one in enumerate(asked.messages) if one.role == "user"), default=None)
    if place is None:
        raise QueryError("No message has the role user.", "Ask something.")
    before = [one for one in asked.messages[:place] if one.role in _ROLES][-MOST_TURNS:]
    turns = [Turn(role=_ROLES[one.role], content=question_in(one.words)[:LONGEST_TURN]) for one in before]
    return make_request(
        query=question_in(asked.messages[place].words),
        collection=collection,
        mode=mode or "auto",
        budget=int(budget) if budget.isdecimal() and len(budget) < 10 else budget or None,
        history=turns,
    )


def usage_of(result: SearchResult | None) -> ChatUsage:
    used = result.usage if result is not None else Usage()
    total = used.prompt_tokens + used.completion_tokens
    return ChatUsage(prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens, total_tokens=total)
