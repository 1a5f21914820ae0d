"""JATS: what is read of an article, and what of hostile or foreign XML is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from monjyu_assets.parsing.dispatch import parse_xml
from monjyu_core.errors import DocumentError, DocumentTooLarge, EmptyDocument, MalformedDocument, UnsupportedDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.assets.parsing.leaves import NOTED
from tests.properties import examples, given, st

LEAVES = Path(__file__).parent / "papers" / "leaves"


def parsed(xml: str | bytes) -> ParsedPaper:
    return parse_xml(xml.encode() if isinstance(xml, str) else xml, ParseSettings())


def article(body: str = "<p>Text.</p>", meta: str = "", back: str = "", head: str = "") -> str:
    front = (
        f"<front><article-meta><title-group><article-title>T</article-title></title-group>{meta}</article-meta></front>"
    )
    return f"{head}<article>{front}<body>{body}</body><back>{back}</back></article>"


@pytest.fixture(scope="module")
def leaves() -> ParsedPaper:
    return parsed((LEAVES / "leaves.nxml").read_bytes())


def test_front(leaves: ParsedPaper) -> None:
    assert (leaves.document_type, leaves.processor, leaves.page_count) == ("jats", "lxml", 0)
    assert (leaves.title, leaves.language) == ("Ranking the Leaves of Shallow Trees", "en")
    assert (leaves.doi, leaves.pmid, leaves.publication_date) == ("10.5555/jst.2021.7", "31234567", "2021-03-12")
    assert (leaves.venue, leaves.venue_type) == ("Journal of Shallow Trees", "journal")
    assert (leaves.volume, leaves.issue, leaves.pages) == ("7", "2", "33-41")
    assert leaves.keywords == ["trees", "ranking", "walks"]
    assert leaves.abstract.startswith("Shallow trees") and leaves.abstract.endswith("a plain walk.")
    assert leaves.is_academic_paper and leaves.warnings == ["not read: reply, 54 characters"]


def test_authors(leaves: ParsedPaper) -> None:
    assert [author.name for author in leaves.authors] == ["Ada K. Holm", "Bo van Dyck", "Erdős Székely"]
    first, second, _ = leaves.authors
    assert first.affiliation == "Department of Forestry, Northfield University"
    assert (first.email, first.orcid, first.is_corresponding) == (
        "holm@northfield.example",
        "0000-0002-1825-0097",
        True,
    )
    assert (second.affiliation, second.email, second.is_corresponding) == (
        "Institute for Branching, Lowmoor",
        None,
        False,
    )


def test_sections(leaves: ParsedPaper) -> None:
    found = [(s.level, s.section_type, s.heading) for s in leaves.sections]
    assert found == [NOTED[0], (1, "other", "Graphical abstract"), *NOTED[1:]]
    assert leaves.sections[5].text.split("\n\n") == [
        "We prune as others do [2,3]. Nothing is lost by it.",
        "Apart from leaves that nobody visits.",
        "Dead leaves go.",
        "Living ones stay.",
    ]
    assert "10^5 leaves" in leaves.sections[4].text
    assert [s.text for s in leaves.sections[7].sentences] == [
        "Leaves can be ranked.",
        "The order is stable under pruning [3].",
    ]


def test_references(leaves: ParsedPaper) -> None:
    found = [(r.ref_id, r.title, r.year, r.authors) for r in leaves.references]
    assert found == [
        ("B1", "Weights for walks in finite trees", 2004, ["Eva Birk", "Otto Lund"]),
        ("B2", "Pruning without regret", 2011, ["M Cole", "P van der Berg"]),
        ("B3", "Stable orders under deletion", 2017, ["U Dane"]),
    ]
    assert (leaves.references[0].doi, leaves.references[2].arxiv_id) == ("10.5555/jb.2004.101", "1701.01234")
    assert leaves.references[1].raw_text.startswith("Cole, M, van der Berg, P. Pruning")


def test_citations_have_their_places_and_ranges_are_filled(leaves: ParsedPaper) -> None:
    by_section = [(c.section, c.ref_id) for c in leaves.inline_citations]
    assert by_section == [
        *[("Introduction", key) for key in ("B1", "B1", "B2", "B3")],
        *[("Walks", "B1"), ("Pruning", "B2"), ("Pruning", "B3"), ("Conclusion", "B3")],
    ]
    texts = {section.heading: section.text for section in leaves.sections}
    for citation in leaves.inline_citations:
        assert re.match(r"\d", texts[citation.section][citation.position :])
        assert citation.context in texts[citation.section]


def test_floats_and_formulas(leaves: ParsedPaper) -> None:
    [table], [figure] = leaves.tables, leaves.figures
    assert table.caption == "Steps needed on each collection. Mean of five."
    assert table.headers == ["Collection", "Steps Plain", "Steps Leafrank"]
    assert table.rows == [["Oak & elm", "120", "72"], ["Pine", "95", "57"]]
    assert figure.caption == "A walk. From the root to a leaf, after [2]."
    assert [(e.text, e.latex is not None, e.inline) for e in leaves.equations] == [
        ("T = (V,E)", False, True),
        (r"w(v) = \sum_{p \in P(v)} \frac{1}{|p|},", True, False),
    ]


def test_a_structured_abstract_and_other_forms_of_dates_and_authors() -> None:
    meta = """<contrib-group><contrib><collab>The Tree Group</collab></contrib>
      <contrib><name name-style="eastern"><surname>山田</surname><given-names>太郎</given-names></name></contrib>
      <contrib><name><surname>Moor</surname><given-names>Prof. Dr. Ada M.</given-names></name></contrib>
      <contrib contrib-type="editor"><name><surname>E</surname></name></contrib>
      <aff>Only Place<email>x@y.z</email></aff></contrib-group>
      <pub-date date-type="pub" iso-8601-date="2020-05-07"/><elocation-id>e12</elocation-id>
      <abstract><sec><title>Background:</title><p>Why.</p></sec><sec><title>Results</title><p>What.</p></sec></abstract>"""
    paper = parsed(article("<sec><title>Methods</title><p>How.</p></sec>", meta))
    assert [(author.name, author.affiliation) for author in paper.authors] == [
        ("The Tree Group", "Only Place"),
        ("山田 太郎", "Only Place"),
        ("Ada M. Moor", "Only Place"),
    ]
    assert (paper.abstract, paper.publication_date, paper.pages) == (
        "Background: Why.\n\nResults: What.",
        "2020-05-07",
        "e12",
    )


def test_one_entry_may_hold_several_works_and_ids_stay_apart() -> None:
    ref = "<ref id='R1'><element-citation><article-title>A</article-title></element-citation>"
    ref += "<element-citation><article-title>B</article-title></element-citation></ref>"
    ref += "<ref><mixed-citation>C.</mixed-citation></ref>"
    paper = parsed(article(back=f"<ref-list>{ref}</ref-list>"))
    assert [(r.ref_id, r.title) for r in paper.references] == [("R1", "A"), ("R1-2", "B"), ("3", "C")]


def test_a_printed_and_a_tagged_citation_of_a_work_are_one() -> None:
    """SciELO's rules put both side by side; several of one kind are several works."""

    def mixed(text: str) -> str:
        return f"<mixed-citation>{text}</mixed-citation>"

    def tagged(title: str, year: int) -> str:
        name = "<person-group><name><surname>REIS</surname><given-names>A.</given-names></name></person-group>"
        return f"<element-citation>{name}<article-title>{title}</article-title><year>{year}</year></element-citation>"

    refs = [
        "<label>1. </label>" + mixed("1. REIS, A. Formigas do sul. São Paulo, 2003.") + tagged("Formigas do sul", 2003),
        mixed("REIS, A. One. 2001.") + mixed("REIS, A. Two. 2002.") + tagged("One", 2001) + tagged("Two", 2002),
        mixed("REIS, A. Alone. 2004.") + mixed("SILVA, B. Not so. 2005."),
        tagged("Floods", 2006) + mixed("REIS, A. Elsewhere. 2007."),
        f"<citation-alternatives>{tagged('Once', 2008)}{mixed('REIS, A. Once. 2008.')}</citation-alternatives>",
    ]
    text = "".join(f"<ref id='R{number}'>{ref}</ref>" for number, ref in enumerate(refs, 1))
    paper = parsed(article(back=f"<ref-list>{text}</ref-list>"))
    assert [(r.ref_id, r.title, r.year) for r in paper.references] == [
        ("R1", "Formigas do sul", 2003),
        ("R2", "One", 2001),
        ("R2-3", "Two", 2002),
        ("R3", "Alone", 2004),
        ("R3-5", "Not so", 2005),
        ("R4", "Floods", 2006),
        ("R4-7", "Elsewhere", 2007),
        ("R5", "Once", 2008),
    ]
    assert paper.references[0].authors == ["A. REIS"] and paper.references[0].raw_text.endswith(
        "do sul. São Paulo, 2003."
    )


ALPHA = r"<tex-math>\documentclass{minimal}\begin{document}$$\alpha$$\end{document}</tex-math>"
FORMULA = f"<inline-formula><alternatives>{ALPHA}<math><mi>α</mi></math></alternatives></inline-formula>"


@pytest.mark.parametrize("formula", [FORMULA, f"<inline-formula>{ALPHA}</inline-formula>", "<math><mi>α</mi></math>"])
def test_a_formula_in_a_title_is_its_letters(formula: str) -> None:
    front = f"<title-group><article-title>Bounds on {formula}-helices<xref>*</xref></article-title></title-group>"
    paper = parsed(f"<article><front><article-meta>{front}</article-meta></front><body><p>x</p></body></article>")
    assert paper.title == "Bounds on α-helices"


def test_floats_wherever_they_are() -> None:
    def fig(caption: str, inner: str = "") -> str:
        return f"<fig><label>Figure</label><caption><title>{caption}</title></caption>{inner}</fig>"

    table = "<table-wrap><caption><p>Sizes.</p></caption><table><tr><td>a</td></tr></table></table-wrap>"
    inner = f"<p>{fig('A1.')}</p>{fig('A2.')}"
    body = f"<sec><title>One</title><p>Text. {fig('A.', inner)}</p>"
    body += f"<fig-group><caption><title>All.</title></caption>{fig('B.')}</fig-group>"
    body += "<supplementary-material><label>S1</label><caption><p>More data.</p></caption></supplementary-material>"
    body += "<statement><label>Theorem 1</label><p>It holds.</p></statement></sec>"
    xml = article(body).replace("</article>", f"<floats-group>{fig('C.')}{table}</floats-group></article>")
    paper = parsed(xml)
    assert [figure.caption for figure in paper.figures] == ["A.", "A1.", "A2.", "All.", "B.", "C."]
    assert paper.tables[0].caption == "Sizes." and paper.tables[0].rows == [["a"]]
    assert paper.sections[0].text == "Text.\n\nS1. More data.\n\nTheorem 1.\n\nIt holds."


def test_what_the_front_says_besides_names_stays() -> None:
    meta = """<contrib-group><contrib><name><surname>One</surname><given-names>Ann</given-names></name>
      <xref ref-type="aff"><sup>*</sup></xref></contrib>
      <contrib contrib-type="author non-byline"><name><surname>Two</surname><given-names>Ben</given-names></name>
      </contrib></contrib-group><aff><label>*</label>Univ. X</aff>
      <author-notes><corresp>Mail to <email>a@x.org</email></corresp>
      <fn><p>Equal shares.</p></fn></author-notes><abstract><p>First.</p></abstract>
      <abstract abstract-type="graphical"><p>Words of a picture.</p></abstract>
      <trans-abstract xml:lang="de"><title>Kurz</title><p>Auf Deutsch.</p></trans-abstract>
      <funding-group><funding-statement>Nobody paid.</funding-statement></funding-group>"""
    xml = article("<p>Lead.</p>", meta).replace(
        "</article>", "<response><front-stub/><body><p>Re.</p></body></response></article>"
    )
    paper = parsed(xml)
    assert [(a.name, a.affiliation, a.email) for a in paper.authors] == [("Ann One", "Univ. X", None)]
    assert [(s.section_type, s.heading, s.text) for s in paper.sections] == [
        ("abstract", "Abstract", "First."),
        ("other", "Graphical abstract", "Words of a picture."),
        ("abstract", "Kurz", "Auf Deutsch."),
        ("other", "", "Lead."),
        ("acknowledgments", "Funding", "Nobody paid."),
        ("other", "Notes", "Equal shares.\n\nBen Two"),
    ]
    assert paper.abstract == "First." and paper.warnings[0] == "not read: response, 3 characters"


def test_character_names_of_the_unread_dtd() -> None:
    head = '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "JATS.dtd">'
    assert parsed(article("<p>a&nbsp;&alpha;&eacute;&unheardof;b</p>", head=head)).sections[0].text == "a αéb"


ENTITIES = {
    "external": '<!DOCTYPE article [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    "parameter": '<!DOCTYPE article [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]>',
    "laughs": '<!DOCTYPE article [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghijk", "bcdefghijkx", strict=True))
    + "]>",
}


@pytest.mark.parametrize("head", ENTITIES.values(), ids=ENTITIES)
@pytest.mark.parametrize("body", ["<p>&x;</p>", '<p id="&x;">y</p>', "<p>y</p>"])
def test_entities_are_refused(head: str, body: str) -> None:
    if "%" in head and "&x;" in body:
        body = "<p>y</p>"
    if "SYSTEM" in head and "id=" in body:
        body = "<p>&x;</p>"
    with pytest.raises(MalformedDocument, match=r"entities|entity"):
        parsed(article(body, head=head))


def test_nothing_is_fetched_or_included(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("SECRET")
    where = (tmp_path / "secret").as_uri()
    include = f'<p xmlns:xi="http://www.w3.org/2001/XInclude">x <xi:include href="{where}" parse="text"/></p>'
    paper = parsed(article(include, head=f'<!DOCTYPE article SYSTEM "{where}"><?xml-stylesheet href="{where}"?>'))
    assert "SECRET" not in paper.model_dump_json()


@pytest.mark.parametrize(
    ("xml", "error"),
    [
        ("<svg/>", UnsupportedDocument),
        ("<article><title>DocBook</title><section/></article>", UnsupportedDocument),
        ("<set><article><body/></article><article><body/></article></set>", UnsupportedDocument),
        ("<article><body><p>x", MalformedDocument),
        ("no XML", MalformedDocument),
        (article("<bold>" * 3000 + "x" + "</bold>" * 3000), MalformedDocument),
        (article("<sec><title>a</title>" * 3000 + "</sec>" * 3000), MalformedDocument),
        (article(f"<p>{'x' * 11_000_000}</p>"), MalformedDocument),
        (" \n", EmptyDocument),
        ("<article><body/></article>", EmptyDocument),
    ],
)  # fmt: skip
def test_what_cannot_be_read(xml: str, error: type[DocumentError]) -> None:
    with pytest.raises(error):
        parsed(xml)


def test_a_giant_file_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(DocumentTooLarge):
        parse_xml(article().encode(), ParseSettings(max_characters=10))


def test_spans_are_bounded() -> None:
    rows = '<tr><td rowspan="999999999" colspan="999999999">x</td><td colspan="many">y</td></tr>' * 100
    [table] = parsed(article(f"<p>t</p><table-wrap><table>{rows}</table></table-wrap>")).tables
    assert max(len(row) for row in table.rows) <= 300


TAGS = [
    "sec",
    "title",
    "p",
    "xref",
    "fig",
    "table-wrap",
    "table",
    "tr",
    "td",
    "list",
    "fn",
    "ref",
    "name",
    "mml",
    "sup",
]
TREES = st.recursive(
    st.text("ab .\ue0f0\ue0f4&<\x1e1", max_size=6).map(lambda t: re.sub("[&<\x1e]", " ", t)),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag} rid='B1' ref-type='bibr' id='B1'>{''.join(parts)}</{tag}>",
        st.sampled_from(TAGS),
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


@examples(150)
@given(TREES, TREES, TREES)
def test_any_tree_gives_a_sound_paper(body: str, meta: str, back: str) -> None:
    paper = parsed(
        article(body, meta, f"{back}<ref-list><ref id='B1'><mixed-citation>A. 2001.</mixed-citation></ref></ref-list>")
    )
    for section in paper.sections:
        assert section.text == section.text.strip() and not re.search("[\ue0f0-\ue0f9\x1e]", section.text)
        assert all(section.text[s.start : s.end] == s.text for s in section.sentences)
    lengths: dict[str, int] = {}  # sections may share a heading
    for section in paper.sections:
        lengths[section.heading] = max(len(section.text), lengths.get(section.heading, 0))
    assert all(0 <= c.position <= lengths[c.section] for c in paper.inline_citations)
    assert len({r.ref_id for r in paper.references}) == len(paper.references)
