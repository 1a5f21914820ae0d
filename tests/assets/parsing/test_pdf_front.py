"""PDFs as others set them: abstracts and names without labels, gaps in numbering, and that no character disappears."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from statistics import median

import numpy as np
import pytest
import typst

from monjyu_assets.parsing.formats.pdf import parse_pdf
from monjyu_assets.parsing.formats.pdf.labelling import label_lines
from monjyu_assets.parsing.formats.pdf.read.characters import compose_accents, empty_page
from monjyu_assets.parsing.formats.pdf.read.raw_characters import expert_codes
from monjyu_assets.parsing.formats.pdf.reading import read_layout
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import OcrSettings, ParseSettings
from tests.conftest import CORPORA, needs_corpora
from tests.properties import examples, given, st

REPORTS = CORPORA.parent / "reports" / "parsing"
_PROSE = "We count the plants of a marsh and describe how often a count is wrong, because nobody has asked before. "
_ABSTRACT = "I describe why walkers count plants twice, and derive a way to measure how often a count is wrong. "


def _parse(folder: Path, source: str) -> ParsedPaper:
    (folder / "paper.typ").write_text(source, "utf-8")
    typst.compile(str(folder / "paper.typ"), output=str(folder / "paper.pdf"))
    return parse_pdf(folder / "paper.pdf", ParseSettings())


def _paper(front: str, abstract: str, heads: tuple[str, ...] = ("1 Rules", "2 Counting", "3 Results")) -> str:
    """Typst source: title, what follows it, an abstract and a section for each of the headings."""
    body = "".join(f"#text(14pt, weight: 700)[{head}]\n\n{_PROSE * 5}\n\n{_PROSE * 6}\n\n" for head in heads)
    title = "#align(center, text(18pt)[Why Marsh Walkers Count Twice])\n"
    return f"#set page(margin: 2.5cm)\n#set text(10pt)\n#set par(justify: true)\n{title}{front}\n{abstract}\n{body}"


@pytest.mark.skipif(not REPORTS.is_dir(), reason="../shared/reports is absent")
@pytest.mark.parametrize("name", ["type3_unit_size", "refs_fr", "refs_de", "unlabelled_abstract"])
def test_reported_files(name: str) -> None:
    expected = json.loads((REPORTS / "expected.json").read_text("utf-8"))[f"{name}.pdf"]
    paper = parse_pdf(REPORTS / f"{name}.pdf", ParseSettings())
    assert paper.title == expected.get("title", paper.title)
    assert [author.name for author in paper.authors] == expected["authors"]
    places = [author.affiliation or "" for author in paper.authors]
    assert places == expected.get("affiliations", places)
    assert expected["abstract_contains"] in paper.abstract
    assert len(paper.references) == expected["references"]
    assert len(paper.inline_citations) >= expected.get("citations_at_least", 0)
    headings = [section.heading for section in paper.sections if section.heading]
    assert [heading for heading in headings if heading in expected.get("headings", headings)] == expected.get(
        "headings", headings
    )


@pytest.mark.parametrize(
    "abstract",
    [
        f"#pad(x: 1.2cm)[{_ABSTRACT * 3}]",
        f"#text(8.5pt)[{_ABSTRACT * 3}]",
        f"#emph[{_ABSTRACT * 3}]",
        f"#strong[{_ABSTRACT * 3}]",
        f"{_ABSTRACT * 3}",
    ],
    ids=["inset", "small", "italic", "bold", "plain"],
)
def test_prose_without_a_label_is_the_abstract(tmp_path: Path, abstract: str) -> None:
    front = (
        "#align(center)[Rosa Lind#super[1] and Hal Vard#super[2]]\n\n"
        "#align(center)[#super[1] University of Northmoor, #super[2] Marsh Institute]\n#v(6pt)\n"
    )
    paper = _parse(tmp_path, _paper(front, f"{abstract}\n#v(10pt)"))
    assert [author.name for author in paper.authors] == ["Rosa Lind", "Hal Vard"]
    assert [author.affiliation for author in paper.authors] == ["University of Northmoor", "Marsh Institute"]
    assert paper.abstract == (_ABSTRACT * 3).strip()
    assert [section.heading for section in paper.sections[1:]] == ["1 Rules", "2 Counting", "3 Results"]


def test_an_abstract_runs_on_in_its_sentence(tmp_path: Path) -> None:
    """A part of a formula, a larger first row, and words of addresses do not end it."""
    broken = "Few marsh walkers count the plants of #box(place(dy: 4pt, text(5pt)[2]))" + _ABSTRACT[0].lower()
    larger = f"#text(11.5pt)[Few marsh walkers count the plants of the meadows that border on the] {_ABSTRACT.lower()}"
    for abstract in (broken + _ABSTRACT[1:], larger):
        paper = _parse(tmp_path, _paper("Rosa Lind\n\n", f"*Abstract*\n\n{abstract}\n"))
        assert paper.abstract.endswith(
            _ABSTRACT.strip()[-20:].lower() if abstract is larger else _ABSTRACT.strip()[-20:]
        )
    told = "What walkers of the marshes of the north know of plants today is published as print that nobody can read. "
    paper = _parse(tmp_path, _paper("Rosa Lind\n\n", f"*{told * 2}*\n\n{_PROSE * 4}"))
    assert paper.abstract == " ".join((told * 2).split())


def test_a_label_that_hangs_out_is_not_in_the_abstract(tmp_path: Path) -> None:
    abstract = f"#par(hanging-indent: 46pt)[#box(width: 46pt)[Abstract]walkers count. {_ABSTRACT * 2}]"
    paper = _parse(tmp_path, _paper("Rosa Lind\n\n#v(9pt)", abstract))
    assert paper.abstract.startswith("walkers count.")


def test_an_opening_too_long_for_an_abstract_is_text(tmp_path: Path) -> None:
    paper = _parse(tmp_path, _paper("#align(center)[By Rosa Lind]\n#v(6pt)\n", f"{_PROSE * 30}\n"))
    assert [author.name for author in paper.authors] == ["Rosa Lind"]
    assert paper.abstract == ""
    assert paper.sections[0].heading == ""
    assert paper.sections[0].text.count("We count the plants") == 30


@pytest.mark.parametrize(
    "front",
    [
        "Lind, Rosa\n\nrosa\\@marsh.org\n\nNorthmoor University\n\nVard, Hal Otto\n\nhal\\@marsh.org\n\nMarsh Lab\n\n",
        "Rosa LIND#super[1] 0000-0002-1825-0097\n\nHal Otto VARD#super[2] 0000-0001-5109-3700\n\n",
        'By Rosa Lind#footnote(numbering: "*")[Northmoor.] and Hal Otto Vard\n\n',
        "Rosa Lind (rosa\\@marsh.org)\n\nHal Otto Vard (hal\\@marsh.org)\n\n",
        "Rosa Lind \u00c6 Hal Otto Vard\n\n",
        "*Rosa Lind* #h(4pt) Northmoor University\n\n*Hal Otto Vard* #h(4pt) Marsh University\n\n",
        "#grid(columns: 2, gutter: 60pt, [Rosa Lind\\ MIT], [Hal Otto Vard\\ MIT])\n\n",
        "Rosa Lind _professor_#super[1], Hal Otto Vard _research fellow_#super[2]\n\n",
        "_Von_ Rosa Lind (Northmoor) _und_ Hal Otto Vard (Ulm)\n\n",
    ],
    ids=[
        "family first",
        "orcid",
        "by",
        "mail behind",
        "dot of an old font",
        "bold in front of a place",
        "short name",
        "role",
        "town",
    ],
)
def test_names_as_others_set_them(tmp_path: Path, front: str) -> None:
    paper = _parse(tmp_path, _paper(f"{front}#v(6pt)\n", f"#pad(x: 1cm)[{_ABSTRACT * 2}]"))
    assert [author.name.title() for author in paper.authors] == ["Rosa Lind", "Hal Otto Vard"]


def test_a_company_and_an_address_are_no_authors(tmp_path: Path) -> None:
    front = (
        "#align(center)[Ava Wang\n\nMarsh Hearing, Ltd.\n\nNorthmoor Square\n\nHal Vard\n\nPeat Brain\n\n"
        "{ava, hal}\\@peat.com\n\n]\n#v(6pt)\n"
    )
    paper = _parse(tmp_path, _paper(front, f"#pad(x: 1cm)[{_ABSTRACT * 2}]"))
    assert [author.name for author in paper.authors] == ["Ava Wang", "Hal Vard"]


@pytest.mark.parametrize(
    "front",
    [
        "ROSA LIND,\\\n DEPT OF MARSHES, NORTHMOOR COLLEGE\n\nHAL OTTO VARD,\\\n MARSH PROGRAMME, UNIVERSITY OF PEAT",
        "#text(13pt)[Measures of Northmoor\\\n for plants that nobody counted before]\n\nRosa Lind\n\nHal Otto Vard",
        "ROSA #h(16pt) K. LIND and HAL OTTO VARD #h(0pt)\\\n Carnegie-Mellon University",
        "Rosa Lind, Hal Otto Vard\n\n_Pl. Litewski 5, Lublin, Poland_",
        "#grid(columns: 3, column-gutter: 40pt, row-gutter: 5pt, [Rosa Lind], [], [Hal Otto Vard],"
        " [Peat Works], [], [Peat Works])",
    ],
    ids=["place behind a comma", "subtitle", "wide gap in a name", "address in italics", "one place twice"],
)
def test_lines_near_names_are_no_names(tmp_path: Path, front: str) -> None:
    paper = _parse(tmp_path, _paper(f"#align(center)[{front}]\n#v(9pt)\n", f"*Abstract*\n\n{_ABSTRACT * 2}"))
    assert [author.name.title().replace("K. ", "") for author in paper.authors] == ["Rosa Lind", "Hal Otto Vard"]


def test_a_name_in_front_of_its_role(tmp_path: Path) -> None:
    front = "#align(center)[R. P. Lind lecturer of the chair of marshes, Northmoor]\n#v(9pt)\n"
    paper = _parse(tmp_path, _paper(front, f"*Abstract*\n\n{_ABSTRACT * 2}"))
    assert [author.name for author in paper.authors] == ["R. P. Lind"]


def test_a_title_in_another_language_ends_in_no_author(tmp_path: Path) -> None:
    title = "#align(center, text(14pt)[Why the walkers of a marsh count the same plants\\ Health Survey])"
    front = f"{title}\n#align(center)[Rosa Lind]\n"
    paper = _parse(tmp_path, _paper(front, f"#pad(x: 1cm)[{_ABSTRACT * 2}]"))
    assert [author.name for author in paper.authors] == ["Rosa Lind"]


def test_a_count_of_headings_has_no_gaps(tmp_path: Path) -> None:
    heads = ("1 Rules", "2 Counting plants: the walkers.", "3 Results")  # the full stop alone says that it is none
    paper = _parse(tmp_path, _paper("#align(center)[Rosa Lind]\n", f"#pad(x: 1cm)[{_ABSTRACT * 2}]", heads))
    assert [(s.level, s.heading) for s in paper.sections if s.section_type != "abstract"] == [(1, h) for h in heads]


def test_a_translated_title_is_above_no_section(tmp_path: Path) -> None:
    heads = ("INTRODUCTION", "METHODS", "RESULTS", "CONCLUSIONS")
    second = f"#text(16pt, weight: 700)[Por que contam]\n\n#text(11pt, weight: 700)[RESUMO]\n\n{_PROSE * 3}\n"
    front = f"#align(center)[Rosa Lind]\n#v(4pt)\n#text(11pt, weight: 700)[ABSTRACT]\n\n{_ABSTRACT * 3}\n"
    paper = _parse(tmp_path, _paper(front, second, heads))
    assert [(s.level, s.heading) for s in paper.sections if s.section_type != "abstract"] == [(1, h) for h in heads]
    assert "Por que contam" in paper.notes


@pytest.mark.parametrize(
    ("front", "year"),
    [
        ("#place(bottom, text(7pt)[SOSP\u201907, October 14-17, Stevenson, Washington, USA.])", "2007"),
        ("#place(bottom, text(7pt)[Copyright 2006 by the Marsh Society.])", "2006"),
        ("#place(bottom, text(7pt)[Downloaded from marsh.org in 2019.])", None),
    ],
)
def test_the_year_of_lines_outside_the_text(tmp_path: Path, front: str, year: str | None) -> None:
    paper = _parse(tmp_path, _paper(f"#align(center)[Rosa Lind]\n{front}\n", f"#pad(x: 1cm)[{_ABSTRACT * 2}]"))
    assert paper.publication_date == year


def test_a_list_of_references_without_heading_spaces_in_its_labels_and_no_years(tmp_path: Path) -> None:
    entries = "\n\n".join(f"[ {n} ] R. Lind and H. Vard, arXiv:1507.0{n}234 [Inspire]." for n in range(1, 7))
    paper = _parse(tmp_path, _paper("#align(center)[Rosa Lind]\n", _ABSTRACT * 2) + f"\n#text(9pt)[{entries}]")
    assert [reference.arxiv_id for reference in paper.references] == [f"1507.0{n}234" for n in range(1, 7)]


def test_biographies_are_no_references(tmp_path: Path) -> None:
    entry = (
        "Lind, R., & Vard, H. (199{n}). How walkers count the plants of a marsh that nobody has counted before them, "
    )
    entries = "\n\n".join(entry.format(n=n) + "and why they do so twice. Marsh Letters, 3, 1-9." for n in range(6))
    lives = "BIOSKETCHES\n\n*Rosa Lind*\n\nRosa Lind walks and counts. She has no other work.\n\n" * 3
    hanging = f"#set par(hanging-indent: 1cm)\nReferences\n\n{entries}\n\n#pagebreak()\n{lives}"
    paper = _parse(tmp_path, _paper("#align(center)[Rosa Lind]\n", _ABSTRACT * 2) + hanging)
    assert [reference.year for reference in paper.references] == [1990 + n for n in range(6)]


def test_accents_that_a_file_draws_behind_their_line() -> None:
    letters = "Jonas Kolker".replace(" ", "")
    page = empty_page(1)
    page.text = [*letters, "\u00a8", "x"]
    page.x0 = np.array([*range(len(letters)), letters.index("K") + 1.2, 40.0])
    page.x1 = np.array([*range(1, len(letters) + 1), letters.index("K") + 1.8, 41.0])
    count = len(page.text)
    page.y0, page.y1, page.base, page.size = (np.full(count, value) for value in (0.0, 1.0, 1.0, 1.0))
    page.font, page.gap_before = np.zeros(count, np.int64), np.zeros(count, bool)
    compose_accents(page)
    assert "".join(page.text) == "JonasKölkerx"


def test_a_breve_over_a_consonant_is_a_caron() -> None:
    page = empty_page(1)
    page.text = [*"Sre\u02d8ckoa\u02d8"]
    count = len(page.text)
    page.x0 = np.array([0.0, 1, 2, 3.25, 3, 4, 5, 6, 6.25])
    page.x1 = np.array([1.0, 2, 3, 3.75, 4, 5, 6, 7, 6.75])
    page.y0, page.y1, page.base, page.size = (np.full(count, value) for value in (0.0, 1.0, 1.0, 1.0))
    page.font, page.gap_before = np.zeros(count, np.int64), np.zeros(count, bool)
    compose_accents(page)
    assert "".join(page.text) == "Srečkoă"


_BLOCKS = st.lists(
    st.sampled_from([
        "*Received* 3 May 2020; accepted 4 June 2020.", "#text(7pt)[© 2020 The Marsh Society. All rights reserved.]",
        _PROSE, f"#text(8pt)[{_PROSE * 3}]", f"#emph[{_PROSE * 2}]", "1 Rules of the marsh", "`let count = plants[3];`",
        "University of Northmoor", "rosa\\@marsh.org", "Keywords: marsh, counting", "JEL: Q10, Q20", "Abstract",
        "= References", "[1] Lind, R. Plants of a marsh. Marsh Letters 3 (1999), 1-9.", "#pagebreak()",
        "Table 1: Counts",
        "#table(columns: 2)[a][b][c][d]", "Résumé", "#columns(2)[We count.#colbreak()Nobody asked.]",
    ]),
    min_size=1, max_size=14,
)  # fmt: skip


@examples(60)
@given(_BLOCKS)
def test_every_character_is_in_one_part(tmp_path_factory: pytest.TempPathFactory, blocks: list[str]) -> None:
    folder = tmp_path_factory.mktemp("parts")
    (folder / "paper.typ").write_text("#set page(height: 12cm)\n" + "\n\n".join(blocks) + "\n\nAn end.", "utf-8")
    typst.compile(str(folder / "paper.typ"), output=str(folder / "paper.pdf"))
    _check_parts(folder / "paper.pdf")


@needs_corpora
def test_every_character_of_the_layouts_is_in_one_part() -> None:
    counts = [_check_parts(path) for path in sorted((CORPORA / "layouts" / "pdf").glob("*.pdf"))]
    assert median(count["furniture"] / sum(count.values()) for count in counts) <= 0.03


def _check_parts(path: Path) -> dict[str, int]:
    layout, told = read_layout(path, ParseSettings(), OcrSettings(enabled="off"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(parse_pdf.__globals__, "read_layout", lambda *_: (deepcopy(layout), told))
        paper = parse_pdf(path, ParseSettings())
    shown = sum(page.shown for page in layout.pages)
    assert sum(paper.characters.values()) == shown
    labelled = label_lines(layout)
    assert sorted(labelled.roles) == list(range(len(layout.lines)))
    return paper.characters


@pytest.mark.parametrize(
    ("front", "names"),
    [
        ("Lind,Rosa; Vard, Hal Otto; Peña, Ana", ["Rosa Lind", "Hal Otto Vard", "Ana Peña"]),
        (
            "Lind Moya, Rosa Ana\n\nNorthmoor University\n\nrosal\\@marsh.org\n\n"
            "Vard Campos, Hal\n\nMarsh University\n\nhvard\\@marsh.org",
            ["Rosa Ana Lind Moya", "Hal Vard Campos"],
        ),
        ("Rosa Lind, M.S.\\[1\\], Hal Vard, PhD\\[1, 2\\], CCC-SLP, & Ana Cole, B.A.\\[2\\]", [*"LVC"]),
        ("R. Lind, H. Vard\n\nMLAB, Northmoor, IL 60510, USA\n\nA. Cole, Marsh University, 48823 Moor, USA", [*"LVC"]),
        ("Rosa Lind, Hal Vard,\n\nMausam, and Ana Cole", ["Rosa Lind", "Hal Vard", "Mausam", "Ana Cole"]),
        ("Rosa Lind#text(6pt, baseline: -3pt)[1] and Orientador#text(6pt, baseline: -3pt)[2]", ["Rosa Lind"]),
        ("T5-17 Rosa Lind\n\nSupervisor: Hal Vard", ["Rosa Lind"]),
        ("Rosa Lind, Hal Vard\n\nMarsh Corporation\n\nOne Marsh Way\n\nNorthmoor WA 98052", ["Rosa Lind", "Hal Vard"]),
        (
            "Линд Р. И., студент кафедры болот,\n\nlind\\@marsh.org\n\nВард Х. О., к.т.н., доцент, vard\\@marsh.org",
            ["Р. И. Линд", "Х. О. Вард"],
        ),
        ("Rosa LindID#super[1], Hal VardID#super[2]", ["Rosa Lind", "Hal Vard"]),
        (
            "Rosa Lind#text(6pt, baseline: -3pt)[1], Hal Vard#text(6pt, baseline: -3pt)[2]\n\n"
            "#text(6pt, baseline: -3pt)[1]Marsh ITWM\n\n#text(6pt, baseline: -3pt)[2]Reed BV",
            ["Rosa Lind", "Hal Vard"],
        ),
        ("R.I.LIND", ["R.I. LIND"]),
        ("Lind, Rosa#super[1,2], Cole, Ana#super[2] and Vard, Hal#super[3]", ["Rosa Lind", "Ana Cole", "Hal Vard"]),
        ("Rosa Lind, M Ed; Hal Vard, MD, PhD\\*", ["Rosa Lind", "Hal Vard"]),
        ("Rosa Lind\n\nNorthmoor University\n\nmail\\@rosalind.org", ["Rosa Lind"]),
        ("Rosa Lind, Hal Vard (1)\\*", ["Rosa Lind", "Hal Vard"]),
        ("Assigned Reading:\n\n#v(6pt)#text(9pt)[Rosa Lind\n\nStudent Number: 238530]", ["Rosa Lind"]),
    ],
    ids=[
        "turned list", "turned blocks", "degrees", "place behind", "one word", "no name", "supervisor", "street",
        "what each does", "sign of ORCID", "notes", "no spaces", "turned, with marks", "degrees behind commas",
        "own domain", "number in brackets", "labels",
    ],
)  # fmt: skip
def test_names_in_other_orders(tmp_path: Path, front: str, names: list[str]) -> None:
    paper = _parse(tmp_path, _paper(f"{front}\n#v(6pt)\n", f"*Abstract*\n\n#pad(x: 1cm)[{_ABSTRACT * 2}]"))
    found = [author.name for author in paper.authors]
    assert (found if len(names[0]) > 1 else [name.split()[-1][0] for name in found]) == names


def test_a_title_as_far_apart_as_the_text(tmp_path: Path) -> None:
    title = "#text(14pt, weight: 700)[Title: Why the walkers of a marsh count the plants two times\\ and over again]"
    body = f"#align(center)[Rosa Lind]\n\n*Abstract*\n\n{_ABSTRACT * 3}\n\n*1. Rules.*\n\n{_PROSE * 5}\n"
    source = f"#set text(11pt)\n#set par(leading: 1.6em, spacing: 1.6em)\n#align(center)[{title}]\n\n{body}"
    paper = _parse(tmp_path, source)
    assert paper.title == "Why the walkers of a marsh count the plants two times and over again"
    assert [author.name for author in paper.authors] == ["Rosa Lind"]


def test_an_abstract_ends_at_classes_and_at_the_first_heading(tmp_path: Path) -> None:
    front = "#align(center)[Rosa Lind]\n#v(4pt)\n#text(14pt)[Abstract]\n\n"
    classes = "*Categories and Subject Descriptors* D.2.4 Software Verification\n\n*General Terms* Languages\n"
    rights = "#align(right)[2019 Marsh Society. All rights reserved.]\n"
    for below in (classes, rights, ""):
        paper = _parse(tmp_path, _paper(front, f"{_ABSTRACT * 3}\n\n{below}", ("INTRODUCTION", "METHODS", "RESULTS")))
        assert paper.abstract == (_ABSTRACT * 3).strip()
        assert [s.heading for s in paper.sections if s.section_type != "abstract"] == [
            "INTRODUCTION", "METHODS", "RESULTS",
        ]  # fmt: skip


def test_headings_with_a_full_stop_and_items_that_are_none(tmp_path: Path) -> None:
    steps = "".join(f"#block(above: 16pt)[{n}. Count the plants of the marsh]\n" for n in range(1, 5))
    run_in = f"#strong[2\\. Counting and More Counting.] We count them {_PROSE * 2}\n\n"
    body = "".join(f"#block(above: 16pt, text(12pt, weight: 700)[{head}])\n{_PROSE * 4}\n\n" for head in (
        "1. Introducción.", "2. Revisión de la literatura.", "3. Conclusiones.",
    ))  # fmt: skip
    front = _paper("#align(center)[Rosa Lind]\n", f"#pad(x: 1cm)[{_ABSTRACT * 2}]", ())
    paper = _parse(tmp_path, front + body + run_in + steps)
    assert [s.heading for s in paper.sections if s.level == 1 and s.section_type != "abstract"] == [
        "1. Introducción.", "2. Revisión de la literatura.", "3. Conclusiones.",
    ]  # fmt: skip


def test_an_abstract_of_paragraphs_far_apart(tmp_path: Path) -> None:
    front = "#align(center)[Rosa Lind]\n\n#align(center)[*Abstract*]\n\n"
    abstract = f"{_ABSTRACT * 4}#v(20pt)\n\n{_PROSE * 3}"
    paper = _parse(tmp_path, _paper(front, abstract, ("1 Introduction", "2 Counting", "3 Results")))
    assert paper.abstract.count("walkers") == 4
    assert paper.abstract.count("a marsh") == 3


@pytest.mark.parametrize("kicker", ["Short Communication", "ORIGINAL ARTICLE"])
def test_the_kind_of_an_article_is_not_in_its_title(tmp_path: Path, kicker: str) -> None:
    source = _paper("#align(center)[Rosa Lind]\n\n", f"*Abstract.* {_ABSTRACT * 3}")
    source = source.replace("#align(center, text(18pt)[", f"#text(18pt)[{kicker}]\\\n#align(center, text(18pt)[", 1)
    assert _parse(tmp_path, source).title == "Why Marsh Walkers Count Twice"


def test_a_title_next_to_a_side_column(tmp_path: Path) -> None:
    title = "#text(22pt, weight: 700)[Why Marsh Walkers Who Go\\\nSlowly Through the Reeds\\\nCount the Plants Twice]"
    side = "#place(dx: -2cm, dy: 14pt, text(6pt)[Received: 1 May\\\n2017\\\nAccepted: 2 June\\\n2017])\n"
    source = _paper("Rosa Lind and Hal Vard\n\n", f"*Abstract.* {_ABSTRACT * 3}")
    source = source.replace("#align(center, text(18pt)[Why Marsh Walkers Count Twice])", f"{side}{title}\n\n", 1)
    assert _parse(tmp_path, source).title == "Why Marsh Walkers Who Go Slowly Through the Reeds Count the Plants Twice"


_LONG = (
    "Why the walkers of a marsh count the plants two times and over again, "
    "and what those who read of it must know of a count."
)


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("#align(center)[#text(18pt)[MARSH PEARLS \\ #emph[Why Marsh Walkers Count]]]", "Why Marsh Walkers Count"),
        (f"#text(20pt)[{_LONG}]", _LONG),
        (
            "#text(18pt, weight: 700)[Why Marsh Walkers]#h(1fr)#text(6pt)[© Marsh Society 2015]\\\n"
            "#text(18pt, weight: 700)[Count Twice]",
            "Why Marsh Walkers Count Twice",
        ),
        (
            "#grid(columns: (3cm, 1fr), row-gutter: 6pt, [*Rosa Lind,*], text(18pt, weight: 700)[Why Marsh Walkers Do],"
            "[*Hal Vard*], text(18pt, weight: 700)[Count Twice])",
            "Why Marsh Walkers Do Count Twice",
        ),
    ],
    ids=["series", "long", "imprint beside", "names beside"],
)
def test_titles_near_other_lines(tmp_path: Path, front: str, title: str) -> None:
    name = "" if "Lind" in front else "#v(4pt)*Lind, Rosa*\n\nNorthmoor University\n\n"
    source = _paper(name, f"#v(9pt)#text(14pt, weight: 700)[Abstract]\n\n{_ABSTRACT * 3}")
    paper = _parse(tmp_path, source.replace("#align(center, text(18pt)[Why Marsh Walkers Count Twice])", front))
    assert paper.title == title
    assert [author.name for author in paper.authors] == (["Rosa Lind"] if name else ["Rosa Lind", "Hal Vard"])


def test_names_at_the_head_of_a_side_column(tmp_path: Path) -> None:
    names = "Rosa Lind#super[1]\\ Hal Vard#super[2]"
    side = f"{names}\\ Details of the\\ authors follow\\ the article\\ and its list\\ of works"
    source = _paper("", f"#text(12pt, weight: 700)[Abstract]\n\n{_ABSTRACT * 5}")
    source = source.replace("margin: 2.5cm", "margin: (left: 7cm, rest: 2.5cm)", 1)
    source = source.replace("#text(12pt", f"#place(dx: -4.5cm, text(7pt)[{side}])\n#text(12pt", 1)
    assert [author.name for author in _parse(tmp_path, source).authors] == ["Rosa Lind", "Hal Vard"]


def test_old_style_figures_and_small_capitals_are_characters() -> None:
    codes = expert_codes(np.array([0xF731, 0xF761, 0xF7E9, 0x62, 0xF0B7]))
    assert "".join(map(chr, codes)) == "1AÉb\uf0b7"


def test_a_list_goes_on_behind_the_methods(tmp_path: Path) -> None:
    def entries(first: int, last: int) -> str:
        return "".join(
            f"{k}\\. Lind, R. Plants of a marsh. Rev. Reeds {k}, 1--9 ({1990 + k}).\n\n" for k in range(first, last)
        )

    source = _paper("#align(center)[Rosa Lind]\n\n", f"*Abstract.* {_ABSTRACT * 3}")
    listed = f"#text(14pt, weight: 700)[References]\n\n{entries(1, 9)}"
    methods = f"#text(14pt, weight: 700)[Methods]\n\n{_PROSE * 9}\n\n{entries(9, 14)}"
    paper = _parse(tmp_path, source + listed + methods)
    assert [reference.ref_id for reference in paper.references] == [str(k) for k in range(1, 14)]
    assert "Methods" in [section.heading for section in paper.sections]


def test_a_line_that_names_its_source_begins_no_list(tmp_path: Path) -> None:
    named = f"*Support*\n\nReference: Lind and Vard (2014)\n\n{_PROSE} (2015)\n\n{_PROSE} (2016)\n\n"
    source = _paper("#align(center)[Rosa Lind]\n\n", f"*Abstract.* {_ABSTRACT * 3}")
    paper = _parse(tmp_path, source + named * 4)
    assert paper.references == []


def test_words_of_imprints_in_an_abstract_and_names_in_brackets_do_not_part_prose(tmp_path: Path) -> None:
    """An abstract in front of two columns, with an introduction whose sentences all end in citations."""
    counts = (
        "We looked at counts of marshes that a register names. We found that few of them are printed. "
        "Walkers publish unpublished counts of universities late, and published counts are accepted by all walkers. "
    )
    cited = "Not all counts that walkers make end up in print (Lind, Vard, & Holm, 2014; Green, 1975; Stern, 1959). "
    columns = f"#columns(2)[{cited * 5}\n\n*The study*\n\n{_PROSE * 8}\n\n*Method*\n\n{_PROSE * 6}]"
    front = "#align(center)[Rosa Lind\n\nUniversity of Northmoor]\n\n"
    said = "#emph[Keywords:] marshes; walkers\\ Word count: 4501"
    abstract = f"#pad(x: 2cm, text(9.2pt)[{counts * 2}\n\n{said}])"
    paper = _parse(tmp_path, _paper(front, f"{abstract}\n\n{columns}\n", ()))
    assert (" ".join(paper.abstract.split()), paper.keywords) == ((counts * 2).strip(), ["marshes", "walkers"])
    assert paper.sections[1].text.count("end up in print") == 5


def test_a_labelled_running_head_is_no_title(tmp_path: Path) -> None:
    title = "Why the walkers of a marsh count the plants of the marsh two times and then again and twice a year"
    source = (
        "#set page(margin: 2.5cm)\n#set text(12pt)\n#set par(leading: 1.6em, spacing: 1.6em)\n"
        f"Running head: WALKERS OF A MARSH #h(1fr) 1\n\n#v(4cm)\n#align(center)[{title}\n\n#v(1em)Rosa Lind\n\n"
        f"University of Northmoor]\n#pagebreak()\n#align(center)[Abstract]\n\n{_ABSTRACT * 3}"
    )
    paper = _parse(tmp_path, f"{source}\n\n*Method*\n\n{_PROSE * 9}")
    assert (paper.title, [author.name for author in paper.authors]) == (title, ["Rosa Lind"])


def test_names_across_the_gutter_above_a_numbered_section_and_initials_behind_dots(tmp_path: Path) -> None:
    names = "#grid(columns: (1fr, 1fr), align: center, [Rosa.K.L], [Hal Vard])\n#v(6pt)\n"
    heads = "".join(f"#align(center)[{head}]\n\n{_PROSE * 9}\n\n" for head in ("I. COUNTING MARSHES", "II. RESULTS"))
    paper = _parse(tmp_path, _paper(names, f"#columns(2)[{heads}]", ()))
    assert [author.name for author in paper.authors] == ["Rosa K.L", "Hal Vard"]


@pytest.mark.parametrize(
    "motto",
    [
        "#block(width: 60%)[_QUOTE_\\ \u2014 Hal Vard, _Marshes_ (1921)]",
        "#block(width: 60%)[\u201cQUOTE\u201d\n\nHal Vard]",
        "#block(width: 60%)[_\u201cQUOTE\u201d_ (Vard, 1921)]",
    ],
    ids=["dash", "name below", "source behind"],
)
@pytest.mark.parametrize("label", ["*Abstract*\n\n", ""], ids=["labelled", "unlabelled"])
def test_a_motto_is_no_abstract_and_its_author_none_of_the_paper(tmp_path: Path, motto: str, label: str) -> None:
    said = "The marsh is a book that nobody reads twice, because the second time it has become another book. " * 2
    front = f"#align(center)[Rosa Lind]\n#v(8pt)\n#align(right, {motto[1:].replace('QUOTE', said.strip())})\n#v(12pt)\n"
    paper = _parse(tmp_path, _paper(front, f"{label}#pad(x: 1cm)[{_ABSTRACT * 2}]"))
    assert [author.name for author in paper.authors] == ["Rosa Lind"]
    assert paper.abstract.startswith("I describe why walkers")
    assert "The marsh is a book" in paper.sections[1].text and "Vard" in paper.sections[1].text


def test_an_opening_with_a_list_keeps_its_items(tmp_path: Path) -> None:
    opening = f"{_PROSE}\n\n1. count the plants of one marsh\n2. count them all again\n\n{_PROSE * 2}\n"
    paper = _parse(tmp_path, _paper("#align(center)[Rosa Lind]\n#v(6pt)\n", opening))
    assert "count them all again" in paper.abstract


def test_names_with_initials_above_a_title_and_two_abstracts_without_a_label(tmp_path: Path) -> None:
    said = "Робота присвячена дослідженню двох задач підрахунку рослин болота, які відрізняються правилами лічби. "
    front = (
        "УДК 519.854.2\n\n#emph[ЛІНД Р. А.,\\ ВАРД Г. О.]\n\n"
        "#align(center)[*ДОСЛІДЖЕННЯ ЗАДАЧІ ПІДРАХУНКУ РОСЛИН БОЛОТА В\\ УМОВАХ НЕВИЗНАЧЕНОСТІ*]\n\n"
    )
    abstracts = f"{said * 2}\n\nКЛЮЧОВІ СЛОВА: БОЛОТО, РОСЛИНИ.\n\n{_ABSTRACT * 2}\n\nKEYWORDS: MARSH, PLANTS.\n\n"
    body = "".join(f"#align(center)[*{head}*]\n\n{said * 5}\n\n" for head in ("1. Вступ", "2. Постановка задачі"))
    paper = _parse(tmp_path, f'#set text(11pt, lang: "uk")\n{front}{abstracts}{body}')
    assert paper.title == "ДОСЛІДЖЕННЯ ЗАДАЧІ ПІДРАХУНКУ РОСЛИН БОЛОТА В УМОВАХ НЕВИЗНАЧЕНОСТІ"
    assert [author.name for author in paper.authors] == ["Р. А. ЛІНД", "Г. О. ВАРД"]
    assert paper.abstract == (said * 2).strip()
    assert [s.section_type for s in paper.sections if s.heading == "1. Вступ"] == ["introduction"]


def test_a_thesis_below_its_university_and_its_author(tmp_path: Path) -> None:
    front = "#text(14pt)[University of Northmoor]\n\nCourse of Marshes\n\n#v(1cm)#text(14pt)[_Rosa Lind_]\n\n#v(1cm)"
    title = "#text(14pt)[Approximation of Low Marshes and Completion of\\ Sparse Reeds: a count of walkers]\n\n#v(2cm)"
    source = f"#set text(12pt)\n#align(center)[{front}{title}Final Report\\ Northmoor]\n#pagebreak()\n"
    paper = _parse(tmp_path, source + f"#text(18pt)[*1 Introduction*]\n\n{_PROSE * 9}\n\n{_PROSE * 9}")
    assert paper.title == "Approximation of Low Marshes and Completion of Sparse Reeds: a count of walkers"
    assert [author.name for author in paper.authors] == ["Rosa Lind"]


def test_parts_of_an_abstract_in_another_language_and_keywords_above_a_translated_title(tmp_path: Path) -> None:
    said = "Determinar las relaciones entre los factores de riesgo de las plantas del pantano y sus lectores. "
    parts = f"*Objetivo:* {said * 2} *Materiales y Métodos:* {said * 2} *Resultados:* {said}"
    words = "*Palabras clave:* pantano, plantas, riesgo, cuenta, lectores, del pantano.\n\n"
    other = "#align(center, text(12pt)[*COUNTING PLANTS*\\ *OF MARSHES IN PRIMARY*])\n\n"
    title = "#align(center, text(12pt)[*APLICACIÓN DE TÉCNICAS DE LA CUENTA EN PLANTAS DE UN PANTANO QUE LEE*])\n\n"
    heads = [f"#align(center, text(12pt)[*{head}*])\n\n" for head in ("RESUMEN", "ABSTRACT", "INTRODUCCIÓN", "MÉTODOS")]
    body = "".join(f"{head}{_PROSE * 6}\n\n" for head in heads[1:])
    source = f"#set text(11pt)\n#set par(justify: true)\n{title}#align(right)[Rosa Lind\\ Hal Vard]\n\n#v(9pt)"
    paper = _parse(tmp_path, f"{source}#columns(2)[{heads[0]}{parts}\n\n{words}{other}{body}]")
    assert paper.title.startswith("APLICACIÓN DE TÉCNICAS")
    assert [author.name for author in paper.authors] == ["Rosa Lind", "Hal Vard"]
    assert paper.abstract.startswith("Objetivo: Determinar") and paper.abstract.endswith(said.strip())


def test_a_number_in_place_of_a_heading_begins_the_text(tmp_path: Path) -> None:
    opening = f"#align(center)[I]\n\n{_ABSTRACT * 4}\n\n"
    paper = _parse(tmp_path, _paper("#align(center)[by\n\nRosa Lind]\n", opening, ("Rules", "Counting", "Results")))
    assert paper.abstract == "" and _ABSTRACT.strip() in paper.sections[0].text


def test_a_notice_on_rights_ends_an_abstract_next_to_a_column(tmp_path: Path) -> None:
    left = "#text(8pt)[ARTICLE INFO\n\nKeywords:\\ Marsh\\ Plants]"
    right = f"#text(8pt)[ABSTRACT\n\n]{_ABSTRACT * 3}\\ © 2025 The Author(s). Published by Marsh on behalf of Reeds."
    front = f"#align(center)[Rosa Lind]\n#v(9pt)\n#grid(columns: (4cm, 1fr), [{left}], [{right}])\n\n"
    assert _parse(tmp_path, _paper(front, "")).abstract == (_ABSTRACT * 3).strip()
