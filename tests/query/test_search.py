"""Searches of the sample papers, indexed for real."""

from __future__ import annotations

import gc
import json
import math
import weakref
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from monjyu_core.errors import ConfigurationError, QueryError
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.state_store import StateStore
from monjyu_query.asking.request import LONGEST_QUERY, SearchRequest, make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.knowledge.follow_ups import _mostly_without_article
from monjyu_query.modes.best_passages import EVIDENCE_PASSAGES, EVIDENCE_PER_PAPER, evidence_passages
from monjyu_query.ranking.ranker import rank
from monjyu_query.search.routing.question_kinds import QUERY_TYPES
from monjyu_query.search.searcher import Searcher
from monjyu_query.search.traces import NAMESPACE, TraceLog, read_trace

MODES = ("vector", "keyword", "hybrid")
QUESTION = "What is early cutoff in a build system?"
SAMPLES = Path(__file__).parents[2] / "data" / "samples"


@pytest.fixture(scope="module")
def searcher(sample_data: Path) -> Searcher:
    searcher = Searcher(DataFolder(sample_data), "samples")
    searcher.prepare()
    return searcher


@pytest.fixture(scope="module")
def unread(sample_data: Path) -> Searcher:
    """The same without the reader, which takes seconds for each question: for what does not hang on sentences."""
    return Searcher(DataFolder(sample_data), "samples", instead={"search": {"reader": "off"}})


@pytest.fixture(scope="module")
def answers(searcher: Searcher) -> list[tuple[dict[str, Any], SearchResult]]:
    """The questions of the samples, and what each is answered."""
    questions = [json.loads(line) for line in (SAMPLES / "questions.jsonl").read_text().splitlines()]
    return [(question, searcher.search(ask(question["text"]))) for question in questions]


def ask(query: str = QUESTION, **more: Any) -> SearchRequest:
    return make_request(query=query, collection="samples", **more)


@pytest.mark.parametrize("mode", MODES)
def test_finds_and_answers(searcher: Searcher, mode: str) -> None:
    result = searcher.search(ask(mode=mode))
    assert (result.mode, result.status, result.verified, result.level) == (mode, "complete", True, 0)
    assert result.hits[0].paper_id.startswith("incremental-indexes")
    assert "Early cutoff is the property that the build stops" in result.answer
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)


def test_every_answerable_question_is_answered_and_the_others_are_not(
    answers: list[tuple[dict[str, Any], SearchResult]],
) -> None:
    for question, result in answers:
        assert (result.status == "abstained") <= (not question["gold"]), question
        assert (result.status == "complete") <= bool(question["gold"]), question
        found = {hit.paper_id for hit in result.hits}
        assert all(gold["paper_id"] in found for gold in question["gold"])


def test_most_answers_hold_the_gold_sentence(answers: list[tuple[dict[str, Any], SearchResult]]) -> None:
    assert sum(_cites_gold(result, question) for question, result in answers if question["gold"]) >= 6


def _cites_gold(result: SearchResult, question: dict[str, Any]) -> bool:
    quotes = [" ".join(citation.quote.split()) for citation in result.citations]
    return any(" ".join(gold["sentence"].split()) in quote for gold in question["gold"] for quote in quotes)


@pytest.mark.parametrize("query", ["What is the capital of Mongolia?", "the", "?", "日本の首都はどこですか"])
def test_abstains_and_says_why(searcher: Searcher, query: str) -> None:
    result = searcher.search(ask(query))
    assert result.status == "abstained" and result.confidence is not None and result.confidence < 0.2
    assert result.answer.startswith(("No answer was found", "答えは見つかりませんでした。"))
    assert len(result.citations) <= 1 and len(result.segments) == 1 + len(result.citations)


def test_citations_stand_in_the_source(searcher: Searcher) -> None:
    result = searcher.search(ask("How does search under a relevance budget test the passages of communities?"))
    cursor = searcher.current().snapshot.cursor()
    assert result.citations
    for number, citation in enumerate(result.citations, start=1):
        assert citation.n == number
        assert f"[{number}]" in result.answer
        rows = cursor.execute(
            'SELECT s.sentence_id, s.text, s.paper_id, s.start, s."end", t.text FROM sentences s '
            "JOIN sections t ON t.paper_id = s.paper_id AND t.section_ord = s.section_ord "
            "WHERE list_contains(?, sentence_id) ORDER BY s.ord",
            [citation.sentence_ids],
        ).fetchall()
        names, texts, papers, starts, ends, sections = zip(*rows, strict=True)
        assert list(names) == citation.sentence_ids and set(papers) == {citation.paper_id}
        assert citation.quote == sections[0][starts[0] : ends[-1]]
        assert all(text in citation.quote for text in texts)
        assert citation.key in texts if len(texts) > 1 else citation.key is None
    paged = [citation for citation in result.citations if citation.paper_id.startswith("relevance-budget")]
    assert paged
    for citation in paged:
        assert (citation.page, citation.boxes) == (citation.spans[0].page, citation.spans[0].boxes)
        assert all(x0 < x1 and y0 < y1 for x0, y0, x1, y1 in citation.boxes)


def test_json_is_that_of_the_interface(searcher: Searcher) -> None:
    result = json.loads(searcher.search(ask()).model_dump_json())
    shape = {
        "query": str, "collection": str, "snapshot_id": str, "level": int, "mode": str, "routing": dict, "status": str,
        "warnings": list, "trace_id": str, "answer": str, "segments": list, "tables": list, "answer_engine": str,
        "verified": bool, "confidence": float, "citations": list, "hits": list, "claims": list, "subqueries": list,
        "communities_visited": list, "follow_ups": list, "phases": dict, "usage": dict,
        "total_count": int, "total_papers": int,
    }  # fmt: skip
    assert [result.pop(name) for name in ("resolved_query", "lazy", "model", "context")] == [None] * 4
    assert {name: type(value) for name, value in result.items()} == shape
    assert list(result["routing"]) == ["query_type", "reason", "confidence", "runner_up", "params"]
    assert 0.25 <= result["routing"]["confidence"] <= 1 and result["routing"]["runner_up"] in QUERY_TYPES
    hit = ["chunk_id", "paper_id", "paper_title", "score", "text", "section_type", "page", "ord", "year", "authors"]
    assert list(result["hits"][0]) == [*hit, "doi", "scores", "found_by", "retracted"]
    first = result["hits"][0]
    row = """SELECT p.title, c.text, c.section_type FROM chunks c JOIN papers p USING (paper_id)
        WHERE c.chunk_id = ? AND paper_id = ?"""
    told = searcher.current().snapshot.cursor().execute(row, [first["chunk_id"], first["paper_id"]]).fetchone()
    assert told == (first["paper_title"], first["text"], first["section_type"])
    scores = [one["scores"] for one in result["hits"]]
    assert [one["fused"] for one in scores] == sorted((one["fused"] for one in scores), reverse=True)
    assert all(one["vector_rank"] >= 1 and "cutoff" in one["matched"] for one in scores[:1])
    citation = ["n", "paper_id", "paper_title", "chunk_id", "sentence_ids", "quote", "key", "page", "boxes", "spans"]
    assert list(result["citations"][0]) == [*citation, "relevance", "retracted"]
    usage = ["llm_calls", "prompt_tokens", "completion_tokens", "cost_usd", "relevance_tests", "held_back"]
    assert list(result["usage"]) == [*usage, "budget_total", "cache_hits", "seconds"]
    assert result["usage"]["seconds"] > 0


def test_top_k_and_the_cap(searcher: Searcher) -> None:
    for top_k in (1, 3, 7, 12):
        result = searcher.search(ask(top_k=top_k, answer=False))
        assert len(result.hits) == top_k
        (leading, most), *others = Counter(hit.paper_id for hit in result.hits).most_common()
        assert most <= (9 if leading == result.hits[0].paper_id else 3) and all(count <= 3 for _, count in others)
    everything = searcher.search(ask(top_k=1000, answer=False))
    assert len(everything.hits) == 33  # nine papers, three passages each, and six more of the leading one


def test_one_paper_answers_with_its_abstract_and_as_many_passages_as_are_best(searcher: Searcher) -> None:
    index, most = searcher.current(), Counter[str]()
    for query in (QUESTION, "How is a relevance budget spent?", "Why are z-scores used to fuse rankings?"):
        asked = searcher._ask(index, ask(query, mode="hybrid"), None, None)
        ranking = rank(index, searcher.tools.embedder, query, "hybrid", asked.request.filters, asked.settings)
        evidence = evidence_passages(asked, ranking)
        leading = evidence[0].paper_id
        assert len(evidence) == EVIDENCE_PASSAGES == len({passage.chunk_id for passage in evidence})
        assert any(one.paper_id == leading and one.section_type == "abstract" for one in evidence)
        most[query] = sum(passage.paper_id == leading for passage in evidence)
    assert max(most.values()) > EVIDENCE_PER_PAPER


def test_a_named_paper_is_not_capped(searcher: Searcher) -> None:
    one = searcher.search(ask(top_k=8, answer=False, filters={"paper_ids": ["score-fusion"]})).hits
    assert len(one) == 8
    ids = ["score-fusion", "relevance-budget-438725c6"]
    two = searcher.search(ask(top_k=8, answer=False, filters={"paper_ids": ids})).hits
    assert Counter(hit.paper_id for hit in two) == dict.fromkeys(ids, 4)


def test_without_an_answer(searcher: Searcher) -> None:
    result = searcher.search(ask(answer=False))
    assert (result.answer, result.citations, result.verified, result.status) == ("", [], False, "complete")
    assert result.hits
    assert set(result.phases) == {"route", "search", "describe"}
    told = searcher.search(ask()).phases
    assert list(told) == ["route", "search", "answer", "describe"] and told["answer"] > 0


def test_min_score(searcher: Searcher) -> None:
    for mode in MODES:
        scores = [hit.score for hit in searcher.search(ask(mode=mode, answer=False)).hits]
        kept = searcher.search(ask(mode=mode, answer=False, min_score=scores[2])).hits
        assert [hit.score for hit in kept] == [score for score in scores if score >= scores[2] - 1e-6][: len(kept)]
        assert 2 <= len(kept) <= 4
    nothing = searcher.search(ask(min_score=1e6))
    assert (nothing.hits, nothing.status) == ([], "abstained")


def test_a_lowest_score_is_refused_where_scores_are_ranks(searcher: Searcher) -> None:
    for wrong in (
        {"mode": "multi"},
        {"controller": "progressive"},
        {"controller": "hybrid"},
        {"mode": "lazy", "budget": 0},
    ):
        with pytest.raises(QueryError, match="min_score"):
            searcher.search(ask(min_score=5.0, **wrong))


def test_alpha_reaches_from_keyword_to_vector(searcher: Searcher) -> None:
    def order(**more: Any) -> list[str]:
        return [hit.chunk_id for hit in searcher.search(ask(answer=False, **more)).hits]

    assert order(mode="hybrid", alpha=1.0) == order(mode="vector")
    keyword = order(mode="keyword")
    assert order(mode="hybrid", alpha=0.0)[: len(keyword)] == keyword


def test_filters(searcher: Searcher) -> None:
    def papers(**filters: Any) -> set[str]:
        return {hit.paper_id for hit in searcher.search(ask(answer=False, top_k=100, filters=filters)).hits}

    assert papers(paper_ids=["score-fusion"]) == {"score-fusion"}
    assert papers(authors=["Arrowood"]) == {"noun-phrase-graphs-7d9c0d14", "relevance-budget-438725c6"}
    assert papers(year_from=2100) == set()
    assert papers(languages=["ja"]) == {"japanese-bigrams-2bff5a34", "language-merging-57ff5f13"}
    assert papers(languages=["fr"]) == set()
    methods = searcher.search(ask(answer=False, filters={"section_types": ["methods"]})).hits
    assert {hit.section_type for hit in methods} == {"methods"}
    nobody = searcher.search(ask(filters={"authors": ["Nobody Known"]}))
    assert (nobody.status, nobody.hits, nobody.warnings) == ("abstained", [], ["No passage passes the filters."])
    with pytest.raises(QueryError, match="no-such-paper"):
        papers(paper_ids=["no-such-paper"])


@pytest.mark.parametrize(
    "query",
    [
        "a", '"early cutoff"', "early AND NOT cutoff", "+early -cutoff", "cutoff*", "early~2 cutoff^3", "field:cutoff",
        "(unbalanced", '"unbalanced', "'; DROP TABLE chunks; --", "%s %d {0} {chunks}", "\\", "/re/",
        "a" * LONGEST_QUERY, "cutoff " * 1400, "[1] {2} <b>x</b>", "ﬀ ß İ ꙮ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", MODES)
def test_any_text_is_a_question(unread: Searcher, mode: str, query: str) -> None:
    result = unread.search(ask(query, mode=mode, answer=mode != "hybrid"))
    assert all(math.isfinite(hit.score) for hit in result.hits)


@pytest.mark.parametrize("query", ["cutoff " * 1400, "ﬀ ß İ ꙮ"])
def test_the_reader_takes_any_text_too(searcher: Searcher, query: str) -> None:
    filters = {"paper_ids": ["score-fusion"], "section_types": ["abstract"]}
    result = searcher.search(ask(query, mode="vector", filters=filters))
    assert all(math.isfinite(hit.score) for hit in result.hits)


def test_operators_mean_nothing(searcher: Searcher) -> None:
    plain = searcher.search(ask("early cutoff", mode="keyword", answer=False)).hits
    quoted = searcher.search(ask('"early" +cutoff', mode="keyword", answer=False)).hits
    assert [hit.chunk_id for hit in plain] == [hit.chunk_id for hit in quoted]


@pytest.mark.parametrize("mode", ["auto", "keyword", "vector", "hybrid", "lazy"])
def test_a_follow_up_is_written_out_in_every_mode(searcher: Searcher, mode: str) -> None:
    history = [{"role": "user", "content": "What does the Leiden algorithm guarantee?"}]
    more = {"answer": False} | ({"budget": 10} if mode == "lazy" else {})
    result = searcher.search(ask("And what does it repair?", history=history, mode=mode, **more))
    alone = searcher.search(ask("And what does Leiden repair?", mode=mode, **more))
    assert (result.query, result.resolved_query) == ("And what does it repair?", alone.query)
    assert [hit.chunk_id for hit in result.hits] == [hit.chunk_id for hit in alone.hits]
    assert result.routing == alone.routing and alone.resolved_query is None and result.warnings == alone.warnings


def test_a_new_topic_takes_nothing_from_the_question_before(searcher: Searcher) -> None:
    history = [{"role": "user", "content": "What does the Leiden algorithm guarantee?"}]
    result, alone = searcher.search(ask(history=history)), searcher.search(ask())
    assert result.resolved_query is None and result.answer == alone.answer and result.warnings == alone.warnings


def test_twenty_clients(searcher: Searcher) -> None:
    lines = (SAMPLES / "questions.jsonl").read_text().splitlines()[:5] * 4
    questions = [json.loads(line)["text"] for line in lines]

    def searched(number: int) -> SearchResult:
        return searcher.search(ask(questions[number], mode=MODES[number % 3]))

    alone = [searched(number).hits for number in range(10)]
    with ThreadPoolExecutor(20) as clients:
        crowded = list(clients.map(searched, range(len(questions))))
    assert all(result.hits for result in crowded)
    assert [result.hits for result in crowded[:10]] == alone


def test_traces_hold_no_text_of_the_papers(sample_data: Path, tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    log = TraceLog(store)
    result = Searcher(DataFolder(sample_data), "samples", log).search(ask())
    log.flush()
    trace = store.get(NAMESPACE, result.trace_id)
    assert trace is not None
    assert trace["request"]["query"] == QUESTION
    assert trace["snapshot_id"] == result.snapshot_id
    assert [hit["chunk_id"] for hit in trace["hits"]] == [hit.chunk_id for hit in result.hits]
    assert [c["sentence_ids"] for c in trace["citations"]] == [c.sentence_ids for c in result.citations]
    written = json.dumps(trace, ensure_ascii=False)
    assert not any(hit.text[:40] in written for hit in result.hits)
    assert not any(citation.quote[:40] in written for citation in result.citations)


def test_no_trace_is_kept_where_none_is_wanted(
    sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = StateStore(tmp_path)
    log = TraceLog(store)
    store.put(NAMESPACE, "of another", {"collection": "other"})
    Searcher(DataFolder(sample_data), "samples", log).search(ask())
    log.flush()
    assert len(store.keys(NAMESPACE)) == 2
    monkeypatch.setenv("MONJYU_TRACES__NEWEST", "0")
    Searcher(DataFolder(sample_data), "samples", log).search(ask())
    log.flush()
    assert store.keys(NAMESPACE) == ["of another"]
    with pytest.raises(QueryError, match=r"traces\.newest"):
        read_trace(store, "gone")


def test_traces_that_cannot_be_written_do_not_stop_a_search(sample_data: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    log = TraceLog(StateStore(tmp_path / "file"))
    result = Searcher(DataFolder(sample_data), "samples", log).search(ask())
    log.flush()
    assert result.status == "complete"


def test_another_model_is_refused(sample_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = Searcher(DataFolder(sample_data), "samples")
    embedding = searcher.current().snapshot.manifest.embedding
    monkeypatch.setattr(embedding, "fingerprint", "sha256:of other weights")
    for mode in ("vector", "hybrid", "auto"):
        with pytest.raises(QueryError, match="sha256:of other weights"):
            searcher.search(ask(mode=mode))
    assert searcher.search(ask(mode="keyword")).status == "complete"


def test_unknown_collections_name_the_known(sample_data: Path) -> None:
    with pytest.raises(ConfigurationError, match="Known: samples"):
        Searcher(DataFolder(sample_data), "sample")
    with pytest.raises(ConfigurationError):
        Searcher(DataFolder(sample_data), "../samples")


def test_an_index_that_is_let_go_leaves_memory(sample_data: Path) -> None:
    searcher = Searcher(DataFolder(sample_data), "samples")
    searcher.search(ask(mode="keyword", answer=False))
    held = weakref.ref(searcher.current())
    searcher._index = None
    gc.collect()
    assert held() is None


def test_what_is_written_with_an_article_alone_is_not_asked_about_without_one() -> None:
    assert not _mostly_without_article("key aspect", ["This is a key aspect of it.", "The new key aspect follows."])
    assert _mostly_without_article("data science", ["We teach data science.", "The data science course runs."])
