"""Citation markers of three styles, linked to the list."""

from __future__ import annotations

import pytest

from monjyu_assets.parsing.bibliography.citations import link_citations
from monjyu_assets.parsing.bibliography.references import parse_reference
from monjyu_core.paper import Reference, Section, Sentence
from tests.limits import ends

RAW = [
    "[1] J. Smith, A. Jones, and C. Miller, “Graphs,” J. Test, 2019.",
    "[2] D. Lee and E. Kim, “Lists,” J. Test, 2020.",
    "[3] F. van der Berg, “Trees,” J. Test, 2015.",
    "[4] L. Müller, “Heaps,” J. Test, 2019a.",
    "[5] L. Müller, “Tries,” J. Test, 2019b.",
]
NUMBERED = [parse_reference(str(i + 1), raw) for i, raw in enumerate(RAW)]


def linked(text: str, references: list[Reference] = NUMBERED) -> list[tuple[str, int]]:
    section = Section(heading="Body", text=text, sentences=[Sentence(start=0, end=len(text), text=text)])
    return [(c.ref_id, c.position) for c in link_citations([section], references)]


def test_numbers_ranges_and_lists() -> None:
    text = "One [1]. Two [2, 4]. Range [1-3,5]. Dash [1–2]."
    assert [ref for ref, _ in linked(text)] == ["1", "2", "4", "1", "2", "3", "5", "1", "2"]
    assert linked(text)[0][1] == text.index("[1]")


def test_numbers_outside_the_list_are_no_citations() -> None:
    assert linked("An interval [0, 1] and [12] and [3] here.") == [("3", 32)]


def test_author_year() -> None:
    text = (
        "As known (Smith et al., 2019; Lee & Kim, 2020). Müller (2019a, b) says so. "
        "See van der Berg (2015) and (e.g., Lee and Kim 2020)."
    )
    assert [ref for ref, _ in linked(text)] == ["1", "2", "4", "5", "3", "2"]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("张三, 李四. 路径检索综述[J]. 路径学报, 2018, 29(3): 1-20.", "如张三等（2018）所示，湿地很大（张三，2018）。"),
        ("山田太郎, 鈴木花子. 道の検索. 道路学会誌, 2020.", "この手法は山田ら（2020）による。山田・鈴木 (2020) も。"),
        (
            "김철수, 이영희. 길 검색 방법. 길학회지, 47(3), 10-20, 2020.",
            "이것은 김철수 등(2020)이 보였다 (김철수, 2020).",
        ),
        ("Иванов И. И., Петров П. П. О путях // Заметки. — 2011.", "Иванов и др. (2011) и Иванов и Петров (2011)."),
        ("Müller, Hans und Schmidt, Eva: Wege. In: Wege 3 (2012).", "Müller und Schmidt (2012); Müller u. a. (2012)."),
        ("SILVA, J. A.; SOUZA, M. B. Rotas. <b>Rotas</b>, v. 3, p. 1-9, 2001.", "(SILVA; SOUZA, 2001) e Silva (2001)."),
        (
            "Ruiz Vega, L., Paz, P. y Gil, A. (2015). Rutas. Vías, 3(2), 11-20.",
            "Ruiz Vega et al. (2015) (Ruiz Vega, 2015).",
        ),
        (
            "Lebrun, A. et Renard, P. (2012), « Le chemin », Revue.",
            "Lebrun et Renard (2012) ; (Lebrun et Renard, 2012).",
        ),
    ],
)
def test_author_and_year_in_other_languages(raw: str, text: str) -> None:
    assert [ref for ref, _ in linked(text, [parse_reference("1", raw)])] == ["1", "1"]


def test_accents_and_possessives() -> None:
    assert [ref for ref, _ in linked("Muller's (2019b) heaps; Smith, Jones, and Miller (2019).")] == ["5", "1"]


def test_unknown_names_and_years_are_not_linked() -> None:
    assert linked("In Paris (2019) and for Smith (2001), (Figure 3, 2019).") == []


def test_raised_numbers() -> None:
    section = Section(heading="Body", text="Sparse codes1,2 are known3.")
    found = link_citations([section], NUMBERED, lambda number: [(12, "1,2"), (25, "3")])
    assert [(c.ref_id, c.position) for c in found] == [("1", 12), ("2", 12), ("3", 25)]


def test_context_is_the_sentence() -> None:
    text = "First thing. Second thing [2]. Third."
    sentences = [Sentence(start=0, end=12, text=text[:12]), Sentence(start=13, end=30, text=text[13:30])]
    found = link_citations([Section(heading="B", text=text, sentences=sentences)], NUMBERED)
    assert [c.context for c in found] == ["Second thing [2]."]


def test_no_references_no_citations() -> None:
    assert linked("See [1] and Smith (2019).", []) == []


@pytest.mark.parametrize("unit", ["Aa-", "Aa, ", "A'", "Aa,Bb", "中文", "Aa.", "[1,", "(2019", "Aa et al. "])
def test_hostile_text_takes_no_time(unit: str) -> None:
    ends(lambda: linked(unit * 3000))


def test_an_entry_is_found_by_its_first_name_if_its_authors_did_not_come_apart() -> None:
    raw = "Williams, J. J., Drew, J. C., & others. (2019). Barriers to integration. PLOS ONE, 14."
    entry = Reference(ref_id="1", raw_text=raw, authors=["Williams, J. J., Drew, J. C", "others"], year=2019)
    assert linked("A study (see Williams et al., 2019) says so.", [entry]) == [("1", 13)]


def test_numbers_of_lessons_are_no_style_where_the_list_has_none() -> None:
    named = [
        parse_reference("1", "Smith, J. (2019). Graphs. J. Test, 1, 2."),
        parse_reference("2", "Lee, D., & Kim, E. (2020). Lists. J. Test, 1, 2."),
        parse_reference("3", "Roe, F. (2015). Trees. J. Test, 1, 2."),
    ]
    text = "Taught as lessons [1-3]. Known (Smith, 2019). Shown (Lee & Kim, 2020)."
    assert [ref for ref, _ in linked(text, named)] == ["1", "2"]
