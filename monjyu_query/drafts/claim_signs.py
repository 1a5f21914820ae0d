"""Signs, from 0 to about 1, of what a paper's sentences say of a claim: how near they are, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_query.answers.verification.alignment import Words, normal
from monjyu_query.answers.verification.contexts import alike, context_of
from monjyu_query.answers.verification.numbers import SMALL, figures, same_value
from monjyu_query.answers.verification.signs import NAMES as OF_TEXT
from monjyu_query.answers.verification.signs import Source, signs_of
from monjyu_query.drafts.evidence import Found

CLOSEST, WIDER = 2, 6
"""Sentences that a claim is held against one by one, and together."""
AGAINST = ("negation", "opposite", "missing_number", "moved_number", "absolute")
"""Signs that count more the nearer the sentence is."""
NAMES = (
    "near", "shared", "near_shared", "few", "other_figure",
    *(f"wide_{name}" for name in OF_TEXT), *(f"close_{name}" for name in OF_TEXT),
    *(f"near_{name}" for name in AGAINST), "near_other_figure",
)  # fmt: skip
ALIKE = 0.3
"""How alike the surroundings of two figures must be for one to stand where the other does."""


def claim_signs(claim: str, found: Sequence[Found], about: str) -> tuple[dict[str, float], list[str]]:
    """The signs by name, and reasons for people. `about` is what the paper is called."""
    best = found[:CLOSEST]
    near = max((one.near for one in found[:WIDER]), default=0.0)
    shared = max((one.shared for one in found[:WIDER]), default=0.0)
    wide = signs_of(claim, [Source(" ".join(one.sentence.text for one in found[:WIDER]), about)])
    close = signs_of(claim, [Source(" ".join(one.sentence.text for one in best), about)])
    other = other_figure(claim, [one.sentence.text for one in best], about)
    values = {"near": near, "shared": shared, "near_shared": near * shared, "few": 1.0 if len(Words(claim).content) < 6 else 0.0}
    values |= {"other_figure": 1.0 if other else 0.0, "near_other_figure": shared if other else 0.0}
    values |= {f"wide_{name}": value for name, value in wide.values.items()}
    values |= {f"close_{name}": value for name, value in close.values.items()}
    values |= {f"near_{name}": near * shared * close.values[name] for name in AGAINST}
    reasons = [*([f"the paper has {other} there"] if other else []), *close.reasons]
    return values, list(dict.fromkeys(reasons))


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
