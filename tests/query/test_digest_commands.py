"""`monjyu summarize`, `monjyu compare` and `monjyu survey` on the samples."""

from __future__ import annotations

import json
from pathlib import Path

from monjyu_query import Monjyu
from tests.conftest import call_monjyu, run_monjyu

PAPER, OTHER = "answer-provenance-ac1d5330", "relevance-budget-438725c6"


def test_json_is_the_digest(sample_data: Path) -> None:
    done = run_monjyu(sample_data, "summarize", "From Answer to Sentence", "--length", "short", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == Monjyu(sample_data).summarize(PAPER, length="short").model_dump(mode="json")


def test_text_names_papers_and_sources(sample_data: Path) -> None:
    compared = call_monjyu(sample_data, "compare", PAPER, OTHER, "--aspect", "purpose", "--aspect", "limitations")
    assert compared.returncode == 0, compared.stderr
    label = Monjyu(sample_data).compare([PAPER, OTHER]).papers[0].label
    assert label in compared.stdout and "[1]" in compared.stdout and "limitations" in compared.stdout
    surveyed = call_monjyu(sample_data, "survey", "incremental indexing", "--papers", "2", "--year-from", "1990")
    assert surveyed.returncode == 0, surveyed.stderr
    assert "What it contributes" in surveyed.stdout


def test_what_is_not_known_is_told(sample_data: Path) -> None:
    for arguments in (["summarize", "nowhere"], ["compare", PAPER], ["survey", "graphs", "--papers", "99"]):
        done = call_monjyu(sample_data, *arguments)
        assert done.returncode == 2 and done.stderr.startswith("monjyu: "), done.stderr
