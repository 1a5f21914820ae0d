from __future__ import annotations

import json
import re

import pytest

from monjyu_assets.parsing.formats.markdown.paper import parse_markdown
from monjyu_core.errors import DocumentTooLarge, EmptyDocument, MalformedDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.conftest import CORPORA, needs_corpora
from tests.limits import ends

FORMATS = CORPORA / "formats"

PAPER = r"""---
title: "Reading *graphs*: a study"
authors:
  - name: Mira Halvorsen
    affiliation: 1, 2
    orcid: https://orcid.org/0000-0001-2345-6789
    email: mira@example.org
    corresponding: true
  - given: Teo
    family: Lindqvist
    affiliation: [2]
  - "Ana Ruiz^1^"
affiliations:
  - {name: North College, index: 1}
  - {name: South College, index: 2}
date: 22 March 2019
tags: [graphs, reading]
doi: https://doi.org/10.1234/ABC.5
journal: Journal of Examples
volume: 3
---

# Abstract

We read *graphs* with **care** and [a link](https://example.org/x?a=1&b=2).
The second line is joined.

# 1 Introduction {#sec:intro}

Earlier work [see @lewis2020, p. 3; @edge_2024] did `x = y_z * 2` first.[^1]
Fish &amp; chips cost \$5 <b>today</b><script>alert(1)</script>, H~~x~~<sub>2</sub>O. <!-- hidden -->

[^1]: A note under the line.

- first item with *stress*
- second item
    1. nested item

> A quoted thought.

## Data

![A graph of papers](graph.png)

| Name | Size |
|------|-----:|
| *one* | 1 |
| two | 2 |

Table: Sizes of things.

```python
for x in y:
    print(x)
```

The weight $w_{xy} = p_x$ and

$$
E = mc^2
$$

<div class="note"><p>Kept words</p><style>p { color: red }</style></div>

# References

1. Lewis, P. (2020). Retrieval. *Venue*.
2. Edge, D. (2024). Graphs.
"""


@pytest.fixture(scope="module")
def paper() -> ParsedPaper:
    return parse_markdown(PAPER.encode(), ParseSettings())


def _parse(text: str) -> ParsedPaper:
    return parse_markdown(text.encode(), ParseSettings())


def test_front_matter_gives_the_metadata(paper: ParsedPaper) -> None:
    assert paper.title == "Reading graphs: a study"
    first, second, third = paper.authors
    assert (first.name, first.affiliation) == ("Mira Halvorsen", "North College; South College")
    assert (first.orcid, first.email, first.is_corresponding) == ("0000-0001-2345-6789", "mira@example.org", True)
    assert (second.name, second.affiliation, second.is_corresponding) == ("Teo Lindqvist", "South College", False)
    assert third.name == "Ana Ruiz"
    assert (paper.publication_date, paper.doi, paper.venue, paper.volume) == (
        "2019-03-22",
        "10.1234/abc.5",
        "Journal of Examples",
        "3",
    )
    assert paper.keywords == ["graphs", "reading"]
    assert (paper.document_type, paper.language, paper.is_academic_paper) == ("md", "en", True)


def test_sections_keep_their_order_level_and_type(paper: ParsedPaper) -> None:
    assert [(s.heading, s.level, s.section_type) for s in paper.sections] == [
        ("Abstract", 1, "abstract"),
        ("1 Introduction", 1, "introduction"),
        ("Data", 2, "methods"),
        ("References", 1, "references"),
    ]
    assert paper.abstract == "We read graphs with care and a link. The second line is joined."
    assert paper.sections[0].text == paper.abstract


def test_text_has_no_markup_left(paper: ParsedPaper) -> None:
    intro = paper.sections[1].text.split("\n\n")
    assert intro == [
        "Earlier work [see lewis2020, p. 3; edge_2024] did x = y_z * 2 first. Fish & chips cost $5 today, Hx2O.",
        "A note under the line.",
        "first item with stress",
        "second item",
        "nested item",
        "A quoted thought.",
    ]
    assert paper.sections[2].text.split("\n\n") == [
        "for x in y:\n    print(x)",
        "The weight w_{xy} = p_x and",
        "E = mc^2",
        "Kept words",
    ]


def test_tables_figures_equations_and_references(paper: ParsedPaper) -> None:
    table = paper.tables[0]
    assert (table.caption, table.headers) == ("Sizes of things.", ["Name", "Size"])
    assert table.rows == [["one", "1"], ["two", "2"]]
    assert [figure.caption for figure in paper.figures] == ["A graph of papers"]
    assert [(e.latex, e.inline) for e in paper.equations] == [("w_{xy} = p_x", True), ("E = mc^2", False)]
    assert [(r.ref_id, r.raw_text) for r in paper.references] == [
        ("1", "Lewis, P. (2020). Retrieval. Venue."),
        ("2", "Edge, D. (2024). Graphs."),
    ]


def test_sentences_lie_in_their_sections(paper: ParsedPaper) -> None:
    for section in paper.sections:
        assert all(section.text[s.start : s.end] == s.text and s.text.strip() for s in section.sentences)
    assert [s.text for s in paper.sections[0].sentences] == [
        "We read graphs with care and a link.",
        "The second line is joined.",
    ]


def test_first_heading_is_the_title_and_levels_start_at_one() -> None:
    paper = _parse("# My paper\n\n## Methods\n\nText here.\n\n### Data\n\nMore.\n\n## Results\n\nGood.\n")
    assert paper.title == "My paper"
    assert [(s.heading, s.level) for s in paper.sections] == [("Methods", 1), ("Data", 2), ("Results", 1)]


def test_text_under_the_title_stays() -> None:
    paper = _parse("My paper\n========\n\nWords before any section.\n\n## Methods\n\nText.\n")
    assert (paper.title, [(s.heading, s.text) for s in paper.sections]) == (
        "My paper",
        [("", "Words before any section."), ("Methods", "Text.")],
    )


def test_a_section_name_is_no_title() -> None:
    paper = _parse("# Summary\n\nWe did it.\n\n# Methods\n\nSo.\n")
    assert (paper.title, paper.abstract) == ("", "We did it.")
    assert [s.section_type for s in paper.sections] == ["abstract", "methods"]


def test_front_matter_abstract_becomes_a_section() -> None:
    head = "title: T\nauthor: Ada Byrne and Bo Crane\nabstract: |\n  We *look*.\n\n  We see."
    paper = _parse(f"---\n{head}\n---\n\nBody.\n")
    assert [a.name for a in paper.authors] == ["Ada Byrne", "Bo Crane"]
    assert paper.abstract == "We look.\n\nWe see."
    assert [(s.heading, s.section_type) for s in paper.sections] == [("Abstract", "abstract"), ("", "other")]


def test_run_in_abstract() -> None:
    paper = _parse("# T\n\n**Abstract.** We look.\n\nThen the body.\n")
    assert paper.abstract == "We look."
    assert [s.text for s in paper.sections] == ["We look.", "Then the body."]


@pytest.mark.parametrize("heading", ["References", "Bibliography", "参考文献"])
def test_reference_paragraphs_with_printed_numbers(heading: str) -> None:
    paper = _parse(f"# T\n\n## {heading}\n\n[7] One, A. (2001). X.\n\n[9] Two, B. (2002). Y.\n")
    assert [(r.ref_id, r.raw_text) for r in paper.references] == [
        ("7", "[7] One, A. (2001). X."),
        ("9", "[9] Two, B. (2002). Y."),
    ]


def test_numbered_citations_are_linked() -> None:
    paper = _parse(
        "# T\n\n## Methods\n\nWe follow an earlier design [2].\n\n## References\n\n"
        "1. Ames, A. (2001). On graphs. *J. Ex.*, 1, 1-2.\n2. Birk, B. (2002). On trees. *J. Ex.*, 2, 3-4.\n"
    )
    assert [(c.ref_id, c.section) for c in paper.inline_citations] == [("2", "Methods")]


def test_japanese_lines_are_joined_without_a_space() -> None:
    paper = _parse("# 題名\n\n## はじめに\n\n本研究では知識グラフを\n構築する手法を述べる。\n")
    assert paper.sections[0].text == "本研究では知識グラフを構築する手法を述べる。"
    assert (paper.language, paper.sections[0].section_type) == ("ja", "introduction")


@pytest.mark.parametrize(
    "block",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\ntitle: Bomb",
        "title: Bomb\nx: " + "[" * 5000,
        "title: Bomb\nx: " + "y" * 100_000,
        "title: Bomb: with a colon: twice",
        "title: Bomb\n\tx: - [",
    ],
)
def test_hostile_front_matter_costs_a_warning(block: str) -> None:
    paper = ends(lambda: _parse(f"---\n{block}\n---\n\nBody text.\n"))
    assert paper.title.startswith("Bomb")
    assert paper.warnings
    assert [s.text for s in paper.sections] == ["Body text."]


def test_a_rule_is_no_front_matter() -> None:
    paper = _parse("---\n\nJust text.\n\n---\n\nMore text.\n")
    assert [s.text for s in paper.sections] == ["Just text.\n\nMore text."]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", EmptyDocument),
        (b" \n\n", EmptyDocument),
        (b"<!-- nothing -->\n", EmptyDocument),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", MalformedDocument),
        (b"%PDF-1.7\n", MalformedDocument),
        (b"word " * 30_000, DocumentTooLarge),
    ],
)
def test_what_is_no_markdown_is_refused(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        parse_markdown(data, ParseSettings(max_characters=100_000))


@pytest.mark.parametrize(
    "piece", ["> ", "- ", "[", "![", "*", "`", "<a ", "$", "[@x", "|a", "# ", "[^1]", "<!--", "***a", "\\", "a\n\n"]
)
def test_hostile_markdown_ends(piece: str) -> None:
    ends(lambda: _parse("Word\n\n" + piece * (20_000 // len(piece))))


@pytest.mark.parametrize("name", ["amrex", "castro", "nyx"])
@needs_corpora
def test_joss_papers(name: str) -> None:
    truth = json.loads((FORMATS / "truth" / f"{name}.json").read_text())
    paper = parse_markdown((FORMATS / "md" / f"{name}.md").read_bytes(), ParseSettings())
    assert paper.title == truth["title"]
    assert [(a.name, a.orcid or "") for a in paper.authors] == [(a["name"], a["orcid"]) for a in truth["authors"]]
    assert [(s.heading, s.level) for s in paper.sections] == [(s["title"], s["level"]) for s in truth["sections"]]
    assert paper.keywords == truth["keywords"]
    assert paper.publication_date
    assert all(author.affiliation for author in paper.authors)
    text = " ".join(s.text for s in paper.sections)
    assert not re.search(r"\[@|\]\(|\*\*|^#", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("front", "authors", "venue", "date"),
    [
        ("Ada Berg¹, Jun Ito²,³ and Lea Frank", ["Ada Berg", "Jun Ito", "Lea Frank"], None, None),
        ("**Authors:** Omar Diaz; Mei Tanaka", ["Omar Diaz", "Mei Tanaka"], None, None),
        ("by [Ann Lee](https://x.example), Bo Chen\n*Journal of Graphs*, vol. 3, 2021",
         ["Ann Lee", "Bo Chen"], "Journal of Graphs", "2021"),
        ("Ada Berg<sup>1</sup>, Jun Ito<sup>2</sup>\n\nProceedings of the 12th Conference on Ranking (2019)",
         ["Ada Berg", "Jun Ito"], "Proceedings of the 12th Conference on Ranking", "2019"),
        ("山田太郎、鈴木花子", ["山田太郎", "鈴木花子"], None, None),
    ],
)  # fmt: skip
def test_lines_below_the_title_tell_who_and_where(
    front: str, authors: list[str], venue: str | None, date: str | None
) -> None:
    paper = parsed(f"# A study of small things\n\n{front}\n\nThis text begins here, and it goes on.\n\n## End\n\nEnd.")
    assert [author.name for author in paper.authors] == authors
    assert (paper.venue, paper.publication_date) == (venue, date)
    assert paper.sections[0].text == "This text begins here, and it goes on."


@pytest.mark.parametrize(
    "front",
    [
        "This paper studies rooms, and Journal of Graphs readers like it.",
        "We thank Ada Berg and Jun Ito for their help.",
        "The journal was founded in 1920 by two people who met at a conference and liked each other.",
        "Rooms",
    ],
)
def test_text_below_the_title_stays_text(front: str) -> None:
    paper = parsed(f"# A study of small things in large rooms\n\n{front}\n\n{'It goes on for long. ' * 30}")
    assert not paper.authors and paper.venue is None
    assert paper.sections[0].text.startswith(front)


def parsed(text: str) -> ParsedPaper:
    return parse_markdown(text.encode(), ParseSettings())


def test_tags_that_html_does_not_know_are_words_of_the_paper() -> None:
    source = """# Traces of reasoning

The tag <think> opens a trace, **</think>** closes it. Padding is <pad>; H<sub>2</sub>O is <b>water</b><br/>here.

<think>
So 141.
</think>

<details>
<summary>More</summary>
It ends with </think>.
</details>
"""
    text = "\n".join(section.text for section in parse_markdown(source.encode(), ParseSettings()).sections)
    assert "The tag <think> opens a trace, </think> closes it. Padding is <pad>; H2O is water here." in text
    assert "<think> So 141. </think>" in " ".join(text.split())
    assert "It ends with </think>." in text and "details" not in text
