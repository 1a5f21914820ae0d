"""What the reader is used for: worth of sentences, outcome of an answer, reranking, relevance tests of lazy search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from monjyu_core.errors import QueryError
from monjyu_core.reader import Reader
from monjyu_core.settings.settings import AnswerSettings, Settings
from monjyu_core.storage.folders import DataFolder
from monjyu_query.answers.outcome import Support, outcome_of, unlike_any, unmet_names
from monjyu_query.answers.selection import Question, word_count
from monjyu_query.answers.sentence_ranking import WEIGHTS, Judge, Judged, standing
from monjyu_query.asking.passages import PassageSentence, load_passages, load_sentences
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.ranking import passage_readings
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.passage_readings import ENGLISH, PassageReadings
from monjyu_query.search.searcher import Searcher

LEIDEN = "What does the Leiden algorithm guarantee that Louvain does not?"


@pytest.fixture(scope="module")
def searcher(sample_data: object) -> Searcher:
    searcher = Searcher(DataFolder(sample_data), "samples")  # type: ignore[arg-type]
    searcher.prepare()
    return searcher


@pytest.fixture
def off(monkeypatch: pytest.MonkeyPatch, sample_data: object) -> Iterator[Searcher]:
    monkeypatch.setenv("MONJYU_SEARCH__READER", "off")
    yield Searcher(DataFolder(sample_data), "samples")  # type: ignore[arg-type]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many passages each call of the reader gets; nothing was read before."""
    calls: list[int] = []
    monkeypatch.setattr(passage_readings, "_kept", {})
    real = Reader.read

    def counted(self: Reader, question: str, passages: object, headers: object = ()) -> object:
        calls.append(len(passages))  # type: ignore[arg-type]
        assert len(headers) == len(passages) and all(headers)  # type: ignore[arg-type]  # the titles of their papers
        return real(self, question, passages, headers)  # type: ignore[arg-type]

    monkeypatch.setattr(Reader, "read", counted)
    return calls


def ask(searcher: Searcher, query: str, **more: object) -> SearchResult:
    return searcher.search(make_request(query=query, collection="samples", **{"mode": "hybrid", **more}))


def sentences_of(index: OpenIndex) -> list[PassageSentence]:
    cursor = index.snapshot.cursor()
    chunks = [name for (name,) in cursor.execute("SELECT chunk_id FROM chunks ORDER BY 1").fetchall()]
    return load_sentences(cursor, load_passages(cursor, chunks, [0.0] * len(chunks)))


def judged(searcher: Searcher, query: str, sentences: list[PassageSentence]) -> Judged:
    index, tools = searcher.current(), searcher.tools
    question = Question.of(index.keywords.query_terms(query), len(index.corpus))
    terms = index.keywords.terms([sentence.text for sentence in sentences])
    similarities = tools.embedder.similarities_to(query, index.snapshot.manifest)
    return Judge(index, query, question, similarities, tools.readings).judged(sentences, terms)


def test_a_sentence_that_answers_is_worth_more_than_one_with_the_words(searcher: Searcher) -> None:
    """Of all sentences of the samples, asked in words of which the answer has few."""
    sentences = sentences_of(searcher.current())
    found = judged(searcher, "Which property of its communities does Leiden ensure?", sentences)
    best = sentences[int(np.argmax(found.probability))].text
    assert "connected" in best
    assert found.answered is not None and 0 < found.answered < 1


def test_worth_depends_on_no_batch_and_is_read_once(searcher: Searcher, read: list[int]) -> None:
    query = "How many shards are there, and why?"
    sentences = sentences_of(searcher.current())[:80]
    some = [one for one in sentences if one.passage.chunk_id == sentences[0].passage.chunk_id]
    alone = judged(searcher, query, some)
    first = sum(read)
    among = judged(searcher, query, sentences)
    assert sum(read) == len({one.passage.chunk_id for one in sentences})
    again = judged(searcher, query, sentences)
    assert sum(read) == len({one.passage.chunk_id for one in sentences}) and first == 1
    assert np.array_equal(among.probability, again.probability)
    passage = (some[0].passage.paper_title, [one.text for one in some])
    kept = searcher.tools.readings.of(query, [passage])
    passage_readings._kept.clear()
    fresh = PassageReadings(searcher.settings).of(query, [passage])
    assert fresh is not None and kept is not None
    assert np.array_equal(fresh[0].sentence_scores, kept[0].sentence_scores)
    assert alone.answered == fresh[0].answered


def test_without_the_reader_words_and_vectors_decide(off: Searcher, read: list[int]) -> None:
    found = ask(off, LEIDEN)
    assert found.status in ("complete", "partial") and "connected" in found.answer
    assert found.confidence is not None and read == []
    assert ask(off, "Who won the football match in Lisbon?").status == "abstained"
    with pytest.raises(QueryError, match="no reranker is available for this question"):
        ask(off, LEIDEN, rerank=True)


def test_confidence_grows_with_what_is_found() -> None:
    for weights in WEIGHTS.values():
        found = ((0.01, 0.1), (0.3, 0.5), (0.9, 0.95))
        chances = [weights.confidence(best, answered, 0.05 + best) for best, answered in found]
        assert chances == sorted(chances) and 0 <= chances[0] < weights.whole < chances[2] <= 1


def test_the_english_reader_is_surer_of_a_sentence_that_stands_out() -> None:
    alone, among = (WEIGHTS[ENGLISH].confidence(0.3, 0.5, total) for total in (0.4, 3.0))
    assert among < WEIGHTS[ENGLISH].whole < alone


@pytest.mark.parametrize(
    ("confidence", "unmet", "status"),
    [(0.02, (), "abstained"), (0.2, (), "partial"), (0.9, (), "complete"), (0.9, ("Otter",), "partial")],
)
def test_outcomes(confidence: float, unmet: tuple[str, ...], status: str) -> None:
    support = Support(confidence, 0.06, 0.32, unmet)
    assert outcome_of(support, [], "en", AnswerSettings()).status == status
    sure = AnswerSettings(min_confidence=0.0, sure_confidence=0.0)
    assert outcome_of(support, [], "en", sure).status == ("partial" if unmet else "complete")


def test_the_reader_orders_passages_where_it_is_asked(searcher: Searcher, read: list[int]) -> None:
    usual, other = ask(searcher, LEIDEN, answer=False), ask(searcher, LEIDEN, answer=False, rerank=True)
    assert usual.routing.params.rerank is False and other.routing.params.rerank is True  # type: ignore[union-attr]
    assert sum(read) > 0 and other.hits[0].score != usual.hits[0].score
    assert {hit.chunk_id for hit in other.hits} & {hit.chunk_id for hit in usual.hits}


def test_lazy_search_reads_no_passage_twice(searcher: Searcher, read: list[int]) -> None:
    found = ask(searcher, "Which community detection keeps communities connected?", mode="lazy", budget=20)
    assert found.citations and 0 < sum(read) <= 20 + 24
    read.clear()
    ask(searcher, "Which community detection keeps communities connected?", mode="lazy", budget=20)
    assert read == []


def test_titles_headings_and_what_readers_are_told_to_do_are_worth_less(searcher: Searcher) -> None:
    sentence = sentences_of(searcher.current())[0]
    title, heading = (
        PassageSentence(sentence.passage, "x", 0, 0, 0, 1, text, ())
        for text in (sentence.passage.paper_title, "Results of it")
    )
    whole = PassageSentence(sentence.passage, "x", 0, 0, 0, 1, "It grows.", ())
    visit = PassageSentence(sentence.passage, "x", 0, 0, 0, 1, "Visit https://example.org for all the details.", ())
    assert standing([title, heading, whole, visit], "What grows?").tolist() == [0.1, 0.3, 1.0, 0.1]
    paper = replace(sentence.passage, paper_title="The slow growth of lichens on the rocks of mountains")
    byline = PassageSentence(paper, "x", 0, 0, 0, 1, f"{paper.paper_title} Ann Arbor 1 and Bo Bell 2 Dear Editor.", ())
    assert standing([byline], "What grows?").tolist() == [0.1]
    assert standing([visit], "Where are the details?").tolist() == [1.0]


def test_the_readers_model_goes_with_the_embedding() -> None:
    readings = PassageReadings(Settings())
    assert readings.model == ENGLISH
    assert readings.reader("京都の人口は何人ですか") is None, "it does not read the script"


def test_words_are_missing_only_where_no_spelling_of_them_is_there() -> None:
    assert unlike_any({"COVID-19", "Zanamavir", "heparin"}, ["Zanamivir against COVID19."]) == {"heparin"}


def test_a_name_of_several_words_is_met_by_most_of_them() -> None:
    query = "What does C-C Motif Chemokine Ligand 3 do in Otter Creek?"
    met = {"Motif": False, "Chemokine": True, "Ligand": True, "Otter": False, "Creek": True}
    assert unmet_names(query, met) == ("Otter",)


def test_what_is_said_to_be_missing_was_looked_up() -> None:
    """A name that the collection has elsewhere is only said not to be quoted; a usual word is not spoken of."""
    absent = outcome_of(Support(0.9, 0.06, 0.32, ("Otter", "H5N1"), ("Otter", "prefer")), [], "en", AnswerSettings())
    assert absent.note == "No passage in the collection contains “Otter”. The quotes do not mention “H5N1”."
    usual = outcome_of(Support(0.02, 0.06, 0.32, (), ("prefer",)), [], "en", AnswerSettings())
    assert (usual.status, usual.states_no_answer().text) == ("abstained", "No answer was found.")
    plain = outcome_of(Support(0.9, 0.06, 0.32, (), ("avert", "household"), unseen=1), [], "en", AnswerSettings())
    assert (plain.status, plain.note) == ("complete", "")
    names = ("Penguins", "Zoo")
    other = outcome_of(Support(0.02, 0.06, 0.32, names, names, unseen=1), [], "ja", AnswerSettings())
    assert other.states_no_answer().text == (
        "答えは見つかりませんでした。「Penguins」「Zoo」を含む箇所は、このコレクションにありません。"
    )


def test_word_count() -> None:
    assert word_count("A well-known fact (p. 3).") == 5
    assert word_count("梅雨は季節") == 2.5
