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
    as_clause,
    causes_of,
    clause_words,
    compared_with,
    conditional,
    is_main,
    negated,
    partly,
    subjects_of,
    supposed,
    unnamed,
    way_of,
    with_verb,
)
from monjyu_assets.levels.tensions.clause_readers import ends_of
from monjyu_assets.levels.tensions.measured_numbers import number_sides
from monjyu_assets.levels.tensions.tension_side import Side
from monjyu_assets.levels.tensions.tension_words import NONE, SOME, Direction, directions
from monjyu_assets.levels.tensions.told_words import amounts, as_written, lemmas, phrase_words, stem, stems

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
        read = list(parser.pipe(pieces, batch_size=BATCH))
        again = {place: text for place, doc in enumerate(read) if (text := with_verb(doc))}
        for place, doc in zip(again, parser.pipe(list(again.values()), batch_size=BATCH), strict=True):
            read[place] = doc
        for doc, (_, said) in zip(read, texts, strict=True):
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
        targets, agents = ends_of(token, kind)
        if not targets or unnamed(token):
            return
        if (supposed(token, kind) and not _more_do(token)) or (
            token.dep_ == "amod" and _only_describes(token, direction)
        ):
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
            way = way_of(causes_of(agents))  # "falls with falling X" is "rises with X"
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
            concept=as_written(span), words=lemmas(whole), wider=lemmas(rest), amounts=amounts(list(token.sent), token),
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
    if any(one.dep_ in {"advcl", "relcl", "acl"} and not is_main(one) for one in adjective.ancestors):
        return True
    return direction.axis.startswith("quality") or direction.axis == "level" or (direction.axis == "none" and not after)
