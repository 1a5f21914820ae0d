"""English follow-ups: words that refer back, parts of a question, and questions without a subject of their own."""

import re
from dataclasses import dataclass

from monjyu_core.language.packs import cues
from monjyu_query.asking.topic import topic_of
from monjyu_query.questions.described_papers import descriptions

MOST_CONTEXT = 6
"""The maximum number of terms of the conversation added to a follow-up if no single name replaces the reference."""
NEW_SUBJECT = re.compile(cues("english_follow_ups.new_subject"), re.IGNORECASE)
"""Matches a question that announces another subject."""
BRACKET = re.compile(r" ?[(（]([^()（）]*)[)）]$")
"""Matches the context that was added to a follow-up in brackets."""


@dataclass(frozen=True)
class Talk:
    """The context of a follow-up. `before`: the previous question, completed; `answer`: its answer; `whole`: the last
    question to which no context was added in brackets."""

    before: str = ""
    answer: str = ""
    whole: str = ""


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
"""Matches questions about the papers themselves."""
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
    r"^(about|in|for|with|without|on|at|from|among|during|after|before|by|to|like|except|under|until|since|of|over"
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
    r"|effective|recommended|significant|optimal|typical|average|available|total|anything|something|first|second|number|written|wrote|made|take|took|work|works|happen|happened|happens|kind|any)\b",
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
    r"^\W*(who"
    r"|(?:what|which) (\w+ ){0,2}(package|tool|method|model|software|library|algorithm|system|program|language"
    r"|data ?set)\b)",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"^\W*(?:(?:what|who) (?:is|are|was|were)|define|explain) (?:an? )?((?:[\w’'-]+ ?){1,4})\W*$", re.IGNORECASE
)
_SAYS = re.compile(
    r"\b(?:say|says|said|conclude[sd]?|find|finds|found|shows?|reports?|describe[sd]?|discuss(?:es)?|mentions?|argues?|claims?"
    r"|states?|explains?|teach(?:es)?|covers?|reviews?|simulates?|uses?|developed|wrote|created|studies|paper|study|course)\b",
    re.IGNORECASE,
)
"""Verbs for what every paper does, which are not the subject of a question."""
_DEFINITE = re.compile(r"\bthe (?!papers?\b|collection\b|stud|article)[a-z]", re.IGNORECASE)
_PERSONS = {"he", "she", "his", "her", "him", "they", "them", "their"}
_REPLACED = {"it", "its", "he", "she", "his", "her", "him", "this", "that"}


def english_follow_up(query: str, talk: Talk) -> str | None:
    """The question completed from the previous one; None if it is complete by itself."""
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
        described = next(iter(descriptions(before)), "")
        if described and described.casefold() not in query.casefold():
            context = topic_of(_GENERIC.sub(" ", _SAYS.sub(" ", before.replace(described, " "))))
            if not context and pronoun.group().casefold() in _REPLACED - _POSSESSIVE:
                return f"{query[: pronoun.start()]}{described}{query[pronoun.end() :]}"
            return f"{query} ({context}, in {described})" if context else f"{query} ({described})"
        if name and name.casefold() not in query.casefold() and pronoun.group().casefold() in _REPLACED:
            own = f"{name}'s" if pronoun.group().casefold() in _POSSESSIVE else name
            return f"{query[: pronoun.start()]}{own}{query[pronoun.end() :]}"
        return _with_context(query, before, answer)
    terms = topic_of(_ASIDE.sub(" ", _GENERIC.sub(" ", rest))).split()
    described = next(iter(descriptions(before)), "")
    if described and _DEFINITE.search(query) and len(terms) <= 2 and not (_names(rest) or descriptions(query)):
        return f"{query} ({described})"
    if not terms and topic_of(before) and not _asks_about_collection(query):
        return _with_context(query, before, answer)
    return None


def _asks_about_collection(query: str) -> bool:
    """Whether the question asks about the papers themselves: "What are the main themes?" needs no previous question."""
    return bool(
        re.search(
            rf"\b(these|the|this|all|your|our)( \w+)? {_COLLECTION}|\b(papers|themes|topics|collection)\b", query, re.I
        )
    )


def _points_back(query: str) -> re.Match[str] | None:
    """The first word that refers outside the question: nothing before it in the question can be its referent."""
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
    """Whether the referent may be earlier in the question: a pronoun does not refer to its own clause, unless it is
    possessive ("How do bees find their way?")."""
    clauses = list(_CLAUSE.finditer(ahead))
    if word not in _POSSESSIVE:
        ahead = ahead[: clauses[-1].start()] if clauses else ""
    return bool(topic_of(_GENERIC.sub(" ", ahead)))


def _names(text: str) -> list[str]:
    return [found for found in _NAME.findall(text) if not _NO_NAME.match(found)]


def _one_name(before: str, answer: str, *, person: bool = False) -> str:
    """The subject or the requested name of the previous question, otherwise its only name; empty if unclear."""
    thing = _WHAT_IS.match(before)
    if thing and topic_of(thing[1]):
        return thing[1]
    context = BRACKET.search(before)
    if context and " " not in context[1]:
        return context[1]
    asked = list(dict.fromkeys(_names(before)))
    if _ASKS_NAME.search(before) and (person or not re.match(r"\W*who", before, re.IGNORECASE)):
        said = [
            name
            for name in _names(answer.split(". ")[0])
            if name not in asked and (person or not answer.startswith(name))
        ]
        said = said or [name for name in _names(answer)[:1] if not name.istitle() and name not in asked]
        if said:
            return said[0]
    return asked[0] if len(asked) == 1 else ""


def _with_context(query: str, before: str, answer: str) -> str:
    """The question with the topic of the previous one in brackets, and the name that answered it."""
    there = set(re.findall(r"\w+", query.casefold()))
    bracket = BRACKET.search(before)
    said_there = NEW_SUBJECT.sub(" ", before[: bracket.start()] if bracket else before)
    known = topic_of(_GENERIC.sub(" ", said_there)) if bracket else topic_of(_SAYS.sub(" ", said_there))
    terms = [word for word in f"{bracket[1] if bracket else ''} {known}".split() if word.casefold() not in there]
    if len(terms) == 1 and (pronoun := _points_back(query)) and pronoun.group().casefold() in _REPLACED - _POSSESSIVE:
        return f"{query[: pronoun.start()]}{terms[0]}{query[pronoun.end() :]}"
    said = _one_name(before, answer)
    if said and said not in before and said.casefold() not in there:
        terms = [said, *terms]
    return f"{query} ({' '.join(dict.fromkeys(terms[:MOST_CONTEXT]))})" if terms else query


def _in_place(rest: str, before: str) -> str:
    """The previous question with the new part in place of one after the same preposition, or of the one name."""
    kept = BRACKET.sub("", before).strip(" ?.!")
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
