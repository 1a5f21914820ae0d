"""What an English claim says of something: that it goes up or down, differs or does not, holds or does not.

A **side** is one such statement: the thing it is said of (`target`), what it is said to depend on (`agent`), what that
is compared with (`versus`) and the sign. Two sides of different claims may oppose each other (`opposing_sides`). Read
from spaCy's parse; what a parse does not show plainly gives no side: precision goes before recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from monjyu_assets.levels.phrases.cleaning import clean, windows
from monjyu_assets.levels.phrases.model import load_model
from monjyu_assets.levels.tensions.clause_grammar import (
    PARTS,
    REPORTING,
    amounts,
    as_clause,
    as_written,
    causes_of,
    clause_words,
    compared_with,
    conditional,
    lemmas,
    negated,
    partly,
    phrase_words,
    stem,
    stems,
    subjects_of,
    supposed,
    unnamed,
    way_of,
)
from monjyu_assets.levels.tensions.measured_numbers import number_sides
from monjyu_assets.levels.tensions.tension_side import Side
from monjyu_assets.levels.tensions.tension_words import NONE, SOME, Direction, directions

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

BATCH = 64
MOST_SIDES = 8
"""Of a statement."""
MOST_TARGETS = 4
"""What one word of direction is said of: "reduced A, B and C"."""
_SUBSCRIPT = re.compile(r"\bR 0\b")
"""The basic reproduction number as PDFs give it."""
_FAINT = frozenset(("negligible", "negligibly", "little", "minimal", "minimally", "insignificant", "hardly", "barely"))
_ALONG = frozenset(("positively", "positive", "directly", "direct"))
_AGAINST = frozenset(("negatively", "negative", "inversely", "inverse"))
_OF_TARGET = frozenset(("of", "in", "on", "for", "between", "with", "to", "among"))
_OF_AGENT = frozenset(
    ("in", "with", "by", "among", "after", "following", "during", "for", "at", "under", "to", "between", "from", "on")
)


@lru_cache(maxsize=1)
def _parser() -> Language:
    return load_model(exclude=("ner",))


def english_sides(texts: Sequence[tuple[str, str]]) -> list[list[Side]]:
    """The sides of each statement, in order, from what the parser reads and what the paper says: abbreviations are
    written out in the one, the intervals of numbers stand in the other. They depend on these alone."""
    pieces = [_SUBSCRIPT.sub("R0", (windows(clean(read)) or [""])[0]) for read, _ in texts]
    parser = _parser()
    found = []
    with parser.memory_zone():
        for doc, (_, said) in zip(parser.pipe(pieces, batch_size=BATCH), texts, strict=True):
            sides = [*_Reader(doc).sides(), *number_sides(doc, said)]
            found.append(list(dict.fromkeys(sides))[:MOST_SIDES])
    return found


@dataclass
class _Reader:
    """Reads one parsed claim."""

    doc: Doc
    taken: set[int] = field(default_factory=set)

    def sides(self) -> Iterator[Side]:
        if self.doc.text.rstrip().endswith("?"):
            return
        for token in self.doc:
            if (direction := self._direction(token)) and not conditional(token):
                yield from self._directed(token, direction)
        for token in self.doc:
            if token.i not in self.taken and not conditional(token):
                yield from self._stated(token)

    def _direction(self, token: Token) -> Direction | None:
        kind = PARTS.get(token.pos_)
        if kind is None:
            return None
        if kind == "adv" or (kind == "verb" and token.dep_ == "amod"):
            kind = "adj"
        if any(c.dep_ == "prt" for c in token.children):
            return None  # "dropped out"
        word = token.lower_ if kind == "adj" else token.lemma_.casefold()
        return directions().get((kind, word))

    def _directed(self, token: Token, direction: Direction) -> Iterator[Side]:
        kind = "adj" if token.dep_ == "amod" or token.pos_ in {"ADJ", "ADV"} else PARTS[token.pos_]
        targets, agents = {"verb": _of_verb, "noun": _of_noun, "adj": _of_adjective}[kind](token)
        if not targets or unnamed(token):
            return
        if (supposed(token, kind) and not _more_do(token)) or (token.dep_ == "amod" and _only_describes(token, direction)):
            return
        denied = negated(token) or (direction.axis == "some" and _is_faint(token))
        direction = _of_relation(token, direction)
        sign = direction.sign if not denied else (SOME if direction.sign == NONE else NONE)
        if direction.axis.startswith("quality") and denied:
            sign = -direction.sign
        self.taken.add(token.i)
        own = {word.i for word in token.subtree} if kind == "noun" else {token.i}
        clause = clause_words(token)
        agents = [word for word in agents if word.i != token.i] + [w for w in as_clause(token) if w.i not in own]
        if denied and partly(token):
            return  # "does not vary linearly", "not only reduced"
        if token.dep_ == "amod" and token.head.head.lemma_ == "lose" and sign in (1, -1):
            sign = -sign  # "lost more weight"
        if sign in (1, -1) and not direction.axis.startswith("quality"):
            way = way_of(agents)  # "falls with falling X" is "rises with X"
            if not way:
                return
            sign *= way
        versus = [word for child in compared_with(token) for word in child.subtree]
        known = {word.i for word in versus}
        agents = [word for word in agents if word.i not in known]
        agents = agents if versus else causes_of(agents)  # "higher in A than in B": of A
        cue = f"{'no ' if denied and kind == 'noun' else 'not ' if denied else ''}{token.lower_}"
        for target in [one for first in targets[:1] for one in (first, *first.conjuncts)][:MOST_TARGETS]:
            span = [word for word in phrase_words(target, without=token) if word.i not in known]
            own = {one.i for one in span}
            more = [word for word in agents if word.i not in own]
            yield self._side("direction", direction.axis, sign, cue, target, span, more, versus, clause, token)

    def _side(
        self, kind: str, axis: str, sign: int, cue: str, target: Token, span: list[Token], agents: list[Token],
        versus: list[Token], clause: list[Token], token: Token,
    ) -> Side:  # fmt: skip
        inside = {word.i for word in (*span, *agents, *versus, token)}
        around = [word for word in clause if word.i not in inside]
        told = {word.i: word for word in (*span, *agents, *versus, *around) if word.i != token.i}
        whole = [told[place] for place in sorted(told)]
        rest = [word for word in token.sent if word.i not in told and word.i != token.i]
        return Side(
            kind, axis, sign, cue, stem(target), stems(span), stems(agents), stems(versus), stems(around),
            concept=as_written(span), words=lemmas(whole), wider=lemmas(rest), amounts=amounts(whole, token),
        )  # fmt: skip

    def _stated(self, token: Token) -> Iterator[Side]:
        """A verb with its subject and object, held or denied: "X inhibits Y", "X does not inhibit Y"."""
        lemma = token.lemma_.casefold()
        is_so = lemma == "be" and token.pos_ == "AUX" and any(c.dep_ == "attr" for c in token.children)
        if token.dep_ not in {"ROOT", "conj", "ccomp"} or not (
            is_so or (token.pos_ == "VERB" and lemma not in REPORTING)
        ):
            return
        subjects = subjects_of(token)
        objects = [c for c in token.children if c.dep_ in {"dobj", "attr", "acomp"}]
        around = [w for c in token.children if c.dep_ in {"prep", "agent"} for w in c.subtree]
        if not subjects or unnamed(token):
            return
        sign = NONE if negated(token) else 1
        if sign == NONE and partly(token):
            return
        cue = f"{'not ' if sign == NONE else ''}{token.lower_}"
        target = objects[0] if objects else subjects[0]
        others = [w for s in subjects for w in phrase_words(s)] if objects else around
        span = phrase_words(target)
        yield self._side(
            "statement", f"does {stem(token)}", sign, cue, target, span, others, [], clause_words(token), token
        )


def _more_do(token: Token) -> bool:
    """ "More students failed"."""
    verb = token.head.head
    return (
        token.lower_ in {"more", "fewer"}
        and token.head.dep_ == "nsubj"
        and verb.pos_ == "VERB"
        and verb.dep_ in {"ROOT", "conj", "ccomp"}
        and verb.lemma_ not in {"need", "require"}
    )


def _is_faint(token: Token) -> bool:
    """Whether an effect is as good as none: "a negligible effect"."""
    return any(c.dep_ in {"amod", "advmod"} and c.lower_ in _FAINT for c in token.children)


def _of_relation(token: Token, direction: Direction) -> Direction:
    """Which way a relation goes: "negatively correlated with X"."""
    if direction.axis != "some":
        return direction
    by = {c.lower_ for c in token.children if c.dep_ in {"advmod", "amod"}}
    sign = 1 if by & _ALONG else -1 if by & _AGAINST else 0
    return Direction("relation", sign) if sign else direction


def _only_describes(adjective: Token, direction: Direction) -> bool:
    """Whether it only says which: "comparable thickness", "high load"; "needs similar to those of men" says more."""
    after = adjective.i > adjective.head.i
    if any(one.dep_ in {"advcl", "relcl", "acl"} for one in adjective.ancestors):
        return True
    return direction.axis.startswith("quality") or direction.axis == "level" or (direction.axis == "none" and not after)


def _of_verb(verb: Token) -> tuple[list[Token], list[Token]]:
    """What goes up or down, and by or in what."""
    subjects = subjects_of(verb)
    objects = [c for c in verb.children if c.dep_ == "dobj"]
    around = [w for c in verb.children if c.dep_ in {"prep", "agent"} for w in c.subtree]
    if verb.lemma_.casefold() == "protect":
        return _kept_off(verb), [w for s in (*subjects, *objects) for w in phrase_words(s)]
    if objects:
        return objects, [w for s in subjects for w in phrase_words(s)] + around
    if verb.dep_ == "acl" and verb.head.pos_ in {"NOUN", "PROPN"}:
        return ([verb.head], around) if verb.tag_ == "VBN" else ([], [])
    if verb.lemma_.casefold() in {"associate", "correlate", "relate", "link", "contribute", "depend"}:
        ends = _ends(verb)
        return ends or subjects, [w for s in subjects for w in phrase_words(s)] if ends else around
    return subjects, around


def _kept_off(word: Token) -> list[Token]:
    """What something protects from: "protected A against B", "a protective effect against B"."""
    return [end for c in word.subtree if c.lower_ in {"against", "from"} for end in c.children if end.dep_ == "pobj"][:1]


def _ends(word: Token) -> list[Token]:
    """What something is tied to: "contributes to X in Y", "associated with X": X first."""
    found = [(c.lower_ in {"to", "with", "on"}, p) for c in word.children if c.dep_ == "prep" for p in c.children]
    return [end for _, end in sorted(found, key=lambda one: not one[0]) if end.dep_ == "pobj"]


def _of_noun(noun: Token) -> tuple[list[Token], list[Token]]:
    """ "A reduction of X in Y"; its agent is the subject of the verb it belongs to."""
    preps = [c for c in noun.children if c.dep_ == "prep" and c.lower_ in _OF_TARGET]
    ends = [(p.lower_, end) for p in preps for end in p.children if end.dep_ == "pobj"]
    compound = [c for c in noun.children if c.dep_ == "compound"]
    verb = noun.head
    agents: list[Token] = []
    if noun.dep_ in {"dobj", "attr", "nsubj", "nsubjpass", "pobj"}:
        governor = verb if verb.pos_ in {"VERB", "AUX"} else verb.head
        if governor.pos_ in {"VERB", "AUX"}:
            agents = [w for s in subjects_of(governor) if s != noun for w in phrase_words(s)]
            agents += [w for c in governor.children if c.dep_ == "prep" and c != verb for w in c.subtree]
    if (
        compound
        and noun.lemma_ in {"increase", "decrease", "reduction"}
        and not any(name in {"of", "in", "on"} for name, _ in ends)
    ):
        return compound[-1:], agents + [w for _, end in ends for w in end.subtree]
    if noun.lemma_ in {"effect", "impact", "influence"}:  # "the effect of A on B", "A has no effect on B"
        return _effect(noun, agents)
    if not ends:
        return [], []
    first = next((end for name, end in ends if name in {"of", "in", "on"}), ends[0][1])
    rest = [w for _, end in ends if end != first for w in end.subtree]
    return [first], agents + rest


def _effect(noun: Token, agents: list[Token]) -> tuple[list[Token], list[Token]]:
    """What is acted on, wherever the parser hangs "on": "the effect of A on B in C"."""
    ends = (end for w in noun.subtree if w.lower_ in {"on", "against"} for end in w.children)
    on = next((end for end in ends if end.dep_ in {"pobj", "pcomp"}), None)
    if on is None:
        return [], []
    own = {word.i for word in on.subtree} | {noun.i}
    return [on], agents + [word for word in noun.subtree if word.i not in own]


_HAVING = frozenset(("lose", "gain", "write", "consume", "contain", "eat", "emit"))
"""Verbs of which an object is more or less: "lost more lean mass". Of others it is mostly more of what it is like."""
_LEFT_SO = frozenset(("nsubj", "dobj", "nsubjpass"))


def _of_adjective(word: Token) -> tuple[list[Token], list[Token]]:
    """ "Higher X in Y", "X is higher in Y", "X is more effective"."""
    if word.dep_ == "amod" and word.head.pos_ in {"NOUN", "PROPN"}:
        noun = word.head
        governor = noun.head if noun.dep_ in {"dobj", "attr", "pobj", "nsubj", "nsubjpass"} else None
        inside = [w for c in noun.children if c.dep_ == "prep" for w in c.subtree]
        if governor is not None and governor.pos_ == "ADP":
            governor = governor.head
        agents = inside
        if governor is not None and governor.pos_ in {"VERB", "AUX"}:
            agents = agents + [w for s in subjects_of(governor) if s != noun for w in phrase_words(s)]
            agents += [w for c in governor.children if c.dep_ == "prep" and noun not in c.subtree for w in c.subtree]
        return [noun], agents
    verb = word.head
    if word.dep_ in {"acomp", "oprd", "ccomp", "dep"} and verb.lemma_ in {"leave", "keep"}:  # "A left B unchanged"
        inner = [c for one in verb.children if one.dep_ == "xcomp" for c in one.children]
        left = [c for c in (*word.children, *verb.children, *inner) if c.dep_ in _LEFT_SO and c.i < word.i]
        own = [c for c in left if c.dep_ != "nsubj" or c.head == word]
        return own[-1:], [w for c in verb.children if c not in own and c != word for w in c.subtree]
    if word.dep_ == "advmod" and verb.dep_ == "amod" and verb.head.head.lemma_ in _HAVING:
        return _of_adjective(verb)  # "more lean mass"
    if word.dep_ == "advmod" and verb.pos_ in {"VERB", "ADV"}:
        return _of_adverb(word)
    if word.dep_ in {"acomp", "oprd"} and verb.pos_ in {"VERB", "AUX"}:
        subjects = subjects_of(verb)
        around = [w for c in (*word.children, *verb.children) if c.dep_ in {"prep", "agent"} for w in c.subtree]
        if word.lower_ in {"associated", "correlated", "related", "linked", "dependent", "independent", "unrelated"}:
            ends = _ends(word)
            return ends or subjects, [w for s in subjects for w in phrase_words(s)]
        return subjects, around
    if word.dep_ == "advmod" and verb.pos_ == "ADJ" and word.lower_ in {"more", "less"}:
        subjects = subjects_of(verb.head) if verb.dep_ in {"acomp", "oprd"} else []
        around = [w for c in verb.children if c.dep_ == "prep" for w in c.subtree]
        return ([verb], [w for s in subjects for w in phrase_words(s)] + around) if subjects else ([], [])
    return [], []


def _of_adverb(word: Token) -> tuple[list[Token], list[Token]]:
    """ "X took longer to heal after A", "X turned to Y more often": X, and what the verb says of it."""
    verb = word.head if word.head.pos_ == "VERB" else word.head.head
    comparing = word.tag_ in {"RBR", "JJR"} or word.lower_ in {"faster", "slower", "longer"}
    if verb.pos_ not in {"VERB", "AUX"} or not comparing:
        return [], []
    subjects = subjects_of(verb)
    around = [w for c in verb.children if c not in subjects and word not in c.subtree for w in c.subtree]
    return subjects, [*around, verb]
