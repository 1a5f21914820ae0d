"""The columns of a study table: those that readers of studies want, and any that they name in words of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from monjyu_core.errors import QueryError
from monjyu_core.text.language import message_language
from monjyu_query.asking.request import clean_text
from monjyu_query.digests.study_table.column_values import ValueKind
from monjyu_query.knowledge.aspects import LICENCE, MEASURES, Aspect, aspect, aspect_named

MOST_COLUMNS = 12
LONGEST = 120
"""Characters of a column's name."""


_COUNTS = re.compile(
    r"^\W*(?:the )?(?:numbers? of|how many|counts? of|sizes? of(?: the)?)\s+|\s+(?:sizes?|counts?)\W*$"
    r"|(?:の?(?:数|人数|件数|規模))$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Column:
    """`name` heads it; `aspect` is what is meant by it, where that is known: else `words`, the name without what only
    asks for a number, are searched for. `counts`: a cell without a figure says nothing. `kind` is what its cells state.
    """

    name: str
    words: str
    aspect: Aspect | None = None
    counts: bool = False
    kind: ValueKind = "text"


_USUAL: tuple[tuple[str, str, Aspect], ...] = (
    ("Question", "問い", aspect("purpose")),
    ("Method", "方法", aspect("methods")),
    ("Sample", "対象", aspect("sample")),
    ("Measure", "測定", MEASURES),
    ("Result", "結果", aspect("results")),
    ("Limitation", "限界", aspect("limits")),
)


def columns_named(names: Sequence[str], language: str) -> list[Column]:
    """The columns by their names, each once; without any, what studies are compared by. QueryError for too many."""
    clean = list(dict.fromkeys(one for name in names if (one := clean_text(name).strip())))
    if not clean:
        return [Column(name, name, meant) for name, meant in _usual(language)]
    if len(clean) > MOST_COLUMNS:
        raise QueryError(f"{len(clean)} columns are too many.", f"Name at most {MOST_COLUMNS}.")
    long = next((name for name in clean if len(name) > LONGEST), None)
    if long:
        raise QueryError(f"The column “{long[:40]}…” is too long.", f"Name it in at most {LONGEST} characters.")
    return [_column(name) for name in clean]


def _usual(language: str) -> list[tuple[str, Aspect]]:
    return [(ja if language == "ja" else en, meant) for en, ja, meant in _USUAL]


def _column(name: str) -> Column:
    words = _COUNTS.sub("", name)
    usual = next((meant for en, ja, meant in _USUAL if words.casefold() in (en.casefold(), ja)), None)
    meant = usual or (LICENCE if LICENCE.named.match(words) else aspect_named(words))
    return Column(name, words, meant, counts=words != name)


def language_of(names: Sequence[str], about: str) -> str:
    """Of what the reader wrote; empty where nothing tells."""
    said = " ".join([*names, about]).strip()
    return message_language(said) if said else ""
