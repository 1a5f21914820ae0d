"""Requests and responses of OpenAI's API, as far as a collection can serve them."""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from monjyu_core.errors import QueryError
from monjyu_core.language.packs import also, cues
from monjyu_query.asking.request import LONGEST_QUERY, SearchRequest, Turn, make_request
from monjyu_query.asking.result import SearchResult, Usage

# Requests of chat programs about the chat itself, for a title, tags or further questions. No search answers them.
# Open WebUI, LibreChat, LobeChat, NextChat and others send them over the same route, as a user message or an
# instruction. They are recognised by their wording and by the conversation that they contain or follow.
_MAKE = (
    r"(?:generate|create|write|give|provide|suggest|make|produce|summari[sz]e|extract|propose|choose|pick|detect|craft"
    r"|compose|come up with)\b"
)
_WANTED = r"\b(?:titles?|names?|tags?|headlines?|topics?|subject lines?|follow[- ]?ups?|search queries)\b"
_ASKS = re.compile(rf"\b{_MAKE}.*?{_WANTED}|{_WANTED}.*?\b{_MAKE}", re.I)
_OF_CHAT = re.compile(
    r"\b(?:(?:this|the|our|following|given|above|user'?s?) (?:\w+ ){0,2}(?:conversation|chat|dialogu?e)s?"
    r"|(?:our|this|following) discussion|chat history)\b",
    re.I,
)
_OF_TRANSCRIPT = re.compile(
    r"\b(?:conversation|chat|message|request|discussion|query|exchange|thread|prompt|question)s?\b"
    r"|\b\w+[- ](?:words?|characters?)\b",
    re.I,
)
_IN_OTHER_LANGUAGES = re.compile(cues("openai_models.in_other_languages"))
_TASK = re.compile(r"\A\W*Task:", re.I)
_ANSWERED_TASK = re.compile(r"<(?:context|source|user_query)\b", re.I)
_SPOKEN = re.compile(
    rf"^[^\w\n]{{0,20}}(?:user|human{also('openai_models.user')})\W{{0,4}}[:：]\W{{0,20}}(\S.*)", re.I | re.M
)
_SPOKEN_JSON = re.compile(r'"role"\s*:\s*"user"\s*,\s*"content"\s*:\s*("(?:[^"\\]|\\.)*")')
_TRANSCRIPT = re.compile(
    r"<(?:chat_history|conversation|messages?)\b|^[^\w\n]{0,20}(?:assistant|ai|response)\W{0,4}[:：]|```", re.I | re.M
)
_JSON_KEY = re.compile(r"\{\s*[\"“]?(\w+)[\"”]?\s*:\s*(\[?)")
_LONGEST_INSTRUCTION, _LONGEST_SETTING = 4000, 400
_TITLE_WORDS, _TITLE_LENGTH = 8, 60


def chore_reply(messages: Sequence[tuple[str, str]], collection: str) -> str | None:
    """Return the reply to a request about the chat itself: a title from its first question, or the collection as its
    tag. Returns None if the request is a question. `messages` are (role, text)."""
    asked = [words for role, words in messages if role == "user"]
    if not asked:
        return None
    last, in_chat = asked[-1], any(role == "assistant" for role, _ in messages)
    holds = bool(_TRANSCRIPT.search(last) or _SPOKEN.search(last) or _SPOKEN_JSON.search(last))
    instruction, spoken = last, asked[:-1]
    if not _is_chore(last, in_chat=in_chat, holds=holds):
        told = [words[:_LONGEST_SETTING] for role, words in messages if role in ("system", "developer")]
        found = next((words for words in told if _is_chore(words, in_chat=True, holds=False)), None)
        if found is None:
            return None
        instruction, spoken = found, asked
    title = _title(_first_question(last) or (spoken[0] if spoken else ""))
    return _as_asked(instruction, title or collection, collection)


def question_in(words: str) -> str:
    """Return the user's question, from which a program's surrounding text is removed."""
    if not _TASK.search(words):
        return words
    query, closed, _ = words.partition("<user_query>")[2].partition("</user_query>")
    if closed:
        return query.strip()
    return words.rpartition("</context>")[2].strip() or words


def _is_chore(text: str, *, in_chat: bool, holds: bool) -> bool:
    if _TASK.search(text):
        return not _ANSWERED_TASK.search(text)
    if not (in_chat or holds):
        return False
    text = text if len(text) <= _LONGEST_INSTRUCTION else f"{text[:_LONGEST_INSTRUCTION]}\n{text[-1000:]}"
    of_chat = _OF_TRANSCRIPT if holds else _OF_CHAT
    for sentence in re.split(r"(?<=[.?!:])\s|\n", text):
        if not sentence.rstrip().endswith("?") and _ASKS.search(sentence) and of_chat.search(sentence):
            return True
    return bool(_IN_OTHER_LANGUAGES.search(text))


def _first_question(text: str) -> str:
    if found := _SPOKEN_JSON.search(text):
        return str(json.loads(found[1]))
    return found[1] if (found := _SPOKEN.search(text)) else ""


def _title(question: str) -> str:
    words = question.strip(" \"'“”|>*#").split()[:_TITLE_WORDS]
    title = " ".join(words)[:_TITLE_LENGTH].rstrip(" \"'“”?？。.,:;!！")
    return title[:1].upper() + title[1:]


def _as_asked(instruction: str, title: str, collection: str) -> str:
    """Return the title as text, or the JSON object that the instruction requests."""
    wants_json = re.search(r"\bJSON\b", instruction)
    key = _JSON_KEY.search(instruction) if wants_json else None
    if key is None:
        return title
    if not key[2]:
        return json.dumps({key[1]: title if key[1] in ("title", "name") else ""}, ensure_ascii=False)
    return json.dumps({key[1]: [collection] if key[1] == "tags" else []}, ensure_ascii=False)


_ROLES: dict[str, Literal["user", "assistant"]] = {"user": "user", "assistant": "assistant"}
"""Roles that become turns of the conversation; instructions and results of tools do not."""
MOST_TURNS, LONGEST_TURN = 16, 4000
"""The number of turns, and of characters in a turn, that are used for the last question; the rest is ignored."""


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
    """A request for a chat completion. Unlisted fields that only affect a model's wording (temperature, max_tokens,
    seed, ...) are accepted and ignored; fields that would change the kind of reply are refused."""

    model_config = ConfigDict(extra="allow")
    model: str = Field(
        description="A collection, or with a mode and a budget: `samples`, `samples:lazy`, `samples:lazy:z100`"
    )
    messages: list[ChatMessage] = Field(min_length=1, description="The last with role user is the question")
    stream: StrictBool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] = 1

    @property
    def refused(self) -> str:
        """The first unsupported field that requests something, or an empty string."""
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
"""Unsupported fields of a chat completion, each with the values that request nothing."""
_Texts = Annotated[str | list[str], Field(description="A text or a list of texts")]


class EmbeddingRequest(BaseModel):
    """Texts to embed as questions, for POST /search/vector; `model` is a collection."""

    model: str
    input: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY)]],
        Field(min_length=1, max_length=256),
        BeforeValidator(lambda given: [given] if isinstance(given, str) else given, json_schema_input_type=_Texts),
    ]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: str | None = None


class Embedding(BaseModel):
    """An embedding: a vector (d,) of unit length; with `base64`, its bytes as little-endian float32."""

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
    """The tokens of paid model calls; zero if the extractive engine answered."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(BaseModel):
    """A chat completion. `monjyu` is the result of POST /search: citations with pages and rectangles, hits, status,
    warnings. It is null if a chat program asked for a title or tags of the chat, which needs no search."""

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


def search_request(asked: ChatRequest) -> SearchRequest:
    """Return the search for the user's last message, with the last turns before it. Raises QueryError if no message is
    from the user, if the message is not text, or for an invalid mode or budget."""
    collection, _, rest = asked.model.partition(":")
    mode, _, budget = rest.partition(":")
    place = max((n for n, one in enumerate(asked.messages) if one.role == "user"), default=None)
    if place is None:
        raise QueryError("No message has the role user.", "Send the question as the last message of that role.")
    content = asked.messages[place].content
    other = next((part.type for part in content if part.type != "text"), "") if isinstance(content, list) else ""
    if other:
        raise QueryError(f"messages: a part of type {other!r} is not supported.", "Send text only.")
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
