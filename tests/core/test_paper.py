"""What a parsed paper says of itself."""

from __future__ import annotations

from monjyu_core.paper import ParsedPaper, Section

PAPER = ParsedPaper(
    sections=[
        Section(heading="", text="Before the first heading."),
        Section(heading="Methods", section_type="methods", text="We counted."),
        Section(heading="Counting", level=2, section_type="methods", text="By hand."),
        Section(heading="Results", section_type="results"),
    ]
)


def test_the_full_text_has_headings_and_texts_in_order() -> None:
    wanted = ["Before the first heading.", "Methods", "We counted.", "Counting", "By hand.", "Results"]
    assert PAPER.get_full_text().split("\n\n") == wanted
    assert not ParsedPaper().get_full_text()


def test_the_first_section_of_a_type() -> None:
    found = PAPER.get_section_by_type("methods")
    assert found is not None and found.heading == "Methods"
    assert PAPER.get_section_by_type("conclusion") is None
