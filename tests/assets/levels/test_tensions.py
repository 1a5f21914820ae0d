"""Which statements oppose each other, and which only look so; the asset follows what changes in the papers."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_assets.levels.tensions.opposing_sides import Opposition, opposition
from monjyu_assets.levels.tensions.rules_engine import side_rows
from monjyu_assets.levels.tensions.saying import Said, statements
from monjyu_core.storage.rows.rows_levels import TensionSideRow
from tests.assets.worlds import World

OPPOSED = [
    ("direction", "Vitamin D reduced the risk of respiratory infection in adults.",
     "Vitamin D increased the risk of respiratory infection in adults."),
    ("direction", "Base pressure increased with increasing jet temperature.",
     "An increase of jet temperature reduced the base pressure."),
    ("negation", "Obesity was associated with severe pneumonia in children.",
     "Obesity was not associated with severe pneumonia in children."),
    ("negation", "Steroid treatment decreased hospital mortality in patients with sepsis.",
     "There was no effect of steroid treatment on hospital mortality in patients with sepsis."),
    ("negation", "IFITM3 inhibits the entry of hantavirus into endothelial cells.",
     "IFITM3 does not inhibit the entry of hantavirus into endothelial cells."),
    ("direction", "HBoV1 prevalence was positively correlated with mean temperature.",
     "HBoV1 prevalence was negatively correlated with mean temperature."),
    ("negation", "Immediate breast reconstruction compromises the delivery of adjuvant chemotherapy.",
     "We found no evidence that IBR compromised the delivery of adjuvant chemotherapy."),
    ("numbers", "The case-fatality rate of MERS-CoV infection was 34%.",
     "MERS-CoV infection had a fatality rate of 21%."),
    ("numbers", "The mean incubation period of the Wuhan coronavirus was 5.2 days.",
     "The mean incubation period of the Wuhan coronavirus was 9.5 days."),
]  # fmt: skip
AGREED = [
    # the same, turned round
    ("Mortality of sepsis was higher in men than in women.", "Mortality of sepsis was lower in women than in men."),
    ("Base pressure falls with falling jet temperature.", "Base pressure rises with rising jet temperature."),
    # another thing, or another condition
    ("Vitamin D reduced the risk of respiratory infection.", "Smoking increased the risk of lung cancer."),
    ("Obesity increased mortality of sepsis.", "Early antibiotics decreased mortality of sepsis."),
    # denied is only how
    ("The lift of the wing varies with angle of attack.",
     "The lift of the wing does not vary linearly with angle of attack."),
    # taken for granted, not said
    ("At higher jet temperature the base pressure was measured.",
     "At lower jet temperature the base pressure was measured."),
    # another end, its counterpart, a thing of another name
    ("Dexamethasone decreased mortality in patients on mechanical ventilation.",
     "Dexamethasone increased blood glucose in patients on mechanical ventilation."),
    ("Internal pressure increases the buckling load of thin cylindrical shells.",
     "External pressure decreases the buckling load of thin cylindrical shells."),
    ("IFITM3 inhibits the entry of hantavirus into endothelial cells.",
     "IFITM1 does not inhibit the entry of hantavirus into endothelial cells."),
    ("The case-fatality rate of MERS-CoV infection was 34%.", "The case-fatality rate of SARS-CoV infection was 9.6%."),
    # of others, changes and intervals that meet
    ("The sensitivity of the rapid influenza test was 33% in adults.",
     "The sensitivity of the rapid influenza test was 69% in children."),
    ("The mortality rate of pneumonia was 5%.", "The mortality rate of pneumonia was reduced by 20%."),
    ("The incubation period of COVID-19 was 5.2 days (95% CI 4.1-7.0).",
     "The incubation period of COVID-19 was 6.8 days (95% CI 5.6-7.7)."),
    # of what another sentence names
    ("The drag of the wing depends on the Mach number.", "It is independent of the Mach number."),
    # numbers that meet, and conditions
    ("The incubation period of the Wuhan coronavirus was 2-14 days.",
     "The incubation period of the Wuhan coronavirus was 5.2 days."),
    ("The tests were made at a flow rate of 2 mm.", "The tests were made at a flow rate of 9 mm."),
]  # fmt: skip
SAYS_NOTHING = (
    "Does vitamin D reduce the risk of respiratory infection in adults?",
    "We investigate whether vitamin D reduces the risk of respiratory infection.",
    "If vitamin D reduces the risk of respiratory infection, it should be given to adults.",
    "It is not known that vitamin D reduces the risk of respiratory infection.",
    "Vitamin D might reduce the risk of respiratory infection in adults.",
    "Some studies found that vitamin D reduces the risk of respiratory infection, while others found an increase.",
    "The risk of respiratory infection was similar between the two groups.",
)


def sides(*texts: str) -> list[list[TensionSideRow]]:
    said = [Said(str(number), f"p{number}", "c", None, ("s",), text, 1.0) for number, text in enumerate(texts)]
    rows = side_rows(said, lambda done, of: None)
    return [[row for row in rows if row["said_id"] == one.said_id] for one in said]


def opposed(one: str, other: str) -> Opposition | None:
    return opposition(*sides(one, other), 0.8)


@pytest.mark.parametrize(("kind", "one", "other"), OPPOSED)
def test_opposites_denials_and_numbers_that_lie_apart_are_found(kind: str, one: str, other: str) -> None:
    for first, second in ((one, other), (other, one)):
        found = opposed(first, second)
        assert found is not None and found.kind == kind, (first, sides(first, second))


@pytest.mark.parametrize(("one", "other"), AGREED)
def test_what_only_looks_opposed_is_not(one: str, other: str) -> None:
    assert opposed(one, other) is None


def test_questions_aims_and_conditions_say_nothing() -> None:
    chunk = {
        "chunk_id": "c",
        "section_type": "results",
        "header": "Vitamin D > Results",
        "text": "\n".join(SAYS_NOTHING),
    }
    places = [
        {"chunk_id": "c", "paper_id": "p", "sentence_id": text, "start": chunk["text"].index(text),
         "end": chunk["text"].index(text) + len(text)}
        for text in SAYS_NOTHING
    ]  # fmt: skip
    assert not list(statements([], [chunk], places))
    claim = {
        "claim_id": "k", "paper_id": "p", "chunk_id": "c", "sentence_ids": ["s"], "kind": "result",
        "statement": OPPOSED[0][1], "quote": OPPOSED[0][1],
    }  # fmt: skip
    assert [said.statement for said in statements([claim], [chunk], places)] == [OPPOSED[0][1]]
    for kind in ("future_work", "method"):
        assert not list(statements([claim | {"kind": kind}], [chunk], places))


def paper(title: str, *found: str) -> str:
    return f"# {title}\n\n## Abstract\n\n{title} is studied.\n\n## Results\n\n{' '.join(found)}\n"


SAME_PAPER = (
    "Sunlight reduced the incidence of rickets in schools.",
    "Sunlight increased the incidence of rickets in schools.",
)
PAPERS = {
    "one.md": paper("Vitamin D and the airways", OPPOSED[0][1], "The trial had two arms of equal size and ran a year."),
    "two.md": paper("A trial of vitamin D", OPPOSED[0][2], "Adults of two towns took part in the trial for a year."),
    "three.md": paper("Obesity in wards", OPPOSED[2][1], "Records of nine hospitals were read for the study."),
}


def test_tensions_follow_papers_that_change_and_go(tmp_path: Path) -> None:
    """Papers that did not change are not read again, and a rebuild gives the same."""
    world = World(tmp_path / "data", tmp_path / "papers")
    for name, text in PAPERS.items():
        (world.papers / name).write_text(text)
    world.build(4)
    [row] = world.tables()["tensions"]
    assert {row["first_statement"], row["second_statement"]} == set(OPPOSED[0][1:])
    (world.papers / "four.md").write_text(paper("Obesity and lungs", OPPOSED[2][2], "Eleven wards were visited."))
    (world.papers / "both.md").write_text(paper("Sun and lungs", *SAME_PAPER))
    read: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "monjyu_assets.stages.comparisons.opposed_statements.side_rows",
            lambda said, tell: read.append(len(said)) or side_rows(said, tell),
        )
        world.build(4)
    assert [row["kind"] for row in world.tables()["tensions"]] and len(world.tables()["tensions"]) == 2
    assert read == [3], "only the new papers' statements are read"
    fresh = world.fresh(tmp_path / "fresh")
    fresh.build(4)
    for name in ("tensions", "tension_sides", "tension_vectors"):
        assert world.tables()[name] == fresh.tables()[name]
    (world.papers / "two.md").unlink()
    world.build(4)
    assert OPPOSED[0][2] not in str([world.tables()[name] for name in ("tensions", "tension_sides", "tension_vectors")])
    assert [row["kind"] for row in world.tables()["tensions"]] == ["negation"]
