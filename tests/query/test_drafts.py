"""Drafts of every format are read into sentences that cite; hostile ones are refused or harmless."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from functools import partial
from xml.sax.saxutils import escape

import pytest

from monjyu_core.errors import QueryError
from monjyu_query.drafts import word_xml
from monjyu_query.drafts.cited_works import works_of_bib
from monjyu_query.drafts.draft_pages import Wanted
from monjyu_query.drafts.read_draft import Draft, Format, read_draft
from tests.limits import ends
from tests.properties import examples, given, st

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def wanted(draft: Draft) -> list[list[Wanted]]:
    return [[one for cited in sentence.cited for one in cited.mark.wanted] for sentence in draft.sentences]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It grows [@smith2020, p. 3; @jones].", [Wanted(key="smith2020"), Wanted(key="jones")]),
        ("As @smith2020 says, it grows.", [Wanted(key="smith2020")]),
        ("It grows [3, 5-7].", [Wanted(number=n) for n in "3567"]),
        ("It grows.[2] Then it stops.", [Wanted(number="2")]),
        ("It grows (Smith et al., 2020).", [Wanted(names=("Smith",), year=2020)]),
        ("It grows (see Van der Berg & Lee 2019b).", [Wanted(names=("Van der Berg", "Lee"), year=2019, letter="b")]),
        ("Ito and Román (2018) say that it grows.", [Wanted(names=("Ito", "Román"), year=2018)]),
        ("It grows (Kim, 2018a, b; Ray, 2001).", [
            Wanted(names=("Kim",), year=2018, letter="a"), Wanted(names=("Kim",), year=2018, letter="b"),
            Wanted(names=("Ray",), year=2001),
        ]),
    ],
)  # fmt: skip
def test_what_a_sentence_cites(text: str, expected: list[Wanted]) -> None:
    [found] = wanted(read_draft(text, "markdown"))
    assert found == expected


@pytest.mark.parametrize(
    "text", ["In June (March 2020) it grew.", "Write to me@example.org.", "`x[1]`'s (n = 20) rows."]
)
def test_what_is_no_citation(text: str) -> None:
    assert not [one for marks in wanted(read_draft(text, "markdown")) for one in marks if not one.number]


def test_addresses_cite() -> None:
    text = "See [this](https://doi.org/10.21105/jose.00032). And doi:10.1000/a(b)c. And arXiv:2001.01234v2, too."
    works = [one.work for marks in wanted(read_draft(text, "markdown")) for one in marks]
    assert [(work.doi, work.arxiv_id) for work in works if work] == [
        ("10.21105/jose.00032", None), ("10.1000/a(b)c", None), (None, "2001.01234")
    ]  # fmt: skip


def test_parts_of_a_sentence_are_claims_of_their_own() -> None:
    [sentence] = read_draft(
        "Budgets bound the number of judgements [@a], while leases keep old snapshots readable [@b].", "markdown"
    ).sentences
    assert [one.claim for one in sentence.cited] == [
        "Budgets bound the number of judgements", "while leases keep old snapshots readable"
    ]  # fmt: skip
    assert sentence.text.startswith("Budgets bound the number of judgements [@a], while")


def test_a_stop_behind_a_citation_ends_a_sentence() -> None:
    draft = read_draft("It grades tasks (Lee, 2001). nbgrader keeps one master (Lee, 2001), cf. appendix.", "markdown")
    assert [one.text for one in draft.sentences] == [
        "It grades tasks (Lee, 2001).",
        "nbgrader keeps one master (Lee, 2001), cf. appendix.",
    ]


def test_a_list_ends_a_draft_and_footnotes_are_works() -> None:
    draft = read_draft(
        "It grows [1]. It falls.[^n]\n\n[^n]: Lee, B. Things that fall. 2001.\n\n## References\n\n"
        "1. Smith, A. Things that grow. 2020. doi:10.1000/x\n2. Other, C. Of others. 1999.\n\n# Appendix\n\nMore [2].",
        "text",
    )
    assert [draft.works.numbered(n).year for n in ("1", "2", "^n") if draft.works.numbered(n)] == [2020, 1999, 2001]  # type: ignore[union-attr]
    assert len(draft.sentences) == 3


def test_latex_cites_and_opens_nothing(tmp_path: object) -> None:
    draft = read_draft(
        r"""\documentclass{a}\begin{document}\input{/etc/passwd}\include{other}
        It \emph{grows} by 5\,\%~\citep[see][p.~3]{a,b}. \textcite{c} deny it. % \cite{hidden}
        \begin{equation} x \cite{inside} \end{equation} \nocite{*}
        \begin{thebibliography}{9}\bibitem[A]{a} Ito, A. \emph{A great title of works}, 2001.\end{thebibliography}
        \end{document}""",
        "latex",
    )
    assert wanted(draft) == [[Wanted(key="a"), Wanted(key="b")], [Wanted(key="c")]]
    assert draft.sentences[0].cited[0].claim == "It grows by 5 %."
    assert "root:" not in str(draft) and draft.works.by_key["a"].raw == "Ito, A. A great title of works, 2001."


def word(body: str, head: str = "", **parts: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        text = f'<?xml version="1.0"?>{head}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
        archive.writestr("word/document.xml", text)
        for name, part in parts.items():
            archive.writestr(f"customXml/{name}.xml", part)
    return file.getvalue()


def run(text: str, raised: str = "") -> str:
    return f'<w:r>{raised}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def complex_field(told: str, shown: str) -> str:
    marks = [f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")]
    return f"{marks[0]}<w:r><w:instrText>{escape(told)}</w:instrText></w:r>{marks[1]}{run(shown)}{marks[2]}"


def test_word_fields_and_plain_citations() -> None:
    item = {
        "title": "Things that grow",
        "DOI": "10.1000/x",
        "author": [{"family": "Smith"}],
        "issued": {"date-parts": [[2020]]},
    }
    zotero = "ADDIN ZOTERO_ITEM CSL_CITATION " + json.dumps({"citationItems": [{"itemData": item}]})
    raised = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
    about = "<b:Tag>Lee01</b:Tag><b:Title>Things that fall</b:Title><b:Year>2001</b:Year>"
    source = f'<b:Sources xmlns:b="x"><b:Source>{about}</b:Source></b:Sources>'
    draft = read_draft(
        word(
            f"<w:p>{run('It grows ')}{complex_field(zotero, '(Smith 2020)')}{run('. It falls ')}"
            f"{complex_field(' CITATION Lee01 ', '(Lee, 2001)')}{run('. It stays.')}{run('1', raised)}</w:p>"
            f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>{run("References")}</w:p>'
            f"<w:p>{run('1. Ray, C. Staying put. 1999.')}</w:p>",
            item1=source,
        ),
        "docx",
    )
    first, second, third = wanted(draft)
    assert first[0].work and (first[0].work.title, first[0].work.year, first[0].work.doi) == (
        "Things that grow",
        2020,
        "10.1000/x",
    )
    assert second == [Wanted(key="Lee01")] and draft.works.by_key["Lee01"].title == "Things that fall"
    assert third == [Wanted(number="1")] and draft.works.numbered("1").year == 1999  # type: ignore[union-attr]
    assert draft.sentences[0].text == "It grows (Smith 2020)."


def test_hostile_word_files_are_refused() -> None:
    entity = '<!DOCTYPE a [<!ENTITY b "c">]>'
    bomb = word(f"<w:p>{run(' ' * (41 << 20))}</w:p>")
    assert len(bomb) < 1 << 20
    for data in (bomb, word(f"<w:p>{run('x')}</w:p>", entity), b"PK no zip", word("<w:p>"), b""):
        with pytest.raises(QueryError):
            read_draft(data, "docx")
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        for n in range(5_001):
            archive.writestr(f"{n}.xml", b"")
    sealed = bytearray(word(f"<w:p>{run('x')}</w:p>"))
    sealed[sealed.rfind(b"PK\x01\x02") + 8] |= 1  # encrypted, says the directory
    for data in (many.getvalue(), bytes(sealed), word(f"<w:p>{run('x')}</w:p>")[:-40]):
        with pytest.raises(QueryError):
            ends(partial(read_draft, data, "docx"))
    deep = word("<w:p>" * 50_000 + "</w:p>" * 50_000)
    assert read_draft(deep, "docx").sentences == []


def field_of(told: str) -> str:
    return f'<w:p><w:fldSimple w:instr="{escape(told, {chr(34): "&quot;"})}">x</w:fldSimple></w:p>'


WORD_BOMBS = {
    "paragraphs": lambda: "<w:p/>" * 5_000_000,
    "fields inside fields": lambda: '<w:fldChar w:fldCharType="begin"/>' * 100_000 + "<w:p/>" * 100_000,
    "controls": lambda: "<w:sdt>" * 200_000 + "</w:sdt>" * 200_000,
    "pieces": lambda: f"<w:p>{'<w:t>A</w:t>' * 1_000_000}</w:p>",
    "EndNote": lambda: field_of("EN.CITE " + "<Cite>" * 30_000) * 20,
    "EndNote's titles": lambda: field_of(f"EN.CITE <Cite>{'<title>' * 25_000}</Cite>") * 20,
    "Zotero": lambda: field_of(f'CSL_CITATION {{"citationItems": [{"[]," * 60_000}[]]}}') * 20,
    "works": lambda: field_of(f'CSL_CITATION {{"citationItems": [{"{}," * 6_000}{{}}]}}'.replace(
        "{}", '{"itemData":{}}')) * 20,
}  # fmt: skip


@pytest.mark.parametrize("kind", WORD_BOMBS)
def test_a_word_file_takes_time_in_proportion_to_its_size(kind: str) -> None:
    data = word(WORD_BOMBS[kind]())
    with contextlib.suppress(QueryError):
        ends(lambda: read_draft(data, "docx"))


@pytest.mark.parametrize("bound", ["paragraphs", "tags"])
def test_a_word_file_has_bounds(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_xml, f"MOST_{bound.upper()}", 10)
    with pytest.raises(QueryError, match=bound):
        read_draft(word("<w:p/>" * 20), "docx")


def test_a_draft_has_a_bound_of_citations() -> None:
    with pytest.raises(QueryError, match="citations"):
        read_draft(word(field_of("CITATION a \\m b") * 10_001), "docx")


@pytest.mark.parametrize("kind", ["markdown", "latex"])
@pytest.mark.parametrize(
    "unit", ["[", "(", "[@", "@a[", "(A, ", "\\cite{", "{", "[1, ", "Aa, ", "10.1234/(", "<!--", "\\begin{equation}"]
)
def test_a_hostile_draft_is_read_to_its_end(kind: Format, unit: str) -> None:
    ends(lambda: read_draft(unit * (60_000 // len(unit)), kind))


def test_a_draft_may_not_bring_marks() -> None:
    assert read_draft("A \ue0000\ue001 mark \ue00077\ue001 of its own.", "markdown").sentences == []
    with pytest.raises(QueryError):
        read_draft("x" * 2_000_001, "markdown")


@examples(60)
@given(
    st.text(alphabet="ab [](){}@;,.123456789\\%$&\n#-_*^~`<>:/A Smith2020et al.", max_size=200),
    st.sampled_from(["markdown", "latex"]),
)
def test_any_text_is_read(text: str, kind: Format) -> None:
    for sentence in read_draft(text, kind).sentences:
        assert sentence.cited and "\ue000" not in sentence.text + sentence.cited[0].claim


def test_bibliographies() -> None:
    people = "author={Barba, Lorena and van der Berg, Jan}"
    bib = f"@article{{a, title={{{{CFD}} Python: {{\\'e}}tudes}}, {people}, year=2018, doi={{10.1000/X}}}}"
    work = works_of_bib(bib)["a"]
    assert (work.title, work.authors, work.year, work.doi) == (
        "CFD Python: etudes",
        ("Barba", "van der Berg"),
        2018,
        "10.1000/x",
    )
    assert works_of_bib('[{"id": "b", "title": "T", "issued": {"date-parts": [[2001]]}}]')["b"].year == 2001
    for refused in ("[", "@a{b,c=d}\n" * 20_001):
        with pytest.raises(QueryError):
            ends(partial(works_of_bib, refused))


@pytest.mark.parametrize(
    "text",
    [
        "@misc{a, title={" + "{" * 20_000 + "x" + "}" * 20_000 + "}}",
        "@misc{a, author={" + " and ".join("A B" for _ in range(20_000)) + "}}",
        "@misc{a, title={" + "\\'" * 50_000 + "}}",
        "@misc{" * 20_000,
        "@string{a = " + "a # " * 20_000 + "a}",
        json.dumps([{"id": "a", "author": [{"family": "x" * 100_000}] * 40, "issued": {"date-parts": "x" * 100_000}}]),
    ],
    ids=["nested", "authors", "accents", "open", "strings", "wide"],
)
def test_a_hostile_bibliography_is_read_to_its_end(text: str) -> None:
    assert len(ends(lambda: works_of_bib(text))) <= 1
