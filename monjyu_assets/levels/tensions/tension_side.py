"""One statement that another may oppose, as it is read from a parse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Side:
    """One statement of a claim. Words are stems; `head` is that of the target. `around` are the other
    words of its clause. `words` are the lemmas of all these, verbs marked by "/v", `wider` those of the rest of the
    sentence, `amounts` the numbers of its conditions ("5 minut"). `low` and `high` are of measures."""

    kind: str
    axis: str
    sign: int
    cue: str
    head: str
    target: tuple[str, ...]
    agent: tuple[str, ...] = ()
    versus: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    concept: str = ""
    words: tuple[str, ...] = ()
    wider: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()
