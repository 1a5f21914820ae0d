"""Whatever fails in whatever role and mode: no answer says that the collection lacks what only a failed call kept
away."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from monjyu_core.embedding import load
from monjyu_core.language.packs import Texts
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.storage.folders import DataFolder
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.digests.survey import survey
from monjyu_query.search.searcher import Searcher
from tests.assets.worlds import World
from tests.core.models import fake_server as server
from tests.core.models.fake_server import FakeModels, Reply

ANSWERED = "What does the Leiden algorithm guarantee that Louvain does not?"
UNKNOWN = "How long is the alpine lake frozen each winter?"
MOODS: dict[str, Reply] = {
    "refuses": server.say("", refusal="I cannot help with that."),
    "empty": server.say(""),
    "reasoned on and on": server.say("", thinking="Hm.", finish="length"),
    "filtered": server.say("", finish="content_filter"),
    "prose": server.say("I would rather not say."),
    "wrong numbers": server.say(json.dumps({"scores": [{"sentence": 999, "score": 9}]})),
    "error": server.failing(500),
    "bad key": server.failing(401, "bad key"),
    "hung up": server.closing("before"),
    "a page": server.not_json(),
}
MODES = ("auto", "hybrid", "keyword", "lazy", "local", "global", "multi")
IN_ALL_MODES = ("empty", "reasoned on and on", "prose", "error")
"""The other moods end as the same errors of a call, so that one mode of each way to ask suffices."""


@pytest.fixture
def searcher(known_data: Path) -> Iterator[tuple[FakeModels, Searcher]]:
    with FakeModels() as fake, pytest.MonkeyPatch.context() as patch:
        roles = ("EXPAND", "ASSESS", "CLAIMS", "ANSWER", "VERIFY", "RERANK")
        for name, value in fake.environment(*roles, CACHE__ENABLED="false", SEARCH__ROUTER="model").items():
            patch.setenv(name, value)
        patch.setenv("MONJYU_DATA", str(known_data))
        yield fake, Searcher(DataFolder(known_data), "samples")


def ask(searcher: Searcher, query: str, mode: str = "auto", **more: Any) -> SearchResult:
    more |= {"budget": 10} if mode in ("lazy", "multi") else {}
    return searcher.search(make_request(query=query, collection="samples", mode=mode, **more))


def says_nothing_false(result: SearchResult) -> bool:
    return result.status != "abstained" and not any(
        text in result.answer for text in Texts("answer").every("nothing").values()
    )


@pytest.mark.parametrize("mood", MOODS)
def test_no_mode_blames_the_collection(searcher: tuple[FakeModels, Searcher], mood: str) -> None:
    fake, asking = searcher
    fake.default = MOODS[mood]
    for mode in MODES if mood in IN_ALL_MODES else ("hybrid", "lazy", "global"):
        result = ask(asking, ANSWERED, mode)
        assert says_nothing_false(result), (mode, result.answer, result.warnings)
        assert result.status == "partial" and result.warnings, (mode, result.status, result.answer, result.warnings)
        assert result.citations and result.verified, (mode, result.answer)
        assert server.KEY not in json.dumps(result.model_dump(mode="json"))


@pytest.mark.parametrize("query", [UNKNOWN, "高山湖は毎冬どのくらい凍っていますか？"])
def test_where_nothing_is_found_it_is_said_that_this_is_not_settled(
    searcher: tuple[FakeModels, Searcher], query: str
) -> None:
    fake, asking = searcher
    fake.default = MOODS["error"]
    for mode in ("auto", "hybrid", "lazy", "global"):
        result = ask(asking, query, mode)
        assert says_nothing_false(result), (mode, result.answer)
    assert "It is unknown whether" in ask(asking, UNKNOWN, "hybrid").answer
    fake.default = server.say("NO ANSWER")
    assert ask(asking, query, "keyword").status == "abstained", "the model says it, and no call failed"


def test_a_digest_is_in_part_where_its_calls_fail(searcher: tuple[FakeModels, Searcher]) -> None:
    fake, asking = searcher
    fake.default = MOODS["error"]
    for topic in ("communities in graphs", "frozen alpine lakes in winter"):
        assert survey(asking, topic)[0].status == "partial"


@pytest.fixture
def embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[FakeModels, Callable[..., SearchResult]]]:
    """A collection that a server embedded, whose searches ask it again."""
    monkeypatch.setattr(load, "_models", {})
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    with FakeModels() as fake:
        for name, value in fake.environment(EMBEDDING__REMOTE="default", ROLES__EMBED__RETRIES="0").items():
            monkeypatch.setenv(name, value)
        world = World(tmp_path / "data", tmp_path / "papers")
        for name in ("leiden.md", "lakes.md"):
            (world.papers / name).write_text(PAPERS[name])
        world.build(1)
        monkeypatch.setattr(load, "_models", {})

        def search(query: str, mode: str, **more: Any) -> SearchResult:
            request = make_request(query=query, collection="c", mode=mode, **more)
            return Searcher(world.data, "c").search(request)

        yield fake, search


PAPERS = {
    "leiden.md": "# Connected communities\n\n## Results\n\nUnlike Louvain, the Leiden algorithm guarantees that all "
    "communities are connected. It does so by refining the partition before it aggregates the network.\n",
    "lakes.md": "# Ice of lakes\n\n## Results\n\nThe alpine lake is frozen for 141 days each winter. The ice melts in "
    "May.\n",
}


def test_a_question_that_cannot_be_embedded_is_answered_by_its_words(
    embedded: tuple[FakeModels, Callable[..., SearchResult]],
) -> None:
    fake, search = embedded
    fake.default = lambda request: server.failing(500, "NaN") if "input" in request.body else server.say("")
    for mode in ("auto", "hybrid", "lazy", "multi"):
        result = search(UNKNOWN, mode, **({"budget": 4} if mode == "lazy" else {}))
        assert result.status == "partial" and "141 days" in result.answer, (mode, result.answer)
        assert "could not be embedded" in result.warnings[0] and "NaN" in result.warnings[0]
        nothing = search("Which whales sing at night?", mode)
        assert says_nothing_false(nothing) and nothing.status == "partial", (mode, nothing.answer)
    with pytest.raises(ModelCallError, match="NaN"):
        search(UNKNOWN, "vector")
    assert "141 days" in search(UNKNOWN, "keyword").answer
