"""Extracts the relationships that an English sentence states. The types are a closed set. Each is found by dependency
patterns over listed predicates; the ends are noun phrases of the sentence, or "we" for the paper itself.

Precision has priority over recall: unlisted predicates, other pronouns as ends, and questions yield no relationship.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from monjyu_assets.levels.entities.findings import OWN_PAPER, FoundRelation, Stance, predicates

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

OWN = frozenset(("we",))
OWN_NOUNS = frozenset(
    (
        "paper", "article", "study", "work", "course", "package", "library", "toolkit", "curriculum", "workshop",
        "module", "software", "tutorial", "lesson", "lessons", "book", "textbook", "notebooks", "materials",
        "repository", "tool",
    )
)  # fmt: skip
"""Nouns that mean the paper itself, or its subject, after "this", "our" or "present"."""
TRANSPARENT = frozenset(
    (
        "set", "number", "variety", "range", "form", "type", "kind", "series", "combination", "collection", "family",
        "list", "group", "suite", "use", "majority", "class", "sort", "mix", "mixture", "pair", "couple", "array",
        "subset", "implementation", "principle", "concept", "idea", "field", "lot", "level", "amount", "expression",
        "presence", "development", "method", "theory", "process", "area", "topic",
    )
)  # fmt: skip
"""Nouns whose phrase is represented by the noun after "of": "a set of tools" means the tools."""
_WEAK_MODALS = frozenset(("may", "might", "could", "would", "should"))
_WEAK_ADVERBS = frozenset(("possibly", "perhaps", "potentially", "likely", "probably", "presumably", "apparently"))
_WEAK_VERBS = frozenset(
    (
        "appear", "seem", "aim", "hope", "plan", "intend", "try", "attempt", "expect", "want", "wish", "propose",
        "hypothesize", "hypothesise", "assume", "believe", "suspect", "suggest", "speculate", "recommend", "consider",
        "investigate", "determine", "test", "examine", "assess", "explore", "ask", "wonder", "seek",
    )
)  # fmt: skip
_NEGATING_VERBS = frozenset(("fail", "avoid", "refuse", "lack", "prevent", "cease"))
_CLAUSES = frozenset(("ccomp", "xcomp", "advcl", "acl", "pcomp"))
BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "remains", "remain", "becomes", "became"))
DEEPEST = 4
"""The maximum number of steps through the parse tree when a subject, a phrase or a stance is resolved."""

Ends = list[int]
"""Indices of the head tokens of phrases; `OWN_PAPER` for the paper itself."""


@dataclass(frozen=True)
class Frame:
    """The relationship that a predicate states with its object (`prep` is "") or with the phrase after a preposition.
    With `turned`, its direction is reversed."""

    relation: str
    prep: str
    turned: bool


@lru_cache(maxsize=1)
def frames() -> Mapping[tuple[str, str], list[Frame]]:
    """The frames by (part of speech, lemma); the part of speech is `verb`, `noun` or `adj`."""
    found: dict[tuple[str, str], list[Frame]] = {}
    for relation, entry in predicates():
        kind, slash, rest = entry.partition("/")
        kind, rest = (kind, rest) if slash else ("verb", entry)
        lemma, _, prep = rest.rstrip("<").partition(":")
        found.setdefault((kind, lemma), []).append(Frame(relation, prep.replace("_", " "), rest.endswith("<")))
    return found


def english_relations(doc: Doc, lemmatizer: Any) -> Iterator[FoundRelation]:
    """The relationships of a parsed sentence; ends are token indices."""
    if doc.text.rstrip().endswith("?"):
        return
    for token in doc:
        if token.pos_ in {"VERB", "AUX"}:
            lemma = _lemma(token, lemmatizer)
            stance = _stance(token, lemmatizer)
            found = _of_be(token, lemmatizer) if token.lower_ in BE else _of_verb(token, lemma)
            for source, relation, target in found:
                if source != target:
                    yield FoundRelation(source, relation, target, _at_ends(doc, (source, target), stance))
    yield from _examples(doc)
    yield from _appositions(doc)


def _of_verb(verb: Token, lemma: str) -> Iterator[tuple[int, str, int]]:
    for frame in frames().get(("verb", lemma), ()):
        if frame.prep:
            starts, ends = _theme(verb), _after(verb, frame.prep)
        else:
            starts, ends = _agents(verb), _objects(verb)
        for start in starts:
            for end in ends:
                if frame.relation == "same_as" and _indefinite(verb.doc[end]):
                    yield start, "is_a", end  # "known as a herb"
                else:
                    yield (end, frame.relation, start) if frame.turned else (start, frame.relation, end)


def _of_be(verb: Token, lemmatizer: Any) -> Iterator[tuple[int, str, int]]:
    """The relationships stated with a form of "be": "X is a Y", "X is part of Y", "X is similar to Y"."""
    starts = [end for token in verb.children if token.dep_ == "nsubj" for end in resolved(token)]
    for complement in verb.children:
        kind = {"attr": "noun", "acomp": "adj"}.get(complement.dep_)
        if kind is None or complement.i < verb.i:
            continue
        word = complement.lower_ if kind == "adj" else _lemma(complement, lemmatizer)
        named = frames().get((kind, word), [])
        for frame in named:
            for start in starts:
                for end in _after(complement, frame.prep):
                    yield (end, frame.relation, start) if frame.turned else (start, frame.relation, end)
        if kind == "noun" and not named and _indefinite(complement):
            for start in starts:
                if start != OWN_PAPER:
                    yield start, "is_a", complement.i


def _indefinite(noun: Token) -> bool:
    """Whether the article is indefinite: "X is a Y" defines X, while "X is the Y" may identify it."""
    articles = [child.lower_ for child in noun.children if child.dep_ == "det"]
    return articles in (["a"], ["an"]) or (not articles and noun.tag_ == "NNS")


def _examples(doc: Doc) -> Iterator[FoundRelation]:
    """The relationships of examples: in "libraries such as X and Y", each is a library."""
    for token in doc:
        if (
            token.lower_ == "as"
            and token.i
            and doc[token.i - 1].lower_ == "such"
            and token.head.pos_ in {"NOUN", "PROPN"}
        ):
            for child in token.children:
                if child.dep_ == "pobj" and child.i > token.i:
                    for end in resolved(child):
                        yield FoundRelation(end, "is_a", token.head.i, "stated")


def _appositions(doc: Doc) -> Iterator[FoundRelation]:
    """The relationships of appositions: in "X, a library for Y, …", X is a library."""
    for token in doc:
        named = token.dep_ == "appos" and token.head.pos_ == "PROPN" and token.pos_ == "NOUN"
        if named and _indefinite(token) and token.left_edge.i and doc[token.left_edge.i - 1].text == ",":
            yield FoundRelation(token.head.i, "is_a", token.i, "stated")


def resolved(token: Token, depth: int = 0) -> Ends:
    """The heads of a token's own phrase (or, for "a set of", of the content's) and of coordinated phrases."""
    if token.tag_ in {"WDT", "WP", "WRB"} or token.dep_ == "relcl":
        return []
    if token.lower_ in OWN or _own_noun(token):
        return [OWN_PAPER]
    if token.pos_ == "PRON" or depth > DEEPEST:
        return []
    inner = [c for p in token.children if p.dep_ == "prep" and p.lower_ == "of" for c in p.children if c.dep_ == "pobj"]
    if token.lower_.rstrip("s") in TRANSPARENT and inner:
        ends = [end for child in inner for end in resolved(child, depth + 1)]
    else:
        ends = [token.i]
    negative = any(child.lower_ in {"but", "not"} for child in token.children if child.dep_ in {"cc", "neg", "preconj"})
    if not negative:
        ends += [
            end
            for c in token.children
            if c.dep_ == "conj" and c.pos_ in {"NOUN", "PROPN"}
            for end in resolved(c, depth + 1)
        ]
    return ends


def _own_noun(token: Token) -> bool:
    return token.lower_ in OWN_NOUNS and any(
        child.lower_ in {"this", "our", "present"} for child in token.children if child.dep_ in {"det", "poss", "amod"}
    )


def _passive(verb: Token) -> bool:
    if any(child.dep_ in {"nsubjpass", "auxpass"} for child in verb.children):
        return True
    return (
        verb.dep_ in {"acl", "conj"}
        and verb.tag_ == "VBN"
        and not any(c.dep_ in {"aux", "nsubj", "dobj"} for c in verb.children)
    )


def _subjects(verb: Token, depth: int = 0) -> Ends:
    """The heads of a verb's subject: its own, the noun that it modifies, or that of its governing verb."""
    own = [child for child in verb.children if child.dep_ in {"nsubj", "nsubjpass"} and child.i < verb.i]
    if own:
        if own[0].tag_ in {"WDT", "WP"}:  # "tools that …"
            return [verb.head.i] if verb.dep_ == "relcl" and verb.head.pos_ in {"NOUN", "PROPN"} else []
        return [end for child in own for end in resolved(child)]
    if any(child.dep_ == "csubj" for child in verb.children) or depth > DEEPEST:
        return []
    above = verb.head
    if verb.dep_ == "acl" and above.pos_ in {"NOUN", "PROPN"} and verb.tag_ in {"VBG", "VBN"}:
        return [above.i]
    if verb.dep_ == "conj" and above.pos_ in {"VERB", "AUX"} and _passive(above) == _passive(verb):
        return _subjects(above, depth + 1)
    if verb.dep_ == "xcomp" and above.pos_ in {"VERB", "AUX"} and not any(c.dep_ == "dobj" for c in above.children):
        return _subjects(above, depth + 1)
    if verb.dep_ == "advcl" and verb.tag_ == "VBG" and above.pos_ in {"VERB", "AUX"} and not _passive(above):
        return _subjects(above, depth + 1)
    return []


def _agents(verb: Token) -> Ends:
    if not _passive(verb):
        return _subjects(verb)
    by = [child for child in verb.children if child.dep_ == "agent" or (child.dep_ == "prep" and child.lower_ == "by")]
    return [end for child in by for noun in child.children if noun.dep_ == "pobj" for end in resolved(noun)]


def _objects(verb: Token) -> Ends:
    if _passive(verb):
        return _subjects(verb)
    ends = [end for c in verb.children if c.dep_ in {"dobj", "oprd"} and c.i > verb.i for end in resolved(c)]
    what = [child for child in verb.children if child.dep_ == "dobj" and child.tag_ in {"WDT", "WP"}]
    if what and verb.dep_ == "relcl":  # "the tool that X uses"
        ends.append(verb.head.i)
    return ends


def _theme(verb: Token) -> Ends:
    """The heads of what a verb with a preposition is about: its object, otherwise its subject."""
    objects = [end for c in verb.children if c.dep_ == "dobj" and c.i > verb.i for end in resolved(c)]
    if objects or any(child.dep_ == "dobj" for child in verb.children):
        return objects
    return _subjects(verb)


def _after(head: Token, prep: str) -> Ends:
    """The heads of the phrases after `prep`, a word that depends on `head`, or two words ("use of")."""
    first, _, second = prep.partition(" ")
    ends: Ends = []
    for child in head.children:
        if (
            child.i > head.i
            and child.lower_ == first
            and child.dep_ in {"prep", "agent", "advcl", "acl", "dobj", "xcomp"}
        ):
            inner = [c for c in child.children if c.dep_ in {"pobj", "dobj"}]
            if second:
                inner = [c for p in child.children if p.lower_ == second for c in p.children if c.dep_ == "pobj"]
            ends += [end for c in inner if c.i > child.i for end in resolved(c)]
    return ends


def _stance(verb: Token, lemmatizer: Any) -> Stance:
    """The stance of a verb: negated or hedged by its own words or by verbs that govern it, otherwise stated."""
    stance: Stance = "stated"
    token = verb
    for _ in range(DEEPEST):
        lower = {
            child.lower_ for child in token.children if child.dep_ in {"aux", "neg", "advmod", "mark", "det", "auxpass"}
        }
        if any(child.dep_ == "neg" for child in token.children) or lower & {"never", "hardly", "rarely", "without"}:
            return "negated"
        if lower & _WEAK_MODALS or lower & _WEAK_ADVERBS or lower & {"if", "whether", "unless"}:
            stance = "hedged"
        if token.dep_ == "pcomp" and token.head.lower_ == "without":
            return "negated"
        if token.dep_ not in {*_CLAUSES, "conj"} or token.head.pos_ not in {"VERB", "AUX"}:
            break
        joined = token.dep_ == "conj"
        token = token.head
        if joined:
            if any(child.dep_ in {"nsubj", "nsubjpass"} for child in verb.children):
                break  # a separate clause
            continue
        lemma = _lemma(token, lemmatizer)
        if lemma in _NEGATING_VERBS:
            return "negated"
        if lemma in _WEAK_VERBS:
            stance = "hedged"
        elif verb.dep_ == "advcl":
            break
    return stance


def _at_ends(doc: Doc, ends: tuple[int, int], stance: Stance) -> Stance:
    """`negated` if an end has a negative determiner ("No X uses Y"), otherwise `stance`."""
    denied = any(
        child.lower_ in {"no", "neither", "nor"}
        for end in ends
        if end != OWN_PAPER
        for child in doc[end].children
        if child.dep_ in {"det", "preconj", "cc"}
    )
    return "negated" if denied else stance


def _lemma(token: Token, lemmatizer: Any) -> str:
    lemmas = lemmatizer.lemmatize(token)
    return str(lemmas[0] if lemmas and lemmas[0] else token.lower_).casefold()
