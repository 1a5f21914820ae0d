"""Layouts as single journals and societies have them: titles, names, headings and lists that look unlike all others."""

from __future__ import annotations

from pathlib import Path

import pytest
import typst

from monjyu_assets.parsing.bibliography.references import parse_reference
from monjyu_assets.parsing.formats.pdf import parse_pdf
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings

_PROSE = "We count the plants of a marsh and describe how often a count is wrong, because nobody has asked before. "
_HEADS = ("1 Rules", "2 Counting", "3 Results")


def _parse(folder: Path, source: str) -> ParsedPaper:
    (folder / "paper.typ").write_text(f"#set page(margin: 2.5cm)\n#set text(10pt)\n{source}", "utf-8")
    typst.compile(str(folder / "paper.typ"), output=str(folder / "paper.pdf"))
    return parse_pdf(folder / "paper.pdf", ParseSettings())


def _title(text: str = "Why Marsh Walkers Count Twice") -> str:
    return f"#align(center, text(16pt, weight: 700)[{text}])\n\n"


def _sections(heads: tuple[str, ...] = _HEADS) -> str:
    return "".join(f"#v(8pt)#text(12pt, weight: 700)[{head}]\n\n{_PROSE * 5}\n\n{_PROSE * 6}\n\n" for head in heads)


def _paper(folder: Path, front: str, body: str = _sections()) -> ParsedPaper:
    return _parse(folder, f"{_title()}{front}\n\n#emph[{_PROSE * 3}]\n\n#v(10pt)\n{body}")


def _main(paper: ParsedPaper) -> list[str]:
    return [
        each.heading for each in paper.sections if each.heading and each.level == 1 and each.section_type != "abstract"
    ]


@pytest.mark.parametrize(
    ("front", "names"),
    [
        ("#align(center)[Von E. #smallcaps[Kublin]]", ["E. Kublin"]),
        ("#align(center)[Von Hilde Moor]", ["Hilde Moor"]),
        (
            "#grid(columns: (1fr, 1fr), row-gutter: 8pt, [_Autorin:_], [_Prüfer:_], [Rosa Lind], [Dr. Peter Tutt])",
            ["Rosa Lind"],
        ),
        (
            "*Rosa Lind*, student of counting, University of Northmoor, Northmoor \\ e-mail: rosa\\@north.edu\n\n"
            "*Hal Vard*, doctor of marshes, lecturer at the Institute of Marshes \\ e-mail: hal\\@north.edu",
            ["Rosa Lind", "Hal Vard"],
        ),
        ("#align(center)[Rosa Maria Lind#super[1], Hal Vard#super[1] e Paulo \\ Henrique Moor#super[2]]",
         ["Rosa Maria Lind", "Hal Vard", "Paulo Henrique Moor"]),
        ("#align(center)[2018202177 Rosa Lind]", ["Rosa Lind"]),
    ],
    ids=["von", "von-given", "under-labels", "bold-heads", "broken-behind-e", "number"],
)  # fmt: skip
def test_names(tmp_path: Path, front: str, names: list[str]) -> None:
    assert [
        author.name.title() if author.name.isupper() else author.name for author in _paper(tmp_path, front).authors
    ] == names


def test_a_summary_above_the_first_heading_is_the_abstract(tmp_path: Path) -> None:
    label = "#block(below: 8pt, width: 100%, align(center)[SUMMARY])"
    front = f"#align(center)[Rosa Lind]\n\n#text(8.5pt)[{label}{_PROSE * 3}]"
    paper = _parse(tmp_path, f"{_title()}{front}\n\n#v(10pt){_sections()}")
    assert paper.abstract == (_PROSE * 3).strip()


def test_a_title_goes_on_in_small_letters(tmp_path: Path) -> None:
    title = "Why the Walkers of a Marsh Count \\ #v(6pt) the plants of a marsh twice"
    paper = _parse(tmp_path, f"#align(center, text(10pt, weight: 700)[{title}])\n\n{_PROSE * 4}\n\n{_sections()}")
    assert paper.title == "Why the Walkers of a Marsh Count the plants of a marsh twice"


def test_headings_that_begin_small_break_behind_a_comma_or_end_with_a_full_stop(tmp_path: Path) -> None:
    heads = (
        "1. Introduction",
        "2. de Moor, a walker of the sea",
        "3. A walk among finite groups,\\ round by the shore",
    )
    body = "".join(
        f"#v(8pt)#align(center, text(11pt, weight: 700)[{head}])\n\n{_PROSE * 5}\n\n{_PROSE * 6}\n\n" for head in heads
    )
    assert _main(_paper(tmp_path, "#align(center)[Rosa Lind]", body)) == [head.replace("\\", "") for head in heads]
    closed = "A scheme of counting by the walkers of a marsh and by those who know the plants of the marsh by name."
    plain = tuple(f"Introduction|{closed}|Conclusion".split("|"))
    assert _main(_paper(tmp_path, "#align(center)[Rosa Lind]", _sections(plain))) == list(plain)


def test_main_headings_run_into_their_text(tmp_path: Path) -> None:
    heads = ("1. The Leaky Bucket.", "2. Forward to the Marsh.", "3. Concluding Remarks.")
    body = "".join(f"#h(2em)*{head}* {_PROSE * 6}\n\n{_PROSE * 6}\n\n" for head in heads)
    paper = _paper(tmp_path, "#align(center)[Rosa Lind]", body)
    assert _main(paper) == [head.rstrip(".") for head in heads]
    items = "".join(f"*{k}. A walk.* {_PROSE * 3}\n\n" for k in (1, 2, 3))
    assert _main(_paper(tmp_path, "#align(center)[Rosa Lind]", _sections() + items)) == list(_HEADS)


def test_lines_of_pseudo_code_are_no_headings(tmp_path: Path) -> None:
    code = "\\ ".join(f"{k}: {words}" for k, words in enumerate(["COUNT(V, E)", "Sort(F, L, start)", "RETURN-ALL"], 1))
    paper = _paper(tmp_path, "#align(center)[Rosa Lind]", _sections() + f"#v(12pt)#text(9pt)[{code}]\n\n{_PROSE * 4}")
    assert _main(paper) == list(_HEADS)


def test_labels_that_hang_far_out(tmp_path: Path) -> None:
    labels = ["ABcD99", "Moo", "LV12a", "Var08", "Lin", "HV21", "Roe77", "Kle91"]
    work = (
        "H. Vard and R. Lind. How to count the plants of a marsh by the hands of walkers and tell them apart. J. Marsh"
    )
    works = "".join(f"[\\[{label}\\]], [{work}, {k} : 10-20, {1990 + k}.]," for k, label in enumerate(labels))
    listed = f"#v(8pt)#text(12pt, weight: 700)[References]\n\n#grid(columns: (70pt, 1fr), row-gutter: 5pt, {works})"
    paper = _paper(tmp_path, "#align(center)[Rosa Lind]", _sections() + listed)
    assert [reference.year for reference in paper.references] == list(range(1990, 1998))
    assert all(reference.raw_text.startswith("[") for reference in paper.references)


def test_a_list_of_names_ends_in_front_of_an_article_and_of_a_volume() -> None:
    first = parse_reference(
        "1", "E. Moor, Y. Lind, H. Vard, A Simple and Faster Way to Count a Marsh. In MARSH 2010. Springer, 2010."
    )
    assert (first.authors, first.title) == (
        ["E. Moor", "Y. Lind", "H. Vard"],
        "A Simple and Faster Way to Count a Marsh",
    )
    second = parse_reference(
        "2", "L. F. Moor and M. W. Lind, The MARSH suite, SIAM J. Marsh Comput., 18 (1997), pp. 1–22."
    )
    assert (second.authors, second.title, second.year) == (["L. F. Moor", "M. W. Lind"], "The MARSH suite", 1997)


def test_columns_less_than_a_letter_apart(tmp_path: Path) -> None:
    page = "#set page(margin: 2cm, columns: 2)\n#set text(12pt)\n#set par(justify: true)\n#set columns(gutter: 9pt)\n"
    title = f'#place(top + center, scope: "parent", float: true)[{_title()}]\n\n'
    paper = _parse(tmp_path, page + title + _sections())
    assert _main(paper) == list(_HEADS)
    assert paper.sections[-1].text == f"{(_PROSE * 5).strip()}\n\n{(_PROSE * 6).strip()}"


def test_frames_quotations_and_proof_trees_are_no_headings(tmp_path: Path) -> None:
    frame = (
        "#rect(width: 100%)[#align(center)[*Rules for Walkers*]\n\n#text(8pt)[• Count all plants (§5.1) \\ "
        "• If one is seen twice, count it once]\n\n#align(center)[*State*]\n\n#text(8pt)[currentPlant, lastPlant]]\n\n"
    )
    quotes = "".join(
        f"#v(10pt)#pad(x: 2em)[#emph[“I never saw the plant {k} of this marsh before” (walker)]]#v(10pt)\n\n"
        f"{_PROSE * 4}\n\n"
        for k in (1, 2, 3)
    )
    tree = "#v(14pt)#align(center)[*\\[B & A\\]z #h(3em) \\[B & A\\]z*]#v(14pt)\n\n"
    paper = _paper(
        tmp_path, "#align(center)[Rosa Lind]", _sections() + frame + _PROSE * 4 + "\n\n" + quotes + tree + _PROSE
    )
    assert [each.heading for each in paper.sections if each.heading and each.section_type != "abstract"] == list(_HEADS)


def test_an_abstract_ends_at_its_translation_and_a_list_at_an_appendix(tmp_path: Path) -> None:
    front = f"#align(center)[Rosa Lind]\n\n*Resumen.* {_PROSE * 3}\n\n#emph[*Abstract.* We count plants. {_PROSE * 3}]"
    listed = "".join(f"R. Lind. A walk by marsh {k}. J. Marsh {k} (3), 1-{k}, {1990 + k}.\n\n" for k in range(1, 9))
    annex = "#pagebreak()#align(center)[*ANEXO I. Datos de los walkers*]\n\n"
    end = f"#v(8pt)#text(12pt, weight: 700)[Referencias]\n\n{listed}{annex}"
    table = "#text(9pt)[#figure(table(columns: 2, [Walker], [Plants], [1], [460], [2], [560]), caption: [By walker])]"
    paper = _parse(tmp_path, f"{_title()}{front}\n\n#v(10pt){_sections()}{end}{table}")
    assert paper.abstract == (_PROSE * 3).strip()
    assert len(paper.references) == 8
    assert "ANEXO I. Datos de los walkers" in [each.heading for each in paper.sections]


def test_a_title_of_known_words_above_the_abstract_is_a_translation(tmp_path: Path) -> None:
    front = "#align(center)[Роза Линд]\n\n#align(center, text(13pt)[Design and Evaluation of Counting])\n\n"
    text = "Мы считаем растения болота и описываем, как часто счёт бывает неверным, потому что никто не спрашивал. "
    heads = ("1. Введение", "2. Методы", "3. Выводы")
    body = "".join(f"#v(8pt)#text(12pt, weight: 700)[{head}]\n\n{text * 6}\n\n" for head in heads)
    paper = _parse(tmp_path, f"{_title('Счёт растений болота')}{front}*Аннотация*\n\n{text * 4}\n\n{body}")
    assert _main(paper) == list(heads)


def test_several_works_in_one_entry(tmp_path: Path) -> None:
    entries = [
        "A. Ray and B. Sen, Phys. Rev. Z 1, 21 (2001); 2, 33 (2002).",
        "C. Moor, J. Ice 3, 4 (1999); D. Lind and E. Vard, J. Fog 5, 6 (2003).",
        "F. Roebuck, Z. Ice 7, 8 (2005).",
    ]
    listed = "".join(f"\\[{k}\\] {entry}\n\n" for k, entry in enumerate(entries, 1))
    body = _sections() + f"Fog is wet [2].\n\n#v(8pt)#text(12pt, weight: 700)[References]\n\n{listed}"
    paper = _paper(tmp_path, "#align(center)[Rosa Lind]", body)
    assert [(each.ref_id, each.year, each.authors) for each in paper.references] == [
        ("1", 2001, ["A. Ray", "B. Sen"]), ("2", 1999, ["C. Moor"]), ("2-2", 2003, ["D. Lind", "E. Vard"]),
        ("3", 2005, ["F. Roebuck"]),
    ]  # fmt: skip
    assert {each.ref_id for each in paper.inline_citations} == {"2", "2-2"}


def test_names_above_the_title(tmp_path: Path) -> None:
    front = "J Marsh Count (2003) 9:172–182\n\n#v(20pt)*Rosa Lind · Hal Vard · \\ Ida Moor*\n\n#v(8pt)"
    title = "#text(16pt, weight: 700)[Why Marsh Walkers Count the Plants of a Marsh Twice]\n\n"
    paper = _parse(tmp_path, f"{front}{title}Received: 20 May 2002\n\n*Abstract* {_PROSE * 3}\n\n{_sections()}")
    assert [author.name for author in paper.authors] == ["Rosa Lind", "Hal Vard", "Ida Moor"]


def test_headings_of_compounds_and_rules(tmp_path: Path) -> None:
    heads = ("1. Methods", "1.1. Design", "1.2. (2-Phenyl)acetic acid (15)", "1.3. 2-Aminobutane", "1.4 2D Walks")
    body = "".join(f"#v(8pt)#text(10pt, weight: 700)[{head}]\n\n{_PROSE * 5}\n\n" for head in heads)
    paper = _paper(tmp_path, "#align(center)[Rosa Lind]", body)
    assert [(each.level, each.heading) for each in paper.sections[1:]] == [
        (1, heads[0]),
        *((2, head) for head in heads[1:]),
    ]
    rules = ("Introduction", "Rule 1. Love your plants, and help others.", "Rule 2. Count them twice.")
    assert _main(_paper(tmp_path, "#align(center)[Rosa Lind]", _sections(rules))) == list(rules)


def test_every_fifth_line_is_numbered(tmp_path: Path) -> None:
    numbered = '#set par.line(numbering: n => if calc.rem(n, 5) == 0 [#n], numbering-scope: "page")\n'
    listed = "".join(f"Lind, R.: A walk by marsh {k}, J. Marsh, {k}, 1–{k}, {1990 + k}.\n\n" for k in range(1, 13))
    end = f"#pagebreak()#text(12pt, weight: 700)[References]\n\n{listed}"
    paper = _parse(tmp_path, f"{numbered}{_title()}#align(center)[Rosa Lind]\n\n{_sections()}{end}")
    assert [reference.year for reference in paper.references] == list(range(1991, 2003))
    assert not any(reference.raw_text[0].isdigit() for reference in paper.references)


def test_a_heading_of_the_words_of_the_title_at_the_head_of_a_page(tmp_path: Path) -> None:
    head = "#pagebreak()#text(12pt, weight: 700)[Marsh Walkers]#v(14pt)"
    body = f"{_sections()}{head}\n\n{_PROSE * 5}\n\n"
    assert _main(_paper(tmp_path, "#align(center)[Rosa Lind]", body)) == [*_HEADS, "Marsh Walkers"]
