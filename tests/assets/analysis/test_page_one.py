"""A model reads the first page of papers in which the rules find no title: only what stands there is taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from monjyu_assets.analysis.page_one import READ_BY_MODEL, FrontMatter, first_page, with_front_matter
from monjyu_core.models.ledger_totals import totals
from monjyu_core.paper import Author, ParsedPaper, Section, Sentence, Span
from tests.assets.worlds import World
from tests.core.models import fake_server as server
from tests.core.models.fake_server import FakeModels

ABSTRACT = "We measured how sea ice drifts under wind, from buoys that were set out in three winters and read daily."
TEXT = f"On the drift of sea ice\nAda Berg and Carl Frank\n{ABSTRACT} The ice drifts to the right of the wind."
COPIED = {"title": "On the Drift of Sea Ice", "authors": ["Ada Berg", "Eve Made-Up"], "abstract": ABSTRACT}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    with FakeModels() as models:
        for name, value in models.environment("PARSE", CACHE__ENABLED="false").items():
            monkeypatch.setenv(name, value)
        models.default = server.say(json.dumps(COPIED))
        yield models


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    made = World(tmp_path / "data", tmp_path / "papers")
    (made.papers / "ice.txt").write_text(TEXT, encoding="utf-8")
    (made.papers / "titled.md").write_text(
        "# A title that is there\n\nThe model is not asked of this.", encoding="utf-8"
    )
    return made


def titles(world: World) -> dict[str, str]:
    return {row["paper_id"].rpartition("-")[0]: row["title"] for row in world.tables()["papers"]}


def test_only_what_stands_on_the_page_is_taken() -> None:
    page = " ".join(TEXT.split())
    paper = with_front_matter(ParsedPaper(), page, FrontMatter.model_validate(COPIED))
    assert (paper.title, paper.abstract) == (COPIED["title"], ABSTRACT)
    assert [author.name for author in paper.authors] == ["Ada Berg"] and paper.warnings == [READ_BY_MODEL]
    invented = FrontMatter(title="A Study of Ice", authors=["Eve Made-Up"], abstract=ABSTRACT.replace("three", "four"))
    assert with_front_matter(ParsedPaper(), page, invented) == ParsedPaper()
    weak = with_front_matter(ParsedPaper(), page, FrontMatter(authors=["Ada Berg", "Carl Frank We"], abstract=page))
    assert [author.name for author in weak.authors] == ["Ada Berg", "Carl Frank"], "as Qwen2.5-Coder-1.5B copies them"
    assert weak.abstract == "", "it gave the whole page"
    known = ParsedPaper(authors=[Author(name="Dora")], abstract="Known.")
    assert with_front_matter(known, page, FrontMatter.model_validate(COPIED)).authors == known.authors


def test_the_first_page_is_sent_and_no_other() -> None:
    spans = {page: [Span(page=page, boxes=[(0, 0, 1, 1)])] for page in (1, 2)}
    one = Sentence(start=0, end=6, text="First.", spans=spans[1])
    two = Sentence(start=7, end=14, text="Second.", spans=spans[2])
    sections = [
        Section(heading="Head", text="First. Second.", sentences=[one, two]),
        Section(heading="Later", text="Second.", sentences=[two]),
    ]
    assert first_page(ParsedPaper(sections=sections)) == "Head\nFirst."


def test_it_is_asked_of_papers_without_a_title_only_and_once(world: World, fake: FakeModels) -> None:
    done = world.build()
    assert len(done["parse"]) == 2 and len(fake.requests) == 1 and fake.problems == []
    assert titles(world) == {"ice": COPIED["title"], "titled": "A title that is there"}
    assert "Made-Up" not in json.dumps(world.tables()["authors"])
    assert totals(world.data, "asset").rows[0]["key"] == "parsed_papers", "it is on the ledger"
    assert world.build()["parse"] == set() and len(fake.requests) == 1
    shared = world.fresh(world.data.root.parent / "fresh")
    shared.build()
    assert shared.tables()["papers"] == world.tables()["papers"], "an incremental index equals a full one"


def test_switched_on_later_it_reads_those_that_lack_a_title(
    world: World, fake: FakeModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONJYU_ROLES__PARSE__ENGINE", "extractive")
    world.build()
    assert titles(world)["ice"] == "" and fake.requests == []
    monkeypatch.setenv("MONJYU_ROLES__PARSE__ENGINE", "llm")
    fake.default = server.failing(401, "bad key")
    world.build()
    assert titles(world)["ice"] == "", "the paper is there all the same"
    fake.default = server.say(json.dumps(COPIED))
    assert {name.rpartition("-")[0] for name in world.build()["parse"]} == {"ice"}, "the next run asks again"
    assert titles(world)["ice"] == COPIED["title"]


def test_a_page_that_a_weak_model_cannot_read_keeps_no_other_from_being_read(world: World, fake: FakeModels) -> None:
    """An answer that is cut off twice says nothing of the next page, and the same page is not paid for at each run."""
    (world.papers / "a_first.txt").write_text(TEXT.replace("sea ice", "pack ice"), encoding="utf-8")

    def reply(request: server.Request) -> server.Reply:
        repeats = '{"title": "On the drift of pack ice", "authors": [' + '"Ada Berg", ' * 40
        return server.say(repeats, finish="length") if "pack ice" in request.prompt else server.say(json.dumps(COPIED))

    fake.default = reply
    assert len(world.build()["parse"]) == 3
    assert titles(world)["ice"] == COPIED["title"] and len(fake.requests) <= 3
    asked = len(fake.requests)
    assert world.build()["parse"] == set() and len(fake.requests) == asked
