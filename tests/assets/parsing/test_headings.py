from __future__ import annotations

import pytest

from monjyu_assets.parsing.text.heading_types import inherit_types, section_type, strip_numbering
from monjyu_core.paper import Section
from tests.limits import ends


@pytest.mark.parametrize(
    ("heading", "number", "words"),
    [
        ("3.1 Materials and methods", "3.1", "Materials and methods"),
        ("3.1. Materials and methods", "3.1", "Materials and methods"),
        ("(3) Methods", "3", "Methods"),
        ("§2 Methods", "2", "Methods"),
        ("4 | RESULTS", "4", "RESULTS"),
        ("IV. RESULTS", "IV", "RESULTS"),
        ("IV RESULTS", "IV", "RESULTS"),
        ("I INTRODUCTION", "I", "INTRODUCTION"),
        ("A. Data Collection", "A", "Data Collection"),
        ("B.2 Hyperparameters", "B.2", "Hyperparameters"),
        ("Appendix B: Proofs", "Appendix B", "Proofs"),
        ("第3章 提案手法", "3", "提案手法"),
        ("１．はじめに", "1", "はじめに"),
        ("１はじめに", "1", "はじめに"),
        ("付録A 証明", "A", "証明"),
    ],
)
def test_numbers_are_split_off(heading: str, number: str, words: str) -> None:
    assert strip_numbering(heading) == (number, words)


@pytest.mark.parametrize(
    "heading",
    ["3D reconstruction", "2020 Results", "3.5 mm films", "C. elegans strains", "V Model", "X-ray", "3次元モデル"],
)
def test_words_that_look_like_numbers_stay(heading: str) -> None:
    assert strip_numbering(heading) == (None, heading)


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("3.1 Materials and methods", "methods"),
        ("Materials & Methods", "methods"),
        ("3. Proposed approach", "methods"),
        ("IV. RESULTS", "results"),
        ("Results and Discussion", "results"),
        ("Discussion and Results", "results"),
        ("Results: overall accuracy", "results"),
        ("Experimental results", "results"),
        ("Experimental setup", "experiments"),
        ("5 Evaluation", "experiments"),
        ("Introduction", "introduction"),
        ("Statement of need", "introduction"),
        ("Introduction and related work", "introduction"),
        ("Background and Related Work", "related_work"),
        ("State of the field", "related_work"),
        ("7 Limitations and outlook", "discussion"),
        ("Conclusions and Future Work", "conclusion"),
        ("Summary", "abstract"),
        ("6 Summary", "conclusion"),
        ("A B S T R A C T", "abstract"),
        ("Acknowledgements", "acknowledgments"),
        ("Funding", "acknowledgments"),
        ("REFERENCES", "references"),
        ("Literature Cited", "references"),
        ("Appendix A", "appendix"),
        ("Appendix B: Results", "appendix"),
        ("Supplementary Material", "appendix"),
        ("付録", "appendix"),
        ("付録A 証明", "appendix"),
        ("おわりに", "conclusion"),
        ("まとめと今後の課題", "conclusion"),
        ("第1章 序論", "introduction"),
        ("は じ め に", "introduction"),
        ("結果と考察", "results"),
        ("考察", "discussion"),
        ("参 考 文 献", "references"),
        ("関連研究", "related_work"),
        ("材料と方法", "methods"),
        ("謝辞", "acknowledgments"),
        ("要旨", "abstract"),
        ("Learning discussion patterns in forums", "other"),
        ("Graph construction", "other"),
        ("Data availability", "other"),
        ("", "other"),
    ],
)
def test_section_types(heading: str, expected: str) -> None:
    assert section_type(heading) == expected


def test_subsections_take_the_type_above_them() -> None:
    outline = [
        (1, "Summary", "abstract"),
        (3, "Mesh data", "other"),
        (1, "Methods", "methods"),
        (2, "Imaging", "methods"),
        (3, "Lenses", "methods"),
        (2, "Results of calibration", "results"),
        (1, "Pruning", "other"),
        (2, "Windows", "other"),
        (1, "Appendix A", "appendix"),
        (2, "Results", "appendix"),
    ]
    sections = [Section(heading=h, level=level, section_type=section_type(h)) for level, h, _ in outline]
    inherit_types(sections)
    assert [section.section_type for section in sections] == [expected for _, _, expected in outline]


@pytest.mark.parametrize("piece", ["data ", "results and ", "1.", "I", "A B ", "付録", "と", " ", "supplementary "])
def test_hostile_headings_cost_no_time(piece: str) -> None:
    def work() -> None:
        section_type(piece * 20_000)
        section_type((piece * 200)[:118] + "!")
        strip_numbering(piece * 2_000)

    ends(work)
