"""Entries of many styles to fields; lists to entries."""

from __future__ import annotations

import pytest

from monjyu_assets.parsing.bibliography.identifiers import find_doi
from monjyu_assets.parsing.bibliography.references import parse_reference
from tests.limits import ends
from tests.properties import examples, given, st

STYLES = [
    ("1. Abbate A, Melfi R, D'Ambrosio A: Apoptosis in recent myocardial infarction. Clin Ther 2000, 151(4):247-251.",
     ["A Abbate", "R Melfi", "A D'Ambrosio"], 2000, "Apoptosis in recent myocardial infarction", "Clin Ther"),
    ("[1] Y. Wu, S. Antony, and J. H. Doroshow, “Mechanisms of inflammation,” Cancer Letters, vol. 345, pp. 1–3, 2014.",
     ["Y. Wu", "S. Antony", "J. H. Doroshow"], 2014, "Mechanisms of inflammation", "Cancer Letters"),
    ("Bernhoft, A., Torp, M., and Løes, A. K. (2012). Influence of climate on infestation. Food Addit. 29, 1129–1140.",
     ["A. Bernhoft", "M. Torp", "A. K. Løes"], 2012, "Influence of climate on infestation", None),
    ("[2] Zehnder M. Root canal irrigants. J Endod 2006; 32(5): 389-98.",
     ["M Zehnder"], 2006, "Root canal irrigants", "J Endod"),
    ("Jacob Devlin, Ming-Wei Chang, and Kenton Lee. 2019. BERT: Pre-training of transformers. In Proceedings of NAACL.",
     ["Jacob Devlin", "Ming-Wei Chang", "Kenton Lee"], 2019, "BERT: Pre-training of transformers",
     "Proceedings of NAACL"),
    ("Vaswani, Ashish, Noam Shazeer, and Niki Parmar. 2017. Attention is all you need. In Advances in NIPS.",
     ["Ashish Vaswani", "Noam Shazeer", "Niki Parmar"], 2017, "Attention is all you need", "Advances in NIPS"),
    ("[3] J. Smith, A. B. Jones, Retrieval for search, J. Netw. Sci. 12 (3) (2019) 45–67.",
     ["J. Smith", "A. B. Jones"], 2019, "Retrieval for search", None),
    ("2. Duduk, N.; Markovic, T. Antifungal Activity of Three Oils. J. Essent. Oil 2015, 18, 529–537. [CrossRef]",
     ["N. Duduk", "T. Markovic"], 2015, "Antifungal Activity of Three Oils", None),
    ("van der Maaten, L., & Hinton, G. (2008). Visualizing data using t-SNE. JMLR, 9(86), 2579-2605.",
     ["L. van der Maaten", "G. Hinton"], 2008, "Visualizing data using t-SNE", "JMLR"),
    ("M. Hutson. “Artificial intelligence faces a crisis.” In: Science 359.6377 (Feb. 2018).",
     ["M. Hutson"], 2018, "Artificial intelligence faces a crisis", "Science"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "authors", "year", "title", "venue"), STYLES, ids=[s[0][:20] for s in STYLES])
def test_styles(raw: str, authors: list[str], year: int, title: str, venue: str | None) -> None:
    reference = parse_reference("7", raw)
    assert reference.ref_id == "7" and reference.raw_text == raw
    assert reference.authors == authors
    assert reference.year == year
    assert reference.title == title
    assert venue is None or reference.venue == venue


def test_identifiers() -> None:
    assert find_doi("see https://doi.org/10.1016/S0378-8741(99)00058-6).") == "10.1016/s0378-8741(99)00058-6"
    assert find_doi("[http://dx.doi.org/10.1016/j.joen.2005.09.014] [PMID: 1]") == "10.1016/j.joen.2005.09.014"
    assert find_doi("doi: 10.1234/ abc.5") == "10.1234/abc.5"
    assert find_doi("no identifier, 10.5 km") is None
    assert parse_reference("1", "C. Doersch. Tutorial on VAEs. 2016. arXiv: 1606.05908.").arxiv_id == "1606.05908"
    assert parse_reference("1", "A. Roe. Old paper. arXiv:hep-th/9901001, 1999.").arxiv_id == "hep-th/9901001"


def test_year_is_not_a_page_or_identifier() -> None:
    raw = "Roe A. A study. J Test 2012; 5: 1990-2001. doi:10.1/2003.5"
    assert parse_reference("1", raw).year == 2012
    assert parse_reference("1", "Doe J. Things. arXiv:2101.01234, 2022.").year == 2022


@given(st.text(max_size=300))
@examples(60)
def test_any_text_gives_a_reference(text: str) -> None:
    reference = parse_reference("x", text)
    assert reference.raw_text == " ".join(text.split())
    assert reference.year is None or 1500 < reference.year < 2100


@pytest.mark.parametrize("unit", ["Aa-", "A. ", "Aa B. Cc, ", "Aa, ", ". a", "“", "Van der ", "中文", "Aa.", "( a"])
def test_hostile_entries_take_no_time(unit: str) -> None:
    ends(lambda: parse_reference("1", unit * 3000))
