"""What a review remembers follows the papers: deletions, moves, purges, and the collection's own end."""

from __future__ import annotations

from pathlib import Path

from monjyu_assets.indexing.index_operations import delete_index, purge_paper
from monjyu_core.records.reviews import ReviewState, ReviewStore
from monjyu_core.storage.ids import file_paper_id
from monjyu_query.reviews.protocol import Protocol
from monjyu_query.reviews.run import Review, ReviewRun
from monjyu_query.search.searcher import Searcher
from tests.assets.changes import full_paper
from tests.assets.conftest import PROVENANCE
from tests.assets.worlds import World

PROTOCOL = Protocol.model_validate(
    {
        "name": "r",
        "question": "Which systems are fast?",
        "include": [
            {"id": "fast", "text": "It is faster", "rule": {"mention": ["faster"]}},
            {"id": "graphs", "text": "The index helps the graph"},
        ],
    }
)
PAPERS = P1, P2, P3, *_ = [file_paper_id(name) for name in (*(f"p{n}.md" for n in range(1, 6)), PROVENANCE)]


def reviewed(world: World) -> ReviewRun:
    """A run on what is published now, and for the first paper a person's decision."""
    review, searcher = review_of(world)
    index = searcher.current()
    done = review.run(index)
    if P1 in done.state.screened and not done.state.overrides:
        review.decide(index, P1, "exclude", "zqreason")
    return done


def review_of(world: World) -> tuple[Review, Searcher]:
    searcher = Searcher(world.data, "c")
    return Review(searcher, ReviewStore(world.data, "c"), PROTOCOL), searcher


def state(world: World) -> ReviewState:
    return ReviewStore(world.data, "c").read("r")


def holds(world: World, text: bytes) -> list[Path]:
    return [path for path in (world.data.root).rglob("*") if path.is_file() and text in path.read_bytes()]


def test_a_purged_paper_leaves_nothing_and_a_run_that_it_overtakes_brings_nothing_back(world: World) -> None:
    assert set(reviewed(world).screened) == set(PAPERS)
    assert any(path.name == "r.json" for path in holds(world, b"zqsecret1")) and holds(world, b"zqreason")
    review, searcher = review_of(world)
    before = searcher.current()
    purge_paper(world.data, "c", P1)
    assert P1 in review.run(before, again=True).screened  # it still reads the snapshot that it had opened
    assert P1 not in state(world).screened and not state(world).overrides and P2 in state(world).screened
    del before, review, searcher
    assert not holds(world, b"zqreason") and not holds(world, b"zqsecret1")
    assert reviewed(world).screened == [] and P1 not in state(world).screened


def test_a_deleted_paper_goes_and_a_moved_one_keeps_what_people_said(world: World) -> None:
    reviewed(world)
    (world.papers / "p2.md").unlink()
    (world.papers / "sub").mkdir()
    (world.papers / "p1.md").rename(world.papers / "sub" / "other.md")
    world.build()
    moved = file_paper_id("sub/other.md")
    assert P2 not in state(world).screened and P1 not in state(world).screened
    assert list(state(world).overrides) == [moved] and state(world).overrides[moved].reason == "zqreason"
    done = reviewed(world)
    assert done.screened == [moved] and P3 in done.state.screened


def test_only_what_is_new_or_has_changed_is_screened_again(world: World) -> None:
    reviewed(world)
    new = file_paper_id("p6.md")
    (world.papers / "p6.md").write_text(full_paper(6))
    path = world.papers / "p3.md"
    path.write_text(path.read_text() + "\n## Discussion\n\nThe index was edited, and helps the graph.\n")
    world.build()
    done = reviewed(world)
    assert done.screened == [P3, new] and done.kept == len(PAPERS) - 1
    assert state(world).overrides[P1].reason == "zqreason"
    assert reviewed(world).screened == []


def test_the_state_goes_with_the_collection(world: World) -> None:
    reviewed(world)
    delete_index(world.data, "c")
    assert not holds(world, b"zqreason") and ReviewStore(world.data, "c").names() == []
