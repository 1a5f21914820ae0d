"""Whether a question asks which themes the whole collection has."""

from __future__ import annotations

import re

from monjyu_query.answers.topic import asks_of_all

LONGEST = 300
"""Characters of a question that names nothing but the collection."""
_THEMES = re.compile(
    r"\b(?:themes?|topics|subjects|subject (?:matters?|areas?)|areas|fields|strands|threads)\b"
    r"|テーマ|話題|論点|トピック|主題|分野",
    re.IGNORECASE,
)
_COLLECTION = r"(?:(?:this|the|these|those|my|our|all|all the|all these) )(?:whole |entire )?"
_ABOUT = re.compile(
    rf"^\W*what(?:['’]s| is| are|) {_COLLECTION}(?:collection|corpus|library|papers|documents|articles|studies)"
    r"(?: all| mostly| mainly)* (?:about|on)\W*$"
    rf"|^\W*what (?:does|do) {_COLLECTION}(?:collection|corpus|library|papers|articles|studies)"
    r" (?:cover|deal with|treat|talk about|discuss)\W*$"
    r"|^(?:この|本)?(?:コレクション|論文集|文献集)(?:全体)?(?:は|には)?(?:何|どんな|どのような)(?:こと|内容)?(?:について|を扱)",
    re.IGNORECASE,
)
_OF_ONE = re.compile(
    r"\b(?:this|the|that|each|every|a) (?:paper|article|study|document|course|book|module|lesson|authors?)\b"
    r"|(?:この|その|本)(?:論文|文献|研究|記事)(?![集群])",
    re.IGNORECASE,
)
_HOW_IT_ASKS = re.compile(
    r"\b(?:runs?|running|through|recur(?:s|ring)?|emerges?|appears?|dominates?|comes?|up|cent(?:er|re|ral)|treated?|treats"
    r"|dealt|deals?|here|prevalent|frequent(?:ly)?|often|shared?|shares|unites?|connects?|within|among|into|between"
    r"|overarching|broad|broader|library|index|ties?|cut|there|matters?|fall|falls|grouped?|identify|identified|exist"
    r"|exists|present(?:ed)?|represent(?:ed|s)?|contained?|contains?|included?|includes?|strands|threads|over|time|talk(?:ed)?|treat)\b"
    r"|貫|流れ|扱|含まれ|共通|繰り返|出て|く|る|すか|か",
    re.IGNORECASE,
)


def asks_for_themes(query: str) -> bool:
    """Whether it asks for the themes, topics or areas of all papers, or what they are about, and names no subject."""
    if len(query) > LONGEST or _OF_ONE.search(query):
        return False
    if _ABOUT.search(query):
        return True
    return bool(_THEMES.search(query)) and asks_of_all(_HOW_IT_ASKS.sub(" ", query))
