"""Prose between the authors and the first heading is the abstract, in each format that has no field for it."""

from __future__ import annotations

import pytest

from monjyu_assets.parsing.formats.latex.paper import parse_latex
from monjyu_assets.parsing.formats.markdown.paper import parse_markdown
from monjyu_assets.parsing.formats.plaintext import parse_text
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings

ENGLISH = (
    "We counted the weeds of a cold meadow over three summers and found that one plant in twenty is a thistle. "
    "The count was made by hand, and its error is small when many people count together."
)
FRENCH = (
    "Nous avons compté les mauvaises herbes d’une prairie froide pendant trois étés et trouvé qu’une plante sur vingt "
    "est un chardon. Le compte a été fait à la main, et son erreur est petite."
)
LIST = "Version 2.1 of March; Meadow Counts, Volume One; Field Notes"


ON_RIGHTS = (
    "We asked librarians of 120 universities how authors learn about copyright, permissions and open access. Most "
    "licences in their repositories are Creative Commons licences, and few authors know what a license permits."
)
MOTTO = "He who drains a marsh drains his own cellar, and drinks from it when summer comes. " * 3
NOTICES = [
    "This is an open access article distributed under the terms of the Creative Commons Attribution License, which "
    "permits unrestricted use, distribution, and reproduction in any medium, provided the original work is cited.",
    "Permission to make digital or hard copies of this work for personal use is granted without fee provided that "
    "copies bear this notice. To copy otherwise requires prior specific permission. © 2019 Marsh Press.",
]
"""What may be above an abstract and reads like one."""


def parsed(form: str, lead: str, heading: str = "Introduction") -> ParsedPaper:
    names, place, text = "Ann Bell, Otto Brandt", "University of Nowhere", "Weeds grow."
    if form == "md":
        source = f"# Counting weeds\n\n{names}\n\n{place}\n\n{lead}\n\n## {heading}\n\n{text}\n"
        return parse_markdown(source.encode(), ParseSettings())
    if form == "txt":
        source = f"Counting weeds\n\n{names}\n{place}\n\n{lead}\n\n1. {heading}\n\n{text}\n"
        return parse_text(source.encode(), ParseSettings())
    front = "\\title{Counting weeds}\\author{Ann Bell \\and Otto Brandt}\\date{\\today}"
    body = f"\\maketitle\n{lead}\n\n\\section{{{heading}}}\n{text}"
    source = f"\\documentclass{{article}}\n{front}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    return parse_latex(source.encode(), ParseSettings())


@pytest.mark.parametrize("lead", [ENGLISH, FRENCH, ON_RIGHTS])
@pytest.mark.parametrize("form", ["md", "txt", "tex"])
def test_prose_is_the_abstract(form: str, lead: str) -> None:
    paper = parsed(form, lead)
    assert (paper.abstract, paper.publication_date) == (lead, None)
    assert [section.section_type for section in paper.sections] == ["abstract", "introduction"]
    assert [author.name for author in paper.authors] == ["Ann Bell", "Otto Brandt"]
    if form != "tex":
        assert {author.affiliation for author in paper.authors} == {"University of Nowhere"}


@pytest.mark.parametrize("above", [f"“{MOTTO.strip()}”", f"{MOTTO}\n\n— Hal Vard, Marshes", *NOTICES])
@pytest.mark.parametrize("form", ["md", "txt", "tex"])
def test_mottos_and_notices_are_no_abstract(form: str, above: str) -> None:
    paper = parsed(form, f"{above}\n\n{ENGLISH}")
    assert paper.abstract == ENGLISH and above[:40] in paper.sections[0].text
    assert [author.name for author in paper.authors] == ["Ann Bell", "Otto Brandt"]


@pytest.mark.parametrize("form", ["md", "txt", "tex"])
def test_other_text_stays_text(form: str) -> None:
    """What is no prose, and what stands in front of a heading that does not begin a paper."""
    paper = parsed(form, LIST)
    assert not paper.abstract and any(LIST in section.text for section in paper.sections)
    if form != "txt":
        paper = parsed(form, ENGLISH, "Thistles of the north")
        assert not paper.abstract and ENGLISH in paper.sections[0].text
