"""Bibliographies beside a Markdown paper: BibTeX (by bibtexparser) and CSL JSON, one entry a citation key."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from monjyu_assets.parsing.bibliography.dates import year_in
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_IN_FIELD, ARXIV_IN_JOURNAL, find_doi
from monjyu_assets.parsing.text.decoding import clean, decode
from monjyu_core.errors import DocumentError
from monjyu_core.paper import Reference
from monjyu_core.settings.papers_settings import ParseSettings

if TYPE_CHECKING:
    from bibtexparser.model import Entry as BibtexEntry

_VENUES = ("journal", "journaltitle", "booktitle", "series", "howpublished", "publisher", "institution", "school")
_MOST_AUTHORS = 300


@dataclass(frozen=True)
class Work:
    """What a bibliography says of one work. An author is (given names, family name); an organisation has no given."""

    key: str
    title: str = ""
    authors: Sequence[tuple[str, str]] = ()
    year: int | None = None
    venue: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    doi: str | None = None
    arxiv_id: str | None = None
    url: str = ""
    raw: str = ""
    """The entry as printed, if it already was."""

    @cached_property
    def printed(self) -> str:
        """The work as a reference list prints it: Berger, M. J., and J. Oliger. 1984. “Adaptive …” Journal 53: 484."""
        if self.raw:
            return self.raw
        title = f"“{self.title.rstrip('.')}.”" if self.title else ""
        issue = f" ({self.issue})" if self.issue else ""
        where = f"{self.venue} {self.volume}".strip() + issue + (f": {self.pages}" if self.pages else "")
        link = f"https://doi.org/{self.doi}" if self.doi else f"arXiv:{self.arxiv_id}" if self.arxiv_id else self.url
        year = str(self.year or "n.d.")
        parts = [self._people(), year, title, where] if self.authors else [title, year, where]
        return " ".join([*(f"{s}{'' if s.endswith(('.', '”')) else '.'}" for s in parts if s.strip()), link]).strip()

    def _people(self) -> str:
        names = [f"{given} {family}".strip() for given, family in self.authors]
        if not names:
            return ""
        given, family = self.authors[0]
        names[0] = f"{family}, {given}" if given else family
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])}, and {names[-1]}"

    def reference(self) -> Reference:
        names = [f"{given} {family}".strip() for given, family in self.authors]
        return Reference(
            ref_id=self.key, raw_text=self.printed, title=self.title or None, authors=names, year=self.year,
            venue=self.venue or None, doi=self.doi, arxiv_id=self.arxiv_id,
        )  # fmt: skip


@dataclass
class Bibliography:
    """Works by citation key; each is built on request, as papers cite little of a large file."""

    warnings: list[str] = field(default_factory=list)
    _makers: dict[str, Callable[[], Work]] = field(default_factory=dict)

    def __contains__(self, key: str) -> bool:
        return key in self._makers

    @property
    def keys(self) -> list[str]:
        return list(self._makers)

    def work(self, key: str) -> Work:
        return self._makers[key]()

    def add(self, key: str, maker: Callable[[], Work]) -> None:
        """The first work of a key counts."""
        self._makers.setdefault(key, maker)


def read_bibliography(files: Sequence[tuple[str, bytes]], settings: ParseSettings) -> Bibliography:
    """Works of these files (name, content). A file that cannot be read costs a warning, not the paper."""
    found = Bibliography()
    for name, data in files:
        try:
            text, _ = decode(data, settings)
            read = _add_csl if name.lower().endswith(".json") else _add_bibtex
            read(text, found)
        except (DocumentError, ValueError, RecursionError) as error:
            found.warnings.append(f"bibliography {name}: {str(error)[:200]}")
    return found


def _add_bibtex(text: str, found: Bibliography) -> None:
    entries, broken = bibtex_entries(text)
    for entry in entries:
        found.add(entry.key, partial(bibtex_work, entry))
    if broken:
        found.warnings.append(f"bibliography: {broken} entries could not be read")


def bibtex_entries(text: str) -> tuple[list[BibtexEntry], int]:
    """The entries of a file, and how many could not be read."""
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.middlewares.enclosing import RemoveEnclosingMiddleware
    from bibtexparser.model import Entry

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    library = parse_string(text)
    twice_said = [getattr(block, "ignore_error_block", None) for block in library.failed_blocks]
    doubled = [entry for entry in twice_said if isinstance(entry, Entry)]  # saying "year" twice does not spoil an entry
    for entry in doubled:
        RemoveEnclosingMiddleware().transform_entry(entry, library)
    return [*library.entries, *doubled], len(library.failed_blocks) - len(doubled)


def bibtex_work(entry: BibtexEntry) -> Work:
    raw = {item.key.lower(): value for item in entry.fields if (value := str(item.value).strip())}
    fields = {
        name: plain_of_latex(value) for name, value in raw.items() if name not in ("author", "editor", "abstract")
    }
    eprint = fields.get("eprint") or fields.get("arxivid", "")
    arxiv = ARXIV_IN_FIELD.fullmatch(eprint) or ARXIV_IN_JOURNAL.search(
        f"{fields.get('journal', '')} {fields.get('url', '')}"
    )
    return Work(
        key=entry.key,
        title=fields.get("title", ""),
        authors=_bibtex_people(raw.get("author") or raw.get("editor", "")),
        year=year_in(fields.get("year") or fields.get("date", ""), whole=True),
        venue=next((fields[name] for name in _VENUES if fields.get(name) and "://" not in fields[name]), ""),
        volume=fields.get("volume", ""),
        issue=fields.get("number") or fields.get("issue", ""),
        pages=re.sub(r"-+", "–", fields.get("pages", "")),
        doi=find_doi(fields.get("doi") or fields.get("url", "")),
        arxiv_id=arxiv[1] if arxiv else None,
        url=fields.get("url", ""),
    )


def _bibtex_people(text: str) -> list[tuple[str, str]]:
    """Names by BibTeX's own rules: "First von Last", "von Last, First", {an organisation}."""
    from bibtexparser.middlewares.names import (
        InvalidNameError,
        parse_single_name_into_parts,
        split_multiple_persons_names,
    )

    people: list[tuple[str, str]] = []
    for name in split_multiple_persons_names(" ".join(text.split()))[:_MOST_AUTHORS]:
        try:
            parts = parse_single_name_into_parts(name)
        except InvalidNameError:
            people.append(("", plain_of_latex(name).strip(" ,")))
            continue
        family = plain_of_latex(" ".join([*parts.von, *parts.last, *parts.jr]))
        if family and family.lower() != "others":
            people.append((plain_of_latex(" ".join(parts.first)), family))
    return people


def plain_of_latex(latex: str) -> str:
    """LaTeX as text: accents, braces and commands resolved, maths left as written."""
    from pylatexenc.latex2text import LatexNodes2Text

    text = LatexNodes2Text(math_mode="text", keep_comments=True).latex_to_text(latex) if _LATEX.search(latex) else latex
    return " ".join(clean(text).split())


_LATEX = re.compile(r"[\\{}$~%]|--|``|''")


def _add_csl(text: str, found: Bibliography) -> None:
    data = json.loads(text)
    items = data.get("references") or data.get("items") if isinstance(data, dict) else data
    if not isinstance(items, list) or not all(isinstance(item, dict) and "id" in item for item in items):
        raise ValueError("no CSL JSON, which is a list of objects with an id")
    for item in items:
        found.add(str(item["id"]), partial(csl_work, item))


def csl_work(item: dict[str, Any]) -> Work:
    def text_of(*names: str) -> str:
        values = (item.get(name) for name in names)
        text = next((str(value) for value in values if isinstance(value, str | int) and str(value)), "")
        return " ".join(clean(re.sub(r"</?(?:i|b|sup|sub|span)\b[^>]*>", "", text)).split())

    arxiv = (
        ARXIV_IN_FIELD.fullmatch(text_of("number", "archive_location"))
        if "arxiv" in text_of("publisher", "archive").lower()
        else None
    )
    return Work(
        key=str(item["id"]),
        title=text_of("title"),
        authors=_csl_people(item.get("author") or item.get("editor")),
        year=_csl_year(item.get("issued")),
        venue=text_of("container-title", "event-title", "publisher"),
        volume=text_of("volume"),
        issue=text_of("issue"),
        pages=text_of("page").replace("-", "–"),
        doi=find_doi(text_of("DOI", "URL")),
        arxiv_id=arxiv[1] if arxiv else None,
        url=text_of("URL"),
    )


def _csl_people(value: object) -> list[tuple[str, str]]:
    people: list[tuple[str, str]] = []
    for item in value[:_MOST_AUTHORS] if isinstance(value, list) else []:
        if not isinstance(item, dict):
            continue
        words = [item.get(name) for name in ("non-dropping-particle", "family", "literal", "suffix")]
        family = clean(" ".join(str(word) for word in words if word)).strip()
        given = " ".join(str(item[name]) for name in ("given", "dropping-particle") if item.get(name))
        if family or given:
            people.append((clean(given).strip(), family))
    return people


def _csl_year(value: object) -> int | None:
    if not isinstance(value, dict):
        return None
    parts = value.get("date-parts")
    text = str(parts) if parts else str(value.get("raw") or value.get("literal") or value.get("year") or "")
    return year_in(text)
