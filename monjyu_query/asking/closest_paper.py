"""The error where a collection has no paper of a name, with the one that was probably meant."""

from __future__ import annotations

import duckdb

from monjyu_core.errors import QueryError
from monjyu_core.text.unicode_words import folded, folded_sql

_LONGEST = 300
"""Characters of a name that are compared: nobody spells more of an id or a title."""
_ALIKE = 0.88
"""Jaro-Winkler similarity from which a name was probably meant: `casto` and `castro` have 0.97."""
_CLOSEST = f"""WITH named AS (
  SELECT paper_id, coalesce(title, '') AS title, {folded_sql("coalesce(title, '')")} AS small FROM papers
), likened AS (
  SELECT paper_id, title, greatest(
    jaro_winkler_similarity(lower(paper_id), $name),
    jaro_winkler_similarity(small, $name),
    jaro_winkler_similarity(split_part(small, ':', 1), $name),
    CASE WHEN length($name) > 3 AND contains(small, $name) THEN 1 ELSE 0 END
  ) AS likeness FROM named
)
SELECT paper_id, title FROM likened WHERE likeness >= $alike ORDER BY likeness DESC, length(title), paper_id LIMIT 1"""


def no_paper(cursor: duckdb.DuckDBPyConnection, name: str) -> QueryError:
    """That the collection has none of this id or name, and the paper whose id or title is most like it."""
    values = {"name": folded(name.strip()[:_LONGEST]), "alike": _ALIKE}
    found = cursor.execute(_CLOSEST, values).fetchone()
    meant = f"Did you mean {found[0]}{f' (“{found[1]}”)' if found[1] else ''}? " if found else ""
    return QueryError(f"The collection has no paper {name!r}.", f"{meant}`monjyu papers list` shows what it has.")
