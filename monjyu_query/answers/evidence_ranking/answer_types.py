"""What type of answer a question asks for, and whether a sentence shows one of that type. English and Japanese."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\d")
_ONES = "two|three|four|five|six|seven|eight|nine"
NUMBER_WORD = (
    rf"(?:(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[\s-](?:one|{_ONES}))?"
    rf"|{_ONES}|ten|eleven|twelve|zero|hundreds?|thousands?|(?:m|b|tr)illions?|dozens?|twice|thrice)"
)
"""A pattern of a number in English words, but "one", which is a pronoun as often."""
_NUMERAL = rf"(?:\d[\d,.]*|\b(?:one|{NUMBER_WORD})\b)"
_IN_WORDS = re.compile(
    rf"\b(?:{NUMBER_WORD}|half|single|none)\b|[一二三四五六七八九十百千万億]+[人年月日円回個本件歳時分]", re.IGNORECASE
)
_SPANS = r"(?:minutes?|hours?|days?|weeks?|months?|years?|semesters?|terms?|seconds?|decades?)\b"
_COUNTED = re.compile(
    r"\bhow many (?:(?:different|other|new|of the|core|total|such|more) )*(?P<thing>[a-z][\w-]*)"
    r"|\b(?P<long>how long|how old)\b"
    r"|何(?P<unit>人|個|回|歳|枚|本|種|倍|位|つ|匹|頭|台|年|月|日|時間|分|メートル|円|件)",
    re.IGNORECASE,
)
_PEOPLE = (
    ("students", "learners", "participants", "attendees", "undergraduates", "pupils", "people", "trainees"),
    ("patients", "subjects", "cases", "individuals", "participants", "people", "persons", "volunteers"),
    ("rats", "mice", "animals"),
    ("lessons", "modules", "units", "notebooks", "chapters", "sessions", "tutorials"),
)
"""Words for what is counted that stand for one another."""
_SHARE_ASKED = re.compile(
    r"\b(?:what|which) (?:\w+ ){0,4}?(?:percent(?:age)?|proportion|share)\b|何(?:パーセント|%|％|割)", re.I
)
_SHARE_SHOWN = re.compile(r"\d\s?(?:[%％]|per ?cent\b|パーセント|割)|\b(?:half|thirds?|quarters?) of\b", re.IGNORECASE)
_QUANTITY = re.compile(
    r"\d\s?(?:%|percent|mg|kg|ml|days?|weeks?|months?|years?|hours?|patients|cases|people|children|cm|m\b"
    r"|人|年|月|日|円|回|個|km|メートル|歳|時間)",
    re.IGNORECASE,
)
_CITATION = re.compile(
    r"\([^()]{0,200}?[A-Za-z.], ?(?:1[89]|20)\d\d[a-z]?(?:[,;][^()]{0,200})?\)|\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]"
)
_DATE = re.compile(r"\b(?:1[89]\d\d|20\d\d)\b|\d年")

_WHEN_WAS = re.compile(r"^\W*(?:and )?when (?:was|were|did)\b", re.IGNORECASE)
_TIME = re.compile(
    r"\b(?:1[5-9]|20)\d\ds?\b|\b(?:january|february|march|april|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b|\bin may\b|\bmay \d|\b(?:spring|summer|autumn|winter|fall of)\b"
    r"|\b(?:century|decades?|ago|years?|months?|weeks?|days?|hours?|since|during|before|after)\b|\d(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)

_WHY = re.compile(r"^\W*(?:and |but )?why\b", re.IGNORECASE)

_ASKED = {
    "number": r"\bhow (?:many|much|long|old|often|far|large|big|high)\b|\b(?:what|which) (?:percent|proportion|number"
    r"|rate|fraction|incidence|prevalence|size|dose|ratio|risk|mortality)|percentage"
    r"|何(?:人|個|回|歳|枚|本|種|%|パーセント|割|倍|位|km|メートル|つ|匹|頭|台|分|時間)|いくつ|どのくらい|どれくらい|どれほど",
    "date": r"^\W*(?:and |but |since |until |by )?when\b"
    r"|\b(?:what|which) (?:year|date|month|day)|\bhow long\b|いつ|何年|何月|何日|何世紀",
    "person": r"\bwho(?:m|se)?\b|誰|だれ|何者|人物",
    "place": r"\bwhere\b|\b(?:what|which) (?:country|countries|city|region|place|cell|tissue|organ)"
    r"|どこ|何県|何市|何国|場所",
    "reason": r"\bwhy\b|\b(?:reason|cause|purpose)s?\b|なぜ|理由|原因|どうして",
    "procedure": r"\bhow (?!many|much|long|old|often|far|large|big|high)|\bmethods?\b|どのように|どうやって|方法",
    "comparison": r"\b(?:compar|differ|versus|vs\.?|better|than)\w*|違い|比べ|より",
    "yes_no": r"^(?:is|are|was|were|do|does|did|can|could|has|have|had|should|will|would|may|might)\b"
    r"|: (?:is|are|do|does|can|has|should)\b|か[。？?]?$",
    "definition": r"^(?:what (?:is|are|was|were)|define)\b|とは|何(?:か|という|と呼|と言)",
}
_SHOWN = {
    "person": r"(?<=[a-z,] )[A-Z][a-z]+ (?:[A-Z]\. ?)?[A-Z][a-z]+|氏|者|大臣|王|人",
    "reason": r"\b(?:because|due to|owing|caus|reason|therefore|thus|result(?:s|ed)? in|lead(?:s|ing)? to|since)\b"
    r"|ため|から|理由|原因|ので",
    "procedure": r"\b(?:by|using|through|via|method|procedure|was performed|were performed|step|first|then)\b"
    r"|方法|により|によって|用いて|行",
    "comparison": r"\b(?:than|compared|whereas|while|higher|lower|more|less|similar|differ)\w*|より|比較|一方",
    "yes_no": r"\b(?:we (?:found|show|conclude|demonstrate|report)|our (?:results|findings|data|study)"
    r"|(?:results|findings|data|study) (?:suggest|show|indicate|demonstrate|support)|conclu|suggest|indicate|appear"
    r"|should|may be|is associated|are associated|did not|does not|no (?:significant|evidence)|significant)\w*",
    "definition": r"\b(?:is|are|was|were) (?:an?|the|one)\b"
    r"|\b(?:refers? to|defined as|known as|called|means|stands for)\b"
    r"|とは|である|と呼ば|こと。",
}
_QUESTIONS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _ASKED.items()}
_ANSWERS = {name: re.compile(pattern, 0 if name == "person" else re.IGNORECASE) for name, pattern in _SHOWN.items()}
_PLACE = re.compile(r"\b(?:[Ii]n|[Aa]t|[Ff]rom|[Oo]f|[Nn]ear) (?:the )?[A-Z][a-z]+|県|市|国|島|州|町|地方|駅")

TYPES = tuple(_ASKED)


def asked_types(question: str) -> frozenset[str]:
    """The types of answer (of `TYPES`) that the question's words ask for; often none, sometimes several."""
    return frozenset(name for name, pattern in _QUESTIONS.items() if pattern.search(question))


def shows(answer_type: str, sentence: str) -> bool:
    """Whether the sentence has what an answer of the type has: a quantity, a date, a name, words that give a reason."""
    match answer_type:
        case "number":
            return bool(_QUANTITY.search(sentence))
        case "date":
            return bool(_DATE.search(sentence) or _QUANTITY.search(sentence))
        case "place":
            return bool(_PLACE.search(sentence))
        case _:
            return bool(_ANSWERS[answer_type].search(sentence))


def counted(question: str) -> re.Pattern[str] | None:
    """What a sentence has that gives the number asked for: "How many lessons" one of "12 core lessons", 「何人」 one of
    「三十人」; None where nothing is counted."""
    found = _COUNTED.search(question)
    if found is None:
        return None
    if found["unit"]:
        return re.compile(rf"(?:[\d,]+|[一二三四五六七八九十百千万億]+){re.escape(found['unit'])}")
    if found["long"]:
        return re.compile(rf"{_NUMERAL}(?:\W+\w+){{0,1}}\W+{_SPANS}", re.IGNORECASE)
    thing = found["thing"].casefold()
    alike = {thing, *(word for group in _PEOPLE if thing in group for word in group)}
    stems = "|".join(sorted(re.escape(_stem(word)) for word in alike))
    return re.compile(rf"{_NUMERAL}(?:\W+\w+){{0,3}}?\W+(?:{stems})|\b(?:{stems})\w*\W{{1,3}}n ?= ?\d", re.IGNORECASE)


def _stem(word: str) -> str:
    stem = word.rstrip("s") if len(word) > 3 else word
    return stem[:-2] if stem.endswith("ie") else stem


def asks_why(question: str) -> bool:
    """Whether it asks for a reason, in English: the words of an answer to one show it."""
    return bool(_WHY.match(question))


def reason_shown() -> re.Pattern[str]:
    """What a sentence has that gives a reason."""
    return _ANSWERS["reason"]


def share_asked(question: str) -> re.Pattern[str] | None:
    """What a sentence has that gives the percentage asked for; None where none is."""
    return _SHARE_SHOWN if _SHARE_ASKED.search(question) else None


def has_number(sentence: str) -> bool:
    """Whether it has a figure, or a number in words."""
    return bool(_NUMBER.search(sentence) or _IN_WORDS.search(sentence))


def asks_past_time(question: str) -> bool:
    """Whether it asks when something was: the answer has a date or a time of the year."""
    return bool(_WHEN_WAS.match(question))


def shows_past_time(sentence: str) -> bool:
    return bool(_TIME.search(sentence))


def without_citations(sentence: str) -> str:
    """Without the years and numbers of citations in brackets, which are no figures of what is said."""
    return _CITATION.sub(" ", sentence)


def has_digits(sentence: str) -> bool:
    return bool(_NUMBER.search(sentence))
