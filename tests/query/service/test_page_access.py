"""Without a mouse, and without sight of the screen: five tasks by the keyboard alone, every view by axe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.query.service.conftest import IN_BROWSER, Served, tabs_of
from tests.query.service.test_page import broken_rules
from tests.query.service.test_page_session import link_of

pytestmark = IN_BROWSER
QUESTION = "What does the Leiden algorithm guarantee that Louvain does not?"
VIEWS = (
    *("ask/samples", "papers/samples", "paper/samples/relevance-budget-438725c6", "maps/samples", "themes/samples"),
    *("tensions/samples", "compare/samples", "reviews/samples", "reviews/samples/new", "draft/samples"),
    *("locate/samples", "questions/samples", "operate"),
)
MOST_STEPS = 80
_THERE = """([wanted, text]) => {
    const focused = document.activeElement;
    return focused.matches(wanted) && focused.textContent.includes(text);
}"""


def reach(page: Page, selector: str, text: str = "") -> None:
    """By Tab, from where the focus is."""
    for _ in range(MOST_STEPS):
        page.keyboard.press("Tab")
        if page.evaluate(_THERE, [selector, text]):
            return
    pytest.fail(f"Tab does not come to {selector} {text}")


def test_five_tasks_by_the_keyboard_alone(browser: Browser, service: Served, tmp_path: Path) -> None:
    """Ask, open a citation, export, filter, upload."""
    page = browser.new_context(viewport={"width": 1360, "height": 860}, locale="en").new_page()
    with page.expect_response("**/page/session") as opened:
        page.goto(link_of(service))
    assert opened.value.ok
    page.wait_for_url("**/#/ask**")
    page.goto(f"{service.url}/#/ask/samples")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".facts")).to_be_visible(timeout=90_000)

    page.locator(".asked").focus()  # where one comes to by the history; the question box is the last of all
    reach(page, ".marker")
    page.keyboard.press("Enter")
    expect(page.locator("#viewer-title")).to_be_focused(timeout=60_000)
    page.keyboard.press("Escape")
    expect(page.locator(".marker").first).to_be_focused()

    reach(page, ".carry summary")
    page.keyboard.press("Enter")
    reach(page, ".carry button", "BibTeX")
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    assert "@" in Path(saved.value.path()).read_text("utf-8")

    page.goto(f"{service.url}/#/papers/samples")
    expect(page.locator(".papers tr")).to_have_count(9)
    reach(page, ".adding summary")
    page.keyboard.press("Enter")
    reach(page, "#upload-into")
    page.keyboard.press("Control+A")
    page.keyboard.type("by-keyboard")
    own = tmp_path / "own.md"
    own.write_text("# Mine\n\nA sentence of a paper.\n")
    reach(page, "#upload")
    with page.expect_file_chooser() as chosen, page.expect_response("**/admin/papers") as stored:
        page.keyboard.press("Space")
        chosen.value.set_files(own)
    assert stored.value.status == 201

    reach(page, "[data-facet=language] input")
    page.keyboard.press("Space")
    expect(page.locator(".papers tr")).to_have_count(7)
    page.context.close()


def test_no_view_breaks_a_rule_of_axe(browser: Browser, service: Served) -> None:
    for page, look in tabs_of(browser, ("light", 1360, "en"), ("dark", 390, "ja-JP")):
        with page.expect_response("**/page/session") as opened:
            page.goto(link_of(service))
        assert opened.value.ok
        page.wait_for_url("**/#/ask**")
        found: dict[str, list[str]] = {}
        for place, address in enumerate(VIEWS):
            page.goto(f"{service.url}/?{place}#/{address}")  # loaded anew, not what was shown before
            expect(page.locator("main:not([aria-busy]) h1").first).to_be_attached()
            page.wait_for_load_state("networkidle")
            found[address] = broken_rules(page)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (look, address)
        assert not any(found.values()), (look, json.dumps(found, indent=1))
