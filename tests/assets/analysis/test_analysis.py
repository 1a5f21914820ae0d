"""PDFs read by Document Intelligence: paid once, mapped with their boxes, and nothing lost when it fails."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pytest
from azure.ai.documentintelligence.models import AnalyzeResult
from PIL import Image

from monjyu_assets.analysis.analyst import Analyst
from monjyu_assets.indexing.index_operations import purge_paper
from monjyu_assets.planning.estimating import estimate_upgrade
from monjyu_assets.sources.records import StoredAnalyses
from monjyu_core.models.ledger_totals import totals
from monjyu_query.service.server.draw_page import MARK, draw
from tests.assets.analysis.fake_intelligence import FakeIntelligence, layout_of
from tests.assets.in_process import PDFIUM
from tests.assets.worlds import World
from tests.conftest import SAMPLES

PDFS = sorted(SAMPLES.glob("*.pdf"))
READ = {"pdf": {"processor": "document_intelligence"}}


@pytest.fixture
def service() -> Iterator[FakeIntelligence]:
    fake = FakeIntelligence()
    yield fake
    fake.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One PDF, of four pages."""
    place = tmp_path / "papers"
    place.mkdir()
    write_pages(place / "long.pdf", 4)
    return place


def write_pages(file: Path, pages: int) -> None:
    """A PDF of so many pages of the samples."""
    with PDFIUM, pdfium.PdfDocument.new() as whole:
        while len(whole) < pages:
            for path in PDFS:
                with pdfium.PdfDocument(path) as source:
                    whole.import_pages(source)
        while len(whole) > pages:
            whole.del_page(len(whole) - 1)
        whole.save(file)


@pytest.fixture
def make(tmp_path: Path, folder: Path, service: FakeIntelligence, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A world with these settings."""
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))

    def made(settings: dict[str, Any], **more: Any) -> World:
        world = World(tmp_path / "data", folder)
        azure = {"keys_in_file": True, "document_intelligence": service.settings(**more)}
        (world.data.root / "monjyu.yaml").write_text(json.dumps({**settings, "azure": azure}))
        return world

    return made


def test_twenty_pages_are_paid_once_and_every_sentence_has_its_boxes(make: Any, service: FakeIntelligence) -> None:
    world = make(READ)
    write_pages(world.papers / "long.pdf", 20)
    world.parse()
    tables = world.tables()
    [paper] = tables["papers"]
    assert (paper["processor"], paper["page_count"], service.analysed, service.wrong) == (
        "document_intelligence", 20, 1, [],
    )  # fmt: skip
    sentences = tables["sentences"]
    placed = [one for one in sentences if one["spans"]]
    told = [one for one in sentences if re.search(r"\w\w", one["text"])]
    assert len(told) > 150 and all(one["spans"] for one in told)
    for one in placed:
        for span in one["spans"]:
            assert 1 <= span["page"] <= 20
            assert all(0 <= b[0] < b[2] <= 700 and 0 <= b[1] < b[3] <= 900 for b in map(_four, span["boxes"]))
    assert {one["spans"][0]["page"] for one in placed} == set(range(1, 21))
    assert [(one["caption"], one["headers"]) for one in tables["tables"]] == [
        ("Table 1: Papers", ["cell 00", "cell 01"])
    ]
    [cost] = [row for row in totals(world.data, by="model").rows if row["key"] == "prebuilt-layout"]
    assert (cost["calls"], round(cost["cost_usd"], 4)) == (1, 0.2)

    (world.papers / "long.pdf").touch()
    world.parse()
    world.fresh(world.data.root).parse()
    assert service.analysed == 1


def _four(box: Any) -> tuple[float, ...]:
    return tuple(box.values()) if isinstance(box, dict) else tuple(box)


def test_what_the_fake_answers_is_what_the_client_knows() -> None:
    result = AnalyzeResult(layout_of(PDFS[0].read_bytes(), formulas=True))
    assert result.pages[0].lines and result.paragraphs and result.tables and result.figures
    assert result.pages[0].formulas and result.pages[0].formulas[0].value == "x^{2}"


def test_a_kill_between_sending_and_reading_is_not_paid_twice(
    make: Any, service: FakeIntelligence, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make(READ)
    with monkeypatch.context() as killed:
        killed.setattr(StoredAnalyses, "keep", _killed)
        with pytest.raises(KeyboardInterrupt):
            world.parse()
    world.parse()
    assert service.analysed == 1 and world.tables()["papers"][0]["processor"] == "document_intelligence"


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("fault", [429, 503])
def test_what_passes_is_tried_again(make: Any, service: FakeIntelligence, fault: int) -> None:
    service.faults.extend([fault, fault])
    world = make(READ)
    world.parse()
    assert world.tables()["papers"][0]["processor"] == "document_intelligence" and service.analysed == 1


@pytest.mark.parametrize(
    ("faults", "settings"),
    [
        ([503] * 9, {}),
        (["", "half"] * 4, {"retries": 0}),
        (["slow"] * 4, {"timeout_seconds": 0.3, "retries": 0}),
        ([], {"api_key": "wrong"}),
    ],
)
def test_without_the_service_the_paper_is_read_here_and_asked_for_again(
    make: Any, service: FakeIntelligence, faults: list[int | str], settings: dict[str, Any]
) -> None:
    service.faults.extend(faults)
    world = make(READ, **settings)
    world.parse()
    [paper] = world.tables()["papers"]
    assert paper["processor"] == "pypdfium2"
    service.faults.clear()
    world = make(READ)
    world.parse()
    assert world.tables()["papers"][0]["processor"] == "document_intelligence"


def test_an_analysis_that_takes_long_is_fetched_by_the_next_run(make: Any, service: FakeIntelligence) -> None:
    world = make(READ, wait_seconds=0.01)
    world.parse()
    assert world.tables()["papers"][0]["processor"] == "pypdfium2"
    make(READ).parse()
    assert world.tables()["papers"][0]["processor"] == "document_intelligence" and service.analysed == 1


def test_the_estimate_counts_pages_not_yet_read(make: Any) -> None:
    make({}).parse()
    world = make(READ)
    cost = estimate_upgrade(world.data, "c", 0)
    assert (cost.pages, cost.as_json()["pages"], round(cost.cost_usd, 4)) == (4, 4, 0.04)
    world.parse()
    assert estimate_upgrade(world.data, "c", 0).as_json() == dict.fromkeys(
        ("llm_calls", "prompt_tokens", "completion_tokens", "cost_usd"), 0
    )


def test_caps_hold(make: Any, service: FakeIntelligence) -> None:
    for settings, more in ((READ, {"max_pages_per_run": 3}), (READ | {"spending": {"max_cost_usd_per_run": 0.03}}, {})):
        world = make(settings, **more)
        world.parse()
        assert service.analysed == 0 and world.tables()["papers"][0]["processor"] == "pypdfium2"


def test_pages_that_the_service_left_out_are_missed(make: Any, service: FakeIntelligence) -> None:
    """A free tier reads two pages: the paper says so, or fails where the settings want all of it."""
    service.most_pages = 2
    world = make(READ)
    world.parse()
    [paper] = world.tables()["papers"]
    assert paper["page_count"] == 2 and any("2 of 4 pages" in told for told in paper["warnings"])
    world = make({"pdf": READ["pdf"] | {"require_all_pages": True}})
    world.parse()
    [failure] = world.tables()["failures"]
    assert failure["error_type"] == "MalformedDocument" and "2 of 4 pages" in failure["message"]
    assert service.analysed == 1, "the analysis was paid twice"


def test_a_refused_document_is_sent_once(make: Any, service: FakeIntelligence) -> None:
    service.faults.append(400)
    world = make(READ)
    world.parse()
    asked = len(service.asked)
    (world.papers / "long.pdf").touch()
    make(READ).parse()
    assert len(service.asked) == asked and world.tables()["papers"][0]["processor"] == "pypdfium2"


def test_fallback_reads_only_what_failed_here(make: Any, service: FakeIntelligence) -> None:
    """A page without text is a scan: only the service can read it."""
    world = make({"pdf": {"fallback": "document_intelligence"}, "ocr": {"enabled": "off"}})
    (world.papers / "long.pdf").write_bytes((SAMPLES / "relevance-budget.pdf").read_bytes())
    scan = pdfium.PdfDocument.new()
    scan.new_page(612, 792)
    scan.save(world.papers / "scan.pdf")
    world.parse()
    processors = {row["paper_id"].split("-")[0]: row["processor"] for row in world.tables()["papers"]}
    assert service.analysed == 1 and processors["long"] == "pypdfium2"


TOLD = [
    "Light in small cells",
    "Plants turn towards the lamp within two hours when the lamp is warm.",
    "A second plant in the shade did not turn at all.",
]


@pytest.mark.parametrize("processor", ["document_intelligence", "pypdfium2"])
def test_a_picture_is_a_paper_where_the_service_reads_pictures(
    make: Any, service: FakeIntelligence, processor: str
) -> None:
    world = make({"pdf": {"processor": processor}}, reads=["image"])
    file = world.papers / "scan.png"
    Image.new("RGB", (640, 480), "white").save(file)
    service.told[file.read_bytes()] = TOLD
    (world.papers / "method" / "figures").mkdir(parents=True)
    Image.new("RGB", (9, 9)).save(world.papers / "method" / "figures" / "tree.png")
    (world.papers / "method" / "method.md").write_text("# A method\n\nIt has a tree, which is a picture of its own.")
    world.parse()
    pictures = [row for row in world.tables()["papers"] if row["document_type"] == "image"]
    if processor == "pypdfium2":
        assert pictures == [] and service.analysed == 0
        return
    assert [(row["title"], row["page_count"], service.analysed) for row in pictures] == [(TOLD[0], 1, 1)]
    [box] = [
        _four(box)
        for one in world.tables()["sentences"]
        for span in one["spans"] or ()
        for box in span["boxes"]
        if one["text"] == TOLD[2]
    ]
    assert box == (20, 100, 600, 130)
    drawn = Image.open(io.BytesIO(draw(str(file), 1, 320, [list(box)]))).convert("RGB")
    assert (drawn.size, drawn.getpixel((100, 55)), drawn.getpixel((100, 200))) == (
        (320, 240), MARK, (255, 255, 255),
    )  # fmt: skip


@pytest.mark.parametrize(("kind", "pages"), [("docx", {None}), ("pptx", {2})])
def test_office_files_are_read_by_the_service_where_asked(
    make: Any, service: FakeIntelligence, kind: str, pages: set[int | None]
) -> None:
    sample = next(SAMPLES.glob(f"*.{kind}"))
    service.told[sample.read_bytes()] = TOLD
    for reads, processor in ((["pdf"], None), ([kind], "document_intelligence")):
        world = make(READ, reads=reads)
        (world.papers / "long.pdf").unlink(missing_ok=True)
        shutil.copy(sample, world.papers)
        world.parse()
        [paper] = world.tables()["papers"]
        assert processor is None or (paper["title"], paper["processor"]) == (TOLD[0], processor)
    assert service.analysed == 1 and service.wrong == []
    sections = world.tables()["sections"]
    assert {page for one in sections for page in (one["page_start"], one["page_end"])} == pages
    assert TOLD[2] in {one["text"] for one in world.tables()["sentences"]}


def test_purge_takes_the_analysis(make: Any) -> None:
    world = make(READ)
    (world.papers / "note.md").write_text("# A note\n\nIt stays here, with some words of its own.\n")
    world.build()
    kept = list(world.work.folder.analyses.iterdir())
    [paper_id] = [row["paper_id"] for row in world.tables()["papers"] if row["document_type"] == "pdf"]
    purge_paper(world.data, "c", paper_id)
    assert len(kept) == 1 and not list(world.work.folder.analyses.iterdir())


def test_formulas_are_latex(make: Any) -> None:
    world = make(READ, formulas=True)
    world.parse()
    assert ("x^{2}", False) in {(row["latex"], row["inline"]) for row in world.tables()["equations"]}


def test_nothing_is_asked_unless_it_is_set(make: Any, service: FakeIntelligence) -> None:
    world = make({})
    world.parse()
    assert not Analyst(world.work, "parsed_papers").in_use and not service.asked
