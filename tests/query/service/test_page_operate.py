"""The operator's view in a browser: what there is, and a key that is made and shown once; usable by all."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.query.service.conftest import CHROMIUM, Served

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is absent: apt-get install chromium")


def test_operators_see_collections_and_make_and_revoke_a_key(page: Page, service: Served) -> None:
    page.add_init_script(f"sessionStorage.setItem('monjyu-key', '{service.keys['admin']}')")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{service.url}/#/operate")
    expect(page.locator("main h1")).to_have_text("Operate")
    expect(page.locator(".operate")).to_contain_text("samples")
    expect(page.locator(".operate")).to_contain_text("monjyu up")
    page.get_by_label("Name", exact=True).fill("made on the page")
    page.get_by_role("button", name="Create a key").click()
    expect(page.locator(".operate code")).to_contain_text("mj_")
    page.reload()
    row = page.locator("tr", has_text="made on the page")
    row.get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)


def test_readers_are_told_that_it_is_not_for_them(page: Page, service: Served) -> None:
    page.goto(f"{service.url}/#/operate")
    expect(page.locator("main")).to_contain_text("This is for administrators")
