"""Token counts of our own, for servers that give none and for limits that are kept before a call."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_core.models.types import ChatRequest, Message, TokenUsage
from monjyu_core.text.tokens import count_many, count_tokens

_A_MESSAGE, _AN_ANSWER = 3, 3
"""Tokens around each message (role and limits) and those that open the answer, as OpenAI counts them."""


def count_messages(messages: Sequence[Message]) -> int:
    """Prompt tokens (cl100k_base) of these messages."""
    return _AN_ANSWER + sum(_A_MESSAGE + 1 + count_tokens(message.content) for message in messages)


def estimated_usage(request: ChatRequest, answer: str) -> TokenUsage:
    return TokenUsage(count_messages(request.messages), count_tokens(answer), estimated=True)


def estimated_texts(texts: Sequence[str]) -> TokenUsage:
    return TokenUsage(sum(count_many(texts)), 0, estimated=True)
