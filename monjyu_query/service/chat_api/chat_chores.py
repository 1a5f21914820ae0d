"""What chat programs ask of a model about the chat itself: a title, tags, further questions. No search answers that.

Open WebUI, LibreChat, LobeChat, NextChat and others send it as a message or an instruction among the user's own, over
the same route. It is known by what it asks for and by the conversation that it holds or follows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

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
_IN_CHINESE_AND_JAPANESE = re.compile(
    r"(?:会话|对话|聊天|會話|對話|会話|チャット)[^。\n]{0,80}(?:标题|標題|标签|タイトル|題名|タグ)"
    r"|(?:标题|標題|标签|タイトル|題名|タグ)[^。\n]{0,80}(?:会话|对话|聊天|會話|對話|会話|チャット)"
)
_TASK = re.compile(r"\A\W*Task:", re.I)
_ANSWERED_TASK = re.compile(r"<(?:context|source|user_query)\b", re.I)
_SPOKEN = re.compile(r"^[^\w\n]{0,20}(?:user|human|ユーザー|用户)\W{0,4}[:：]\W{0,20}(\S.*)", re.I | re.M)
_SPOKEN_JSON = re.compile(r'"role"\s*:\s*"user"\s*,\s*"content"\s*:\s*("(?:[^"\\]|\\.)*")')
_TRANSCRIPT = re.compile(
    r"<(?:chat_history|conversation|messages?)\b|^[^\w\n]{0,20}(?:assistant|ai|response)\W{0,4}[:：]|```", re.I | re.M
)
_JSON_KEY = re.compile(r"\{\s*[\"“]?(\w+)[\"”]?\s*:\s*(\[?)")
_LONGEST_INSTRUCTION, _LONGEST_SETTING = 4000, 400
_TITLE_WORDS, _TITLE_LENGTH = 8, 60


def chore_reply(messages: Sequence[tuple[str, str]], collection: str) -> str | None:
    """What a request about the chat itself is answered with: a title of its first question, the collection as its tag.
    None where it is a question. Messages are roles and texts."""
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
    """The user's question in a message that a program wrote around it with texts of its own."""
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
    return bool(_IN_CHINESE_AND_JAPANESE.search(text))


def _first_question(text: str) -> str:
    if found := _SPOKEN_JSON.search(text):
        return str(json.loads(found[1]))
    return found[1] if (found := _SPOKEN.search(text)) else ""


def _title(question: str) -> str:
    words = question.strip(" \"'“”|>*#").split()[:_TITLE_WORDS]
    title = " ".join(words)[:_TITLE_LENGTH].rstrip(" \"'“”?？。.,:;!！")
    return title[:1].upper() + title[1:]


def _as_asked(instruction: str, title: str, collection: str) -> str:
    """Text, or the JSON object that is asked for."""
    wants_json = re.search(r"\bJSON\b", instruction)
    key = _JSON_KEY.search(instruction) if wants_json else None
    if key is None:
        return title
    if not key[2]:
        return json.dumps({key[1]: title if key[1] in ("title", "name") else ""}, ensure_ascii=False)
    return json.dumps({key[1]: [collection] if key[1] == "tags" else []}, ensure_ascii=False)
