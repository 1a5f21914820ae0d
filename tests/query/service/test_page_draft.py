"""A pasted draft is checked on the page: what stands nowhere, passages that lead to their place; files are taken."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.query.service.conftest import IN_BROWSER, Served, tabs_of
from tests.query.service.test_page import broken_rules

pytestmark = IN_BROWSER
TRUE = "The Leiden algorithm guarantees that communities are connected (Morvant and Arrowood, 2025)."
MADE_UP = "Since 1987, the Leiden algorithm guarantees that communities are connected (Morvant and Arrowood, 2025)."


def test_a_draft_is_checked_and_leads_to_the_page(browser: Browser, service: Served) -> None:
    for page, look in tabs_of(browser, ("light", 390, "en"), ("dark", 1360, "ja-JP")):
        page.goto(f"{service.url}/#/locate/samples")
        page.locator("#nav-draft").click()
        page.locator(".draft button[type=submit]").click()
        expect(page.locator(".checked-list")).to_have_count(0)
        files = [{"name": "d.md", "mimeType": "text/markdown", "buffer": f"{TRUE}\n\n{MADE_UP}\n".encode()}]
        page.set_input_files("#draft-file", files)  # type: ignore[arg-type]
        expect(page.locator("#draft-text")).to_have_value(f"{TRUE}\n\n{MADE_UP}\n")
        page.locator(".draft button[type=submit]").click()
        sentences = page.locator(".checked-list > li")
        expect(sentences).to_have_count(2, timeout=60_000)
        expect(sentences.first).to_contain_text("Since 1987")  # the worst comes first
        expect(sentences.first.locator(".verdict.not_judged")).to_be_visible()
        expect(sentences.first.locator(".why")).to_contain_text("1987")
        expect(sentences.last.locator(".why")).to_have_count(0)
        assert not broken_rules(page), look
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), look
        with page.expect_request("**/pages/*.png?*highlight=*"):
            sentences.first.locator("blockquote button").first.click()
        page.keyboard.press("Escape")
        page.set_input_files("#draft-file", [{"name": "d.xls", "mimeType": "text/plain", "buffer": b"x"}])
        expect(page.get_by_role("alert")).to_contain_text("d.xls")
