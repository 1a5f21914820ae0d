"""What stands above the first heading of a page, and what stands around its text: names, places, buttons."""

from __future__ import annotations

import pytest

from monjyu_core.paper import ParsedPaper
from tests.assets.parsing.test_html import outline, page, parsed, text_of

PROSE = (
    "People who wait in long corridors form short queues, and we ask why. We measure forty corridors and find that "
    "the length of a queue depends on the width of the door and on nothing else that we could think of."
)


def latexml(authors: str, body: str = "") -> ParsedPaper:
    return parsed(
        page(
            '<article class="ltx_document"><h1 class="ltx_title ltx_title_document">Queues</h1>'
            f'<div class="ltx_authors">{authors}</div><div class="ltx_abstract"><h6 class="ltx_title '
            f'ltx_title_abstract">Abstract</h6><p class="ltx_p">{PROSE}</p></div><section class="ltx_section"><h2 '
            f'class="ltx_title ltx_title_section">1 Introduction</h2><p>They wait.</p>{body}</section></article>'
        )
    )


def people(paper: ParsedPaper) -> list[tuple[str, str | None, str | None]]:
    return [(author.name, author.affiliation, author.email) for author in paper.authors]


def creator(inner: str) -> str:
    return f'<span class="ltx_creator ltx_role_author"><span class="ltx_personname">{inner}</span></span>'


def test_names_and_places_in_one_element() -> None:
    paper = latexml(
        creator(
            "Ada Holm<sup>1</sup>, Bo Jansen<sup>2</sup>, Cy Lund<sup>1,2</sup><br><sup>1</sup>University of Aster"
            '<br><sup>2</sup>Institute of Waiting, Brill<br><span class="ltx_text">holm@aster.example</span>'
        )
    )
    assert people(paper) == [
        ("Ada Holm", "University of Aster", "holm@aster.example"),
        ("Bo Jansen", "Institute of Waiting, Brill", None),
        ("Cy Lund", "University of Aster; Institute of Waiting, Brill", None),
    ]
    assert outline(paper) == [(1, "abstract", "Abstract"), (1, "introduction", "1 Introduction")]


def test_one_author_whose_places_have_marks_that_the_name_has_not() -> None:
    paper = latexml(
        creator(
            "Nik Brand<br><span>nik@aster.example</span><br><sup>1</sup>Abecedary University<br>"
            "<sup>2</sup>Brill College"
        )
    )
    assert people(paper) == [("Nik Brand", "Abecedary University; Brill College", "nik@aster.example")]


def test_notes_of_authors_are_kept() -> None:
    said = '<span class="ltx_note_content">Both did the same.</span>'
    note = f'<span class="ltx_note ltx_role_thanks"><sup>∗</sup>{said}</span>'
    paper = latexml(creator(f"Ada Holm{note}") + '<span class="ltx_author_before">and</span>' + creator("Bo Jansen"))
    assert [name for name, _, _ in people(paper)] == ["Ada Holm", "Bo Jansen"]
    assert [(s.heading, s.text) for s in paper.sections[-1:]] == [("Notes", "Both did the same.")]


def test_theorems_are_in_the_line() -> None:
    theorem = (
        '<div class="ltx_theorem"><h6 class="ltx_title ltx_runin ltx_title_theorem">Theorem 1.</h6><p>Doors count.</p>'
        '</div><div class="ltx_proof"><h6 class="ltx_title ltx_runin ltx_title_proof">Proof.</h6><p>We count.</p></div>'
    )
    paper = latexml(creator("Ada Holm"), theorem)
    assert outline(paper)[-1] == (1, "introduction", "1 Introduction")
    assert paper.sections[-1].text == "They wait.\n\nTheorem 1.\n\nDoors count.\n\nProof.\n\nWe count."


def test_formulas_drawn_for_readers_who_do_not_see() -> None:
    drawn = (
        '<span class="mjx-chtml"><span class="mjx-math" aria-label="x^{2}"><span class="mjx-mrow" aria-hidden="true">'
        "<span>x</span><span>2</span></span></span></span>"
    )
    paper = parsed(page(f"<h1>On {drawn}-algebras</h1><p>Let {drawn} be small.</p>"))
    assert paper.title == "On x^2-algebras" and text_of(paper) == "Let x^{2} be small."
    assert [equation.latex for equation in paper.equations] == ["x^{2}"]


def test_rows_of_formulas_that_are_text() -> None:
    table = (
        '<table class="ltx_equation ltx_eqn_table"><tr><td class="ltx_eqn_center_padleft"></td><td>p(c)=exp(q)</td>'
        '<td class="ltx_eqn_eqno">(1)</td></tr></table>'
    )
    assert text_of(parsed(page(f"<h1>T</h1><p>We set</p>{table}<p>here.</p>"))) == "We set\n\np(c)=exp(q)\n\nhere."


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("<p>Ada Holm and Bo Jansen</p>", [("Ada Holm", None, None), ("Bo Jansen", None, None)]),
        (
            "<div>Ada Holm<sup>a</sup>, Bo Jansen<sup>b</sup></div><p><sup>a</sup> University of Aster<br>"
            "<sup>b</sup> Brill College, Brill</p>",
            [("Ada Holm", "University of Aster", None), ("Bo Jansen", "Brill College, Brill", None)],
        ),
        (
            "<p>Ada Holm<br>Department of Doors, University of Aster<br>ada@aster.example</p>",
            [("Ada Holm", "Department of Doors, University of Aster", "ada@aster.example")],
        ),
        (
            "<p>Ada Holm&nbsp;&nbsp;&nbsp;<b>Bo</b> Jansen&emsp;Cy&nbsp;Roe</p><p>University of Aster</p>",
            [(name, "University of Aster", None) for name in ("Ada Holm", "Bo Jansen", "Cy Roe")],
        ),
        (
            "<p>João da Silva e Souza¹; Maria das Dores²</p><p>¹ Universidade do Porto</p><p>² Instituto do Mar</p>",
            [("João da Silva e Souza", "Universidade do Porto", None), ("Maria das Dores", "Instituto do Mar", None)],
        ),
        (
            "<p>王小明<sup>1</sup>，李华<sup>2</sup></p><p>（1. 海港大学，上海；2. 灯光研究院）</p>",
            [("王小明", "海港大学，上海", None), ("李华", "灯光研究院", None)],
        ),
        ("<p>Par Élodie Le Goff et Jean d’Aumont</p>", [("Élodie Le Goff", None, None), ("Jean d’Aumont", None, None)]),
        ("<p>王小明，李华</p>", [("王小明", None, None), ("李华", None, None)]),
        (
            "<address>Ada Holm (ada@aster.example), University of Aster and Bo Jansen (bo@b.example), Brill</address>",
            [("Ada Holm", "University of Aster", "ada@aster.example"), ("Bo Jansen", "Brill", "bo@b.example")],
        ),
        ('<p>By <span class="author">Ada Holm</span> on 3 May 2020</p>', [("Ada Holm", None, None)]),
    ],
)
def test_names_under_the_title(lines: str, expected: list[tuple[str, str | None, str | None]]) -> None:
    paper = parsed(
        page(f"<h1>Q</h1>{lines}<p><b>Abstract.</b> {PROSE}</p><p>Keywords: all. bed.</p><h2>1 Queues</h2><p>Text.</p>")
    )
    assert people(paper) == expected
    assert (paper.abstract, paper.keywords) == (PROSE, ["all", "bed"])
    said = text_of(paper)
    assert not any(name in said for name, _, _ in expected)


@pytest.mark.parametrize(
    ("panel", "date"),
    [
        ("<h2>Publication Dates</h2><p>In this collection 15 June 2022</p><p>Date of issue 2022</p>", None),
        ("<h2>Fechas</h2><dl><dt>Recibido</dt><dd>2 de enero de 2015</dd><dt>Publicado</dt>"
         "<dd>1 de julio de 2015</dd></dl>", "2015-07-01"),
        ("<h2>Edited by:</h2><p>Bo Jansen</p>", None),
        ("<h2>Rights</h2><p>© 2018 The Authors. This is an open access article under a CC BY license.</p>", None),
    ],
)  # fmt: skip
def test_dates_editors_and_rights_are_no_sections(panel: str, date: str | None) -> None:
    history = "<h2>History</h2><p>1 May 1901: the first queue was seen.</p><p>2 May 1902: the second.</p>"
    paper = parsed(page(f"<h1>Queues</h1><p>Ada Holm, Cy Roe</p><h2>1 Queues</h2><p>Text.</p>{history}{panel}"))
    assert [section.heading for section in paper.sections] == ["1 Queues", "History", "Notes"]
    assert paper.publication_date == date and panel[4:9] in paper.sections[-1].text


@pytest.mark.parametrize("label", ["", "<b>Abstract</b> ", "<strong>Summary</strong><br>"])
def test_an_abstract_without_a_label_or_a_mark_behind_it(label: str) -> None:
    paper = parsed(
        page(f"<h1>Queues</h1><p>Ada Holm, Bo Jansen</p><p>{label}{PROSE}</p><h2>1. Introduction</h2><p>Text.</p>")
    )
    assert (paper.abstract, len(paper.authors)) == (PROSE, 2)


def test_headings_that_are_bold_paragraphs() -> None:
    paper = parsed(
        page(
            f"<h1>Queues</h1><p>Ada Holm, Bo Jansen</p><p><b>Abstract</b></p><p>{PROSE}</p>"
            "<p><b>1. Introduction</b></p><p>They <b>wait</b>.</p>"
            "<p><strong>1.1 Doors</strong></p><p>Doors are wide.</p>"
            "<p><b>References</b></p><p>1. Ames, A. (2001). On doors. Journal of Doors 3, 1-9.</p>"
            "<p>2. Birk, B. (2002). On queues. Lines 4, 5.</p>"
        )
    )
    assert outline(paper) == [
        *[(1, "abstract", "Abstract"), (1, "introduction", "1. Introduction"), (2, "introduction", "1.1 Doors")],
        (1, "references", "References"),
    ]
    assert [reference.year for reference in paper.references] == [2001, 2002]


def test_paragraphs_below_the_heading_of_the_references() -> None:
    paper = parsed(
        page(
            "<h1>Queues</h1><h2>Doors</h2><p>They wait [1].</p><h2>Literatur</h2><p>Wir danken allen, die gewartet "
            "haben.</p><p>[1] Ames, A. (2001). On doors. Journal of Doors 3, 1-9.</p>"
        )
    )
    (reference,) = paper.references
    assert (reference.year, [c.ref_id for c in paper.inline_citations]) == (2001, [reference.ref_id])
    assert paper.sections[-1].text.startswith("Wir danken allen") and reference.raw_text in paper.sections[-1].text


SPRINGER = """<main><article><div class="c-article-header"><ul class="c-article-identifiers"><li>Open access</li></ul>
<h1 class="c-article-title">Warm rain</h1><ul class="c-article-author-list"><li><a data-test="author-name">Rosa
Quist</a><sup><a href="#Aff1">1</a></sup></li></ul><p class="c-article-info-details"><i>Letters</i> 12, 1 (2022)</p>
<div class="c-article-metrics-bar">9 Accesses</div></div>
<section data-title="Abstract"><div class="c-article-section" id="Abs1-section"><h2 id="Abs1">Abstract</h2>
<div class="c-article-section__content" id="Abs1-content"><p>Rain is cold.</p></div></div></section>
<section data-title="Plain Language Summary"><div class="c-article-section" id="Abs2-section"><h2 id="Abs2">Plain
Language Summary</h2><div id="Abs2-content"><p>Take a coat.</p></div></div></section>
<section data-title="Introduction"><h2 id="Sec1">Introduction</h2><p>It rains.</p></section>
<section data-title="References"><h2 id="Bib1">References</h2><ol class="c-article-references">
<li class="c-article-references__item" data-counter="1."><p class="c-article-references__text" id="ref-CR1">Thor, Q.
Rain. <i>J. Weather</i> 3, 1 (2001).</p><p
class="c-article-references__links u-hide-print"><a href="#">Article</a></p></li></ol>
<p class="c-article-references__download u-hide-print"><a>Download references</a></p></section>
<section data-title="Author information"><h2 id="author-information">Author information</h2><h3
id="affiliations">Authors and Affiliations</h3><ol class="c-article-author-affiliation__list"><li>
<p>Weather Office, Dale</p><p>Rosa Quist</p>
</li></ol><div class="u-js-hide"><span>Authors</span>View author publications</div>
<h3 id="contributions">Contributions</h3>
<p>R.Q. walked in the rain.</p></section>
<section data-title="About this article"><h2 id="article-info">About this article</h2><div
class="c-bibliographic-information"><h3>Cite this article</h3><p>Quist, R. Warm rain.</p></div></section>
</article></main>"""


def test_page_of_springer() -> None:
    head = '<meta name="citation_title" content="Warm rain"><meta name="citation_author" content="Quist, Rosa">'
    paper = parsed(page(SPRINGER, head))
    assert [
        (heading, section.text) for (_, _, heading), section in zip(outline(paper), paper.sections, strict=True)
    ] == [
        ("Abstract", "Rain is cold."),
        ("Plain Language Summary", "Take a coat."),
        ("Introduction", "It rains."),
        ("Author information", ""),
        ("Contributions", "R.Q. walked in the rain."),
        ("References", "[1] Thor, Q. Rain. J. Weather 3, 1 (2001)."),
    ]


def test_a_title_in_front_of_the_article_and_notes_that_are_listed_as_works_are() -> None:
    work = "<li>Roe, A. (2010). Wide doors. Queue Notes, 3, 1-9.</li><li>Lund, B. (2011). Long doors. Queue Notes.</li>"
    paper = parsed(
        "<!DOCTYPE html><html><head><title></title></head><body><h1>Queues in Halls</h1><article><h1>ABSTRACT</h1>"
        f"<p>{PROSE}</p><p><b>KEYWORDS:</b><br>halls; doors</p><div><p>They wait for an hour.</p></div><h1>Methods</h1>"
        f'<p>{PROSE * 3}</p><div class="ref-list"><ul class="refList footnote"><li>We met in 2012.</li></ul></div>'
        f'<h1>References</h1><div class="ref-list"><ul class="refList">{work}</ul></div></article></body></html>'
    )
    assert (paper.title, paper.abstract, paper.keywords) == ("Queues in Halls", PROSE, ["halls", "doors"])
    assert outline(paper)[:3] == [(1, "abstract", "ABSTRACT"), (1, "other", ""), (1, "methods", "Methods")]
    assert "They wait for an hour." in paper.sections[1].text and "We met in 2012." in text_of(paper)
    assert [reference.year for reference in paper.references] == [2010, 2011]


def test_authors_that_a_page_names_with_the_title_of_a_work() -> None:
    head = '<meta name="author" content="Ada Holm , Bo Jansen , and Cy Lund" />'
    body = f"<h1>Queues</h1><h2>Introduction</h2><p>{PROSE}</p>"
    named = parsed(page(body, head + '<meta name="DC.Title" content="Queues">'))
    assert [author.name for author in named.authors] == ["Ada Holm", "Bo Jansen", "Cy Lund"]
    assert not parsed(page(body, head)).authors  # may be who wrote the page


def test_sections_in_sections_with_the_same_tag() -> None:
    paper = parsed(
        page(
            f"<section><h1>Introduction</h1><p>{PROSE}</p></section><section><h1>Methods</h1><p>{PROSE}</p>"
            f"<section><h1>Doors</h1><p>{PROSE}</p></section></section>",
            "<title>Queues -- preprint of https://example.org/1</title>",
        )
    )
    assert [(level, heading) for level, _, heading in outline(paper)] == [
        (1, "Introduction"), (1, "Methods"), (2, "Doors"),
    ]  # fmt: skip
    assert paper.title == "Queues"


def test_a_page_of_tex4ht() -> None:
    formula = (
        '<table class="equation"><tr><td><div class="math-display"><img src="q1.svg" alt="q =  w + 1"></div></td>'
        '<td class="equation-label">(1)</td></tr></table>'
    )
    paper = parsed(
        page(
            '<h2 class="titleHead">Queues</h2><div class="abstract"><div class="center"><p><span>Abstract</span></p>'
            f'</div><p>{PROSE}</p></div><h3 class="sectionHead">1 Introduction</h3><p>We have {formula} below.</p>'
            f'<h3 class="sectionHead">2 Methods</h3><p>{PROSE}</p><h2 class="likechapterHead">References</h2>',
            "<title>Queues</title>",
        )
    )
    assert [(level, heading) for level, _, heading in outline(paper)] == [
        (1, "Abstract"), (1, "1 Introduction"), (1, "2 Methods"), (1, "References"),
    ]  # fmt: skip
    assert paper.abstract.startswith("People who wait")
    assert not paper.tables and [equation.text for equation in paper.equations] == ["q = w + 1"]


def test_authors_in_a_dialog_and_entries_shown_above_citations() -> None:
    def person(name: str, number: int, place: str) -> str:
        return (
            f'<div class="tutors"><strong>{name}</strong><span class="ref footnote"><sup>{number}</sup><span '
            f'class="refCtt closed"><strong>{number}</strong>E-mail: {name.split()[-1].lower()}@halls.example</span>'
            f'</span><br><div><span data-aff-display="a">{place}</span><span data-aff-orgname="a" hidden="">{place}'
            '</span></div><ul><li><a href="http://orcid.org/0000-0002-1825-0097">ORCID</a></li></ul></div>'
        )

    work = "Roe, A. 2010. Wide doors. Queue Notes, 3: 1-9."
    paper = parsed(
        '<html><body><h1>Queues in Halls</h1><a data-toggle="modal">Authorship</a><article><h1>Abstract</h1>'
        f"<p>{PROSE}</p><p><strong>Keywords</strong><br>halls; doors</p><h1>Introduction</h1><p>They wait (<span "
        f'class="ref"><strong>Roe, 2010</strong><span class="refCtt closed">{work}</span></span>) there<span '
        'class="ref footnote"><sup>1</sup><span class="refCtt closed">In 2012.</span></span>.</p><h1>References</h1>'
        f'<ul class="refList"><li>{work}</li><li>{work}</li></ul></article><div class="modal" id="ModalTutors">'
        f"{person('Ada Holm', 1, 'Hall of Brill')}{person('Bo da Luz', 2, 'Hall of Aster')}</div></body></html>"
    )
    assert people(paper) == [
        ("Ada Holm", "Hall of Brill", "holm@halls.example"), ("Bo da Luz", "Hall of Aster", "luz@halls.example"),
    ]  # fmt: skip
    assert (paper.abstract, paper.keywords) == (PROSE, ["halls", "doors"])
    assert paper.sections[1].text == "They wait (Roe, 2010) there1.\n\nIn 2012."
