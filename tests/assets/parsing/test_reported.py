"""What public bug reports show of other parsers, as small files with the right values: `shared/reports/parsing`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from monjyu_assets.libraries.bibliography_files import read_library_file
from monjyu_assets.sources.scan import parse_files
from tests.conftest import CORPORA

REPORTS = CORPORA.parent / "reports" / "parsing"
EXPECTED: dict[str, dict[str, Any]] = {}
if (REPORTS / "expected.json").is_file():
    EXPECTED = json.loads((REPORTS / "expected.json").read_text())
LIBRARY = "bibtex/refs.bib"
PAPERS = [name for name in EXPECTED if name != LIBRARY and not name.partition(" ")[0].endswith(".pdf")]
Paper = dict[str, Any]


def body(paper: Paper) -> str:
    return "\n".join(f"{section['heading']}\n{section['text']}" for section in paper["sections"])


def headings(paper: Paper) -> list[str]:
    return [section["heading"] for section in paper["sections"]]


def fields(reference: Paper, wanted: Paper) -> Paper:
    """Of a reference; the report writes a journal with and without its last full stop."""
    return {name: _undotted(reference[name]) if name == "venue" else reference[name] for name in wanted}


def _undotted(text: str | None) -> str:
    return (text or "").removesuffix(".")


def has_fields(reference: Paper, wanted: Paper) -> bool:
    return fields(reference, wanted) == fields(wanted, wanted)


def by_key(paper: Paper, wanted: dict[str, Paper]) -> bool:
    known = {reference["ref_id"]: reference for reference in paper["references"]}
    return all(has_fields(known[key], said) for key, said in wanted.items())


def abstract_in_body(paper: Paper, wanted: bool) -> bool:
    sections = [section["text"] for section in paper["sections"] if section["section_type"] != "abstract"]
    return bool(paper["abstract"]) and any(paper["abstract"][:30] in text for text in sections) is wanted


CHECKS: dict[str, Callable[[Paper, Any], bool]] = {
    "title": lambda paper, wanted: paper["title"] == wanted,
    "authors": lambda paper, wanted: [author["name"] for author in paper["authors"]] == wanted,
    "abstract": lambda paper, wanted: paper["abstract"] == wanted,
    "abstract_contains": lambda paper, wanted: wanted in paper["abstract"],
    "abstract_in_body": abstract_in_body,
    "keywords": lambda paper, wanted: paper["keywords"] == wanted,
    "date": lambda paper, wanted: paper["publication_date"] == wanted,
    "headings": lambda paper, wanted: [one for one in headings(paper) if one in wanted] == wanted,
    "references": lambda paper, wanted: (
        len(paper["references"]) == wanted if isinstance(wanted, int) else by_key(paper, wanted)
    ),
    "reference": lambda paper, wanted: has_fields(paper["references"][0], wanted),
    "title_reference": lambda paper, wanted: [one["title"] for one in paper["references"]] == [wanted],
    "reference_authors": lambda paper, wanted: [one["authors"] for one in paper["references"]] == wanted,
    "reference_titles": lambda paper, wanted: [one["title"] for one in paper["references"]] == wanted,
    "raw": lambda paper, wanted: [one["raw_text"] for one in paper["references"]] == wanted,
    "raw_contains": lambda paper, wanted: any(wanted in one["raw_text"] for one in paper["references"]),
    "publisher_in_raw": lambda paper, wanted: any(wanted in one["raw_text"] for one in paper["references"]),
    "equations": lambda paper, wanted: len(paper["equations"]) == wanted,
    "figures": lambda paper, wanted: len(paper["figures"]) == wanted,
    "text_contains": lambda paper, wanted: wanted in body(paper),
    "raised": lambda paper, wanted: wanted in body(paper),
    "text_without": lambda paper, wanted: not any(one in body(paper) for one in wanted),
}


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_is_read_as_it_ought_to_be(name: str) -> None:
    [paper] = parse_files([REPORTS / name.partition(" ")[0]])
    assert "error" not in paper
    wanted = {what: value for what, value in EXPECTED[name].items() if what != "seen"}
    for what, value in wanted.items():
        if what.isdigit():
            reference = paper["references"][int(what) - 1]
            assert has_fields(reference, value), f"{what}: {reference}"
        else:
            assert CHECKS[what](paper, value), f"{what}: {value}"


@pytest.mark.skipif(LIBRARY not in EXPECTED, reason="the reports are not here")
def test_a_library_is_read_as_it_ought_to_be() -> None:
    items, _ = read_library_file(REPORTS / LIBRARY, (".md",))
    records = {item.key: item.record for item in items}
    for key, wanted in EXPECTED[LIBRARY].items():
        if key == "works":
            assert len(items) == wanted
        elif key != "seen":
            said = {name: getattr(records[key], name) for name in wanted}
            assert json.loads(json.dumps(said)) == wanted
