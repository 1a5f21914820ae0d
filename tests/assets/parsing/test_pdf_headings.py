"""Headings of PDFs among other short lines, their levels, and what learned trees say of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import typst

from monjyu_assets.parsing.formats.pdf import parse_pdf
from monjyu_assets.parsing.formats.pdf.body.heading import Heading
from monjyu_assets.parsing.formats.pdf.body.heading_levels import set_levels
from monjyu_assets.parsing.formats.pdf.body.heading_trees import WEIGHTS, Trees, heading_scores
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings

_PROSE = "We count the plants of a marsh and describe how often a count is wrong, because nobody has asked before. "


def _parse(
    folder: Path,
    body: str,
    abstract: str = f"*Abstract*\n\n{_PROSE * 3}",
    title: str = "Why Marsh Walkers Count Twice",
) -> ParsedPaper:
    title = f"#align(center)[#text(18pt)[{title}]\n\nRosa Lind]\n\n"
    source = f"#set page(margin: 2.5cm)\n#set text(10pt)\n#set par(justify: true)\n{title}{abstract}\n\n"
    (folder / "paper.typ").write_text(source + body, "utf-8")
    typst.compile(str(folder / "paper.typ"), output=str(folder / "paper.pdf"))
    return parse_pdf(folder / "paper.pdf", ParseSettings())


def _section(heading: str, inside: str = "") -> str:
    head = f"#block(above: 16pt, below: 8pt, text(12pt, weight: 700)[{heading}])"
    return f"{head}\n{_PROSE * 5}\n\n{inside}\n\n{_PROSE * 6}\n\n"


def _headings(paper: ParsedPaper) -> list[tuple[int, str]]:
    return [(s.level, s.heading) for s in paper.sections if s.section_type != "abstract"]


def test_lettering_of_figures_and_theorems_are_no_headings(tmp_path: Path) -> None:
    words = ("Low", "High", "Bias", "Variance", "Plant Counter", "Walker")
    lettering = "".join(
        f"#place(dx: {90 * (k % 3)}pt, dy: {24 * (k // 3)}pt, text(9pt, weight: 700)[{word}])\n"
        for k, word in enumerate(words)
    )
    figure = f"#figure(block(width: 100%, height: 60pt)[{lettering}], caption: [Where walkers err.])\n"
    theorem = f"*Theorem 1* (Count). _{_PROSE}_"
    heads = ["1 Introduction", "2 Marsh Walkers", "3 How a Count Goes Wrong", "4 Conclusion"]
    body = "".join(_section(head, inside) for head, inside in zip(heads, ("", figure, theorem, ""), strict=True))
    assert _headings(_parse(tmp_path, body)) == [(1, head) for head in heads]


def test_a_heading_at_the_head_of_a_page_is_no_running_head(tmp_path: Path) -> None:
    heads = ["1 Introduction", "2 Marsh Walkers", "3 Counting", "4 Conclusion"]
    body = "#pagebreak()\n".join(_section(head, _PROSE * 12) for head in heads)
    assert _headings(_parse(tmp_path, body)) == [(1, head) for head in heads]


def _levels(*numbered: tuple[str, int | None]) -> list[int]:
    """Levels of headings with these numbers and levels of the outline, all in one face."""
    found = [
        Heading(k, k + 1, f"{number} Plants", (12.0, True, False, False), number, outline_level=level)
        for k, (number, level) in enumerate(numbered)
    ]
    set_levels(found, 10.0)
    return [heading.level for heading in found]


@pytest.mark.parametrize(
    ("numbers", "levels"),
    [
        (["1", "2", "3", "4", "1", "2", "3", "5", "6"], [1, 1, 1, 1, 2, 2, 2, 1, 1]),
        (["I", "II", *"ABCDEFGH", "I", "III"], [1, 1, *[2] * 9, 1]),
        (["1", "2", "2.1", "3"], [1, 1, 2, 1]),
        (["1", "2.0", "2.1", "3.0"], [1, 1, 2, 1]),
        (["I", "II", "2", "2.1", "3", "III", "5"], [1, 1, 2, 3, 2, 1, 2]),
        (["I", "A", "1", "2", "B", "II"], [1, 2, 3, 3, 2, 1]),
    ],
    ids=["a count within", "the letter I", "parts", "a nought", "below Roman ones", "below letters"],
)
def test_levels_of_numbers(numbers: list[str], levels: list[int]) -> None:
    assert _levels(*((number, None) for number in numbers)) == levels


def test_an_outline_nested_by_mistake_gives_way_to_numbers() -> None:
    assert _levels(("1", 0), ("2", 1), ("3", 2), ("3.1", 3), ("4", 1)) == [1, 1, 1, 2, 1]
    assert _levels(("1", 0), ("2", 0), ("2.1", 1), ("3", 0)) == [1, 1, 2, 1]
    assert _levels(("1", 0), ("2", 0), ("2.1", 0), ("3", 0)) == [1, 1, 2, 1]


def test_acknowledgments_are_below_no_other_section() -> None:
    looks = [("Introduction", 12.0, False), ("Results", 12.0, False), ("Reeds", 11.0, False), ("THANKS", 11.0, True)]
    found = [
        Heading(k, k + 1, "ACKNOWLEDGMENTS" if text == "THANKS" else text, (size, True, False, capitals), None)
        for k, (text, size, capitals) in enumerate(looks)
    ]
    set_levels(found, 10.0)
    assert [heading.level for heading in found] == [1, 1, 2, 1]


def test_numbers_in_brackets_are_below_plain_ones() -> None:
    found = [
        Heading(k, k + 1, text, (12.0, True, False, False), number)
        for k, (text, number) in enumerate(
            [("1 Plants", "1"), ("(1) Reeds", "1"), ("(2) Rushes", "2"), ("2 Marsh", "2")]
        )
    ]
    set_levels(found, 10.0)
    assert [heading.level for heading in found] == [1, 2, 2, 1]


def test_two_letters_behind_a_number(tmp_path: Path) -> None:
    heads = ["1 Introduction", "2 Marsh Walkers", "3 RS", "4 WS", "5 Conclusion"]
    assert _headings(_parse(tmp_path, "".join(map(_section, heads)))) == [(1, head) for head in heads]


def test_trees_send_rows_to_leaves() -> None:
    trees = Trees(
        roots=np.array([0]), feature=np.array([1, 0, 0]), threshold=np.array([0.5, 0.0, 0.0]), left=np.array([1, 1, 2]),
        right=np.array([2, 1, 2]), value=np.array([0.0, -2.0, 2.0]), base=0.0, depth=2,
    )  # fmt: skip
    assert trees.probabilities(np.array([[9.0, 0.5], [9.0, 0.6]])).round(2).tolist() == [0.12, 0.88]


def test_no_candidates_have_no_scores() -> None:
    assert heading_scores(np.zeros((0, 0))).tolist() == []
    assert WEIGHTS.stat().st_size < 100_000


def _large(heading: str, size: int = 16, weight: int = 400) -> str:
    return f"#block(above: 16pt, below: 8pt, text({size}pt, weight: {weight})[{heading}])\n{_PROSE * 5}\n\n"


def test_a_first_heading_of_two_nouns_is_no_name(tmp_path: Path) -> None:
    heads = ["Counting Marshes", "Walkers", "Discussion"]
    assert _headings(_parse(tmp_path, "".join(map(_large, heads)), "")) == [(1, head) for head in heads]


def test_names_with_marks_above_lower_case_words_are_no_heading(tmp_path: Path) -> None:
    names = "#text(12pt, weight: 700)[Ana Cole#super[1], and Hal Vard#super[2]]\n\n"
    places = "#super[1]Department of the plants of a marsh and of others; #super[2]centre for the study of reeds\n\n"
    heads = ["Counting Marshes", "Slow Walkers", "Late Reeds"]
    paper = _parse(tmp_path, "".join(map(_section, heads)), f"{names}{places}*Abstract*\n\n{_PROSE * 3}")
    assert _headings(paper) == [(1, head) for head in heads]


def test_a_heading_ends_where_smaller_bold_words_begin_a_paragraph(tmp_path: Path) -> None:
    inside = f"*Counts of a marsh. * {_PROSE * 2}\n\n{_PROSE * 4}\n\n*Counts of a field. * {_PROSE * 3}"
    heads = ["1. Introduction", "2. Related Work", "3. Conclusion"]
    head = "#block(above: 16pt, below: 6pt, text(12pt, weight: 700)[{}])\n{}\n\n"
    body = "".join(head.format(name, inside if name[0] == "2" else _PROSE * 6) for name in heads)
    assert [h for h in _headings(_parse(tmp_path, body)) if h[0] == 1] == [(1, name) for name in heads]


def test_a_label_goes_on_in_the_next_line(tmp_path: Path) -> None:
    heads = ["1. Introduction", "2. Data Loss \\ and counts", "3. Slow Walkers", "4. Conclusion"]
    found = _headings(_parse(tmp_path, "".join(map(_section, heads))))
    assert found == [(1, head.replace(" \\ ", " ")) for head in heads]
    heads = ["Introduction", "Number 4. \\ Data Loss", "Number 5. \\ Slow Walkers", "Conclusion"]
    found = _headings(_parse(tmp_path, "".join(map(_section, heads))))
    assert found == [(1, head.replace(" \\ ", " ")) for head in heads]


def test_an_outline_with_its_ends_on_two_levels_gives_way_to_type() -> None:
    found = [
        Heading(9 * k, 9 * k + 1, text, (12.0, True, False, False), outline_level=k)
        for k, text in enumerate(["Introduction", "Marsh Walkers", "Conclusion"])
    ]
    set_levels(found, 10.0)
    assert [heading.level for heading in found] == [1, 1, 1]


def test_a_list_of_contents_without_pages_is_none_of_the_text(tmp_path: Path) -> None:
    heads = ["1 Introduction", "2 Marsh Walkers", "3 Counting", "4 Conclusion"]
    contents = "*Contents*\n\n" + "\n\n".join(f"*{head}*" for head in heads)
    paper = _parse(tmp_path, f"{contents}\n\n#pagebreak()\n" + "".join(map(_section, heads)))
    assert _headings(paper) == [(1, head) for head in heads]


def test_the_title_printed_again_is_no_heading(tmp_path: Path) -> None:
    heads = ["Introduction", "Discussion"]
    again = f"#pagebreak()\n{_section('Why Marsh Walkers Count Twice')}"
    assert _headings(_parse(tmp_path, "".join(map(_section, heads)) + again)) == [(1, head) for head in heads]


def test_russian_letters_numbered_as_those_of_western_ones(tmp_path: Path) -> None:
    prose = "Мы считаем растения болота и описываем ошибки счёта. "
    heads = ["Введение", "Заключение"]
    body = "".join(_section(head, prose * 12) for head in heads).replace(_PROSE, prose)
    paper = _parse(tmp_path, body.encode("cp1251").decode("latin-1"), "")
    assert _headings(paper) == [(1, head) for head in heads]
    assert paper.sections[0].text.startswith(prose.strip())


def test_a_title_keeps_the_word_title(tmp_path: Path) -> None:
    title = "Long title: a template for marshes"
    assert _parse(tmp_path, _section("Introduction"), title=title).title == title


def test_a_paragraph_with_a_larger_first_line_is_read(tmp_path: Path) -> None:
    body = f"#text(10.45pt)[{_PROSE[:84]}] {_PROSE[84:]} {_PROSE * 6}\n\n{_section('Introduction')}"
    assert _PROSE.split(",")[0] in (paper := _parse(tmp_path, body, "")).abstract + paper.sections[0].text


def test_centred_headings_are_above_those_at_the_left(tmp_path: Path) -> None:
    heads = ["Introduction", "Marsh Walkers", "How a Count Goes Wrong", "Conclusion"]

    def head(text: str, side: str) -> str:
        return f"#block(above: 16pt, below: 8pt, width: 100%, align({side}, text(10pt, weight: 700)[{text}]))\n"

    body = "".join(
        f"{head(text, 'center')}{_PROSE * 4}\n\n{head(f'Part {text}', 'left')}{_PROSE * 6}\n\n" for text in heads
    )
    found = _headings(_parse(tmp_path, body))
    assert [text for level, text in found if level == 1] == heads
    assert [text for level, text in found if level == 2] == [f"Part {text}" for text in heads]


def test_a_footnote_with_a_number_is_no_heading(tmp_path: Path) -> None:
    heads = ["1 Introduction", "2 Marsh Walkers", "3 Counting", "4 Conclusion"]
    note = "#place(bottom + left, text(8pt)[2 In this part, we use the names of Lind])\n"
    body = note.join(_section(head, _PROSE * 9) for head in heads)
    assert _headings(_parse(tmp_path, body)) == [(1, head) for head in heads]


def test_text_next_to_a_figure_below_the_rule_of_a_head_is_text(tmp_path: Path) -> None:
    figure = "#polygon(fill: gray, (0pt, 0pt), (150pt, 20pt), (60pt, 120pt))\n#text(8pt)[Figure 1: Plants]\n\n"
    columns = f"#columns(2)[{figure}{_PROSE * 7}\n\n{_PROSE * 8}#colbreak(){_PROSE * 3}\n\n{_section('Slow Walkers')}]"
    head = "#set page(header: line(length: 100%), header-ascent: 6pt)\n"
    paper = _parse(tmp_path, f"{_section('Counting Marshes')}{head}{columns}")
    assert _headings(paper) == [(1, "Counting Marshes"), (1, "Slow Walkers")]
    assert sum(section.text.count("nobody has asked") for section in paper.sections) == 3 + 11 + 15 + 3 + 11
    assert len(paper.figures) == 1


def test_text_between_two_tables_belongs_to_none(tmp_path: Path) -> None:
    rows = "".join(f"[Walker {k}], [{k}.{k}], [{k + 3}], [{k * 7}],\n" for k in range(6))
    table = (
        '#place(SIDE, scope: "parent", float: true, figure(kind: table,'
        " caption: figure.caption(position: top)[Counts.],"
        f" table(columns: (1fr,) * 4, stroke: none, table.hline(), [Who], [Mean], [All], [Sum], table.hline(),\n{rows}"
        " table.hline())))\n"
    )
    heads = ["1 Introduction", "2 Marsh Walkers", "3 Counting", "4 Conclusion"]
    text = "".join(f"#text(12pt, weight: 700)[{head}]\n\n{_PROSE * 7}\n\n" for head in heads)
    tables = table.replace("SIDE", "top") + table.replace("SIDE", "bottom")
    body = f"#set page(columns: 2)\n#set columns(gutter: 24pt)\n#pagebreak(weak: true)\n{tables}"
    paper = _parse(tmp_path, body + text)
    assert _headings(paper) == [(1, head) for head in heads]
    assert [len(each.rows) for each in paper.tables] == [6, 6]


def test_a_centred_heading_in_two_rows_and_a_list_with_bold_leads(tmp_path: Path) -> None:
    heads = ["1. INTRODUCTION", "2. COUNTING MARSHES \\ BY WALKERS", "3. DISCUSSION"]
    leads = ("Unusual counts of plants or walkers", "Rows of plants", "Hidden patterns", "Slow walkers of a marsh")
    items = "".join(f"+ *{lead}* \u2013 either on short paths or on {_PROSE}\n" for lead in leads)
    below = {heads[1]: items}
    head = "#block(width: 100%, above: 14pt, below: 8pt, align(center)[{}])\n{}\n\n{}\n\n"
    body = "".join(head.format(name.replace(". ", "\\. "), _PROSE * 6, below.get(name, "")) for name in heads)
    found = _headings(_parse(tmp_path, body))
    assert found == [(1, head.replace(" \\ ", " ")) for head in heads]


@pytest.mark.parametrize("size", [10, 12])
def test_labels_of_axes_and_boxes_are_no_headings(tmp_path: Path, size: int) -> None:
    boxes = "grid(columns: 3, gutter: 20pt, rect[1. Walk], rect[2. Count the Plants], rect[3. Report])"
    plot = (
        "box(width: 12cm, height: 5cm, stroke: 0.5pt)[#place(top + left, dx: 9mm, rect(width: 2cm, height: 3cm))"
        "#place(top + left, dx: 7cm, dy: 1cm, rect(width: 2cm, height: 2cm)) #place(bottom + left, dx: 1cm, dy: -1cm)"
        "[Northmoor] #place(bottom + left, dx: 7cm, dy: -1cm)[Peat Marsh] #place(bottom + center, dy: -4pt)"
        "[Count of Walkers]]"
    )
    figures = [
        f'#figure({{set text({size}pt, weight: "bold"); {drawn}}}, caption: [Walks.])' for drawn in (boxes, plot)
    ]
    heads = ["1 Rules", "2 Marsh Walkers", "3 How a Count Goes Wrong", "4 Limits"]
    body = "".join(_section(head, inside) for head, inside in zip(heads, ("", *figures, ""), strict=True))
    assert _headings(_parse(tmp_path, body)) == [(1, head) for head in heads]


def test_numbers_in_smaller_type_between_two_that_follow_each_other_are_of_a_lower_level() -> None:
    numbers = [("1", 14.0), ("2", 14.0), ("3", 14.0), ("2", 12.0), ("3", 12.0), ("4", 14.0)]
    found = [Heading(k, k + 1, f"{n}. Walk", (size, True, False, False), n) for k, (n, size) in enumerate(numbers)]
    set_levels(found, 12.0)
    assert [heading.level for heading in found] == [1, 1, 1, 2, 2, 1]


def test_a_heading_at_the_head_of_a_page_with_the_words_of_a_figure_on_another_is_no_running_head(
    tmp_path: Path,
) -> None:
    heads = ["1 Rules", "2 Marsh Walkers", "3 Limits"]
    figure = "#pagebreak()\n#text(10pt)[Marsh Walkers]\n\n#rect(width: 9cm, height: 4cm)\n\n"
    body = (
        _section(heads[0])
        + "#pagebreak()\n"
        + _section(heads[1]).replace("2 M", "2#h(14pt)M")
        + figure
        + _section(heads[2])
    )
    found = [(level, heading.replace("2M", "2 M")) for level, heading in _headings(_parse(tmp_path, body))]
    assert [head for head in found if head[1] in heads] == [(1, head) for head in heads]
