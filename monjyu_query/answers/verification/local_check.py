"""The first stage of the check, which compares the words of a sentence with those of its sources."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from monjyu_core.language.packs import also
from monjyu_query.answers.verification.attribution import (
    CLAUSES,
    NEGATIONS,
    absolutes,
    merged_sources,
    moved_figures,
    moved_names,
    negated_unspaced,
    negated_words,
    turned_directions,
)
from monjyu_query.answers.verification.exact_facts import Facts, Words, normal
from monjyu_query.answers.verification.numbers import SMALL, Figure, figures, same_value
from monjyu_query.asking.result import Basis, Verdict

# Features (0 or more) for and against the support of a sentence by its sources. They depend only on the texts.
NAMES = (
    "uncovered", "beyond_best", "missing_number", "moved_number", "missing_name", "moved_name", "merged", "negation",
    "opposite", "new_direction", "absolute",
)  # fmt: skip
STRONG = 0.2
"""How much better another place must fit to be reported."""
OF_THE_QUESTION = 0.4
"""The weight of a word that is also in the question: every retrieved passage has such words, so they prove little."""
WINDOW = 3
"""The number of consecutive source sentences that may support one sentence together."""
_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\[])|(?<=[。！？])")


@dataclass(frozen=True)
class Source:
    """A cited text. `about`: title, authors, year, which a sentence may also name."""

    text: str
    about: str = ""


@dataclass
class Signs:
    """The features of a sentence (`values`), by the names in `NAMES`. `reasons` are the arguments against the sentence,
    for people."""

    values: dict[str, float] = field(default_factory=lambda: dict.fromkeys(NAMES, 0.0))
    reasons: list[str] = field(default_factory=list)

    def vector(self) -> list[float]:
        return [self.values[name] for name in NAMES]


def signs_of(sentence: str, sources: Sequence[Source], question: str = "") -> Signs:
    """The features of one sentence against the union of its sources."""
    signs = Signs()
    said = Words(normal(sentence))
    texts = [Words(normal(source.text)) for source in sources]
    about = normal(" ".join(source.about for source in sources))
    pieces = [[Words(piece) for piece in _pieces(text.text)] for text in texts]
    windows = [
        (number, Words(" ".join(w.text for w in several[at : at + WINDOW])))
        for number, several in enumerate(pieces)
        for at in range(max(1, len(several) - WINDOW + 1))
    ]
    _coverage(signs, said, texts, windows, about, question)
    sentences = [piece for several in pieces for piece in several]
    best = _best(said, sentences)
    facts = Facts(" ".join((about, question, *(text.text for text in texts))))
    _figures(signs, said, sentences, facts)
    _names(signs, facts.lacks_names(said.text))
    _attributed(signs, said, sentences, [Words(normal(f"{source.about} {source.text}")) for source in sources])
    _polarity(signs, said, best, texts)
    return signs


def _pieces(text: str) -> list[str]:
    return [piece for piece in _SPLIT.split(text) if piece.strip()]


def _shares(said: Words, others: Sequence[Words]) -> NDArray[np.float32]:
    """An array (others, content words of `said`): 1 if the other sentence has the word."""
    own = [term for _, term in said.content]
    known = [{term for _, term in other.content} for other in others]
    return np.array([[term in terms for term in own] for terms in known], np.float32).reshape(len(others), len(own))


def _coverage(
    signs: Signs, said: Words, texts: Sequence[Words], windows: Sequence[tuple[int, Words]], about: str, question: str
) -> None:
    content = said.content
    if not content:
        return
    asked = {term for _, term in Words(normal(question)).content}
    weights = np.array([OF_THE_QUESTION if term in asked else 1.0 for _, term in content], np.float32)
    shares = _shares(said, [*(window for _, window in windows), *texts, Words(about)])
    count = len(windows)
    of_window, of_text, named = shares[:count], shares[count:-1], shares[-1]
    union = np.maximum(of_text.max(axis=0, initial=0.0), 0.9 * named)
    missing = 1.0 - union
    signs.values["uncovered"] = float(np.average(missing, weights=weights))
    signs.values["beyond_best"] = _clauses_apart(said, content, np.maximum(of_window, 0.9 * named), union)
    if signs.values["uncovered"] > 0.5:
        words = dict.fromkeys(
            said.plain[place] for (place, _), lost in zip(content, missing, strict=True) if lost > 0.5
        )
        signs.reasons.append(f"not in the source: {', '.join(list(words)[:6])}")


def _clauses_apart(
    said: Words, content: Sequence[tuple[int, str]], of_window: NDArray[np.float32], union: NDArray[np.float32]
) -> float:
    """How far a clause needs several places of the sources: the largest share that the union has beyond its best
    place."""
    starts = [match.end() for match in CLAUSES.finditer(said.text)]
    groups: dict[int, list[int]] = {}
    for number, (place, _) in enumerate(content):
        at = said.found[place].start()
        groups.setdefault(sum(start <= at for start in starts), []).append(number)
    worst = 0.0
    for numbers in groups.values():
        if len(numbers) >= 3:
            worst = max(worst, float(union[numbers].mean() - of_window[:, numbers].mean(axis=1).max(initial=0.0)))
    return worst


def _best(said: Words, sentences: Sequence[Words]) -> Words:
    """The sentence of the sources with the most words of the sentence."""
    shares = _shares(said, sentences)
    return sentences[int(shares.mean(axis=1).argmax())] if shares.size else Words("")


def _figures(signs: Signs, said: Words, texts: Sequence[Words], facts: Facts) -> None:
    there = [(text, figure) for text in texts for figure in figures(text.text)]
    missing = facts.lacks_figures(said.text)
    matched: list[tuple[Figure, list[tuple[Words, Figure]]]] = []
    for figure in figures(said.text):
        same = [(text, other) for text, other in there if same_value(figure, other)]
        if same:
            matched.append((figure, same))
        elif not figure.exact and figure.value <= SMALL and _counted(said, figure, there):
            missing.append(said.text[figure.start : figure.end].strip())
    if missing:
        signs.values["missing_number"] = 1.0
        signs.reasons.append(f"figure not in the source: {', '.join(missing)}")
    moved = moved_figures(said, matched, there)
    if moved:
        signs.values["moved_number"] = moved
        signs.reasons.append("figures belong to something else in the source")


def _counted(said: Words, figure: Figure, there: Sequence[tuple[Words, Figure]]) -> bool:
    """Whether the source counts the same thing, with another number: "three groups", "four groups"."""
    after = _after(said, figure)
    return bool(after) and any(_after(text, other) & after for text, other in there)


def _after(text: Words, figure: Figure) -> set[str]:
    places = [n for n, match in enumerate(text.found) if match.start() >= figure.end][:2]
    return {term for place, term in text.content if place in places}


def _attributed(signs: Signs, said: Words, sentences: Sequence[Words], sources: Sequence[Words]) -> None:
    """Detect statements attributed to another name or paper than in the sources, and sources merged into one."""
    signs.values["moved_name"] = moved = moved_names(said, sentences)
    if moved > STRONG:
        signs.reasons.append("a name belongs to something else in the source")
    signs.values["merged"] = merged = merged_sources(said, sources)
    if merged > 0:
        signs.reasons.append("what one source says is said of another one's subject")
    opposite, new, turned = turned_directions(said, sentences)
    signs.values["opposite"] = min(1.0, 2 * opposite)
    signs.values["new_direction"] = min(1.0, new / 2)
    if opposite > STRONG:
        signs.reasons.append(f"the source says the opposite of: {', '.join(turned)}")


def _names(signs: Signs, missing: Sequence[str]) -> None:
    if missing:
        signs.values["missing_name"] = min(1.0, 0.5 + 0.25 * len(missing))
        signs.reasons.append(f"name or quote not in the source: {', '.join(dict.fromkeys(missing))}")


def _polarity(signs: Signs, said: Words, best: Words, texts: Sequence[Words]) -> None:
    whole = " ".join(text.text for text in texts)
    if said.wide:
        denies, denied = negated_unspaced(said.text), negated_unspaced(best.text)
        signs.values["negation"] = (0.0 if negated_unspaced(whole) else 1.0) if denies else 0.5 * (denied > 0)
    else:
        signs.values["negation"] = _negation(said, best, texts)
    if signs.values["negation"] >= 1:
        signs.reasons.append("negated here or there only")
    new = absolutes(said.text) - absolutes(whole)
    if new:
        signs.values["absolute"] = min(1.0, 0.5 + 0.5 * (len(new) > 1))
        signs.reasons.append("claims more than the source: " + ", ".join(sorted(new)))


def _negation(said: Words, best: Words, texts: Sequence[Words]) -> float:
    """The feature `negation` (0 to 1): words that the sentence negates and the sources do not, or the other way
    round."""
    own = _stems(said, negated=True)
    there = {term for text in texts for term in _stems(text, negated=True)}
    own_all = {term for _, term in said.content}
    plain_there = {term for text in texts for term in _stems(text, negated=False)}
    added = {term for term in own if term in plain_there and term not in there}
    lost = (_stems(best, negated=True) & own_all) - own - _stems(best, negated=False)
    has = any(word in NEGATIONS for word in said.plain)
    source_has = any(word in NEGATIONS for word in best.plain)
    anywhere = any(word in NEGATIONS for text in texts for word in text.plain)
    if added and has and not source_has:
        return 0.6 if anywhere else 1.0
    if lost and source_has and not has:
        return 1.0
    if added or lost:
        return 0.4
    return 0.2 if has and not source_has else 0.0


def _stems(text: Words, *, negated: bool) -> set[str]:
    places = set(negated_words(text.plain))
    return {term for place, term in text.content if (place in places) == negated}


MOST_UNCOVERED = 0.6
"""The largest share of its words that a sentence may have beyond its sources, however little else is against it."""
CLEAR = 0.2
"""The support by words below which a sentence is refuted without asking a model: of 423 labelled sentences, 22 % of the
false and 1 % of the faithful ones (`bench/bench_knowledge.py`)."""
CONTRADICTING = frozenset({"moved_number", "moved_name", "negation", "opposite"})
_SOURCES = r"(?:papers?|passages?|sources?|stud(?:y|ies)|articles?|excerpts?|texts?|authors?)"
_TELL = (
    r"(?:report|say|state|mention|describe|specify|give|test|discuss|address|examine|provide|indicate|compare|explain|cover"
    r"|include|evaluate|measure|name|tell|contain|offer|quantify|investigate|assess|disclose|present|detail|note|identify"
    r"|list|reveal|claim)"
)
_TOLD = (
    r"(?:reported|stated|mentioned|described|specified|given|tested|discussed|addressed|disclosed|provided|explained|covered"
    r"|quantified|named|detailed)"
)
_GAP = re.compile(
    rf"\b(?:no|none|neither|not one) (?:of )?(?:the |these |those )?(?:\w+ )?{_SOURCES}\b"
    rf"|\b(?:{_SOURCES}|it|they|both|either|neither)\b[^.]{{0,140}}?\b(?:do(?:es)? not|did not|don't|doesn't|never|nor)"
    rf" (?:\w+ )?{_TELL}\b|\b(?:is|are|was|were) not (?:\w+ )?{_TOLD}\b"
    r"|\bno (?:information|data|details?|mention|figures?|evidence)\b" + also("local_check.gap"),
    re.IGNORECASE,
)


@dataclass(frozen=True)
class LocalVerdict:
    """The verdict on a sentence by its words. `support`: 0 to 1, calibrated on sentences not used in training.
    `reasons`: arguments against it. `beyond`: the share of its words that the sources do not have."""

    verdict: Verdict
    kind: Basis
    support: float
    reasons: tuple[str, ...] = ()
    beyond: float = 0.0

    @property
    def clear(self) -> bool:
        """Whether words refute it so clearly that no model is asked."""
        return self.verdict != "supported" and self.support < CLEAR


@lru_cache(maxsize=1)
def _weights() -> dict[str, float]:
    text = files(__package__).joinpath("check_weights.json").read_text(encoding="utf-8")
    weights: dict[str, float] = json.loads(text)["weights"]
    return weights


def states_gap(sentence: str) -> bool:
    """Whether a sentence states that the sources do not say something."""
    return bool(_GAP.search(sentence))


def local_check(sentence: str, sources: Sequence[Source], question: str = "") -> LocalVerdict:
    """Whether the union of the sources supports the sentence, as far as words show.

    A sentence about what the sources lack counts as a `gap`: words cannot prove an absence, only disprove it.
    """
    signs = signs_of(sentence, sources, question)
    kind: Basis = "gap" if states_gap(sentence) else "synthesis" if len(sources) > 1 else "statement"
    if kind == "gap":
        return LocalVerdict("supported", kind, 1.0)
    support = support_of(signs)
    beyond = signs.values["uncovered"]
    if support >= 0.5 and beyond <= MOST_UNCOVERED:
        return LocalVerdict("supported", kind, support, beyond=beyond)
    worst = max(NAMES, key=lambda name: signs.values[name] * -_weights()[name])
    verdict: Verdict = "contradicted" if worst in CONTRADICTING else "not_found"
    return LocalVerdict(verdict, kind, support, tuple(signs.reasons), beyond)


def support_of(signs: Signs) -> float:
    """The probability that a sentence with these features is supported: `1 / (1 + exp(-(bias + weights · signs)))`."""
    weights = _weights()
    score = weights["bias"] + sum(weights[name] * value for name, value in signs.values.items())
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, score))))
