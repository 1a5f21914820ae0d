"""Reads notices about papers from local files (Retraction Watch's CSV, works of Crossref or OpenAlex as JSON Lines),
and matches them to papers.

Nothing is fetched. An unreadable line is skipped, so that one bad record of 60,000 does not fail a run.
"""

import csv
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa

from monjyu_core.errors import ConfigurationError
from monjyu_core.text.unicode_words import PlainTexts
from monjyu_core.user_files.bounded_reading import parse_json
from monjyu_core.values import Values

Kind = Literal["retraction", "concern", "correction", "reinstatement"]
LONGEST_LINE, _MOST_VALUES = 8 * 2**20, 1_000_000
"""The maximum number of characters of a record, and of commas, brackets and braces in it."""
MOST_REASONS = 20

_KINDS: dict[str, Kind] = {
    "retraction": "retraction",
    "retracted": "retraction",
    "removal": "retraction",
    "withdrawal": "retraction",
    "partial_retraction": "correction",
    "expression_of_concern": "concern",
    "correction": "correction",
    "corrigendum": "correction",
    "erratum": "correction",
    "addendum": "correction",
    "reinstatement": "reinstatement",
}


@dataclass(frozen=True)
class Notice(PlainTexts):
    """A notice about a paper: kind, source, date (ISO, to the day if known), and what identifies the paper."""

    kind: Kind
    source: str
    date: str | None
    doi: str | None = None
    pmid: str | None = None
    title: str = ""
    authors: str = ""
    year: int | None = None
    notice_doi: str | None = None
    reasons: tuple[str, ...] = ()
    paper_id: str | None = None
    """The paper, if the notice is from the paper's own record."""


def read_notices(path: Path) -> Iterator[Notice]:
    """Yield the notices of a file. Raises ConfigurationError if it cannot be opened or has an unknown format."""
    lines = _lines(path, "scholarly.notices")
    first = next(lines, "")
    lines = chain([first], lines)
    try:
        if first.lstrip().startswith("{"):
            for work in _works(lines):
                yield from notices_of(work)
        elif "RetractionNature" in first:
            rows = csv.reader(lines)
            columns = next(rows)
            # DictReader fills a row with any number of columns that the file declares.
            yield from filter(None, (_of_retraction_watch(dict(zip(columns, row, strict=False))) for row in rows))
        else:
            raise ConfigurationError(f"{path} contains no notices.", _HINT)
    except csv.Error as error:
        raise ConfigurationError(f"{path} cannot be read: {error}.", "See scholarly.notices.") from error


_HINT = "scholarly.notices names Retraction Watch's CSV, or works of Crossref or OpenAlex as JSON Lines."


def _of_retraction_watch(row: dict[str, str]) -> Notice | None:
    """The notice in a row of https://gitlab.com/crossref/retraction-watch-data; None for other kinds of notices."""

    def text(name: str) -> str:
        value = row.get(name, "").strip()
        return "" if value.casefold() in ("unavailable", "0") else value

    kind = _kind(text("RetractionNature"))
    if kind is None:
        return None
    reasons = [reason.strip(" +") for reason in text("Reason").split(";")]
    paper = _american(text("OriginalPaperDate"))
    return Notice(
        kind=kind,
        source="Retraction Watch",
        date=_american(text("RetractionDate")),
        doi=text("OriginalPaperDOI") or None,
        pmid=text("OriginalPaperPubMedID") or None,
        title=text("Title"),
        authors=text("Author"),
        year=int(paper[:4]) if paper else None,
        notice_doi=text("RetractionDOI") or None,
        reasons=tuple(filter(None, reasons))[:MOST_REASONS],
    )


def is_lines(path: Path) -> bool:
    """Whether a file is JSON Lines, by its first line. An exported library is one list or object over many lines."""
    try:
        first = next(_lines(path, "scholarly.records"), "").strip()
        record = parse_json(first, _MOST_VALUES) if first.startswith("{") else None
        return isinstance(record, dict) and "itemType" not in first
    except (ConfigurationError, ValueError):
        return False


def read_works(path: Path) -> Iterator[Values]:
    """Yield the works of a file of JSON Lines, with one work per line, or an answer of Crossref with several. Raises
    ConfigurationError if the file cannot be opened."""
    yield from _works(_lines(path, "scholarly.records"))


def _lines(path: Path, setting: str) -> Iterator[str]:
    """Yield the lines of a regular file. A line that is too long is yielded in pieces."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError("it is not a regular file")
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            yield from iter(lambda: file.readline(LONGEST_LINE), "")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error}.", f"See {setting}.") from error


def notices_of(work: Values) -> Iterator[Notice]:
    """The notices in a work of Crossref or OpenAlex."""
    return _of_openalex(work) if "is_retracted" in work else _of_crossref(work)


def _works(lines: Iterator[str]) -> Iterator[Values]:
    for line in lines:
        try:
            record = parse_json(line, _MOST_VALUES)
        except ValueError:
            continue
        if isinstance(record, dict) and isinstance(record.get("message"), dict):
            record = record["message"]
        items = record.get("items") if isinstance(record, dict) else None
        yield from (work for work in (items if isinstance(items, list) else [record]) if isinstance(work, dict))


def _of_crossref(work: Values) -> Iterator[Notice]:
    """Yield the notices in a work of Crossref. `update-to` is in a work that is a notice and names the paper;
    `updated-by` is in a paper and names the notice."""
    own = work.get("DOI")
    for field, of_paper in (("update-to", False), ("updated-by", True)):
        updates = work.get(field)
        for update in updates if isinstance(updates, list) else []:
            kind = _kind(str(update.get("type", ""))) if isinstance(update, dict) else None
            if kind is None:
                continue
            paper, notice = (own, update.get("DOI")) if of_paper else (update.get("DOI"), own)
            source = "Retraction Watch" if update.get("source") == "retraction-watch" else "Crossref"
            yield Notice(kind, source, _parts(update.get("updated")), _text(paper), notice_doi=_text(notice))


def _of_openalex(work: Values) -> Iterator[Notice]:
    if work["is_retracted"] is True:
        ids = work.get("ids")
        pmid = _text(ids.get("pmid")) if isinstance(ids, dict) else None
        year = work.get("publication_year")
        yield Notice(
            kind="retraction",
            source="OpenAlex",
            date=None,
            doi=_text(work.get("doi")),
            pmid=pmid.rstrip("/").rpartition("/")[2] if pmid else None,
            title=_text(work.get("title")) or "",
            year=year if isinstance(year, int) and 1000 <= year <= 2999 else None,
        )


def _kind(words: str) -> Kind | None:
    return _KINDS.get("_".join(re.split(r"[\s_-]+", words.strip().casefold())))


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _american(text: str) -> str | None:
    """A date such as `3/31/2020 0:00` as `2020-03-31`; None if it is not one."""
    match = re.match(r"(\d{1,2})/(\d{1,2})/(\d{4})\b", text)
    try:
        return date(int(match[3]), int(match[1]), int(match[2])).isoformat() if match else None
    except ValueError:
        return None


def _parts(value: Any) -> str | None:
    """A date such as `{"date-parts": [[2020, 3, 31]]}` as `2020-03-31`; month and day may be missing."""
    try:
        parts = [int(part) for part in value["date-parts"][0]]
        return "-".join(f"{part:0{4 if place == 0 else 2}d}" for place, part in enumerate(parts[:3])) or None
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        return None


# Notices are matched to papers by DOI, by PubMed id, or by title with first author and year, and by nothing weaker: a
# paper marked as retracted by mistake is worse than a retracted paper without a mark.
LONG_TITLE = 30
"""The minimum number of characters of a title that identifies a paper together with first author and year."""

_TEXTS = ("kind", "source", "date", "doi", "pmid", "title", "authors", "notice_doi", "paper_id")
_SCHEMA = pa.schema(
    [(name, pa.string()) for name in _TEXTS] + [("year", pa.int32()), ("reasons", pa.list_(pa.string()))]
)
_MATCHED = f"""
WITH notice AS (
    SELECT *, clean_doi(doi) AS doi_key, fold(title) AS title_key, fold(authors) AS names FROM notices
), hits AS (
    SELECT * EXCLUDE (paper_id), paper_id, 'record' AS matched_by FROM notice WHERE paper_id IS NOT NULL
    UNION ALL BY NAME
    SELECT n.* EXCLUDE (paper_id), p.paper_id, 'doi' AS matched_by FROM notice n JOIN paper_keys p ON n.doi_key = p.doi
    UNION ALL BY NAME
    SELECT n.* EXCLUDE (paper_id), p.paper_id, 'pmid' AS matched_by FROM notice n JOIN papers p ON n.pmid = p.pmid
    UNION ALL BY NAME
    SELECT n.* EXCLUDE (paper_id), p.paper_id, 'title' AS matched_by
    FROM notice n JOIN paper_keys p ON n.title_key = p.title_key
    WHERE length(n.title_key) >= {LONG_TITLE} AND (n.doi_key IS NULL OR p.doi IS NULL)
      AND list_contains(words(n.names), p.families[1]) AND abs(n.year - p.year) <= 1
), files AS (
    SELECT o.paper_id, h.* EXCLUDE (paper_id) FROM hits h JOIN paper_identity i USING (paper_id)
    JOIN paper_identity o USING (canonical_id)
)
SELECT paper_id, (row_number() OVER (PARTITION BY paper_id ORDER BY date, kind, source, notice_doi) - 1)::INT AS ord,
       kind, date, source, notice_doi, matched_by, reasons
FROM (SELECT * FROM files QUALIFY row_number() OVER (
    PARTITION BY paper_id, kind, date, source, notice_doi ORDER BY matched_by, reasons) = 1)
ORDER BY paper_id, ord
"""
"""Finds the papers of notices. A notice that matches one file of a paper applies to all its files."""


def matched_notices(connection: duckdb.DuckDBPyConnection, notices: Iterable[Notice]) -> pa.Table:
    """The rows of `paper_notices`. The connection is from `match_keys.connect`, with a column `pmid` in `papers`, and
    with `paper_identity` registered."""
    rows = [asdict(notice) for notice in notices]
    connection.register("notices", pa.Table.from_pylist(rows, schema=_SCHEMA))
    return connection.sql(_MATCHED).to_arrow_table()
