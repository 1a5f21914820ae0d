"""Answers on the sample collection: forms by kind of question, papers named, three outcomes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_core.text.quotes import points_outside
from monjyu_query.answers.abstract_answer import is_general
from monjyu_query.answers.citing import Window, cite_windows, connective
from monjyu_query.answers.layout import arranged, said
from monjyu_query.answers.named_passages import with_named
from monjyu_query.answers.outcome import is_name
from monjyu_query.answers.segments import NARROW, AnswerForm, answer_markdown, form_of, pieces, plain
from monjyu_query.answers.selection import has_digits, word_count
from monjyu_query.asking.passages import load_passages, load_sentences
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.asking.topic import defines
from monjyu_query.papers.labels import paper_label
from monjyu_query.search.searcher import Searcher
from tests.conftest import SAMPLES, call_monjyu

LEIDEN = "What does the Leiden algorithm guarantee that Louvain does not?"
SHARDS = "How many shards should a collection have?"
CUTOFF = "What is early cutoff in a build system?"
QUESTIONS = (
    LEIDEN,
    SHARDS,
    CUTOFF,
    "Why are counts kept as integers in an incremental index?",
    "How does search under a relevance budget test the passages of communities?",
    "Is score fusion worth it when one ranker is weak?",
    "文字バイグラムを併用する理由は何ですか",
)
"""Those of other files where they are of the same form, so that the reader reads for them once."""
UNREAD = {"search": {"reader": "off"}}


@pytest.fixture(scope="module")
def searcher(sample_data: Path) -> Searcher:
    searcher = Searcher(DataFolder(sample_data), "samples")
    searcher.prepare()
    return searcher


@pytest.fixture(scope="module")
def unread(sample_data: Path) -> Searcher:
    """The same without the reader: for the forms of answers, whichever sentences are chosen."""
    return Searcher(DataFolder(sample_data), "samples", instead=UNREAD)


def ask(searcher: Searcher, query: str, **more: object) -> SearchResult:
    return searcher.search(make_request(query=query, collection="samples", **{"mode": "hybrid", **more}))


@pytest.mark.parametrize(
    ("query", "kind", "form"),
    [
        ("How many students took part?", "factoid", "number"),
        ("何人の学生が参加しましたか", "factoid", "number"),
        ("Why do students drop out?", "exploration", "reasons"),
        ("なぜ学生は辞めるのですか", "exploration", "reasons"),
        ("Is peer instruction effective?", "factoid", "yes_no"),
        ("What is a lease?", "factoid", "definition"),
        ("Compare leases and locks", "comparison", "comparison"),
        ("Which papers test peer instruction?", "survey", "papers"),
        ("どの論文が効果を示していますか", "survey", "papers"),
        ("How do instructors grade notebooks?", "exploration", "steps"),
        ("What methods of grading are described?", "survey", "survey"),
        ("What do the papers say about grading?", "survey", "survey"),
    ],
)  # fmt: skip
def test_form(query: str, kind: str, form: str) -> None:
    assert form_of(query, kind) == form


@pytest.mark.parametrize("query", QUESTIONS)
def test_every_paragraph_names_its_paper_and_begins_by_itself(searcher: Searcher, unread: Searcher, query: str) -> None:
    result = ask(searcher if query == LEIDEN else unread, query)
    assert result.citations and result.confidence is not None
    assert result.answer == answer_markdown(result.segments, result.tables)
    quoted = [segment for segment in result.segments if segment.citations]
    for segment, piece in zip(quoted, pieces(quoted), strict=True):
        if "\n\n" in segment.text or segment is quoted[0]:
            assert segment.label and f"{segment.label}: " in segment.text
        said = piece.text.removeprefix(": ").lstrip()
        assert not points_outside(said) or connective(said)
    numbers = [n for segment in result.segments for n in segment.citations]
    assert numbers == list(range(1, len(result.citations) + 1))


def test_the_best_stands_first_and_papers_once(searcher: Searcher) -> None:
    result = ask(searcher, LEIDEN)
    assert "guarantees that communities are connected" in result.citations[0].quote
    labels = [segment.label for segment in result.segments if segment.label]
    assert labels and len(labels) == len(set(labels)) and labels[0] == "Morvant and Arrowood (2025)"


def test_only_neighbours_stand_before_the_best_sentence(searcher: Searcher) -> None:
    """Reasons are read in the paper's order, but not from its introduction on."""
    cursor = searcher.current().snapshot.cursor()
    rows = cursor.execute("SELECT chunk_id FROM chunks WHERE paper_id LIKE 'score-fusion%' ORDER BY ord").fetchall()
    sentences = load_sentences(cursor, load_passages(cursor, [name for (name,) in rows], [1.0] * len(rows)))
    told = {s.place: s for s in sentences if not points_outside(s.text) and word_count(s.text) > 8}
    first, near, best = next((min(told), p, p + 2) for p in sorted(told) if p > min(told) + 5 and p + 2 in told)
    windows = [Window((told[place],), (told[place],)) for place in (best, first, near)]
    cited = cite_windows(cursor, windows)
    labels = {citation.paper_id: "Paper" for _, citation in cited}

    def order(form: AnswerForm) -> list[str]:
        return [text for text, _, _ in arranged(form, "en", None, cited, windows, {}, labels)[0]]

    texts = {place: said(Window((told[place],), (told[place],))) for place in (first, near, best)}
    assert order("reasons") == [texts[near], texts[best], texts[first]]
    assert order("fact") == [texts[best], texts[first], texts[near]]


def test_an_answer_is_as_long_as_what_answers(searcher: Searcher, unread: Searcher) -> None:
    """A fact is three quotes at most, two of a paper, at every budget; a survey has 400 words at most."""
    lazy = {"mode": "lazy", "budget": "z500"}
    for reader, query, more in ((searcher, LEIDEN, {}), (searcher, SHARDS, {}), (unread, SHARDS, lazy)):
        result = ask(reader, query, **more)
        if form_of(query, result.routing.query_type) in NARROW:
            papers = [citation.paper_id for citation in result.citations]
            assert 1 <= len(papers) <= 3 and max(map(papers.count, papers)) <= 2
    survey = ask(unread, "Give an overview of community detection in noun graphs.", mode="lazy", budget="z1500")
    assert word_count(plain(survey.segments)) <= 400


@pytest.mark.parametrize(
    ("query", "text", "does"),
    [
        ("What is early cutoff?", "Early cutoff is the rule that equal results end a build.", True),
        ("What is a lease?", "A lease (or lock with a term) is a promise to a reader.", True),
        ("What is a lease?", "A lease holds back what is collected.", False),
        ("What is a lease?", "We use a lease.", False),
        ("梅雨とは何ですか", "梅雨（つゆ）は、曇りや雨の多い期間である。", True),
    ],
)
def test_a_definition_is_known_by_its_form(query: str, text: str, does: bool) -> None:
    assert defines(query, text) == does


def test_a_definition_stands_first(searcher: Searcher) -> None:
    first = ask(searcher, CUTOFF).citations[0].quote
    assert defines(CUTOFF, first) or "early cutoff" in first.lower()


def test_a_reason_may_have_its_neighbours(unread: Searcher) -> None:
    """Sentences that follow each other in one section, the chosen one among them."""
    cited = [ask(unread, query).citations[0] for query in QUESTIONS if form_of(query, "exploration") == "reasons"]
    assert cited
    for one in cited:
        assert len(one.sentence_ids) <= 5 and (one.key is None or one.key in " ".join(one.quote.split()))


def test_which_papers_is_a_table(unread: Searcher) -> None:
    result = ask(unread, "Which papers describe a graph of noun phrases?")
    [table] = result.tables
    assert table.columns == ["Paper", "Quote", "Page"]
    papers = [row[0].paper_id for row in table.rows]
    assert len(papers) == len(set(papers)) and [row[1].citations for row in table.rows] == [
        [n] for n in range(1, len(papers) + 1)
    ]
    assert all(segment.citations for segment in result.segments[: len(papers)])


def test_a_question_to_many_papers_is_not_abstained_for_want_of_one_sentence(searcher: Searcher) -> None:
    assert ask(searcher, "Which papers describe communities of a noun graph?").status != "abstained"


def test_a_comparison_has_both_sides(searcher: Searcher) -> None:
    result = ask(searcher, "How do Leiden and Louvain differ?")
    text = result.answer
    assert "Leiden" in text and "Louvain" in text
    quotes = [one.quote for one in result.citations]
    numbers = [n for segment in result.segments for n in segment.citations]
    numbers += [n for table in result.tables for row in table.rows for cell in row for n in cell.citations]
    assert len(set(quotes)) == len(quotes) and sorted(numbers) == list(range(1, len(quotes) + 1))


@pytest.mark.parametrize(
    "query",
    [
        "Are more communities connected with Leiden than before and after a refinement?",
        "Compare how readers wait for a writer and how long a lease lasts.",
    ],
)
def test_what_names_no_two_things_is_answered_as_a_whole(unread: Searcher, query: str) -> None:
    result = ask(unread, query)
    assert result.routing.query_type == "comparison" and result.citations and not result.tables


def test_sides_are_names_or_concepts_where_concepts_are_known(level_1_data: Path) -> None:
    graphed = Searcher(DataFolder(level_1_data), "samples", instead=UNREAD)
    assert not ask(graphed, "Compare how readers wait and how writers publish.").tables


def test_three_outcomes(searcher: Searcher) -> None:
    sure = ask(searcher, LEIDEN)
    part = ask(searcher, "Does the Leiden algorithm of Zephyrine guarantee connected communities?")
    none = ask(searcher, "How are penguins fed in the zoo of Utopia?")
    assert (sure.status, part.status, none.status) == ("complete", "partial", "abstained")
    assert "“Zephyrine”" in part.answer and part.citations
    assert sure.confidence > part.confidence > none.confidence  # type: ignore[operator]
    assert "“Utopia”" in none.answer and "“penguins”" not in none.answer


def test_a_general_question_about_one_paper_is_never_abstained(searcher: Searcher) -> None:
    for query in ("What is this paper about?", "この論文の目的は何ですか"):
        result = ask(searcher, query, filters={"paper_ids": ["score-fusion"]})
        assert result.status == "complete" and {c.paper_id for c in result.citations} == {"score-fusion"}
    assert is_general("What is the aim?") and is_general("What does this course teach?")
    assert not is_general("What does this course teach about lichens?")


def test_a_survey_that_quotes_one_paper_is_as_sure_as_a_fact(searcher: Searcher) -> None:
    result = ask(searcher, "What methods of search are described?", filters={"paper_ids": ["score-fusion"]})
    assert result.routing.query_type == "survey" and {c.paper_id for c in result.citations} == {"score-fusion"}
    assert result.status == "partial"


def test_themes_below_the_reports_are_told_in_part(unread: Searcher) -> None:
    result = ask(unread, "What are the main themes of these papers?")
    assert result.status != "complete"


@pytest.mark.parametrize(
    ("authors", "year", "title", "language", "label"),
    [
        (["Ana Castro"], 2021, "T", "en", "Castro (2021)"),
        (["Ana Castro", "Bo de la Cruz"], 2021, "T", "en", "Castro and de la Cruz (2021)"),
        (["Castro, Ana", "B. Li", "C. Wu"], None, "T", "en", "Castro et al."),
        (["山田太郎", "B. Li", "C. Wu"], 2020, "T", "ja", "山田太郎ほか（2020）"),
        ([], 2020, "A study of the growth of lichens on stone", "en", "“A study of the growth of …” (2020)"),
        (["\u202eAna Castro", " "], 2020, "T", "en", "Castro (2020)"),
    ],
)  # fmt: skip
def test_labels(authors: list[str], year: int | None, title: str, language: str, label: str) -> None:
    assert paper_label(authors, year, title, language) == label


def test_names() -> None:
    assert all(is_name(name, f"What is {name} for?") for name in ("Otter", "GPT4", "mRNA", "オッター"))
    assert not is_name("exam", "What is an exam?") and not is_name("Preferred", "Preferred treatment of otters?")
    title = "Improving Quality of Care: Is Peer Review Needed in Dublin?"
    assert not is_name("Quality", title) and not is_name("Improving", title)


def test_a_number_that_was_asked_for(searcher: Searcher) -> None:
    found = ask(searcher, SHARDS)
    lacking = ask(searcher, "How many librarians does the Leiden algorithm employ?")
    assert any(has_digits(one.quote) for one in found.citations)
    assert lacking.status != "complete"


def test_all_of_a_named_paper_is_read(searcher: Searcher) -> None:
    """Beside what was found, each sentence once; nothing of a paper of which nothing was found."""
    index = searcher.current()
    cursor = index.snapshot.cursor()
    rows = cursor.execute("SELECT paper_id, list(chunk_id ORDER BY ord) FROM chunks GROUP BY 1 ORDER BY 1").fetchall()
    (one, chunks), (_, others) = [row for row in rows if len(row[1]) > 2][:2]
    found = load_passages(cursor, [chunks[1], others[0]], [2.0, 1.0])
    passages, sentences = with_named(index, one, found, load_sentences(cursor, found))
    assert [p.chunk_id for p in passages] == [chunks[1], others[0], chunks[0], *chunks[2:]]
    ids = [sentence.sentence_id for sentence in sentences]
    assert len(ids) == len(set(ids)) and {s.passage.chunk_id for s in sentences} >= {chunks[0], chunks[-1], others[0]}
    alone = load_passages(cursor, [others[0]], [1.0])
    for name in ("", one):
        assert with_named(index, name, alone, [])[0] == alone


def test_what_is_no_academic_paper_is_quoted_like_any_other(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    shutil.copy(next(SAMPLES.glob("*.md")), papers)
    (papers / "note.txt").write_text("On moles\n\nThe garden mole digs four metres of tunnel in an hour when it rains.")
    assert call_monjyu(tmp_path / "data", "index", papers, "-c", "mixed").returncode == 0
    searcher = Searcher(DataFolder(tmp_path / "data"), "mixed", instead=UNREAD)
    question = "How many metres of tunnel does the garden mole dig in an hour?"

    def asked(**filters: bool) -> list[str]:
        wanted = make_request(query=question, collection="mixed", mode="hybrid", filters=filters)
        return [citation.quote for citation in searcher.search(wanted).citations]

    assert "four metres of tunnel" in asked()[0]
    assert "four metres of tunnel" in asked(academic=False)[0]
    assert not any("tunnel" in quote for quote in asked(academic=True))
