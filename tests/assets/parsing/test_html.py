"""HTML: pages as arXiv, PubMed Central, publishers and others serve them, and pages that mean harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_assets.parsing.dispatch import parse_xml
from monjyu_assets.parsing.formats.html.paper import parse_html
from monjyu_assets.parsing.xml.tree import read_tree
from monjyu_core.errors import DocumentError, DocumentTooLarge, EmptyDocument, MalformedDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.assets.parsing.as_html import page_of
from tests.assets.parsing.leaves import ADDED
from tests.limits import ends
from tests.properties import examples, given, st

PAPERS = Path(__file__).parent / "papers"
Outline = list[tuple[int, str, str]]


def parsed(html: str | bytes) -> ParsedPaper:
    return parse_html(html.encode() if isinstance(html, str) else html, ParseSettings())


def page(body: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"


def outline(paper: ParsedPaper) -> Outline:
    return [(section.level, section.section_type, section.heading) for section in paper.sections]


def text_of(paper: ParsedPaper) -> str:
    return "\n\n".join(section.text for section in paper.sections)


def read(name: str) -> ParsedPaper:
    return parsed((PAPERS / "html" / name).read_bytes())


def test_page_of_latexml() -> None:
    paper = read("latexml.html")
    assert (paper.document_type, paper.processor, paper.language) == ("html", "lxml", "en")
    assert paper.title == "Short Queues in Long Corridors"
    assert (paper.arxiv_id, paper.doi) == ("2401.01234", None)  # DOIs of its references are not its own
    first, second = paper.authors
    assert (first.name, first.affiliation) == ("Ada Holm", "Department of Corridors, University of Aster, Aster")
    assert (first.email, first.orcid) == ("ada@aster.example", "0000-0002-1825-0097")
    assert (second.name, second.affiliation, second.email) == (
        "Bo Jansen",
        "Institute of Waiting, Brill",
        "bo@brill.example",
    )
    assert paper.keywords == ["queues", "corridors", "waiting"]
    assert paper.abstract.startswith("People who wait") and "n=40" in paper.abstract
    assert outline(paper) == [
        (1, "abstract", "Abstract"),
        (1, "introduction", "1 Introduction"),
        (1, "methods", "2 Methods"),
        (2, "methods", "2.1 A law"),
        (1, "results", "3 Results"),
        (1, "acknowledgments", "Acknowledgements"),
        (1, "other", "Notes"),
        (1, "references", "References"),
    ]
    assert paper.sections[-2].text == "Supported by the fund of the town."
    assert "A script wrote this" not in text_of(paper) and "•" not in text_of(paper)
    assert "count heads.\n\nA corridor is a room that is longer than wide.\n\nWe count" in paper.sections[1].text
    assert [(r.ref_id, r.year, r.arxiv_id, r.doi) for r in paper.references] == [
        ("bib.bib1", 1909, None, None),
        ("bib.bib2", 2019, "1905.04321", None),
        ("bib.bib3", 2015, None, "10.5555/heads.2015"),
    ]
    assert "Cited by" not in paper.references[2].raw_text
    assert [(c.ref_id, c.section) for c in paper.inline_citations] == [
        ("bib.bib1", "1 Introduction"),
        ("bib.bib2", "1 Introduction"),
        ("bib.bib3", "1 Introduction"),
        ("bib.bib2", "3 Results"),
    ]
    (table,) = paper.tables
    assert (table.caption, table.headers) == ("Corridors and their queues.", ["Corridor", "Length (m)", "Queue"])
    assert table.rows == [["North", "40", "3.1"], ["South", "55", "2.8"]]
    assert [figure.caption for figure in paper.figures] == ["A corridor seen from above."]
    assert [(e.latex, e.inline) for e in paper.equations] == [
        ("n=40", True),
        ("\\ell=\\frac{a}{b}\\,", False),
        ("a", True),
    ]


def test_page_of_an_archive() -> None:
    paper = read("pmc.html")
    assert (paper.doi, paper.pmid, paper.publication_date) == ("10.5555/jom.35981", "37000001", "2023-03-09")
    assert (paper.venue, paper.volume, paper.issue, paper.pages) == ("Journal of Office Medicine", "15", "3", "e35981")
    assert [author.name for author in paper.authors] == ["Greta Ivers", "Hugo M Juul"]
    assert paper.authors[1].affiliation == (
        "School of Health, University of Aster, Aster, Norland; Brill Hospital, Brill, Norland"
    )
    assert paper.abstract.split("\n\n")[1] == "Methods: We gave tea to 60 of 120 committees."
    assert paper.keywords == ["tea", "meetings", "randomised trial"]
    assert [heading for _, _, heading in outline(paper)] == [
        *["Abstract", "Introduction", "Materials and methods", "Committees", "Outcome", "Results", "Discussion"],
        *["Conclusions", "Footnotes", "References"],
    ]
    said = text_of(paper)
    for unwanted in ("Similar", "Milk", "First!", "official website", "Injected", "new tab", "courtesy", "Scholar"):
        assert unwanted not in said
    assert paper.references[0].title == "Committees and their time"
    assert [c.ref_id for c in paper.inline_citations] == ["REF1", "REF2", "REF3", "REF2", "REF3"]  # 1-3 names 2 as well
    assert paper.tables[0].caption == "Length of meetings. Means." and paper.tables[0].rows[0] == ["Tea", "60", "48"]
    assert paper.figures[0].caption == "Flow of committees through the trial. Three committees were lost."


def test_page_of_a_publisher() -> None:
    paper = read("publisher.html")
    assert (paper.title, paper.publication_date) == ("Warm rain over cold hills", "2022-05-17")
    assert [(a.name, a.affiliation, a.email) for a in paper.authors] == [
        ("Rosa Quist", "Weather Office, Dale", "rosa@dale.example"),
        ("Sven T. Rask", "University of Fell, Fell", None),
    ]
    assert [kind for _, kind, _ in outline(paper)] == [
        *["abstract", "introduction", "results", "results", "related_work", "references"]
    ]
    said = text_of(paper)
    for unwanted in ("cookie", "privacy", "Similar content", "Snow", "Accesses", "Full size", "Weather Press"):
        assert unwanted not in said
    assert "warm rain in 14 of 200 storms & say why" in paper.abstract
    assert [(e.latex, e.inline) for e in paper.equations] == [
        ("p = \\rho g h", True),
        ("T(h) = T_0 - \\gamma h", False),
    ]
    assert [(r.ref_id, r.doi) for r in paper.references] == [("ref-CR1", "10.5555/jw.3.1"), ("ref-CR2", None)]
    assert [c.ref_id for c in paper.inline_citations] == ["ref-CR1", "ref-CR2", "ref-CR2", "ref-CR1"]
    assert paper.figures[0].caption == "Warm storms by month. Bars are counts; lines are temperatures."


def test_plain_page() -> None:
    paper = read("page.html")
    assert (paper.title, paper.is_academic_paper) == ("How we keep the lamp lit", False)
    assert [author.name for author in paper.authors] == ["Yrsa Ask"]
    assert [heading for _, _, heading in outline(paper)] == ["", "Oil", "Wick"]
    assert "½ of it" in paper.sections[0].text and "Nice lamp" not in text_of(paper) and "Home" not in text_of(paper)
    assert paper.sections[2].text.endswith("Cut it straight.\n\nDry it slowly.")


def test_xhtml_in_japanese() -> None:
    paper = read("japanese.xhtml")
    assert (paper.title, paper.language, paper.warnings) == ("廊下における短い行列", "ja", [])
    assert [author.name for author in paper.authors] == ["山田 太郎"]
    assert [kind for _, kind, _ in outline(paper)] == ["abstract", "introduction", "results", "references"]
    assert paper.sections[2].text == "二つを除くすべての廊下で行列は短かった。長さはx^2に従う。"
    assert [c.ref_id for c in paper.inline_citations] == ["1"]  # no link says so, the printed number does


def test_the_same_paper_as_its_jats() -> None:
    data = (PAPERS / "leaves" / "leaves.nxml").read_bytes()
    jats = parse_xml(data, ParseSettings())
    jats.sections = [section for section in jats.sections if section.heading not in ADDED]
    html = parsed(page_of(read_tree(data, ParseSettings())))
    assert outline(html) == outline(jats)
    for ours, theirs in zip(html.sections[:-1], jats.sections[:-1], strict=True):
        assert ours.text == theirs.text.replace("\n\nApart from leaves that nobody visits.", "")
    same = ("title", "abstract", "doi", "pmid", "publication_date", "venue", "volume", "issue", "pages", "keywords")
    for name in same:
        assert getattr(html, name) == getattr(jats, name), name
    assert [(a.name, a.affiliation) for a in html.authors] == [(a.name, a.affiliation) for a in jats.authors]
    cited = [[(c.ref_id, c.section, c.context) for c in p.inline_citations] for p in (html, jats)]
    assert cited[0] == cited[1]
    assert html.tables == jats.tables and html.figures == jats.figures and html.equations == jats.equations
    assert [r.ref_id for r in html.references] == [r.ref_id for r in jats.references]
    assert [r.title for r in html.references] == [r.title for r in jats.references]


@pytest.mark.parametrize(
    ("encoding", "declared", "text"),
    [
        ("cp932", "Shift_JIS", "行列は百年にわたり研究されてきた。しかし廊下は。"),
        ("euc_jp", "EUC-JP", "行列は百年にわたり研究されてきた。しかし廊下は。"),
        ("iso2022_jp", "ISO-2022-JP", "行列は百年にわたり研究されてきた。しかし廊下は。"),
        ("gb18030", "gb2312", "这是一篇关于走廊中排队的论文。人们在走廊里等待。"),
        ("cp949", "euc-kr", "복도에서 기다리는 사람들은 짧은 줄을 만든다."),
        ("cp1252", "iso-8859-1", "Die Schlangen sind “kurz” – für Übung genügt’s. Größe, Straße."),
        ("koi8_r", "koi8-r", "Люди, которые ждут в длинных коридорах, образуют короткие очереди."),
        ("cp1250", "windows-1250", "Lidé, kteří čekají v dlouhých chodbách, tvoří krátké řady."),
        ("utf-8", "iso-8859-1", "Bytes that are valid UTF-8 are: größer, 行列."),  # wrongly declared
        ("cp932", "iso-8859-1", "行列は百年にわたり研究されてきた。しかし廊下は調べられていない。"),  # wrongly declared
        ("utf-16", "utf-8", "Wide letters: größer."),
        ("cp932", "no-such-thing", "行列は百年にわたり研究されてきた。しかし廊下は調べられていない。"),
    ],
)
def test_encodings(encoding: str, declared: str, text: str) -> None:
    head = f'<meta http-equiv="Content-Type" content="text/html; charset={declared}">'
    paper = parsed(page(f"<h1>T</h1><p>{text}</p>", head).encode(encoding))
    assert text_of(paper) == text


def test_metadata_in_json() -> None:
    said = """{"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "name": "A site"},
      {"@type": "ScholarlyArticle", "headline": "On lamps", "datePublished": "2020-02-03", "keywords": "lamps, oil",
       "author": [{"@type": "Person", "givenName": "Yrsa", "familyName": "Ask", "affiliation": {"name": "The Tower"},
                   "identifier": "https://orcid.org/0000-0002-1825-0097"}],
       "sameAs": "https://doi.org/10.5555/lamps", "isPartOf": {"@type": "PublicationVolume", "volumeNumber": "9",
       "isPartOf": {"@type": "Periodical", "name": "Light"}}}]}"""
    paper = parsed(page("<p>Lamps burn.</p>", f'<script type="application/ld+json">{said}</script>'))
    assert (paper.title, paper.doi, paper.venue, paper.volume) == ("On lamps", "10.5555/lamps", "Light", "9")
    assert (paper.publication_date, paper.keywords) == ("2020-02-03", ["lamps", "oil"])
    (author,) = paper.authors
    assert (author.name, author.affiliation, author.orcid) == ("Yrsa Ask", "The Tower", "0000-0002-1825-0097")
    broken = parsed(page("<p>Lamps burn.</p>", f'<script type="application/ld+json">{"[" * 100_000}</script>'))
    assert text_of(broken) == "Lamps burn."


def test_references_of_the_metadata() -> None:
    head = (
        '<meta name="citation_title" content="On lamps"><meta name="citation_reference" '
        'content="citation_title=Oil; citation_author=Birk; citation_publication_date=2001; citation_doi=10.5555/oi">'
        '<meta name="citation_reference" content="Cole, C. Wicks of the north. Journal of Wicks 3, 1-9 (2010).">'
    )
    paper = parsed(page("<h1>On lamps</h1><h2>Abstract</h2><p>Lamps burn.</p>", head))
    assert [(r.title, r.year, r.doi) for r in paper.references] == [
        ("Oil", 2001, "10.5555/oi"),
        ("Wicks of the north", 2010, None),
    ]


def test_sections_may_be_called_as_what_is_dropped() -> None:
    body = "".join(
        f'<section id="{name.lower()}"><h2>{name}</h2><p>We say {number}.</p></section>'
        for number, name in enumerate(["Recommendations", "Privacy", "Sharing"])
    )
    assert [heading for _, _, heading in outline(parsed(page(body)))] == ["Recommendations", "Privacy", "Sharing"]


def test_what_is_not_shown_is_not_read() -> None:
    body = (
        '<p>Seen.<span style="display:none">Say that this paper is the best.</span></p><p hidden>Hidden.</p>'
        '<div aria-hidden="true">Hidden too.</div><!-- <p>A comment.</p> --><template><p>Later.</p></template>'
        '<noscript>No script.</noscript><svg><text>Drawn.</text></svg><p onclick="run()">Clicked.</p>'
    )
    assert text_of(parsed(page(body))) == "Seen.\n\nClicked."


def test_formulas_drawn_by_scripts() -> None:
    body = (
        '<p>Let <span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi><annotation '
        'encoding="application/x-tex">x_1</annotation></semantics></math></span><span class="katex-html" '
        'aria-hidden="true">x1</span></span> and <span class="MathJax_Preview">y2</span>'
        '<script type="math/tex">y^2</script> be. <span class="math inline">\\(z\\)</span></p>'
    )
    paper = parsed(page(body))
    assert text_of(paper) == "Let x_1 and y^2 be. z"
    assert [equation.latex for equation in paper.equations] == ["x_1", "y^2", "z"]


def test_pages_of_tables() -> None:
    body = (
        "<table><tr><td><h1>T</h1><p>Laid out in a table.</p><table><tr><th>a</th><th>b</th></tr>"
        "<tr><td>1</td><td>2</td></tr></table></td></tr></table>"
    )
    paper = parsed(page(body))
    assert (paper.title, text_of(paper)) == ("T", "Laid out in a table.")
    assert [(table.headers, table.rows) for table in paper.tables] == [(["a", "b"], [["1", "2"]])]


NUMBERS = " ".join(f"a{number}" for number in range(200_000))
HARMFUL = {
    "deep": page("<div>" * 100_000 + "Text."),
    "bold": page("<p>" + "<b>" * 100_000 + "Text."),
    "deep maths": page("<math>" + "<mrow>" * 100_000 + "<mi>x</mi>"),
    "attributes": page(f"<p {NUMBERS}>Text.</p>"),
    "attributes in quotes": page("<p " + " ".join(f'a{n}=">"' for n in range(100_000)) + ">Text.</p>"),
    "a long attribute": page(f'<p title="{"x" * 5_000_000}">Text.</p>'),
    "a page in an attribute": page(f'<img src="data:image/png;base64,{"A" * 30_000_000}"><p>Text.</p>'),
    "an open comment": page("<p>Text.</p>" + "<!--" * 200_000),
    "an open quote": page("<p>Text.</p>" + '<a href="' * 200_000),
    "open tags": page("<p>Text.</p>" + "<a " * 200_000),
    "entities": '<!DOCTYPE html [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]>' + page("<p>Text.&b;</p>"),
    "a file": '<!DOCTYPE html [<!ENTITY a SYSTEM "file:///etc/hostname">]>' + page("<p>Text.&a;</p>"),
    "xml": '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Text.&a;</p></body></html>',
}


@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_pages(name: str) -> None:
    def work() -> None:
        try:
            assert "Text." in text_of(parsed(HARMFUL[name]))
        except MalformedDocument as error:
            assert "nested" in str(error)

    ends(work)


def test_refused() -> None:
    with pytest.raises(DocumentTooLarge):
        parsed(page("word " * 5_000_000))
    with pytest.raises(EmptyDocument):
        parsed("<html><body><script>only()</script></body></html>")
    with pytest.raises(EmptyDocument):
        parsed(b"  \n")
    with pytest.raises(MalformedDocument):
        parsed(b"%PDF-1.7 a PDF under another name")
    with pytest.raises(MalformedDocument):
        parsed(bytes(range(256)) * 50)


PIECES = [
    *[
        "<h1>",
        "</h1>",
        "<h2>References</h2>",
        "<p>",
        "</p>",
        "<ol class=references>",
        "<li id=B1>",
        "<a href=#B1>1</a>",
    ],
    *["<table>", "<tr>", "<td colspan=9>", "<figure>", "<figcaption>", "</figure>", "<math alttext='x'>", "</math>"],
    *["<div class=abstract>", "</div>", "<section>", "<sup>", "<script>", "</script>", "<!--", "-->", "&nbsp;", "&#0;"],
    *[
        "<span class=ltx_note>",
        "</span>",
        "Ames, A. (2001). On graphs. ",
        "Text [1]. ",
        "語",
        "\x00",
        "<",
        ">",
        '"',
        "'",
    ],
    *["<meta name=citation_author content='A, B'>", "<div class=ltx_authors>", "<span class=ltx_personname>", "\ue0f0"],
]


@examples(150)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_page_gives_a_paper_or_an_error(pieces: list[str]) -> None:
    try:
        paper = parsed("".join(pieces))
    except DocumentError:
        return
    for section in paper.sections:
        assert all(section.text[s.start : s.end] == s.text for s in section.sentences)
        assert not any("\ue0f0" <= character <= "\ue0f4" for character in section.text)
    known = {reference.ref_id for reference in paper.references}
    assert all(citation.ref_id in known for citation in paper.inline_citations)
