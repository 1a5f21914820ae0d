"""Which statements oppose each other, and which only look so; the asset follows what changes in the papers."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_assets.levels.tensions.likeness import WordNearness
from monjyu_assets.levels.tensions.naming import names_in
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
    # other words, other constructions
    ("direction", "Honey dressings shortened the healing of burns in children.",
     "The healing of burns in children took longer with honey dressings."),
    ("negation", "Cover crops protected vineyards against soil erosion.",
     "Soil erosion in vineyards was left unchanged by cover crops."),
    ("negation", "Shot peening improved the fatigue life of welded joints.",
     "Shot peening made no difference to the fatigue life of welded joints."),
    # a share of all that a sentence says, several values of one measure, numbers with intervals
    ("numbers", "In alpine meadows, 34% (95% CI 30 to 38) of flower visits were made by hoverflies.",
     "Hoverflies made 12% (95% CI 9 to 15) of the flower visits in alpine meadows."),
    ("numbers", "The R0 of SARS was about 2.1 in Hong Kong, 2.7 in Singapore, and 3.8 in Beijing.",
     "Later estimates of the R0 of SARS were less than 1."),
    # any unit, where an interval tells which number was measured; falls by so much
    ("numbers", "The Q10 of heterotrophic respiration in boreal spruce humus was 2.1 (95% CI 1.9-2.3).",
     "Temperature sensitivity (Q10) of respiration in boreal spruce humus averaged 3.4 (95% CI 3.1-3.7)."),
    ("numbers", "In nectar of treated rape, clothianidin had a median of 8.7 µg kg−1 (interquartile range 7.4-9.6).",
     "Nectar of treated rape contained clothianidin at a median of 2.3 ng g−1 (interquartile range 1.8-2.9)."),
    ("numbers", "Trapezoidal riblets reduced turbulent friction drag by 7.8 ± 0.6%.",
     "On the plate, trapezoidal riblets cut turbulent friction drag by 2.6 ± 0.5%."),
    # a verb that a parser takes for a participle; "improved" and "lowered"
    ("direction", "Taking notes on a laptop lowered students' comprehension of the lecture.",
     "Taking notes on a laptop improved students' comprehension of the lecture."),
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
    # other people, other doses, other times, another thing to compare with
    ("In ewes, selenium increased the weight of lambs at birth.",
     "In cows, selenium did not increase the weight of calves at birth."),
    ("A monthly dose of iron raised haemoglobin in women.", "A daily dose of iron did not raise haemoglobin in women."),
    ("Recall on a test given five minutes after the lesson was not improved by quizzes.",
     "Recall on a test given two weeks after the lesson was improved by quizzes."),
    ("Spaced sessions led to better retention than massed sessions.",
     "Retention was poorer when sessions were massed than when they were spaced."),
    # a rule, not a value; a problem that becomes simpler; where it is so, not that it is so
    ("An R0 of less than 1 indicates that measles dies out.",
     "The R0 of measles was 14 in school outbreaks of measles."),
    ("The boundary layer problem is reduced to an ordinary equation.", "The boundary layer problem increased in size."),
    # numbers that meet, and conditions
    ("The incubation period of the Wuhan coronavirus was 2-14 days.",
     "The incubation period of the Wuhan coronavirus was 5.2 days."),
    # the same value in another unit; less of what nobody wants
    ("In nectar of treated rape, clothianidin reached a median of 2.4 µg kg−1 (interquartile range 2.0-2.9).",
     "Nectar of treated rape contained clothianidin at a median of 2.3 ng g−1 (interquartile range 1.8-2.9)."),
    ("Massage lowered the pain of patients after surgery.", "Massage improved the pain of patients after surgery."),
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


NEAR = WordNearness()


def sides(*texts: str) -> list[list[TensionSideRow]]:
    said = [
        Said(str(number), f"p{number}", "c", None, ("s",), text, 1.0, text, names_in(text))
        for number, text in enumerate(texts)
    ]
    rows = side_rows(said, lambda done, of: None)
    return [[row for row in rows if row["said_id"] == one.said_id] for one in said]


def opposed(one: str, other: str) -> Opposition | None:
    ones, others = sides(one, other)
    return opposition(ones, others, 0.8, NEAR)


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
        "paper_id": "p",
        "section_type": "results",
        "header": "Vitamin D > Results",
        "text": "\n".join(SAYS_NOTHING),
    }
    places = [
        {"chunk_id": "c", "paper_id": "p", "sentence_id": text, "start": chunk["text"].index(text),
         "end": chunk["text"].index(text) + len(text)}
        for text in SAYS_NOTHING
    ]  # fmt: skip
    assert not side_rows(list(statements([], [chunk], places)), lambda done, of: None)
    claim = {
        "claim_id": "k", "paper_id": "p", "chunk_id": "c", "sentence_ids": ["s"], "kind": "result",
        "statement": OPPOSED[0][1], "quote": OPPOSED[0][1],
    }  # fmt: skip
    said = statements([claim], [chunk], places)
    assert [one.statement for one in said if not one.unsure] == [OPPOSED[0][1]]
    for kind in ("future_work", "method"):
        assert all(one.unsure for one in statements([claim | {"kind": kind}], [chunk], places))


def said_of(title: str, *sentences: str) -> list[Said]:
    """What a paper says whose one chunk has these sentences."""
    text = "\n".join(sentences)
    chunk = {"chunk_id": "c", "paper_id": "p", "section_type": "results", "header": f"{title} > Results", "text": text}
    places = [
        {
            "chunk_id": "c",
            "paper_id": "p",
            "sentence_id": one,
            "start": text.index(one),
            "end": text.index(one) + len(one),
        }
        for one in sentences
    ]
    return list(statements([], [chunk], places))


def test_what_a_paper_calls_a_thing_is_read_from_the_paper() -> None:
    """Abbreviations are written out, brackets with statistics left out, renamed things have both names."""
    said = said_of(
        "Retrieval practice",
        "Retrieval practice (RP) was used in nine schools of the city in this year.",
        "RP raised the marks of pupils by 4 points (95% CI 2 to 6, p < 0.01).",
        "The virus 2019-nCoV, which was later named as SARS-CoV-2, was found in all wards of the hospital.",
        "The case-fatality rate of SARS-CoV-2 was 2.1% (95% CI 1.9 to 2.4).",
    )
    by_text = {one.statement: one for one in said}
    marks = by_text["RP raised the marks of pupils by 4 points (95% CI 2 to 6, p < 0.01)."]
    assert marks.read == "Retrieval practice raised the marks of pupils by 4 points." and "RP" in marks.names
    fatality = by_text["The case-fatality rate of SARS-CoV-2 was 2.1% (95% CI 1.9 to 2.4)."]
    assert {"SARS-CoV-2", "nCoV"} <= set(fatality.names)
    [side, _] = [row for row in side_rows([fatality], lambda done, of: None) if row["kind"] == "number"]
    assert (side["kind"], side["low"], side["high"]) == ("number", 1.9, 2.4), "the interval counts, though not parsed"


def test_a_number_of_a_reference_behind_a_full_stop_is_none_of_the_measure() -> None:
    [said] = said_of("Measles", "The R0 of measles was estimated to be 2.2.9 The school could close at any time.")
    assert said.statement == "The R0 of measles was estimated to be 2.2."
    [side] = [row for row in side_rows([said], lambda done, of: None) if row["kind"] == "number"]
    assert (side["low"], side["high"]) == (2.2, 2.2)


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


@pytest.mark.slow
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
