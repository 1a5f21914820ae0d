"""Summarises runs of lazy and hybrid search on questions with gold: means with intervals, by budget and kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import ConfigurationError
from monjyu_core.extras import install_line
from monjyu_core.values import Values
from monjyu_query.evaluation.lazy_quality import HYBRID, GoldQuestion, Run, reference_of

MEASURES = (
    *("evidence_recall", "evidence_precision", "passage_recall", "passage_precision"),
    *("evidence_in_hits", "evidence_in_citations"),
    *("tests", "llm_calls", "tokens", "seconds"),
)
"""The measures of each budget, in the order in which `monjyu eval lazy --json` prints them."""
SAMPLES = 2000
MULTI = "three or more, of two papers"
"""The name of the group of all questions with at least three gold sentences from at least two papers."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class KindFigures:
    """Figures of one kind of question, by budget and for hybrid (`HYBRID`): mean evidence recall with its 95 %
    interval, mean precision, and the share of abstentions. `difference` is the mean paired difference in recall between
    the reference budget and hybrid."""

    kind: str
    questions: int
    recall: dict[int, tuple[float, Interval]]
    precision: dict[int, float]
    difference: tuple[float, Interval]
    abstained: dict[int, float]

    def as_dict(self) -> Values:
        recall = {_named(budget): [mean, *ends] for budget, (mean, ends) in self.recall.items()}
        mean, ends = self.difference
        return {
            "kind": self.kind,
            "questions": self.questions,
            "evidence_recall": recall,
            "evidence_precision": {_named(budget): share for budget, share in self.precision.items()},
            "lazy_minus_hybrid": [mean, *ends],
            "abstained": {_named(budget): share for budget, share in self.abstained.items()},
        }


def summary(runs: Sequence[Run], budgets: Sequence[int]) -> Values:
    """Means over the questions with gold: `{"budgets": [...], "hybrid": {...}}`."""
    found = [run for run in runs if run.question.gold]
    rows = [{"budget": budget, **_means([r for r in found if r.budget == budget], MEASURES)} for budget in budgets]
    hybrid = _means([run for run in found if run.budget == HYBRID], (*MEASURES, "passages"))
    return {"budgets": rows, "hybrid": hybrid}


def by_kind(runs: Sequence[Run], budgets: Sequence[int]) -> list[KindFigures]:
    """Return the figures of each kind in order of appearance and, if there are several kinds, of the group `MULTI`."""
    kinds = dict.fromkeys(run.question.kind for run in runs)
    groups = [(kind or "all", [run for run in runs if run.question.kind == kind]) for kind in kinds]
    many = [run for run in runs if run.question.multi]
    if many and len(kinds) > 1:
        groups.append((MULTI, many))
    return [_figures(kind, some, budgets) for kind, some in groups]


def _figures(kind: str, runs: Sequence[Run], budgets: Sequence[int]) -> KindFigures:
    values = {budget: [run for run in runs if run.budget == budget] for budget in (*budgets, HYBRID)}
    recalls = {budget: np.array([r.values["evidence_recall"] for r in some]) for budget, some in values.items()}
    reference = reference_of(budgets)
    return KindFigures(
        kind=kind,
        questions=len(values[HYBRID]),
        recall={budget: mean_and_interval(some) for budget, some in recalls.items()},
        precision={
            budget: _means(some, ["evidence_precision"])["evidence_precision"] for budget, some in values.items()
        },
        difference=mean_and_interval(recalls[reference] - recalls[HYBRID]),
        abstained={b: round(float(np.mean([r.values["abstained"] for r in some])), 4) for b, some in values.items()},
    )


def mean_and_interval(values: NDArray[np.float64]) -> tuple[float, Interval]:
    """Return the mean, and the 2.5th and 97.5th percentile of the means of `SAMPLES` bootstrap samples (Efron 1979)."""
    picks = np.random.default_rng(0).integers(0, len(values), (SAMPLES, len(values)))
    low, high = np.percentile(values[picks].mean(axis=1), [2.5, 97.5])
    return round(float(values.mean()), 4), (round(float(low), 4), round(float(high), 4))


def _means(runs: Sequence[Run], names: Sequence[str]) -> dict[str, float]:
    return {name: round(float(np.mean([run.values[name] for run in runs])), 4) for name in names}


def _named(budget: int) -> str:
    return "hybrid" if budget == HYBRID else str(budget)


def table(figures: Sequence[KindFigures], answerable: set[str]) -> str:
    """Return a table for people, by kind and budget: recall with intervals (if the kind has gold), and abstentions."""
    lines = []
    for found in figures:
        lines.append(f"{found.kind} ({found.questions} questions)")
        for budget, (mean, (low, high)) in found.recall.items():
            silent = f"abstained {found.abstained[budget]:.2f}"
            precise = f"precision {found.precision[budget]:.3f}"
            share = (
                f"evidence recall {mean:.3f} [{low:.3f}, {high:.3f}]  {precise}  " if found.kind in answerable else ""
            )
            lines.append(f"  {_named(budget):>6}  {share}{silent}")
        if found.kind in answerable:
            mean, (low, high) = found.difference
            lines.append(f"  lazy minus hybrid (same number of passages): {mean:+.3f} [{low:+.3f}, {high:+.3f}]")
    return "\n".join(lines)


def with_gold(questions: Sequence[GoldQuestion]) -> set[str]:
    """Return the names, as in `by_kind`, of the kinds that have gold sentences."""
    return {question.kind or "all" for question in questions if question.gold} | {MULTI}


def draw(figures: Sequence[KindFigures], answerable: set[str], path: Path) -> None:
    """Plot evidence recall by budget, one line per kind with intervals, and hybrid as a dashed line. The file's suffix
    determines the format."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigurationError("--plot needs matplotlib.", f"Install it: {install_line('plots')}.") from error

    picture = Figure(figsize=(7, 4.5), layout="constrained")
    axes = picture.subplots()
    for place, found in enumerate(f for f in figures if f.kind in answerable):
        budgets = [budget for budget in found.recall if budget != HYBRID]
        means = [found.recall[budget][0] for budget in budgets]
        ends = np.array([found.recall[budget][1] for budget in budgets]).T
        around = np.abs(ends - np.array(means))
        axes.errorbar(budgets, means, around, color=f"C{place}", marker="o", capsize=3, label=found.kind)
        axes.axhline(found.recall[HYBRID][0], color=f"C{place}", linestyle="--", linewidth=1)
    axes.set(xlabel="relevance tests", ylabel="evidence recall (dashed: hybrid)", ylim=(0, 1.05))
    axes.legend(loc="lower right")
    try:
        picture.savefig(path)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"The chart could not be saved to {path}: {error}.", "Name a .png, .svg or .pdf file."
        ) from error
