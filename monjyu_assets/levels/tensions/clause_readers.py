"""Of a word of direction in a parsed clause: what it is said of, and what stands around that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monjyu_assets.levels.tensions.clause_grammar import subjects_of
from monjyu_assets.levels.tensions.told_words import phrase_words

if TYPE_CHECKING:
    from spacy.tokens import Token

_OF_TARGET = frozenset(("of", "in", "on", "for", "between", "with", "to", "among"))


def ends_of(token: Token, kind: str) -> tuple[list[Token], list[Token]]:
    """What goes up or down (nothing where the parse does not show it), and the words around that. `kind`: `verb`,
    `noun` or `adj`, which adverbs are, too."""
    return {"verb": _of_verb, "noun": _of_noun, "adj": _of_adjective}[kind](token)


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
    return [end for c in word.subtree if c.lower_ in {"against", "from"} for end in c.children if end.dep_ == "pobj"][
        :1
    ]


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
