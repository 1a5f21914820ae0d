"""Papers that are cited, or share works with the best hits, rise by their weight; without a weight nothing changes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from monjyu_core.settings.search import PriorSettings
from monjyu_query.search.searcher import Searcher
from tests.assets.worlds import World
from tests.conftest import call_monjyu
from tests.query.test_citation_commands import PAPERS, paper


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    """Four papers that cite each other, and one beside them."""
    papers = {f"{key}.md": paper(key) for key in PAPERS}
    papers["alone.md"] = "---\ntitle: Alone\ndate: 1990-01-01\n---\n\n## Text\n\nWe look at the sea alone.\n"
    world = World.of(tmp_path_factory.mktemp("prior"), papers)
    return Searcher(world.data, world.name)


def _added(searcher: Searcher, **weights: float) -> dict[str, float]:
    index = searcher.current()
    passing = np.ones(len(index.corpus), np.bool_)
    scores = np.zeros(len(index.corpus), np.float32)
    first = index.corpus.paper_ids.index(next(one for one in index.corpus.paper_ids if one.startswith("tides")))
    scores[index.corpus.paper == first] = 1.0
    found = index.prior.weighted(scores, index.corpus, passing, PriorSettings(**weights)) - scores
    return {
        name.rsplit("-", 1)[0]: float(found[index.corpus.paper == place][0])
        for place, name in enumerate(index.corpus.paper_ids)
    }


def test_each_weight_adds_what_it_says(searcher: Searcher) -> None:
    cited = _added(searcher, cited=1.0)
    assert cited["tides"] == pytest.approx(cited["waves"])
    assert cited["waves"] > cited["reefs"] > cited["survey"] == pytest.approx(cited["alone"])
    recent = _added(searcher, recent=0.5)
    assert recent["survey"] > recent["reefs"] > recent["waves"] > recent["tides"] > recent["alone"]
    coupled = _added(searcher, coupled=1.0)
    assert coupled["alone"] == 0 and coupled["waves"] > 0


def test_without_a_weight_nothing_changes(searcher: Searcher) -> None:
    def hits(settings: PriorSettings) -> list[tuple[str, float]]:
        searcher.settings.search.prior = settings
        return searcher.rank_papers("coral reefs", "hybrid", 5)

    plain = hits(PriorSettings())
    assert hits(PriorSettings(recent=-2.0))[0] != plain[0]
    assert hits(PriorSettings()) == plain


def test_it_is_a_setting(tmp_path: Path) -> None:
    (tmp_path / "monjyu.yaml").write_text(json.dumps({"search": {"prior": {"cited": 9}}}))
    assert call_monjyu(tmp_path, "config", "show").returncode == 2
