"""A retraction that a file tells of reaches every answer, or keeps the paper out of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monjyu_assets.indexing.requests import index_collection
from monjyu_core.quality import QUALITY_CHECKS
from monjyu_core.storage.collection import known_record
from monjyu_core.storage.folders import DataFolder
from monjyu_query import Monjyu
from monjyu_query.mcp_server.texts import search_text
from tests.assets.worlds import World
from tests.conftest import call_monjyu
from tests.copies import copy_data

pytestmark = pytest.mark.usefixtures("module_without_reader")

HEADS = (
    "Title,Author,RetractionDate,RetractionDOI,OriginalPaperDate,OriginalPaperDOI,OriginalPaperPubMedID,"
    "RetractionNature,Reason"
)
QUESTION = "What colour do lichens of granite have?"


def paper(name: str, doi: str, text: str, cites: str = "") -> str:
    front = f"---\ntitle: {name}\nauthors:\n  - Ada Berg\ndate: 2019-05-02\ndoi: {doi}\n---\n\n"
    body = f"## Introduction\n\n{text}\n\n"
    return front + body + (f"## References\n\n- Berg, A. (2019). {cites}.\n" if cites else "")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two papers before any notice."""
    first = "Granite lichens and the colour of their rocks"
    papers = {
        "a.md": paper(first, "10.1234/lichen.a", "The lichens of granite have an orange colour in spring."),
        "b.md": paper(
            "Lichens in towns and their colours",
            "10.1234/lichen.b",
            "Town lichens have a grey colour near roads. Granite lichens were seen too.",
            first,
        ),
    }
    return World.of(tmp_path_factory.mktemp("lichens"), papers).data.root


@pytest.fixture
def data(indexed: Path, tmp_path: Path) -> DataFolder:
    """Of the same papers, which no test changes."""
    return DataFolder(copy_data(indexed, tmp_path / "data"))


def papers_of(data: DataFolder) -> Path:
    return Path(known_record(data, "c").sources[0])


def index(data: DataFolder, papers: Path) -> list[str]:
    """What the run said."""
    said: list[str] = []
    index_collection(data, papers, "c", progress=lambda *_: None, say=said.append)
    return said


def retract(data: DataFolder, monkeypatch: pytest.MonkeyPatch, nature: str = "Retraction") -> list[str]:
    row = f"Lichens,A. Berg,3/31/2021 0:00,10.1234/notice,5/2/2019 0:00,10.1234/LICHEN.A,0,{nature},+Data errors;"
    (data.root / "notices.csv").write_text(f"{HEADS}\n{row}\n")
    monkeypatch.setenv("MONJYU_SCHOLARLY__NOTICES", '["notices.csv"]')
    return index(data, papers_of(data))


def ask(data: DataFolder, **how: Any) -> Any:
    return Monjyu(data.root).search(QUESTION, "c", **how)


def test_a_retraction_reaches_the_answer_in_every_interface(data: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ask(data)
    [retracted] = {one.paper_id for one in before.citations if "orange" in one.quote}
    assert not any(one.retracted for one in (*before.citations, *before.hits)) and not before.warnings
    retract(data, monkeypatch)
    after = ask(data)
    assert after.snapshot_id != before.snapshot_id
    flags = {one.paper_id: one.retracted for one in (*after.citations, *after.hits)}
    assert flags == {paper_id: paper_id == retracted for paper_id in flags} and len(flags) == 2
    assert any("is retracted (Retraction Watch, 2021-03-31)" in warning for warning in after.warnings)
    assert "(retracted)" in search_text(after)
    shown = call_monjyu(data.root, "search", QUESTION, "-c", "c")
    assert "(retracted)" in shown.stdout and "is retracted" in shown.stdout
    listed = json.loads(call_monjyu(data.root, "papers", "list", "-c", "c", "--json").stdout)
    assert {one["paper_id"] for one in listed if one["retracted"]} == {retracted}
    view = Monjyu(data.root).citations(retracted, "c")
    [notice] = view.notices
    assert (notice.kind, notice.notice_doi, notice.reasons) == ("retraction", "10.1234/notice", ["Data errors"])
    assert len(view.cited_by) == 1, "what rests on it"
    digest = Monjyu(data.root).summarize(retracted, "c")
    assert digest.citations[0].retracted and "(retracted)" in digest.text()


@pytest.mark.slow
def test_it_can_be_ranked_lower_or_left_out(data: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    retract(data, monkeypatch)
    marked = {hit.paper_id: hit for hit in ask(data, mode="keyword").hits}
    [name] = [hit.paper_id for hit in marked.values() if hit.retracted]
    monkeypatch.setenv("MONJYU_SEARCH__RETRACTED", "lower")
    lower = {hit.paper_id: hit for hit in ask(data, mode="keyword").hits}
    assert lower[name].score < marked[name].score and lower.keys() == marked.keys()
    monkeypatch.setenv("MONJYU_SEARCH__RETRACTED", "exclude")
    upgraded = call_monjyu(data.root, "upgrade", "c", "--level", "3")
    assert upgraded.returncode == 0, upgraded.stderr
    for mode in ("keyword", "vector", "hybrid", "lazy", "local", "global"):
        result = ask(data, mode=mode)
        assert name not in {one.paper_id for one in (*result.hits, *result.citations)}, mode
        assert result.hits or mode == "global", mode


def test_a_reinstated_paper_is_none(data: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    retract(data, monkeypatch, nature="Expression of concern")
    result = ask(data)
    assert not any(one.retracted for one in result.citations)
    assert Monjyu(data.root).citations(result.citations[0].paper_id, "c").notices[0].kind == "concern"


def test_what_services_say_stands_beside_the_paper(data: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    work = {
        "id": "https://openalex.org/W7",
        "doi": "https://doi.org/10.1234/lichen.a",
        "title": "Granite lichens and the colour of their rocks",
        "cited_by_count": 12,
        "is_retracted": True,
        "open_access": {"oa_status": "gold"},
    }
    (data.root / "works.jsonl").write_text(json.dumps(work))
    monkeypatch.setenv("MONJYU_SCHOLARLY__RECORDS", '["works.jsonl"]')
    said = index(data, papers_of(data))
    assert any("is retracted (OpenAlex)" in line for line in said)
    [name] = {one.paper_id for one in ask(data).citations if one.retracted}
    view = Monjyu(data.root).citations(name, "c")
    [record] = view.records
    assert Monjyu(data.root).paper(name, "c").citation_count == 12
    assert (record.source, record.citation_count, record.open_access, record.matched_by) == (
        "OpenAlex",
        12,
        "gold",
        "doi",
    )
    shown = call_monjyu(data.root, "citations", name, "-c", "c").stdout
    assert "OpenAlex: cited 12 times" in shown and "retraction · OpenAlex" in shown


def test_a_file_that_is_not_there_is_said(data: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_SCHOLARLY__NOTICES", '["gone.csv"]')
    done = call_monjyu(data.root, "index", papers_of(data), "-c", "c")
    assert done.returncode == 2 and "gone.csv" in done.stderr


def test_the_check_names_retracted_papers(data: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not_retracted" in QUALITY_CHECKS
    said = retract(data, monkeypatch)
    assert any("is retracted (Retraction Watch, 2021-03-31)" in line for line in said), said
    assert not any("is retracted" in line for line in retract(data, monkeypatch)), "told once"
