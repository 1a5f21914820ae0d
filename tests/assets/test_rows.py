"""What the row records say of columns holds in tables that the stages write."""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import get_args, get_type_hints

import pytest

from monjyu_core.storage.schemas import TABLES
from tests.assets.changes import full_paper
from tests.assets.worlds import World

EMPTY = {
    "figures",
    "paper_notices",
    "scholarly_records",
    "embedding_failures",
    "entity_failures",
    "report_failures",
    "claim_failures",
    "chunk_communities",
    "alike_papers",
    "alike_titles",
    "corrected_fields",
}
"""Tables that these papers have no row of; `chunk_communities` is a view."""
SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples" / "papers"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Level 4 of four papers, one a PDF, and of one that cannot be read."""
    root = tmp_path_factory.mktemp("rows")
    made = World(root / "data", root / "papers")
    for number in (3, 8):
        (made.papers / f"p{number}.md").write_text(full_paper(number))
    for name in ("noun-phrase-graphs.pdf", "answer-provenance.md"):
        (made.papers / name).write_bytes((SAMPLES / name).read_bytes())
    (made.papers / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    made.build(level=4)
    return made


@pytest.mark.slow
def test_only_columns_that_say_so_are_null(world: World) -> None:
    empty = set()
    for name, spec in TABLES.items():
        hints = get_type_hints(spec.row)
        parts = [part.read() for part in world.work.parts.heads(name)]
        if not sum(part.num_rows for part in parts):
            empty.add(name)
        for column, hint in hints.items():
            nulls = sum(part[column].null_count for part in parts)
            assert not nulls or NoneType in get_args(hint), f"{name}.{column} has {nulls} nulls"
    assert empty <= EMPTY
