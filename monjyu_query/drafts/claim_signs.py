"""Signs, from 0 to about 1, of what a paper's sentences say of a claim: how near they are, what speaks against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monjyu_query.answers.verification.alignment import Words, normal
from monjyu_query.answers.verification.contexts import alike, context_of
from monjyu_query.answers.verification.numbers import SMALL, figures, same_value
from monjyu_query.answers.verification.polarity import DIRECTION, DIRECTION_JA, NEGATIONS, SIDES, negated_ja, sides_ja
from monjyu_query.answers.verification.signs import NAMES as OF_TEXT
from monjyu_query.answers.verification.signs import Source, signs_of
from monjyu_query.drafts.claim_evidence import Found
from monjyu_query.drafts.whole_paper import NAMES as OF_PAPER
from monjyu_query.drafts.whole_paper import WholePaper, whole_signs

CLOSEST, WIDER = 2, 6
"""Sentences that a claim is held against one by one, and together."""
AGAINST = ("negation", "opposite", "missing_number", "moved_number", "absolute")
"""Signs that count more the nearer the sentence is."""
TOGETHER = ("polarity_against", "polarity_with", "direction_against", "direction_with")
"""Of the claim's negation and words of direction, against those of all sentences by how near they are."""
LOST = ("gone_figure", "gone_name", "gone_most", "window_rare", "far_figure")
"""Signs of the whole paper that tell a detail of a claim that is near otherwise."""
PLAIN = tuple(name for name in OF_TEXT if name not in ("merged", "new_direction"))
"""One paper has nothing to merge; a word of direction is no sign by itself."""
NAMES = (
    "near", "shared", "near_shared", "few", "other_figure", *TOGETHER,
    *(f"wide_{name}" for name in PLAIN), *(f"close_{name}" for name in PLAIN),
    *(f"near_{name}" for name in AGAINST), "near_other_figure",
    *OF_PAPER, *(f"near_{name}" for name in LOST), "gone_most_squared", "uncovered_squared",
)  # fmt: skip
TELLING = 0.1
"""How much nearer sentences of the other polarity must be to be named."""
MOST_NAMED = 6
"""Words that stand nowhere, of a reason."""
ALIKE = 0.3
"""How alike the surroundings of two figures must be for one to stand where the other does."""


def claim_signs(
    claim: str, found: Sequence[Found], paper: WholePaper, rarity: Mapping[str, float]
) -> tuple[dict[str, float], list[str]]:
    """The signs by name, and reasons for people; `rarity` of the claim's words, 0 to 1, by their stems."""
    about = paper.about
    best = found[:CLOSEST]
    near = max((one.near for one in found[:WIDER]), default=0.0)
    shared = max((one.shared for one in found[:WIDER]), default=0.0)
    wide = signs_of(claim, [Source(" ".join(one.sentence.text for one in found[:WIDER]), about)])
    close = signs_of(claim, [Source(" ".join(one.sentence.text for one in best), about)])
    other = other_figure(claim, [one.sentence.text for one in best], about)
    values = {
        "near": near,
        "shared": shared,
        "near_shared": near * shared,
        "few": 1.0 if len(Words(claim).content) < 6 else 0.0,
    }
    values |= {"other_figure": 1.0 if other else 0.0, "near_other_figure": shared if other else 0.0}
    values |= polarity_signs(claim, found[:WIDER])
    values |= {f"wide_{name}": value for name, value in wide.values.items() if name in PLAIN}
    values |= {f"close_{name}": value for name, value in close.values.items() if name in PLAIN}
    values |= {f"near_{name}": near * shared * close.values[name] for name in AGAINST}
    of_paper, lost = whole_signs(claim, paper, [one.sentence.text for one in found], rarity)
    values |= of_paper | {f"near_{name}": near * shared * of_paper[name] for name in LOST}
    values |= {"gone_most_squared": of_paper["gone_most"] ** 2, "uncovered_squared": values["wide_uncovered"] ** 2}
    turned = values["direction_against"] > TELLING and "the nearest sentences go the other way"
    denied = values["polarity_against"] > TELLING and "negated here or there only"
    reasons = [
        *([f"nowhere in the paper: {', '.join(lost[:MOST_NAMED])}"] if lost else []),
        *(one for one in (denied, turned) if one),
        *([f"the paper has {other} there"] if other else []),
        *(reason for reason in close.reasons if not _told(reason, lost)),
    ]
    return values, list(dict.fromkeys(reasons))


def _told(reason: str, lost: Sequence[str]) -> bool:
    """Whether a reason names only what stands nowhere in the paper."""
    kind, _, named = reason.partition(": ")
    return kind.endswith("not in the source") and {one.casefold() for one in named.split(", ")} <= set(lost)


def other_figure(claim: str, sentences: Sequence[str], about: str) -> str:
    """A figure of the sentences that stands where the claim has one that they do not have; empty where none does."""
    said = Words(normal(claim))
    texts = [Words(normal(text)) for text in sentences]
    there = [(text, figure) for text in texts for figure in figures(text.text)]
    named = figures(normal(about))
    for figure in figures(said.text):
        if not figure.exact and figure.value <= SMALL:
            continue
        if any(same_value(figure, one) for _, one in there) or any(same_value(figure, one) for one in named):
            continue
        context = context_of(said, figure.start, figure.end)
        fits = [
            (alike(context, context_of(text, one.start, one.end)), text.text[one.start : one.end].strip())
            for text, one in there
            if one.percent == figure.percent and one.kind == figure.kind
        ]
        score, shown = max(fits, default=(0.0, ""))
        if score >= ALIKE:
            return shown
    return ""


def polarity_signs(claim: str, found: Sequence[Found]) -> dict[str, float]:
    """How much nearer the sentences are that negate as the claim does, or turn the same way, than those that do not."""
    said = Words(normal(claim))
    texts = [(Words(normal(one.sentence.text)), one.score) for one in found]
    denies = _denies(said)
    same = max((score for text, score in texts if _denies(text) == denies), default=0.0)
    other = max((score for text, score in texts if _denies(text) != denies), default=0.0)
    values = {"polarity_against": max(0.0, other - same), "polarity_with": max(0.0, same - other)}
    with_it = against = 0.0
    for pair, side in _sides(said):
        sides = [(_sides(text), score) for text, score in texts]
        here = max((score for known, score in sides if (pair, side) in known), default=0.0)
        there = max(
            (score for known, score in sides if (pair, 1 - side) in known and (pair, side) not in known), default=0.0
        )
        against, with_it = max(against, there - here), max(with_it, here - there)
    return values | {"direction_against": against, "direction_with": with_it}


def _denies(text: Words) -> bool:
    if text.wide:
        return negated_ja(text.text) > 0
    return any(word in NEGATIONS or word.endswith("n't") for word in text.plain)


def _sides(text: Words) -> set[tuple[int, int]]:
    pattern = DIRECTION_JA if text.wide else DIRECTION
    return {
        side
        for found in pattern.finditer(text.text)
        for side in (sides_ja(found[0]) if text.wide else SIDES.get(found[0].casefold(), ()))
    }
