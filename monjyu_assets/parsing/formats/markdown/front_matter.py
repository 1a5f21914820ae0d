"""The YAML block at the head of a Markdown paper (pandoc, Quarto, JOSS styles)."""

from __future__ import annotations

import re
from typing import Any

import yaml

from monjyu_assets.parsing.bibliography.dates import parse_date
from monjyu_assets.parsing.bibliography.identifiers import clean_orcid, find_doi
from monjyu_assets.parsing.bibliography.names import split_names
from monjyu_assets.parsing.text.common import split_keywords
from monjyu_assets.parsing.text.decoding import clean
from monjyu_core.paper import Author

_BLOCK = re.compile(r"\A\s*---[ \t]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_SIMPLE_LINE = re.compile(r"^(title|date|doi|journal|keywords|tags|author|lang)\s*:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_MOST_CHARACTERS = 64_000
_DEEPEST = 12


def split_front_matter(text: str) -> tuple[dict[str, Any], str, list[str]]:
    """The fields of the leading YAML block, the text below it, and warnings.

    A block that is too long, too deep, has anchors (their expansion has no bound) or is not YAML gives only what its
    `name: value` lines say. A leading rule (`---`) that opens no mapping is left in the text.
    """
    match = _BLOCK.match(text)
    if not match:
        return {}, text, []
    source = match["yaml"]
    try:
        fields = _load(source)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).split("\n")[0][:200]
        simple = dict(_SIMPLE_LINE.findall(source[:_MOST_CHARACTERS]))
        fields = {key: value.strip("'\"") for key, value in simple.items()}
        return fields, text[match.end() :], [f"front matter: {reason}"]
    if not isinstance(fields, dict):
        return {}, text, []
    return {str(key).casefold(): value for key, value in fields.items()}, text[match.end() :], []


def _load(source: str) -> Any:
    if len(source) > _MOST_CHARACTERS:
        raise ValueError(f"longer than {_MOST_CHARACTERS} characters")
    depth = 0
    for event in yaml.parse(source, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ValueError("anchors and aliases are not read")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
    return yaml.load(source, Loader=yaml.BaseLoader)  # every scalar stays text as written: 1.10, 2019-03, no


def text_of(value: object) -> str:
    """A scalar as clean text; empty for null and for anything else."""
    if value is None or isinstance(value, dict | list):
        return ""
    text = clean(str(value)).strip()
    return "" if text in ("null", "~") else text


def authors_of(fields: dict[str, Any]) -> list[Author]:
    """Authors from `author` or `authors`: a string, strings, or mappings with name, affiliation, orcid, email."""
    value = fields.get("authors") or fields.get("author") or []
    if isinstance(value, str):
        return [Author(name=name) for name in split_names(clean(value))]
    known = _affiliations(fields.get("affiliations") or fields.get("affiliation") or fields.get("institute"))
    items = value if isinstance(value, list) else [value]
    authors = (_author(item, known) for item in items[:2000])
    return [author for author in authors if author]


def _author(item: object, known: dict[str, str]) -> Author | None:
    if not isinstance(item, dict):
        name = _without_marks(text_of(item))
        return Author(name=name) if name else None
    name = _name(item)
    if not name:
        return None
    corresponding = item.get("corresponding") or item.get("corresponding-author") or item.get("correspondence")
    return Author(
        name=name,
        affiliation=_affiliation(item.get("affiliation") or item.get("affiliations") or item.get("institute"), known),
        email=text_of(item.get("email")) or None,
        orcid=clean_orcid(text_of(item.get("orcid"))),
        is_corresponding=text_of(corresponding).casefold() not in ("", "false", "no", "0"),
    )


def _name(item: dict[str, Any]) -> str:
    name = item.get("name") or item.get("literal")
    parts = name if isinstance(name, dict) else item
    if not isinstance(name, dict) and text_of(name):
        return _without_marks(text_of(name))
    given = text_of(parts.get("given") or parts.get("given-names") or parts.get("first"))
    family = text_of(parts.get("family") or parts.get("surname") or parts.get("last") or parts.get("family-names"))
    return f"{given} {family}".strip()


def _without_marks(name: str) -> str:
    return " ".join(re.sub(r"\^[^^]*\^|[*^†‡§]+", " ", name).split())


def _affiliations(value: object) -> dict[str, str]:
    """Index or id to the name of a place."""
    places: dict[str, str] = {}
    for number, item in enumerate(value if isinstance(value, list) else [], 1):
        if isinstance(item, dict):
            keys = [text_of(item.get(key)) for key in ("index", "id", "number")]
            places |= {key: text_of(item.get("name")) for key in keys if key}
            if not any(keys) and len(item) == 1:  # pandoc scholar: `- uni: University of …`
                places |= {str(key): text_of(name) for key, name in item.items()}
        else:
            places[str(number)] = text_of(item)
    return places


def _affiliation(value: object, known: dict[str, str]) -> str | None:
    """`1`, `"1, 2"`, `[1, 2]`, `[{ref: uni}]`, `[{name: …}]` or the place itself."""
    if isinstance(value, list):
        return "; ".join(place for item in value if (place := _affiliation(item, known))) or None
    if isinstance(value, dict):
        return known.get(text_of(value.get("ref"))) or text_of(value.get("name")) or None
    text = text_of(value)
    keys = [key for key in re.split(r"[\s,;&]+", text) if key]
    if keys and all(key in known for key in keys):
        return "; ".join(known[key] for key in keys)
    return text or None


def keywords_of(fields: dict[str, Any]) -> list[str]:
    value = fields.get("keywords") or fields.get("keyword") or fields.get("tags") or []
    if isinstance(value, list):
        return [text for item in value if (text := text_of(item))]
    return split_keywords(text_of(value))


def metadata_of(fields: dict[str, Any]) -> dict[str, str | None]:
    """Date, DOI, venue, volume, issue and pages, under the names of ParsedPaper."""
    date = fields.get("date") or fields.get("published") or fields.get("year")
    doi = text_of(fields.get("doi"))
    venue = fields.get("journal") or fields.get("venue") or fields.get("publication") or fields.get("container-title")
    if isinstance(venue, dict):
        venue = venue.get("name") or venue.get("title")
    plain = {key: text_of(fields.get(key)) or None for key in ("volume", "issue", "pages")}
    return {
        "publication_date": parse_date(date) if date else None,
        "doi": find_doi(doi) if doi else None,
        "venue": text_of(venue) or None,
        **plain,
    }
