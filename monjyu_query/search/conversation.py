"""A follow-up written out, so that every mode, and the router before it, is asked a question that stands alone.

"And for R?", "Who wrote it?" and 「その欠点は？」 need the question before, a new topic does not. Without a model:
words that point back, and questions that are no whole ones, tell a follow-up; what it points to is put in its place
where that is a name, and else follows in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from monjyu_query.answers.topic import topic_of
from monjyu_query.search.request import Turn

LONGEST_CHAIN = 8
"""Questions before this one that are looked back at."""
_LONGEST_TURN = 500
"""Characters of a turn that are read."""
_MOST_CONTEXT = 6
"""Terms of the conversation that a follow-up is given, where no single name stands for it."""

_NEW = re.compile(
    r"^\W*(another|a new|a different|an unrelated|next|new) (question|topic|subject|matter)\b"
    r"|^\W*(changing|switching|on an)|\bunrelated\b|^\W*(by the way|something else)"
    r"|^\W*(ところで|話は変わ|別の質問|別件|話題を変え|さて)",
    re.IGNORECASE,
)
_BRACKET = re.compile(r" ?[(（]([^()（）]*)[)）]$")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")

# English
_COLLECTION = (
    r"(papers?|articles?|stud(y|ies)|collection|corpus|documents?|texts?|publications?|field|set|literature)\b"
)
_EXPLETIVE = re.compile(
    r"\bit (is |was |be )?(also |really |ever |not )?(possible|true|known|better|worth|safe to|important|useful|common"
    r"|likely|clear|necessary|necessarily|hard|easy|difficult|feasible|best|take|takes|mean|means|seem|seems|matter|matters)\b"
    r"(?= (to|that|for|when|if)\b)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(it|its|they|them|their|he|she|his|her|him)\b"
    rf"|\b(?:this|these)\b(?! {_COLLECTION})|\bthat\b(?! {_COLLECTION}| of\b| from\b)"
    rf"|\bthose\b(?! {_COLLECTION}| who\b| whose\b| with\b| of\b| from\b| in\b)"
    r"|^\W*which (?:ones?|of (?:the|these|those|them))\b"
    r"|\bthe (?:former|latter|same|first one|second one|other one|two|others)\b|\b(?:such|there)\b(?= ?\?)",
    re.IGNORECASE,
)
_THE_PAPERS = re.compile(
    r"\b(?:do|did) they (?:say|report|find|conclude|suggest|write|argue)\b(?: \w+)? (?:about|on)\b", re.I
)
"""Whoever asks so means the papers."""
_POSSESSIVE = {"its", "their", "his", "her"}
_CLAUSE = re.compile(
    r"[,;:.]|\b(and|but|or|that|when|while|if|to|how|why|because|so|where|after|before)\b", re.IGNORECASE
)
_LEAD = re.compile(
    r"^\W*(?:(?:and|but|or|so|then|also|ok|okay|thanks?|now|yes|no|well)\b[\s,.!]*)*"
    r"(?:(?:what|how) about|what of|and)?\s*",
    re.IGNORECASE,
)
_CONNECTED = re.compile(r"^\W*(?:and|but|or|so|then|also|what about|how about|what of|what else|anything else)\b", re.I)
_PREPOSITION = re.compile(
    r"^(in|for|with|without|on|at|from|among|during|after|before|by|to|like|except|under|until|since|of|over"
    r"|against)\b (.+)$",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"^(what|which|who|whom|whose|how|why|where|when|is|are|was|were|do|does|did|has|have|had|can|could|should|would|will"
    r"|may|might|compare|explain|describe|list|give|tell|show|summari[sz]e|name|find|define|i|please)\b",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"\b(students?|participants?|patients?|people|subjects?|sample|sampling|course|class|lesson|method|model|approach|algorithm"
    r"|tests?|procedure|treatment|intervention|instrument|survey|interviews?|technique|framework|accurate|accuracy|reliable"
    r"|large|big|tool|system|software|packages?|program|data|datasets?|experiments?|trial|effects?|version|license|licence|year|date"
    r"|problems?|open|weeks?|days?|months?|hours?|many|much|long|often|size|last|need|needed|more|examples?|limitations?"
    r"|advantages?|disadvantages?|details?|evidence|reasons?|exactly|instead|else|elsewhere|still|too|dose|price|cost"
    r"|anything|something|first|second|number|written|wrote|made|take|took|work|works|happen|happened|happens|kind|any)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\b(programming|experience|knowledge|prior|previous|required|require)\b", re.IGNORECASE)
_NAME = re.compile(r"\b(?:[A-Z][\w+#-]*|[a-z]+[A-Z][\w-]*|[A-Za-z]+\d[\w-]*)(?: (?:[A-Z][\w+#-]*|\d+))*(?![^\W_])")
_NO_NAME = re.compile(
    r"^(What|Which|Who|Whom|Whose|How|Why|Where|When|Is|Are|Was|Were|Do|Does|Did|Has|Have|Can|Could|Should|Would|Will"
    r"|And|But|So|The|A|An|In|On|At|For|Of|I|Compare|Explain|Describe|List|Give|Tell|Show|Summari[sz]e|Name|Find|Define|Please"
    r"|It|They|He|She|This|That|These|Those|There|Yes|No|Another|Question|Are|By|With|From|To|As|If)$"
)
_ASKS_NAME = re.compile(
    r"^\W*(which|who"
    r"|what (\w+ ){0,2}(package|tool|method|model|software|library|algorithm|system|program|language|data ?set)\b)",
    re.IGNORECASE,
)

# Japanese
_JA_POINTS = re.compile(
    r"(?:^|(?<=[、。\s]))(?:それら?|これ(?!ら)|これら(?!の(?:論文|研究|文献|資料|コレクション))|そこ|そちら|あれ|彼ら?|彼女|前者|後者|両者|同じく)"
    r"|そんなに?|それぞれ|(?:その|この(?!(?:論文|文献|資料)(?:集|群)|分野|コレクション)|同)(?=[^\s、])|上記|さっきの|先ほどの|そう(?=です|いう|なる|言)"
)
_FEW, _SHORT = 2, 16
"""Terms and characters of a question that is on the same matter where it names a term of the one before."""
_JA_KEPT = ("両者", "前者", "後者")
_JA_PLACE = re.compile(r"それ(?!ぞれ)ら?|これら?|そこ|その|この|前者|後者|両者|彼ら?|彼女")
_JA_LEAD = re.compile(r"^(?:では|じゃあ?|それでは|そして|また|それから|さらに|あと|でも|ちなみに|なら)[、\s]*")
_JA_MORE = re.compile(r"^(?:もっと|もう少し|さらに|より)?(?:詳しく|具体的に|ほかに|他に|例えば|たとえば|例を|例は)")
_JA_SHORT = re.compile(r"^(.{1,14}?)(?:の場合|について)?(?:では|は|だと|なら|も)?[?？]?$")
_JA_WHOLE = re.compile(
    r"(?:です|ます|ません|でしょう|ました|ですか|か|して|ください|べる|たい|いる|ある|せよ|まとめて|とは)[。?？\s]*$|とは[?？]?$"
)
_JA_TOPIC = re.compile(r"(?:は|が|を|について)")
_JA_FRAME = re.compile(
    r"誰|提案|具体|程度|安全|無料|有料|方法|理由|原因|効果|欠点|利点|違い|差|量|値|数|年|週間|時間|回|人|使|可能|必要|詳|影響|何|次|例"
)
_LATIN = re.compile(r"[A-Za-z]")
_JA_TERM = re.compile(
    r"[\u30a1-\u30fcA-Za-z0-9]+[\u3400-\u9fff]*[A-Z]?"
    r"|[\u3400-\u9fff](?:[みきりしいけめえれび]?[\u3400-\u9fff\u30a1-\u30fc])+[A-Z]?"
)


def resolve(query: str, history: Sequence[Turn]) -> str | None:
    """The question written out with what it takes from the conversation; None where it stands alone."""
    asked = [n for n, turn in enumerate(history) if turn.role == "user" and turn.content.strip()][-LONGEST_CHAIN:]
    talk = _Talk()
    for place in asked:
        turn = _line(history[place].content)
        before = _written_out(turn, talk) or turn
        following = history[place + 1] if place + 1 < len(history) else None
        answer = _line(following.content) if following is not None and following.role == "assistant" else ""
        talk = _Talk(before, answer, talk.whole if _BRACKET.search(before) and talk.whole else before)
    return _written_out(query, talk)


@dataclass(frozen=True)
class _Talk:
    """The question before, written out, its answer, and the last question that took nothing in brackets."""

    before: str = ""
    answer: str = ""
    whole: str = ""


def _line(text: str) -> str:
    return " ".join(text[:_LONGEST_TURN].split())


def _written_out(query: str, talk: _Talk) -> str | None:
    before = talk.before
    if not before or _NEW.search(query):
        return None
    japanese = bool(_WIDE.search(query)) or bool(_WIDE.search(before) and len(query) < 5)
    return _japanese(query, talk) if japanese else _english(query, talk)


def _english(query: str, talk: _Talk) -> str | None:
    before, answer = talk.before, talk.answer
    pronoun = _points_back(query)
    rest = _LEAD.sub("", query, count=1).strip(" ?.!")
    if pronoun is None and _CONNECTED.search(query) and not _FULL.match(rest):
        return _in_place(rest, talk.whole)
    if (
        pronoun is None
        and _PREPOSITION.match(rest)
        and not _FULL.search(rest.split(" ", 1)[-1])
        and len(rest.split()) < 6
    ):
        return _in_place(rest, talk.whole)
    if pronoun is not None:
        name = _one_name(before, answer, person=pronoun.group().casefold() in _PERSONS)
        if name and name.casefold() not in query.casefold() and pronoun.group().casefold() in _REPLACED:
            own = f"{name}'s" if pronoun.group().casefold() in _POSSESSIVE else name
            return f"{query[: pronoun.start()]}{own}{query[pronoun.end() :]}"
        return _with_context(query, before, answer)
    terms = topic_of(_ASIDE.sub(" ", _GENERIC.sub(" ", rest))).split()
    if not terms and topic_of(before) and not _whole_collection(query):
        return _with_context(query, before, answer)
    return None


_PERSONS = {"he", "she", "his", "her", "him", "they", "them", "their"}
_REPLACED = {"it", "its", "they", "them", "their", "he", "she", "his", "her", "him", "this", "that"}


def _whole_collection(query: str) -> bool:
    """Whether it asks about the papers themselves: "What are the main themes?" needs no question before it."""
    return bool(
        re.search(
            rf"\b(these|the|this|all|your|our)( \w+)? {_COLLECTION}|\b(papers|themes|topics|collection)\b", query, re.I
        )
    )


def _points_back(query: str) -> re.Match[str] | None:
    """The first word that points out of the question: nothing before it in the question could be what it means."""
    query = _THE_PAPERS.sub(lambda found: found.group().replace("they", "----"), query)
    expletive = {found.start() for found in _EXPLETIVE.finditer(query)}
    for found in _PRONOUN.finditer(query):
        ahead = query[: found.start()]
        if found.start() in expletive or _meant_inside(found.group().casefold(), ahead):
            continue
        if found.group().casefold() == "that" and re.search(r"\w{4,} $", ahead) and not _FULL.match(ahead.split()[-1]):
            continue  # a relative clause: "methods that"
        return found
    return None


def _meant_inside(word: str, ahead: str) -> bool:
    """Whether what stands ahead in the question may be meant: a pronoun means nothing of its own clause, unless it is
    possessive ("How do bees find their way?")."""
    clauses = list(_CLAUSE.finditer(ahead))
    if word not in _POSSESSIVE:
        ahead = ahead[: clauses[-1].start()] if clauses else ""
    return bool(topic_of(_GENERIC.sub(" ", ahead)))


def _names(text: str) -> list[str]:
    return [found for found in _NAME.findall(text) if not _NO_NAME.match(found)]


def _one_name(before: str, answer: str, *, person: bool = False) -> str:
    """The name that was asked for, else the only name in the question before; empty where it is not clear."""
    context = _BRACKET.search(before)
    if context and " " not in context[1]:
        return context[1]
    asked = list(dict.fromkeys(_names(before)))
    if _ASKS_NAME.search(before) and (person or not re.match(r"\W*who", before, re.IGNORECASE)):
        said = [name for name in _names(answer.split(". ")[0]) if name not in asked]
        if said:
            return said[0]
    return asked[0] if len(asked) == 1 else ""


def _with_context(query: str, before: str, answer: str) -> str:
    """With the topic of the question before in brackets, and the name that answered it."""
    there = set(re.findall(r"\w+", query.casefold()))
    bracket = _BRACKET.search(before)
    said_there = _NEW.sub(" ", before[: bracket.start()] if bracket else before)
    known = topic_of(_GENERIC.sub(" ", said_there)) if bracket else topic_of(said_there)
    terms = [word for word in f"{bracket[1] if bracket else ''} {known}".split() if word.casefold() not in there]
    said = _one_name(before, answer)
    if said and said not in before and said.casefold() not in there:
        terms = [said, *terms]
    return f"{query} ({' '.join(dict.fromkeys(terms[:_MOST_CONTEXT]))})" if terms else query


def _in_place(rest: str, before: str) -> str:
    """The question before with the new part where its like stood: after the same preposition, or as the one name."""
    kept = _BRACKET.sub("", before).strip(" ?.!")
    found = _PREPOSITION.match(rest)
    if found:
        rest = rest[0].lower() + rest[1:]
        same = list(
            re.finditer(
                rf"\b(?:{re.escape(found[1])}|in|for|with|among|on|at)\b [^,]*?(?=$|[,?]| (?:and|or|is|are|was|do)\b)",
                kept,
                re.I,
            )
        )
        exact = [one for one in same if one.group().casefold().startswith(found[1].casefold() + " ")] or same[-1:]
        if exact:
            return f"{kept[: exact[-1].start()]}{rest}{kept[exact[-1].end() :]}?"
        return f"{kept} {rest}?"
    names = _names(kept)
    new = _names(rest)
    if new and names:
        at = kept.rindex(names[-1])
        return f"{kept[:at]}{rest}{kept[at + len(names[-1]) :]}?"
    last = rest.split()[-1].casefold() if rest else ""
    like = re.search(rf"\b\w+ {re.escape(last)}\b", kept, re.IGNORECASE) if last else None
    if like:
        return f"{kept[: like.start()]}{rest}{kept[like.end() :]}?"
    return f"{rest}? ({topic_of(kept)})"


def _japanese(query: str, talk: _Talk) -> str | None:
    before, answer = talk.before, talk.answer
    points = _JA_POINTS.search(query)
    rest = _JA_LEAD.sub("", query, count=1).strip(" 。?？")
    if points:
        entity = _ja_entity(before, answer, place="そこ" in points.group())
        meant = _JA_PLACE.match(query, points.start())
        if entity and meant and meant.group() not in _JA_KEPT:
            link = "の" if meant.group() in ("その", "この") else ""
            return f"{query[: meant.start()]}{entity}{link}{query[meant.end() :]}{_ja_context(query, before, entity)}"
        return f"{query}{_ja_context(query, before, '')}"
    if not _JA_WHOLE.search(query) and (short := _JA_SHORT.match(rest)) and _asks_on(query, rest):
        return _ja_in_place(rest, short.group(1), talk)
    own = [term for term in _JA_TERM.findall(rest) if not _JA_FRAME.search(term)]
    known = [term for term in own if term in before]
    if known and len(own) <= _FEW and len(rest) <= _SHORT and not _ja_collection(query):
        return f"{query}{_ja_context(query, before, '')}"
    if _JA_MORE.match(rest) or not own or (len(own) == 1 and len(rest) < 12 and not _JA_TOPIC.search(rest)):
        if _ja_collection(query):
            return None
        return f"{query}{_ja_context(query, before, '')}"
    return None


def _asks_on(query: str, rest: str) -> bool:
    """Whether it is a part that takes the place of another: 「Rでは？」, not the keywords of a new question."""
    return bool(re.search(r"(は|では|だと|なら|の場合|も)[?？]?$", query.strip(" 。"))) and len(rest) <= 16


def _ja_collection(query: str) -> bool:
    return bool(re.search(r"(これらの|この)?(論文集?|文献|コレクション|資料)(全体|の主|は|で|に)|テーマ", query))


def _ja_terms(text: str) -> list[str]:
    return [term for term in dict.fromkeys(_JA_TERM.findall(text)) if not _JA_FRAME.fullmatch(term)]


def _ja_entity(before: str, answer: str, *, place: bool) -> str:
    """What it is about: what は marks, else its first term; the answer's, where a place was asked for."""
    if place and answer:
        said = _ja_terms(re.split("[。]", answer)[0])
        if said:
            return said[0]
    marked = re.search(r"([\u30a1-\u30fcA-Za-z0-9\u3400-\u9fff]+)(?:に)?は", before)
    found = _ja_terms(marked.group(1)) if marked else []
    terms = found or _ja_terms(before)
    return terms[0] if terms else ""


def _ja_context(query: str, before: str, entity: str) -> str:
    terms = [term for term in _ja_terms(before) if term not in query and term != entity][: _MOST_CONTEXT - 2]
    return f"（{' '.join(terms)}）" if terms else ""


def _ja_in_place(rest: str, part: str, talk: _Talk) -> str:
    """The last whole question with the new part in place of the term like it; a part like none is asked of it."""
    kept = _BRACKET.sub("", talk.whole)
    terms = _ja_terms(kept)
    latin = bool(_LATIN.match(part))
    like = [term for term in terms if (latin and _LATIN.match(term)) or (not latin and term[-1] == part[-1])]
    if not like and re.search(r"(?:では|だと|なら|の場合は?)$", rest):
        like = terms
    if like and "との" not in part:
        return kept.replace(like[0], part.strip(), 1)
    return f"{rest}{_ja_context(rest, talk.before, '') or f'（{topic_of(talk.before)}）'}"
