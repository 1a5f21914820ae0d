"""Sentences of which the verdict is known, read by a model beside those of the question: a model that is too small to
read them says the same of all sentences, and nothing it says of others counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FIRST_SOURCE = 900
"""Sources of these sentences are numbered from here on, where no source of a question is."""


@dataclass(frozen=True)
class Known:
    """A statement with the one source that it cites, and what no reader says of it."""

    statement: str
    source: str
    wrong: frozenset[str]


_OPPOSITE = frozenset(("supported", "partly"))
_SAME = frozenset(("contradicted",))
KNOWN = {
    "en": (
        Known("The drug raised blood pressure.", "The drug lowered blood pressure.", _OPPOSITE),
        Known("The survey reached 120 schools.", "The survey reached 120 schools.", _SAME),
    ),
    "ja": (
        Known("その薬は血圧を上げた。", "その薬は血圧を下げた。", _OPPOSITE),
        Known("調査は120校を対象とした。", "調査は120校を対象とした。", _SAME),
    ),
}
"""By language."""


def misread(known: tuple[Known, ...], verdicts: Mapping[int, str], first: int) -> str:
    """What a model says wrongly of these sentences, which are numbered from `first`; empty where nothing. A sentence
    of which it says nothing is not held against it."""
    for number, one in enumerate(known, start=first):
        verdict = verdicts.get(number, "")
        if verdict in one.wrong:
            return f"it calls “{one.statement}” {verdict}, where the source says “{one.source}”"
    return ""
