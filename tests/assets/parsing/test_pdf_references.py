"""Where the reference list of a PDF begins and ends, and its lines as entries."""

from __future__ import annotations

import numpy as np

from monjyu_assets.parsing.formats.pdf.body.reference_list import find_reference_list, split_entries
from monjyu_assets.parsing.formats.pdf.page.columns import reading_order
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.formats.pdf.read.characters import PageChars

PROSE = ["Paths are long and rivers are wide, so that", "walkers need maps which show them all of"]


def _lines(*texts: str, size: float = 10, page: int = 1, top: float = 100) -> list[Line]:
    """One line each, 12 points apart; "^" adds a gap above a line, ">" an indent."""
    found = []
    for text in texts:
        top += 24 if text.startswith("^") else 12
        words, x0 = text.lstrip("^>"), 62.0 if text.lstrip("^").startswith(">") else 50.0
        flags = [False] * len(words)
        found.append(
            Line(
                page, words, x0, top - 8, x0 + 5 * len(words), top + 2, top, size, 0, np.zeros(0, dtype=np.int64),
                [0] * len(words), flags, flags,
            )
        )  # fmt: skip
    return found


def _layout(*lines: Line) -> Layout:
    return Layout([], [], list(lines), [], [], 10, 12)


def _listed(*lines: Line) -> list[str]:
    """The entries of the list that is found."""
    layout = _layout(*lines)
    place = find_reference_list(layout, 0)
    if place is None:
        return []
    return [
        " ".join(line.text for line in entry) for entry in split_entries(layout, layout.lines[place.start : place.end])
    ]


NUMBERED = [
    "[1] A. Holm and B. Jansen, Wide paths, J. Paths 3 (2001) 14.",
    "[2] C. Lund, Narrow paths, J. Paths 4 (2002) 15.",
    "[3] D. Berg, Steep paths, J. Paths 5 (2003) 16.",
    "[4] E. Dahl, Flat paths, J. Paths 6 (2004) 17.",
]
HANGING = [
    "Berg, D. (2003). Steep paths and what they do",
    ">to walkers. Journal of Paths, 5, 16-20.",
    "Dahl, E. (2004). Flat paths and why they are",
    ">loved by all. Journal of Paths, 6, 17-21.",
    "Holm, A. (2001). Wide paths and how to build",
    ">them cheaply. Journal of Paths, 3, 14-18.",
]
ENTRIES = [f"{a} {b[1:]}" for a, b in zip(HANGING[::2], HANGING[1::2], strict=True)]
_NO_PAGE = PageChars.__new__(PageChars)
"""The characters of a page are read where lines are split or joined only."""


def test_a_list_without_a_heading_in_loose_brackets_and_with_identifiers_for_years() -> None:
    loose = [f"[ {n} ] A. Holm, arXiv:150{n}.00962 ." for n in range(1, 6)]
    assert _listed(*_lines(*PROSE * 4), *_lines(*loose, size=8, top=300)) == loose


def test_a_list_of_hanging_entries_needs_no_heading() -> None:
    """Its entries begin with names or labels; a second line may begin with a name, and an entry may lack a year."""
    more = [line.replace("00", "01") for line in HANGING]
    named = ["Lund, C., Vard, H. O., Mohr, K. and", ">Lind, R. (2007). Narrow paths of the north."]
    text, small = _lines(*PROSE * 8), _lines("Northmoor Press, 2016", size=7, top=700)
    kept = [*ENTRIES, *(line.replace("00", "01") for line in ENTRIES), f"{named[0]} {named[1][1:]}"]
    assert _listed(*text, *_lines("^" + HANGING[0], *HANGING[1:], *more, *named, top=300), *small) == kept
    keyed = [f"{mark}{line}" for line in HANGING for mark in (["[BERG03] "] if line[0] != ">" else [""])]
    keyed += ["[PATH] Paths of the north,", ">http://paths.org", *keyed[:2]]
    assert len(_listed(*text, *_lines(*keyed, top=300))) == 5
    assert _listed(*text, *_lines(*(line.lstrip(">") for line in HANGING * 2), top=300)) == []  # paragraphs


def test_the_head_of_a_column_of_a_table_begins_no_list() -> None:
    table = _lines("Reference", "20 30 Holm (2003)", "40 50 Berg et al. (2016)", "60 70 Dahl (2017)", size=8)
    rest = _lines("^5 Conclusions", size=12, top=200) + _lines(*PROSE * 2, "^References", *HANGING, top=300)
    assert _listed(*table, *rest) == ENTRIES


def test_where_names_are_in_capitals_no_other_word_begins_an_entry() -> None:
    entries = [
        f"{name}, A. (200{n}). Paths. Lund." for n, name in enumerate(("BERG", "DAHL", "DE HOLM", "LUND", "VARD"))
    ]
    lines = [*entries[:2], "Journal Of Paths, 33(2):1-9.", *entries[2:]]
    found = _listed(*_lines(*PROSE * 3, "^References", *lines))
    assert found == [entries[0], f"{entries[1]} {lines[2]}", *entries[2:]]


def test_numbered_entries_under_a_heading_need_no_years() -> None:
    entries = ["[1] https://example.org/a.html, Path bureau", "[2] https://example.org/b.html, River bureau"]
    assert _listed(*_lines(*PROSE * 3, "^References", *entries)) == entries


def test_a_list_ends_in_front_of_figures_and_lists_of_them() -> None:
    text = _lines(*PROSE, "^References", *HANGING)
    figures = ["Figure 1. Detections of long paths by their", "width, with those of rivers for comparison", *PROSE * 6]
    assert _listed(*text, *_lines(*figures, page=2)) == ENTRIES
    assert _listed(*text, *_lines("List of Figures", *figures, page=2)) == ENTRIES


def test_a_list_ends_in_front_of_the_lives_of_the_authors() -> None:
    lives = [
        "^Ada Holm is a professor of paths at the University",
        "of Rivers since 2004 and 2007.",
        "She received a PhD.",
    ]
    assert _listed(*_lines(*PROSE, "^References", *HANGING, *lives)) == ENTRIES
    numbered = _lines(*PROSE, "^References", *NUMBERED, *lives)
    assert _listed(*numbered) == NUMBERED
    layout = _layout(*numbered)
    place = find_reference_list(layout, 0)
    assert place is not None and layout.lines[place.end].text.startswith("Ada Holm")


def test_a_page_of_one_column_is_read_by_rows() -> None:
    lines = _lines(
        "Berg, D., and Dahl, E. Steep paths for 2003.", ">Holm Press, Lund.",
        "Dahl, E. (2004). Flat paths of all kinds.", ">River Press, Holm.",
    )  # fmt: skip
    for i, line in enumerate(lines):
        line.full_width, line.column = True, i % 2
    entries = split_entries(_layout(*lines), lines)
    assert [len(entry) for entry in entries] == [2, 2]


def test_links_and_labels_that_stand_out_keep_to_their_column() -> None:
    left = _lines(
        "[8] A. Holm, Wide paths,", "https://example.org/paths/" + 40 * "a", "[9] B. Lund, Long paths.", "2003."
    )
    right = _lines("C. Berg, Steep paths,", "[10] D. Dahl, Flat paths", "E. Rand, Dry paths,", "River Press.")
    for line, x0 in zip(right, (300, 292, 300, 300), strict=True):
        line.x0, line.x1 = x0, x0 + 150
    found = reading_order(_NO_PAGE, [*left, *right], [297.0], [])
    assert [line.text for line in found] == [line.text for line in [*left, *right]]


def test_entries_that_are_indented_as_paragraphs() -> None:
    """Also in a language whose nouns begin with capitals, so that lines inside an entry do."""
    turned = [
        ">Berg, David / Dahl, Eva / Holm, Ada",
        "(2003): Wege und Ufer, in: Blätter für",
        "Wege 3: 14-18.",
        ">Lund, Carl (2004): Weite Wege der",
        "Ufer, in: Wege und Ufer 6: 17-21.",
        ">Rand, Ida / Vard, Hal (2006): Wege am",
        "Rand. Flussverlag.",
        ">Wald, Jo (2007): Wege im Wald, in: Blätter",
        "Wald und Wege 3: 1-9.",
    ]
    listed = _listed(*_lines(*PROSE, "^Bibliographie", *turned))
    assert [entry.split()[0] for entry in listed] == ["Berg,", "Lund,", "Rand,", "Wald,"]


def test_addresses_on_the_page_behind_a_list_are_not_in_it() -> None:
    addresses = ["Ada Holm", "School of Paths, University of Rivers", "A5, 6, Rivers", "ada@rivers.example"]
    entries = ["A. Holm. Wide paths and why we walk them, 2012.", "B. Lund. Long paths. River Notes, 4, 2013."] * 3
    text = _lines(*PROSE, "^References", *entries)
    assert sum(map(len, _listed(*text, *_lines(*addresses, page=2)))) <= sum(map(len, entries)) + 5


def test_raised_labels_and_issues_at_the_start_of_a_line() -> None:
    lines = [line for n in range(1, 13) for line in _lines(f">{n}A. Holm, Paths of", "B. Lund, J. Paths, 2003.")]
    for k, line in enumerate(lines):
        line.base += 12 * k
        line.script = [int(character.isdigit() and k % 2 == 0) for character in line.text]
    assert [len(entry) for entry in split_entries(_layout(*lines), lines)] == [2] * 12
    works = [
        "[1] A. Roe. Doors. Notes 9",
        "(2):56-63.",
        "[2] B. Roe. Walls.",
        "[3] C. Roe. Roofs.",
        "[4] D. Roe. Floors.",
    ]
    assert [len(entry) for entry in split_entries(_layout(*_lines(*works)), _lines(*works))] == [2, 1, 1, 1]
