"""How the words of a parsed sentence hang together: subjects, denial, what is supposed, phrases and their stems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from monjyu_assets.levels.tensions.tension_words import directions

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_DEGREES = frozenset(
    [
        "significantly",
        "substantially",
        "appreciably",
        "markedly",
        "statistically",
        "considerably",
        "greatly",
        "strongly",
        "directly",
        "noticeably",
        "materially",
        "clearly",
        "notably",
        "dramatically",
        "necessarily",
        "really",
        "detectably",
        "measurably",
        "apparently",
        "reportedly",
        "previously",
        "consistently",
        "generally",
        "independently",
    ]
)
_PARTLY = frozenset(("only", "always", "just", "merely", "solely", "yet", "fully"))
_NOT = frozenset(("no", "not", "n't", "never", "neither", "nor", "without", "hardly", "barely", "scarcely", "cannot"))
_NEGATING = frozenset(("fail", "lack", "cease"))
REPORTING = frozenset(
    (
        "show", "find", "report", "observe", "demonstrate", "indicate", "reveal", "suggest", "conclude", "confirm",
        "see", "note", "detect", "have", "be", "exhibit", "display", "experience", "produce", "result", "lead",
        "provide", "remain", "become", "achieve", "develop", "yield", "undergo",
    )
)  # fmt: skip
_EVIDENCE = frozenset(("evidence", "indication", "proof", "sign"))
_FOUND_TO = frozenset(
    ("fail", "tend", "seem", "appear", "find", "show", "report", "observe", "lead", "cause", "prompt", "induce")
)
_UNDER_A_VERB = frozenset(("dobj", "attr", "acomp", "oprd", "xcomp", "pobj", "nsubjpass", "nsubj", "advmod"))
_UNNAMED = frozenset(("it", "they", "this", "these", "those", "he", "she"))
_CAUSING = frozenset(("by", "with", "after", "following", "through", "via", "due", "from", "because", "without"))
_FINITE = frozenset(("VBD", "VBZ", "VBP", "MD"))
_CONDITIONS = frozenset(("if", "whether", "unless"))
_BRINGING = frozenset(
    (
        "associate",
        "associated",
        "correlate",
        "correlated",
        "lead",
        "result",
        "contribute",
        "link",
        "linked",
        "accompany",
    )
)
"""What is followed by what it brings: "associated with lower X", "led to a rise of X"."""
PARTS = {"VERB": "verb", "NOUN": "noun", "ADJ": "adj", "ADV": "adj"}


def supposed(token: Token, kind: str) -> bool:
    """Whether the words take the direction for granted, and do not say it: "at higher X", "by increasing X", "as X
    rises"."""
    if any(one.dep_ in {"advcl", "relcl"} and _has_mark(one) for one in (token, *token.ancestors)):
        return True
    if token.lemma_ == "reduce" and any(c.lower_ == "to" and _of_no_number(c) for c in token.children):
        return True  # "the problem is reduced to an equation"
    if kind == "verb":
        if token.dep_ == "pcomp" and token.head.lower_ == "with":
            return True  # "with the angle varied from 1 to 5 degrees"
        if token.dep_ in {"acl", "ccomp"} and token.head.lemma_ in _EVIDENCE:
            return False
        if is_main(token):
            return False
        if token.dep_ == "acl" or _is_made(token):
            return True
        helped = any(c.dep_ in {"aux", "auxpass"} for c in token.children)
        return not helped and (token.tag_ == "VBG" or (token.tag_ == "VBN" and token.dep_ not in {"ROOT", "conj"}))
    if (token.pos_ == "ADJ" and token.dep_ in {"acomp", "oprd", "ROOT"}) or (
        token.dep_ == "advmod" and token.head.dep_ != "amod"
    ):
        return False
    noun = token if kind == "noun" else token.head.head if token.dep_ == "advmod" else token.head
    if noun.dep_ == "pobj":
        above = noun.head.head
        return above.lemma_ not in _BRINGING or noun.head.lower_ not in {"with", "in", "to", "by"}
    return noun.dep_ not in {"dobj", "attr", "nsubjpass", "nsubj", "acomp"} or (
        noun.dep_ in {"nsubj", "nsubjpass"} and (noun.head.lemma_ not in REPORTING or noun.head.lemma_ == "be")
    )


def _of_no_number(to: Token) -> bool:
    return not any(word.like_num for word in to.subtree)


def _is_made(verb: Token) -> bool:
    """Whether a study makes it so: "X was varied by employing Y"."""
    by = [c for c in verb.children if c.lower_ == "by"]
    doing = any(word.tag_ == "VBG" for prep in by for word in prep.children)
    return doing and any(c.dep_ == "auxpass" for c in verb.children) and not any(c.dep_ == "aux" for c in verb.children)


def partly(token: Token) -> bool:
    """Whether what is denied is only how: by an adverb that is none of degree."""
    return any(
        c.dep_ == "advmod" and (c.lower_ in _PARTLY or (c.lower_.endswith("ly") and c.lower_ not in _DEGREES))
        for c in (*token.children, *(token.head.children if token.dep_ in {"dobj", "acomp", "xcomp"} else ()))
    )


def _has_mark(clause: Token) -> bool:
    return any(
        c.dep_ in {"mark", "advmod"} and c.lower_ in {"as", "when", "once", "if", "where"} for c in clause.children
    )


def as_clause(token: Token) -> list[Token]:
    """The clause "as X rises" of a verb."""
    verb = token if token.pos_ in {"VERB", "AUX"} else token.head
    return [w for c in verb.children if c.dep_ == "advcl" and _has_mark(c) for w in c.subtree]


def clause_words(token: Token) -> list[Token]:
    """The words of the clause that a word stands in, without the clauses under it and beside it."""
    verb = next((one for one in (token, *token.ancestors) if one.pos_ in {"VERB", "AUX"}), token)
    left = {word.i for child in verb.subtree if child != verb and _own_clause(child) for word in child.subtree}
    return list(token.subtree) if token.i in left else [word for word in verb.subtree if word.i not in left]


def _own_clause(token: Token) -> bool:
    if token.dep_ == "conj":
        return token.pos_ in {"VERB", "AUX"} and any(c.dep_ in {"nsubj", "nsubjpass"} for c in token.children)
    return token.dep_ in {"relcl", "advcl", "ccomp", "parataxis"}


def subjects_of(verb: Token, depth: int = 0) -> list[Token]:
    own = [c for c in verb.children if c.dep_ in {"nsubj", "nsubjpass", "csubj", "csubjpass"}]
    if own:
        resolved = [verb.head if c.tag_ in {"WDT", "WP"} and verb.dep_ == "relcl" else c for c in own]
        return [c for c in resolved if c.pos_ not in {"PRON", "DET"}]
    if depth < 3 and verb.dep_ in {"conj", "xcomp", "advcl"} and verb.head.pos_ in {"VERB", "AUX"}:
        return subjects_of(verb.head, depth + 1)
    if verb.dep_ == "acl" and verb.head.pos_ in {"NOUN", "PROPN"} and (verb.tag_ == "VBG" or is_main(verb)):
        return [verb.head]
    return []


def unnamed(token: Token, depth: int = 0) -> bool:
    """Whether the clause is said of something that another sentence names: "it is independent of X"."""
    verb = next((one for one in (token, *token.ancestors) if one.pos_ in {"VERB", "AUX"}), token)
    own = [c for c in verb.children if c.dep_ in {"nsubj", "nsubjpass"}]
    if not own and depth < 3 and verb.dep_ in {"conj", "xcomp"}:
        return unnamed(verb.head, depth + 1)
    return any(subject.lower_ in _UNNAMED and not _said_which(subject) for subject in own)


def _said_which(pronoun: Token) -> bool:
    """ "Those who smoked", "those following the diet"."""
    return pronoun.lower_ in {"those", "they"} and any(c.dep_ in {"acl", "relcl", "prep"} for c in pronoun.children)


def with_verb(doc: Doc) -> str:
    """The text with "has" before what must be its verb, where the parser found none: it takes "lowered" in "Taking
    notes on a laptop lowered comprehension" for a participle. Empty where it found one, or nothing that can be it."""
    verbs = (one.head if one.dep_ in {"aux", "auxpass"} else one for one in doc if one.tag_ in _FINITE)
    if any(one.dep_ not in {"relcl", "advcl"} for one in verbs):
        return ""
    found = [one for one in doc if _could_be_verb(one)]
    return f"{doc.text[: found[-1].idx]}has {doc.text[found[-1].idx :]}" if found else ""


def _could_be_verb(token: Token) -> bool:
    after_noun = token.i > 1 and token.nbor(-1).pos_ in {"NOUN", "PROPN", "NUM", "PUNCT"}
    if not after_noun or token.i + 2 >= len(token.doc):
        return False
    cut = token.dep_ == "compound" and ("verb", token.lower_) in directions() and token.lower_ == "cut"
    return cut or (token.tag_ in {"VBN", "VBD"} and token.dep_ in {"acl", "amod"})


def is_main(verb: Token) -> bool:
    """Whether it is the verb of its sentence, though the parser hangs it on its subject: "testing reduced X"."""
    if verb.dep_ != "acl" or verb.head.dep_ != "ROOT":
        return False
    return any(c.dep_ == "dobj" for c in verb.children) or not any(one.tag_ in _FINITE for one in verb.sent)


def negated(token: Token, depth: int = 0) -> bool:
    """Whether the token is denied: by its own words, by "no" before it, or by the verb above it."""
    before = [c for c in token.children if c.dep_ in {"det", "advmod", "preconj", "cc", "neg"} and not _not_only(c)]
    if any(c.dep_ == "neg" or (c.lower_ in _NOT and c.i < token.i) for c in before):
        return True
    for child in token.children:
        if child.dep_ in {"amod", "advmod", "det"} and any(one.lower_ in _NOT for one in child.children):
            return True
        if child.dep_ in {"nsubj", "nsubjpass"} and any(c.lower_ in {"no", "neither"} for c in child.children):
            return True
    if depth >= 3 or token.dep_ == "ROOT":
        return False
    above = token.head
    if token.dep_ in {"acl", "ccomp"} and above.lemma_ in _EVIDENCE:
        return negated(above, depth + 1)  # "no evidence that X reduces Y"
    if above.pos_ == "ADP":
        if above.lower_ == "without":
            return True
        above = above.head
        if token.pos_ == "NOUN" and above.pos_ in {"VERB", "AUX"} and above.lemma_ not in REPORTING | {"associate"}:
            return False
    if token.dep_ == "amod":
        return any(c.lower_ in {"no", "without"} for c in above.children if c.i < token.i) or (
            above.dep_ in {"dobj", "attr"} and negated(above, depth + 1)
        )
    if token.dep_ not in _UNDER_A_VERB or above.pos_ not in {"VERB", "AUX", "ADJ"}:
        return False
    return (above.lemma_ in _NEGATING and token.dep_ == "xcomp") or negated(above, depth + 1)


def _not_only(word: Token) -> bool:
    after = word.doc[word.i + 1] if word.i + 1 < len(word.doc) else word
    return word.lower_ in _NOT and after.lower_ in _PARTLY


def conditional(token: Token) -> bool:
    """Whether it stands under "if" or "whether", or is what a study set out to find."""
    for one in (token, *list(token.ancestors)[:4]):
        if any(c.lower_ in _CONDITIONS and c.dep_ in {"mark", "cc", "advmod"} for c in one.children):
            return True
        to_do = (
            one.tag_ == "VB" and one.dep_ in {"advcl", "acl", "xcomp"} and any(c.lower_ == "to" for c in one.children)
        )
        if to_do and one.head.lemma_ not in _FOUND_TO:
            return True
    return False


def compared_with(token: Token) -> list[Token]:
    """What follows "than" or "compared with"."""
    near = [token, *token.children, token.head, *token.head.children]
    near += [c for c in near[1:] if c.dep_ in {"advcl", "ccomp"} and any(one.lower_ == "than" for one in c.children)]
    found = [
        t
        for t in near
        if t.lower_ == "than"
        or any(one.lower_ == "than" for one in t.children if t.dep_ == "advcl")
        or t.lower_ in {"compared", "versus", "vs", "relative"}
    ]
    return list(dict.fromkeys(found))


def causes_of(agents: Sequence[Token]) -> list[Token]:
    """Of the words around a statement those that say what it depends on: its subject, "by", "with", "as X
    rises". Places and conditions are none."""
    inside = {word.i for word in agents}
    found = []
    for word in agents:
        top = word
        while top.head.i in inside and top.head.i != top.i:
            top = top.head
        if top.pos_ not in {"ADP", "SCONJ"} or top.lower_ in _CAUSING:
            found.append(word)
    return found


def way_of(agents: Iterable[Token]) -> int:
    """Which way what it depends on goes: 1, -1, and 0 where one goes up and another down."""
    ways = set()
    for token in agents:
        kind = PARTS.get(token.pos_)
        for one in ("adj", "verb", "noun") if kind and token.dep_ not in {"advmod", "acl"} else ():
            found = directions().get((one, token.lower_ if one == "adj" else token.lemma_.casefold()))
            if found and found.axis == "amount" and found.sign in (1, -1):
                ways.add(found.sign)
                break
    return ways.pop() if len(ways) == 1 else 0 if ways else 1
