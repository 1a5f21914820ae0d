"""Fronts as universities and publishers set them: title pages of theses with lists of contents, covers, and notices."""

from __future__ import annotations

from pathlib import Path

import pytest
import typst

from monjyu_assets.parsing.formats.pdf import parse_pdf
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings

_PROSE = "We count the plants of a marsh and describe how often a count is wrong, because nobody has asked before. "
_SUMMARY = "This thesis describes why walkers count plants twice and derives how often a count of plants is wrong. "
_LEADERS = " . " * 20


def _parse(folder: Path, source: str) -> ParsedPaper:
    (folder / "paper.typ").write_text(f"#set page(margin: 2.5cm)\n#set text(11pt)\n{source}", "utf-8")
    typst.compile(str(folder / "paper.typ"), output=str(folder / "paper.pdf"))
    return parse_pdf(folder / "paper.pdf", ParseSettings())


def _head(text: str, size: int = 15) -> str:
    return f"#text({size}pt, weight: 700)[{text}]\n\n"


def _names(paper: ParsedPaper) -> list[str]:
    return [author.name for author in paper.authors]


def _main(paper: ParsedPaper) -> list[str]:
    return [each.heading for each in paper.sections if each.heading and each.level == 1]


def _thesis(by: str, summary: str) -> str:
    lines = [
        "#text(17pt)[Why Marsh Walkers Count Twice]", "#v(60pt)", by, "Rosa Maria Lind", "#v(40pt)",
        "Master Thesis", "Hal Vard, Paulo Henrique Moor", "University of Northmoor", "#v(60pt)",
    ]  # fmt: skip
    entries = [f"{k}.{n} Walks along a marsh of kind {n}{_LEADERS}{9 * k + n}" for k in (1, 2) for n in (1, 2, 3)]
    long = [f"{k}.1 Counts of plants that two walkers made \\ in the same marsh{_LEADERS}{k}" for k in range(1, 6)]
    pages = [
        "#align(center)[" + "\n\n".join(lines) + "]",
        _head("Overview of Parts") + "\n\n".join(entries[:3]),
        "\n\n".join(entries),
        _head("Figures of This Work") + "\n\n".join(long),
        _head(summary) + _SUMMARY * 8,
    ]
    chapters = [
        _head(f"Chapter {k}") + "#v(20pt)" + _head(title) + f"{_PROSE * 9}\n\n{_PROSE * 9}"
        for k, title in enumerate(("Introduction", "Counting", "Conclusion"), 1)
    ]
    return "\n\n#pagebreak()\n".join([*pages, *chapters])


@pytest.mark.parametrize(("by", "summary"), [("by", "Abstract"), ("par", "Résumé")])
def test_a_thesis_has_one_author_its_own_abstract_and_no_lists_of_contents(
    tmp_path: Path, by: str, summary: str
) -> None:
    paper = _parse(tmp_path, _thesis(by, summary))
    assert paper.title == "Why Marsh Walkers Count Twice"
    assert _names(paper) == ["Rosa Maria Lind"]
    assert paper.abstract == (_SUMMARY * 8).strip()
    heads = [" ".join(head.split()[-1:]) for head in _main(paper)]
    assert heads[-3:] == ["Introduction", "Counting", "Conclusion"]
    assert not any(". . ." in section.text or ". . ." in section.heading for section in paper.sections)


def test_an_appendix_and_its_title_are_one_heading(tmp_path: Path) -> None:
    pages = [_head(head) + f"{_PROSE * 9}\n\n{_PROSE * 9}" for head in ("1 Introduction", "2 Counting", "3 Results")]
    last = _head("Appendix A") + "#v(14pt)" + _head("Tables of Counts") + f"{_PROSE * 9}\n\n{_PROSE * 9}"
    title = "#align(center)[#text(17pt)[Why Marsh Walkers Count Twice]\n\nRosa Lind]\n\n"
    paper = _parse(tmp_path, title + "\n\n#pagebreak()\n".join([*pages, last]))
    assert _main(paper)[-1] == "Appendix A Tables of Counts"


_BODY = "".join(
    _head(head, 12) + f"{_PROSE * 6}\n\n{_PROSE * 6}\n\n" for head in ("1 Rules", "2 Counting", "3 Results")
)
_ABSTRACT = f"#text(9pt)[*Abstract.* {_SUMMARY * 4}]\n\n"


def _article(title: str, front: str, abstract: str = _ABSTRACT) -> str:
    return f"#align(center, text(17pt, weight: 700)[{title}])\n\n#align(center)[{front}]\n\n{abstract}\n\n{_BODY}"


def test_a_publishers_cover_with_a_link_is_no_first_page(tmp_path: Path) -> None:
    title = "Why Marsh Walkers Count Twice"
    cover = (
        "#grid(columns: (11cm, 4cm), [#text(18pt)[Why Marsh Walkers \\ Count Twice]], "
        "[#text(7pt)[You may also like \\ \\ Hilde Moor]])\n\n"
        '#link("https://marsh.org/10.1234/5")[View the article online]\n\n#pagebreak()\n'
    )
    paper = _parse(tmp_path, cover + _article(title, "Rosa Lind and Hal Vard"))
    assert (paper.title, _names(paper)) == (title, ["Rosa Lind", "Hal Vard"])
    assert paper.abstract == (_SUMMARY * 4).strip()


@pytest.mark.parametrize(
    ("title", "mark"),
    [
        ("Count Twice", "#text(11pt, baseline: -6pt)[q]"),
        ("Count Twice", "#super[?] #super[??]"),
        ("Count Twice?", ""),
        ("Count All Plants of the Marsh \\ of Northmoor Twice", "#h(-2pt)#box(move(dy: -8pt)[Å])"),
    ],
    ids=["letter", "two", "question", "symbol"],
)
def test_marks_behind_a_title(tmp_path: Path, title: str, mark: str) -> None:
    paper = _parse(tmp_path, _article(f"Why Marsh Walkers {title} {mark}", "Rosa Lind and Hal Vard"))
    assert paper.title == f"Why Marsh Walkers {title}".replace("\\ ", "")
    assert _names(paper) == ["Rosa Lind", "Hal Vard"]


def test_memberships_between_names(tmp_path: Path) -> None:
    front = "Rosa Lind#super[1], _Senior Member, IEEE_, Hal Vard#super[1], _Member, CCF_, and Ada Moor#super[2]"
    front += "\n\n#emph[#super[1]University of Northmoor \\ #super[2]Marsh Institute]"
    assert _names(_parse(tmp_path, _article("Why Marsh Walkers Count Twice", front))) == [
        "Rosa Lind", "Hal Vard", "Ada Moor",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "notice",
    ["c 2021 \\ Peer-review under responsibility of the committee.", "Copyright c 2017 Marsh Press, Ltd.",
     "*Résumé.* Cette thèse décrit pourquoi les marcheurs comptent deux fois les plantes des marais."],
    ids=["circle", "copyright", "translation"],
)  # fmt: skip
def test_an_abstract_ends_at_a_notice_and_its_translation(tmp_path: Path, notice: str) -> None:
    abstract = f"#text(9pt)[*Abstract.* {_SUMMARY * 4}\n\n{notice}]\n\n"
    paper = _parse(tmp_path, _article("Why Marsh Walkers Count Twice", "Rosa Lind and Hal Vard", abstract))
    assert paper.abstract == (_SUMMARY * 4).strip()


def test_an_abstract_goes_on_over_the_notes_at_the_foot_of_its_page(tmp_path: Path) -> None:
    thanks = "The authors thank the walkers of the marsh for their patience and for all the plants they counted."
    front = f"Rosa Lind and Hal Vard#footnote[{thanks}]"
    abstract = f"#v(17.5cm)*Abstract*\n\n{_SUMMARY * 12}\n\n#v(8pt)"
    paper = _parse(tmp_path, _article("Why Marsh Walkers Count Twice", front, abstract))
    assert paper.abstract == (_SUMMARY * 12).strip()
