"""Reference lists written in LaTeX: `thebibliography` in the paper or in the .bbl that BibTeX or biber made."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from monjyu_assets.parsing.bibliography.bibtex import Bibliography, Work
from monjyu_assets.parsing.bibliography.dates import year_in
from monjyu_assets.parsing.bibliography.identifiers import find_doi
from monjyu_assets.parsing.bibliography.names import given_and_family
from monjyu_assets.parsing.bibliography.references import parse_reference
from monjyu_assets.parsing.formats.latex.latex_macros import brace_pairs

_LIST = re.compile(r"\\begin\s*\{(thebibliography|references)\}")
_ITEM = re.compile(r"\\bibitem(?![a-z])\s*")
_BLOCK = re.compile(r"\\newblock(?![a-z])")
_INFO = re.compile(
    r"\\bibinfo\s*\{(title|year|journal|booktitle)\}\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\}){0,1000})\}"
)
_ENTRY = re.compile(r"\\entry\s*\{([^{}]+)\}\s*\{[a-z]+\}(.*?)\\endentry", re.DOTALL)
_FIELD = re.compile(
    r"\\field\s*\{(title|year|date|journaltitle|booktitle|volume|number|pages)\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
)
_MOST_ENTRIES = 10_000


def add_printed(text: str, found: Bibliography, plain: Callable[[str], str]) -> list[str]:
    """Add the entries of every list in a text; returns their keys in order."""
    keys: list[str] = []
    at = 0
    while opened := _LIST.search(text, at):
        end = text.find(f"\\end{{{opened[1]}}}", opened.end())
        at = end if end >= 0 else len(text)
        keys += _add_items(text[opened.end() : at], found, plain)
    for entry in _ENTRY.finditer(text) if "\\endentry" in text else []:
        found.add(entry[1].strip(), partial(_of_biber, entry[1].strip(), entry[2], plain))
        keys.append(entry[1].strip())
    return list(dict.fromkeys(keys))


def _add_items(text: str, found: Bibliography, plain: Callable[[str], str]) -> list[str]:
    pairs = brace_pairs(text)
    keys: list[str] = []
    starts = [match.end() for match in _ITEM.finditer(text)][:_MOST_ENTRIES]
    for number, start in enumerate(starts):
        at = _past_label(text, start, pairs)
        close = pairs.get(at)
        if close is None:
            continue
        end = starts[number + 1] if number + 1 < len(starts) else len(text)
        body = re.sub(r"\\bibitem\s*$", "", text[close + 1 : end])
        key = text[at + 1 : close].strip()
        found.add(key, partial(_of_item, key, body[:8000], plain))
        keys.append(key)
    return keys


def _past_label(text: str, at: int, pairs: dict[int, int]) -> int:
    """Where the key's brace opens, behind `[label]`, whose brackets may hold braces."""
    if text[at : at + 1] == "[":
        place = at + 1
        while place < min(len(text), at + 2000) and text[place] != "]":
            place = pairs.get(place, place) + 1 if text[place] == "{" else place + 1
        at = place + 1
    space = re.compile(r"\s*").match(text, at)
    return space.end() if space else at


def _of_item(key: str, body: str, plain: Callable[[str], str]) -> Work:
    blocks = [text for block in _BLOCK.split(body) if (text := plain(block).strip())]
    text = " ".join(blocks)
    info = {name: plain(value) for name, value in reversed(_INFO.findall(body))}
    reference = parse_reference(key, text)
    title = info.get("title") or (blocks[1].rstrip(" .,") if len(blocks) > 2 else reference.title or "")
    title = title.strip('“”" ,.')
    return Work(
        key=key,
        title=title,
        authors=[given_and_family(name) for name in reference.authors],
        year=year_in(info.get("year", "")) or reference.year,
        venue=info.get("journal") or info.get("booktitle") or reference.venue or "",
        doi=reference.doi or find_doi(body.replace("\\_", "_")),
        arxiv_id=reference.arxiv_id,
        raw=text,
    )


def _of_biber(key: str, body: str, plain: Callable[[str], str]) -> Work:
    fields = {name: plain(value) for name, value in reversed(_FIELD.findall(body))}
    names = re.search(r"\\name\s*\{author\}\s*\{\d+\}\s*\{[^{}]*\}\s*\{(.*?)\n\s*\}\s*\n", body, re.DOTALL)
    people = re.findall(r"family=\{([^{}]*)\}|given=\{([^{}]*)\}", names[1] if names else "")
    authors: list[tuple[str, str]] = []
    for family, given in people:
        if family:
            authors.append(("", plain(family)))
        elif authors:
            authors[-1] = (plain(given), authors[-1][1])
    doi = re.search(r"\\verb\s*\{doi\}\s*\\verb\s+(\S+)", body)
    return Work(
        key=key,
        title=fields.get("title", ""),
        authors=authors,
        year=year_in(fields.get("year") or fields.get("date", "")),
        venue=fields.get("journaltitle") or fields.get("booktitle", ""),
        volume=fields.get("volume", ""),
        issue=fields.get("number", ""),
        pages=fields.get("pages", ""),
        doi=find_doi(doi[1]) if doi else None,
    )
