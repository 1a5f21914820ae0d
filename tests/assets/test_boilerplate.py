"""What is kept and can be read, but not found."""

from __future__ import annotations

import pytest

from monjyu_assets.chunking import is_boilerplate
from monjyu_assets.chunking.papers import Chunker, Document
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import load_settings

LONG = "The committee of the hospital approved the protocol and every participant gave consent in writing. " * 4


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("Conflicts of Interest", "None."),
        ("5. Declaration of Competing Interest", "The authors declare that they have no known competing interests."),
        ("COMPETING INTERESTS", "A. B. has received fees from a company that sells what is tested here."),
        ("Author Contributions", "ML, AP, and SC developed and taught the workshops."),
        ("CRediT authorship contribution statement", "Ada Wilson: Conceptualization."),
        ("Authors’ contributions", "AW wrote the text."),
        ("Funding statement", "This work was supported by grant 12."),
        ("Data Availability Statement", "The data are available on request."),
        ("Availability of data and materials", "Not applicable."),
        ("Ethics approval and consent to participate", "Approved by the review board (12/2019)."),
        ("Consent for publication", "All agree."),
        ("License", "CC BY 4.0."),
        ("Disclosure", "The author(s) report no conflicts of interest in this work."),
        ("Limitations", "None declared."),
        ("利益相反", "本論文に関して、開示すべき利益相反はない。"),
        ("著者の貢献", "山田が実験を行った。"),
        ("データの利用可能性", "請求により提供する。"),
        ("倫理的配慮", "該当なし。"),
    ],
)
def test_boilerplate(heading: str, text: str) -> None:
    assert is_boilerplate(heading, text)


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("Abstract", "We count birds."),
        ("Contributions", "We give the first algorithm that is linear in the number of edges."),
        ("Conflict", "Interests of farmers and herders differ."),
        ("Data", "We took 12 tables."),
        ("Materials", "Lecture slides and notebooks."),
        ("Software", "Version 3.1 of R was used."),
        ("Ethics", LONG),
        ("Data availability", LONG),
        ("Open access", LONG),
        ("Funding", LONG * 6),
        ("", "None of the samples was lost."),
        ("結果", "差はなかった。"),
    ],
)
def test_no_boilerplate(heading: str, text: str) -> None:
    assert not is_boilerplate(heading, text)


def _document(*sections: tuple[str, str]) -> Document:
    rows = [
        {"section_ord": number, "heading": heading, "section_type": "other", "text": text}
        for number, (heading, text) in enumerate(sections)
    ]
    sentences = [
        {"sentence_id": f"s{number}", "section_ord": number, "start": 0, "end": len(text), "spans": None}
        for number, (_, text) in enumerate(sections)
    ]
    return Document("p", "A title", rows, sentences)


def test_boilerplate_is_not_chunked_and_a_short_abstract_is() -> None:
    chunker = Chunker(load_settings())
    paper = _document(("Abstract", "We count birds."), ("Conflicts of interest", "None."))
    chunks, links = chunker.chunk_papers([paper])
    assert [chunk["text"] for chunk in chunks] == ["We count birds."]
    assert [link["sentence_id"] for link in links] == ["s0"]


def test_a_document_of_nothing_else_can_be_found() -> None:
    chunks, _ = Chunker(load_settings()).chunk_papers([_document(("Conflicts of interest", "None."))])
    assert [chunk["text"] for chunk in chunks] == ["None."]


def test_the_size_that_the_hint_names_is_accepted() -> None:
    """The hint once named 191, below the default of 200."""
    with pytest.raises(ConfigurationError) as refused:
        Chunker(load_settings({"chunking": {"size_tokens": 255}}))
    most = int(refused.value.hint.split()[3])
    assert most == 254
    Chunker(load_settings({"chunking": {"size_tokens": most}}))
    with pytest.raises(ConfigurationError):
        Chunker(load_settings({"chunking": {"size_tokens": most + 1}}))
