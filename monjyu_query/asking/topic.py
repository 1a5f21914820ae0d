"""What a question is about, apart from how it asks: "What are the main themes of these papers?" is about nothing less
than the whole collection, and no term of it is evidence for anything."""

from __future__ import annotations

import re

import regex

from monjyu_core.text.unicode_words import WORD, letter_words

_FRAME = re.compile(
    r"\b(what|which|who|how|why|where|when|is|are|was|were|do|does|did|has|have|had|been|be|can|could|should|would|will"
    r"|the|a|an|of|in|on|to|for|by|from|with|about|and|or|as|so|far|this|that|these|those|there|it|its|their|they|i|me|my"
    r"|we|us|you|your|please|give|tell|list|name|show|describe|explain|summari[sz]e|summary|summaries|overview|survey"
    r"|reviews?|all|any|most|main|major|key|important|common|general|overall|whole|entire|different|various|new|recent"
    r"|current|themes?|topics?|subjects?|areas?|issues?|ideas?|findings?|results?|conclusions?|trends?|kinds?|types?"
    r"|sorts?|state|art|landscape|papers?|articles?|studies|study|publications?|collection|corpus|documents?|authors?"
    r"|research|work|works|literature|field|fields|directions?|discussed|described|covered|cover|covers|mentioned|used"
    r"|compar(e|es|ed|ing|ison|isons)|contrast|differ|differs|differences?|versus|vs|roles?|plays?|better|best|worse|capable"
    r"|proposed|presented|addressed|say|says|said|report|reports|reported|across|throughout|together|one|get|see|seen|found|find)\b"
    r"|これら|この|その|それら|論文集?|文献|研究|分野|コレクション|全体|全て|すべて|主な|主要な?|テーマ|話題|論点|トピック|内容|動向"
    r"|傾向|概要|概観|要約|まとめ|一覧|全体像|結果|知見|について|とは|どの|どんな|どのような|何|もの|種類|あり|ある|教え|ください"
    r"|です|ます|して|ほしい|知り|たい|お願い|挙げ|述べ|整理|比較|違い|異な|最近|最新|近年|今後|さまざま|様々|通して|現れる|繰り返し",
    re.IGNORECASE,
)
_WORD = regex.compile(
    r"(?:[\p{Latin}\p{Greek}\p{Cyrillic}\p{N}]\p{M}*){3,}|\b[A-Z][A-Z0-9+#]?(?![\p{L}\p{N}])"
    r"|[\u3400-\u9fff\u30a1-\u30ff\uac00-\ud7a3]{2,}|\d{2,}"
    rf"|(?![\p{{Latin}}\p{{Greek}}\p{{Cyrillic}}\p{{N}}\u3040-\u9fff\uac00-\ud7a3]){WORD}"
)
_FEWEST_LETTERS = 2
_ARTICLE = re.compile(r"^\W*(?:the |an? )?")
_IS = re.compile(
    r"s?[”\"’')」』]?(?:\s?[(（][^()（）]{1,80}[)）])?,?\s?"
    r"(?:(?:is|are|was|were|means?|refers? to|denotes?|describes?|stands? for)\b|[:：–—]\s|とは|は|、)"
)
_BETWEEN = re.compile(
    r"\b(?:and|or|versus|vs\.?|than|from|with|between|over|against)\b|[,;/、，；と]|より|対|かそれとも", re.IGNORECASE
)


def sides_of(query: str) -> list[str]:
    """What a comparison sets against each other, by the words between them; each side's topic, none twice."""
    return list(dict.fromkeys(topic for part in _BETWEEN.split(query) if (topic := topic_of(part))))


def asks_of_all(query: str) -> bool:
    """Whether a question asks about the collection as a whole: it has words, and none that names a subject."""
    return bool(letter_words(query, _FEWEST_LETTERS)) and not topic_of(query)


def defines(query: str, text: str) -> bool:
    """Whether a sentence says what the subject of a question is: it begins with it and goes on with "is", とは."""
    subject = topic_of(query).casefold()
    begins = _ARTICLE.sub("", text.casefold())
    if not subject or not begins.startswith(subject):
        return False
    return bool(_IS.match(begins, len(subject)))


def topic_of(query: str) -> str:
    """The words of a question that name its subject, in order; empty where it asks about the collection as a whole."""
    return " ".join(_WORD.findall(_FRAME.sub(" ", query)))
