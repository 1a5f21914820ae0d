"""What papers say, on the page: their brackets are no buttons, their direction turns nothing round."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.bracketed import COLLECTION, OWN, QUESTION
from tests.service.conftest import serving
from tests.service.test_page import CHROMIUM, browser, page  # noqa: F401

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is absent: apt-get install chromium")
TURNING = "[...document.documentElement.outerHTML].filter((c) => /[\\u202a-\\u202e\\u2066-\\u2069]/.test(c)).length"


@pytest.fixture(scope="module")
def address(bracketed_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("page") / "data"
    shutil.copytree(bracketed_data, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_DATA", str(data))
        with serving(data, {"service": {"requests_per_minute": 0}}) as (url, _):
            yield url


def asked(page: Page, address: str) -> None:  # noqa: F811
    page.goto(address)
    page.select_option("#mode", "hybrid")
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".facts")).to_be_visible(timeout=30_000)


def test_a_papers_own_brackets_are_no_buttons(page: Page, address: str) -> None:  # noqa: F811
    asked(page, address)
    answer = page.locator(".result .answer")
    expect(answer).to_contain_text(OWN)
    assert answer.locator(".marker").all_inner_texts() == ["1", "2", "3"]
    answer.locator(".marker").nth(2).click()
    expect(page.locator("#viewer mark")).to_have_text(OWN)


def test_nothing_of_a_paper_turns_the_page_round(page: Page, address: str) -> None:  # noqa: F811
    asked(page, address)
    page.locator(".hits summary").click()
    assert page.evaluate(TURNING) == 0
    where = page.locator(".sources .where bdi")
    assert where.count() == 3
    assert {one.evaluate("e => getComputedStyle(e).unicodeBidi") for one in where.all()} == {"isolate"}
    page.locator(".marker").nth(2).click()
    expect(page.locator("#viewer mark")).to_be_visible()
    assert page.evaluate(TURNING) == 0
    page.goto(f"{address}/#/papers/{COLLECTION}")
    expect(page.locator(".papers li")).to_have_count(3)
    assert page.evaluate(TURNING) == 0 and page.locator(".papers .dim bdi").count() >= 3
    page.locator(".papers a", has_text="eht").click()
    expect(page.locator(".authors bdi")).to_have_text("Ada Berg")
    assert page.evaluate(TURNING) == 0
    assert page.title() == "Counts from eht tsae · Monjyu"
