"""The topic of a question, apart from its phrasing: "What are the main themes of these papers?" is about the whole
collection, and none of its terms is evidence for anything."""

import re

import regex

from monjyu_core.language.packs import also, cues
from monjyu_core.text.unicode_words import WORD, compact, letter_words

_FRAME = re.compile(cues("topic.frame"), re.IGNORECASE)
_WORD = regex.compile(
    r"(?:[\p{Latin}\p{Greek}\p{Cyrillic}\p{N}]\p{M}*){3,}|\b[A-Z][A-Z0-9+#]?(?![\p{L}\p{N}])"
    r"|[\u3400-\u9fff\u30a1-\u30ff\uac00-\ud7a3]{2,}|\d{2,}"
    rf"|(?![\p{{Latin}}\p{{Greek}}\p{{Cyrillic}}\p{{N}}\u3040-\u9fff\uac00-\ud7a3]){WORD}"
)
_FEWEST_LETTERS = 2
_ARTICLE = re.compile(r"^\W*(?:the |an? )?")
_IS = re.compile(
    r"s?[”\"’')」』]?(?:\s?[(（][^()（）]{1,80}[)）])?,?\s?"
    r"(?:(?:is|are|was|were|means?|refers? to|denotes?|describes?|stands? for)\b|[:：–—]\s" + also("topic.is") + ")"
)
_BETWEEN = re.compile(cues("topic.between"), re.IGNORECASE)
_OPENS = re.compile(cues("topic.opens"), re.IGNORECASE)


def sides_of(query: str) -> list[str]:
    """The sides of a comparison, by the words between them: the topic of each side, without duplicates. Empty if a part
    of the question is not a single phrase ("are boys taller at ten than girls")."""
    parts = _BETWEEN.split(_OPENS.sub("", query))
    topics = [(part, topic_of(part)) for part in parts]
    if any(compact(topic) not in compact(part) for part, topic in topics):
        return []
    return list(dict.fromkeys(topic for _, topic in topics if topic))


def asks_of_all(query: str) -> bool:
    """Whether a question is about the collection as a whole: it has words, and none that names a subject."""
    return bool(letter_words(query, _FEWEST_LETTERS)) and not topic_of(query)


def defines(query: str, text: str) -> bool:
    """Whether a sentence defines the subject of a question: it begins with it and continues with "is", とは."""
    subject = topic_of(query).casefold()
    begins = _ARTICLE.sub("", text.casefold())
    if not subject or not begins.startswith(subject):
        return False
    return bool(_IS.match(begins, len(subject)))


def topic_of(query: str) -> str:
    """The words of a question that name its subject, in order; empty if it is about the collection as a whole."""
    return " ".join(_WORD.findall(_FRAME.sub(" ", query)))
