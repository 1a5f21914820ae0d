"""Works from a .bib file, from CSL data (JSON of Zotero, Mendeley and others), and from a printed list."""

import logging
import re
from collections.abc import Iterable, Mapping

from monjyu_core.errors import QueryError
from monjyu_core.language.packs import also
from monjyu_core.user_files.bounded_reading import parse_json
from monjyu_query.drafts.citation_marks import arxiv_in, doi_in, year_in
from monjyu_query.drafts.pages import Work
from monjyu_query.papers.labels import family_name

MOST_BIB_CHARACTERS = 5_000_000
MOST_WORKS = 20_000
MOST_VALUES = 50 * MOST_WORKS
_ENTRY = re.compile(r"^[ \t]*@\w+[ \t]*[{(]", re.MULTILINE)
_LATEX = re.compile(r"\\[a-zA-Z]+\s?|\\.|[{}$]")
_ACCENTED = re.compile(r"\\[\"'`^~=.uvHckrdb]")
_ARXIV_FIELD = re.compile(r"(?:arxiv:)?(\d{4}\.\d{4,5})(?:v\d+)?", re.I)
_HEADING = re.compile(
    r"(?:\d+\.?\s+)?(?:references?(?: cited)?|bibliography|works cited|literature(?: cited)?|literaturverzeichnis"
    + also("cited_works.heading")
    + r")\s*:?",
    re.I,
)
_LABEL = re.compile(r"\s*(?:\[(\^?\w{1,12})\]:?|\(?(\d{1,4})[.)])\s+")
MOST_AUTHORS = 100


def works_of_bib(text: str) -> dict[str, Work]:
    """The works of a .bib file or CSL JSON, by key. Raises QueryError for one too large or in neither format."""
    if len(text) > MOST_BIB_CHARACTERS:
        raise QueryError(
            f"A bibliography has at most {MOST_BIB_CHARACTERS:,} characters.", "Keep only the cited works."
        )
    if text.lstrip()[:1] in ("[", "{"):
        return _works_of_csl(text)
    if sum(1 for _ in _ENTRY.finditer(text)) > MOST_WORKS:
        raise QueryError(f"A bibliography has at most {MOST_WORKS:,} works.", "Keep only the cited works.")
    from bibtexparser.entrypoint import parse_string

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    entries = parse_string(text).entries
    return {entry.key: _of_bibtex({f.key.casefold(): str(f.value) for f in entry.fields}) for entry in entries}


def _of_bibtex(fields: Mapping[str, str]) -> Work:
    people = re.split(r"\s+and\s+", fields.get("author") or fields.get("editor") or "")
    links = " ".join(fields.get(name, "") for name in ("doi", "url", "note"))
    eprint = _ARXIV_FIELD.fullmatch(fields.get("eprint", "").strip())
    return Work(
        title=plain(fields.get("title", "")),
        authors=tuple(family_name(plain(name)) for name in people[:MOST_AUTHORS] if name.strip()),
        year=year_in(fields.get("year") or fields.get("date") or ""),
        doi=doi_in(links),
        arxiv_id=eprint[1] if eprint else arxiv_in(f"{links} {fields.get('journal', '')}"),
    )


def _works_of_csl(text: str) -> dict[str, Work]:
    try:
        data = parse_json(text, MOST_VALUES)
    except ValueError as error:
        raise QueryError("The bibliography is neither BibTeX nor CSL JSON.", "Export it as BibTeX.") from error
    items = data if isinstance(data, list) else data.get("items") or data.get("references") or []
    items = items if isinstance(items, list) else []
    named = [item for item in items[:MOST_WORKS] if isinstance(item, dict) and item.get("id")]
    return {str(item.get("citation-key") or item["id"]): work_of_csl(item) for item in named}


def work_of_csl(item: Mapping[str, object]) -> Work:
    """The work that an item of CSL data describes, as in citation fields of Word."""
    people = item.get("author") or item.get("editor") or []
    people = people if isinstance(people, list) else []
    issued = item.get("issued")
    return Work(
        title=re.sub(r"<[^>]{1,60}>", "", _text(item.get("title"))),
        authors=tuple(
            _text(one.get("family") or one.get("literal")) for one in people[:MOST_AUTHORS] if isinstance(one, dict)
        ),
        year=year_in(str(issued)[:300]) if issued else None,
        doi=doi_in(f"{_text(item.get('DOI'))} {_text(item.get('URL'))}"),
        arxiv_id=arxiv_in(f"{_text(item.get('number'))} {_text(item.get('URL'))}"),
    )


def _text(value: object) -> str:
    return str(value)[:2000] if isinstance(value, str | int) else ""


def plain(latex: str) -> str:
    """A BibTeX field without braces and commands; accents are dropped, because titles are compared without them."""
    return " ".join(_LATEX.sub("", _ACCENTED.sub("", latex.replace("~", " "))).split())


def is_heading(line: str) -> bool:
    """Whether a line is the heading of a list of references."""
    return bool(_HEADING.fullmatch(line.strip().strip("#*_ ")))


def works_of_list(entries: Iterable[str]) -> list[Work]:
    """The works of a printed list's entries, in order; entries of a few letters are omitted."""
    found = []
    for entry in entries:
        label = _LABEL.match(entry)
        raw = " ".join(entry[label.end() if label else 0 :].split())[:2000]
        if len(raw) >= 12:
            name = (label[1] or label[2]) if label else ""
            found.append(Work(year=year_in(raw), doi=doi_in(raw), arxiv_id=arxiv_in(raw), raw=raw, label=name))
    return found[:MOST_WORKS]
