"""The library in a real browser: sorted, filtered, selected, brought in; and its counts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.query.service.conftest import CHROMIUM, Served

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is absent: apt-get install chromium")


def test_sort_filter_select(page: Page, service: Served) -> None:
    page.goto(f"{service.url}/#/papers/samples")
    rows = page.locator(".papers tr")
    expect(rows).to_have_count(9)
    page.select_option("#sort", "citations")
    expect(rows.first).to_contain_text("Incremental Must Equal Full")
    page.get_by_text("Language", exact=True).click()
    page.get_by_role("checkbox", name="ja 2").check()
    expect(rows).to_have_count(2)
    assert "language=ja" in page.url and "sort=citations" in page.url
    page.reload()
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Select all found").click()
    compare = page.get_by_role("link", name="Compare these")
    assert (compare.get_attribute("href") or "").count("papers=") == 2
    with page.expect_download() as saved:
        page.get_by_role("button", name="bib").click()
    assert saved.value.path().read_text().count("@") == 2
    page.get_by_role("button", name="Ask these").click()
    expect(page.get_by_text("Only in:")).to_be_visible()


def test_counts_leave_out_their_own_filter(service: Served) -> None:
    with service.client() as client:
        found = client.get("/library", params={"collection": "samples", "language": "ja"}).json()
        assert found["total"] == 2
        assert {one["value"]: one["papers"] for one in found["facets"]["languages"]} == {"en": 7, "ja": 2}
        assert sum(one["papers"] for one in found["facets"]["types"]) == 2
        problems = client.get("/library/problems", params={"collection": "samples"}).json()
        assert problems["failed_count"] == 0 and not any("/" in name for name in problems["sources"])
        assert client.get("/admin/index", params={"collection": "samples", "backfill_id": "x"}).status_code == 401
