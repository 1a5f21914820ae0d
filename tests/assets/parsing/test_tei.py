"""TEI as GROBID writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_assets.parsing.dispatch import parse_xml
from monjyu_core.errors import EmptyDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.assets.parsing.leaves import SECTIONS

LEAVES = Path(__file__).parent / "papers" / "leaves"


def parsed(xml: str) -> ParsedPaper:
    return parse_xml(xml.encode(), ParseSettings())


def tei(body: str, header: str = "", back: str = "") -> str:
    return (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader>{header}</teiHeader>'
        f"<text><body>{body}</body><back>{back}</back></text></TEI>"
    )


@pytest.fixture(scope="module")
def leaves() -> ParsedPaper:
    return parsed((LEAVES / "leaves.tei.xml").read_text())


def test_header(leaves: ParsedPaper) -> None:
    assert (leaves.document_type, leaves.page_count, leaves.language) == ("tei", 0, "en")
    assert leaves.title == "Ranking the Leaves of Shallow Trees"
    assert (leaves.doi, leaves.arxiv_id, leaves.publication_date) == ("10.5555/jst.2021.7", "2103.01234", "2021-03-12")
    assert (leaves.venue, leaves.volume, leaves.issue, leaves.pages) == ("Journal of Shallow Trees", "7", "2", "33-41")
    assert leaves.keywords == ["trees", "ranking", "walks"]
    first, second, third = leaves.authors
    assert (first.name, first.email, first.is_corresponding) == ("Ada K Holm", "holm@northfield.example", True)
    assert (first.orcid, first.affiliation) == (
        "0000-0002-1825-0097",
        "Department of Forestry, Northfield University, Northland",
    )
    assert (second.name, second.affiliation, third.name) == (
        "Bo van Dyck",
        "Institute for Branching, Lowmoor",
        "Erdős Székely",
    )


def test_sections_take_their_depth_from_their_numbers(leaves: ParsedPaper) -> None:
    assert [(s.level, s.section_type, s.heading) for s in leaves.sections] == SECTIONS
    assert leaves.sections[3].text.split("\n\n")[1] == "w(v) = Σ 1/|p|"
    assert leaves.sections[6].text.startswith("Leaves can be ranked. The order")


def test_references_and_citations(leaves: ParsedPaper) -> None:
    assert [(r.ref_id, r.title, r.year) for r in leaves.references] == [
        ("b0", "Weights for walks in finite trees", 2004),
        ("b1", "Pruning without regret", 2011),
        ("b2", "Stable orders under deletion", 2017),
    ]
    assert leaves.references[0].doi == "10.5555/jb.2004.101" and leaves.references[2].arxiv_id == "1701.01234"
    assert leaves.references[1].raw_text.startswith("Cole M, van der Berg P.")
    found = [(c.ref_id, c.section) for c in leaves.inline_citations]
    assert found == [
        ("b0", "Introduction"),
        ("b0", "Introduction"),
        ("b0", "Walks"),
        ("b1", "Pruning"),
        ("b2", "Pruning"),
        ("b2", "Conclusion"),
    ]
    assert leaves.inline_citations[0].context == "Trees are everywhere [1]."


def test_floats(leaves: ParsedPaper) -> None:
    [table], [figure] = leaves.tables, leaves.figures
    assert (table.caption, figure.caption) == ("Steps needed on each collection.", "A walk from the root to a leaf.")
    assert (table.headers, table.rows[1]) == (["Collection", "Plain", "Leafrank"], ["Pine", "95", "57"])


def test_nested_divisions_and_annexes() -> None:
    body = "<div><head>Methods</head><p>a</p><div><head>Data</head><p>b</p></div></div><p>loose</p>"
    paper = parsed(tei(body, back='<div type="annex"><div><head>Proofs</head><p>c</p></div></div>'))
    assert [(s.level, s.section_type, s.heading, s.text) for s in paper.sections] == [
        (1, "methods", "Methods", "a"),
        (2, "methods", "Data", "b\n\nloose"),
        (1, "appendix", "Proofs", "c"),
    ]


def test_numbers_of_absurd_depth_are_bounded() -> None:
    paper = parsed(tei(f"<div><head n='{'1.' * 5000}1'>Deep</head><p>x</p></div>"))
    assert paper.sections[0].level < 12


HEADER = """<fileDesc><titleStmt><title type="full"><title type="main">Prototypen</title>
  <title type="sub">Ein Plädoyer</title></title>
  <author><persName><surname>Dyck</surname><nameLink>van</nameLink><forename>Bo</forename></persName></author>
  </titleStmt><editionStmt><edition><date>2018-12-31T11:37:00Z</date></edition></editionStmt></fileDesc>
  <profileDesc><textClass><keywords n="category"><term>Paper</term></keywords>
  <keywords n="keywords"><term>Theorie</term></keywords></textClass></profileDesc>"""


def test_abstracts_of_conferences() -> None:
    """As DHConvalidator writes them: an id that is no name, headings that are paragraphs, a list of plain entries."""
    body = """<p>Eine Debatte (Moretti 2011, 3).<ref target="ftn1" n="1"/></p><p rend="Subtitle">Ansatz</p><p>Text.</p>
      <div type="div1" rend="DH-Heading1"><head>Fazit</head>
      <list type="gloss"><label>Term</label><item>sense</item></list>
      <quote>Cited.</quote></div>"""
    back = """<div type="notes"><note xml:id="ftn1">A note.</note></div><div type="bibliogr"><listBibl>
      <head>Bibliographie</head><bibl>Moretti, Franco (2011): Graphs of Trees. Verso.</bibl>
      <bibl><author>Bo Dyck</author>: <title level="a">Reeds</title>
      in <title level="j">Ponds</title>, <date>2012</date>.</bibl></listBibl></div>"""
    paper = parsed(tei(body, HEADER, back).replace("<TEI ", '<TEI xml:id="104_final" ', 1))
    assert (paper.title, [a.name for a in paper.authors]) == ("Prototypen: Ein Plädoyer", ["Bo van Dyck"])
    assert (paper.keywords, paper.publication_date) == (["Theorie"], None)
    assert [(s.heading, s.text) for s in paper.sections[:-1]] == [
        ("", "Eine Debatte (Moretti 2011, 3)."),
        ("Ansatz", "Text."),
        ("Fazit", "Term\n\nsense\n\nCited."),
        ("Notes", "A note."),
    ]
    assert paper.sections[-1].heading == "Bibliographie" and paper.sections[-1].section_type == "references"
    assert [(r.title, r.year, r.venue) for r in paper.references] == [
        ("Graphs of Trees", 2011, "Verso"),
        ("Reeds", 2012, "Ponds"),
    ]
    assert [(c.ref_id, c.position) for c in paper.inline_citations] == [("1", 14)]


def test_a_prefix_that_nothing_declares() -> None:
    assert parsed(tei('<p>x <xl:ref xl:href="y">z</xl:ref></p>')).sections[0].text == "x z"


def test_an_empty_one() -> None:
    with pytest.raises(EmptyDocument):
        parsed("<TEI/>")
