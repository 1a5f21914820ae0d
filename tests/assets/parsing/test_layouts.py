"""Papers typeset in many classes and styles, scored against their truth, with PDF Info and outline and without."""

from __future__ import annotations

from functools import cache
from statistics import mean

import pytest

from bench.parse_quality import Score, score_paper
from monjyu_assets.parsing.formats.pdf import reading
from tests.conftest import ROOT

FOLDER = ROOT / "tests" / "data" / "layouts"
NAMES = sorted(path.stem for path in (FOLDER / "truth").glob("*.json"))
BARS = {
    "title": 0.98, "authors": 0.95, "affiliation": 0.95, "email": 0.95, "orcid": 0.95, "is_corresponding": 0.95,
    "abstract": 0.93, "keywords": 0.9, "doi": 0.97, "arxiv_id": 0.97, "venue": 0.9, "venue_type": 0.9, "volume": 0.9,
    "issue": 0.9, "pages": 0.9, "publication_date": 0.9, "headings": 0.9, "levels": 0.9, "ref_recall": 0.95,
    "ref_precision": 0.95, "ref_year": 0.97, "ref_title": 0.9, "cited": 0.9,
}  # fmt: skip
STRIPPED = BARS | {"title": 0.951, "authors": 0.851}


@cache
def scores(stripped: bool) -> list[Score]:
    with pytest.MonkeyPatch.context() as patch:
        if stripped:
            patch.setattr(reading, "_info", lambda document: {})
            patch.setattr(reading, "_outline", lambda document, count: [])
        return [
            score_paper(FOLDER / "pdf" / f"{name}.pdf", FOLDER / "truth" / f"{name}.json", FOLDER / "none", False)
            for name in NAMES
        ]


@pytest.mark.parametrize("stripped", [False, True], ids=["whole", "stripped"])
@pytest.mark.parametrize("field", sorted(BARS))
def test_field_on_all_layouts(field: str, stripped: bool) -> None:
    bars = STRIPPED if stripped else BARS
    found = {score.name: score.fields[field] for score in scores(stripped) if field in score.fields}
    assert found
    low = {name: value for name, value in found.items() if value < 1}
    notes = [note for score in scores(stripped) if score.name in low for note in score.notes]
    assert mean(found.values()) >= bars[field], (low, notes)


@pytest.mark.parametrize("name", NAMES)
def test_no_layout_fails_as_a_whole(name: str) -> None:
    fields = next(score for score in scores(False) if score.name.endswith(f"/{name}")).fields
    assert fields["title"] == 1
    assert fields["authors"] >= 0.8
    assert fields.get("abstract", 1) >= 0.8
    assert fields["headings"] >= 0.8
    assert fields["ref_recall"] >= 0.8
