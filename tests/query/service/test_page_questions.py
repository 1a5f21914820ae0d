"""Saved questions on the page: saved from an answer, asked, changed, removed; what changed between two snapshots."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from monjyu_core.storage.state_store import StateStore
from monjyu_query.saved.ask_questions import ask_all, record_answers
from monjyu_query.saved.saving import checked, save
from monjyu_query.search.searcher import Searcher
from monjyu_query.service.access.keys import create_key
from tests.assets.worlds import World
from tests.conftest import SAMPLES
from tests.query.service.conftest import IN_BROWSER, Served, serving, tabs_of
from tests.query.service.test_page import broken_rules

pytestmark = IN_BROWSER
PAPERS = ("answer-provenance.md", "relevance-budget.pdf")
IDS = "How long must identifiers be so that they do not collide?"
BUDGET = "How is a budget of relevance tests spent?"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A collection of two snapshots that answered two questions: a file was edited between them."""
    folder = tmp_path_factory.mktemp("questions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_DATA", str(folder / "data"))
        world = World(folder / "data", folder / "papers")
        for name in PAPERS:
            shutil.copy(SAMPLES / name, world.papers)
        world.build()
        asked = [checked({"text": text, "mode": "keyword"}) for text in (IDS, BUDGET)]
        asked[0].expect.must_mention = ["of 64 bits"]
        answer(world, asked)
        path = world.papers / PAPERS[0]
        path.write_text(path.read_text().replace("identifiers of 64 bits collide", "identifiers of 60 letters collide"))
        world.build()
        answer(world, asked)
        key = create_key(StateStore(world.data.state), "test", "editor")[0]
        with serving(world.data.root, {"service": {"requests_per_minute": 0}}) as (url, _):
            yield Served(url, world.data.root, {"editor": key})


def answer(world: World, asked: list) -> None:  # type: ignore[type-arg]
    searcher = Searcher(world.data, "c")
    save(searcher, asked)
    record_answers(searcher, searcher.current().snapshot.id, ask_all(searcher, asked).answers)


def test_a_question_is_saved_from_its_answer_and_asked(page: Page, served: Served) -> None:
    page.add_init_script(f"sessionStorage.setItem('monjyu-key', '{served.keys['editor']}')")
    page.goto(f"{served.url}/#/ask/c")
    page.fill("#question", "How are relevance tests counted?")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Save this question").click(timeout=60_000)
    expect(page.locator("#qs-text")).to_be_focused()
    expect(page.locator("#qs-text")).to_have_value("How are relevance tests counted?")
    offered = page.locator(".expected-papers select").first
    expect(offered.locator("option:checked")).to_have_text("must be cited")
    page.fill("#qs-words", "tested\nzebra crossing")
    page.get_by_role("button", name="Save and ask").click()

    mine = page.locator(".question-list > li", has_text="How are relevance tests counted?")
    expect(mine.locator(".verdict")).to_contain_text("not as expected", timeout=60_000)
    expect(mine.locator(".failures").first).to_have_text("The answer does not say “zebra crossing”.")
    mine.get_by_role("link", name="Edit").click()
    expect(page.locator("#qs-words")).to_have_value("tested\nzebra crossing")
    page.fill("#qs-words", "tested")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Save and ask").press("Enter")
    expect(mine.locator(".verdict .good")).to_have_text("as expected", timeout=60_000)
    expect(page.locator(".question-list > li")).to_have_count(3)
    mine.get_by_role("button", name="Remove").click()
    page.locator("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator(".question-list > li")).to_have_count(2)
    page.reload()
    expect(page.locator(".question-list > li")).to_have_count(2)
    page.get_by_role("button", name="Ask all now").click()
    expect(page.locator(".saved-questions")).to_contain_text("Done. The results are recorded", timeout=60_000)


def test_whoever_reads_sees_what_held_and_what_changed(page: Page, browser: Browser, served: Served) -> None:
    page.goto(f"{served.url}/#/questions/c")
    broken = page.locator(".question-list > li", has_text=IDS)
    expect(broken.locator(".failures").first).to_have_text("The answer does not say “of 64 bits”.")
    broken.locator("summary").get_by_text("Answer", exact=True).click()
    expect(broken.locator(".answer .marker").first).to_be_visible()
    broken.get_by_text("Results for 2 snapshots").click()
    expect(broken.locator(".outcomes .state")).to_have_text(["not as expected", "as expected"])
    expect(page.get_by_role("button", name="Remove")).to_have_count(0)
    page.get_by_role("link", name="What changed").click()
    expect(page.locator(".saved-questions")).to_contain_text("1 of 2 answers changed.")
    gained = page.locator(".answer-changes li", has_text="gained").first
    expect(gained).to_contain_text("60 letters")
    expect(gained).to_contain_text("because its file was edited")
    gained.get_by_role("button").click()
    expect(page.locator("#viewer mark")).to_contain_text("60 letters")
    page.keyboard.press("Escape")
    expect(gained.get_by_role("button")).to_be_focused()

    for tab, look in tabs_of(browser, ("dark", 1360, "en"), ("light", 390, "ja-JP")):
        tab.add_init_script(f"sessionStorage.setItem('monjyu-key', '{served.keys['editor']}')")
        for place, there in (("", ".question-list h2"), ("/new", "#qs-text"), ("/changes", ".answer-changes")):
            tab.goto(f"{served.url}/#/questions/c{place}")
            expect(tab.locator(there).first).to_be_visible()
            assert not broken_rules(tab), (look, place)
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), (look, place)
