"""Sources of a collection: added, moved, removed and chosen from, with ids and results that stay."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import dagster as dg
import pytest

from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.sources.records import chosen, moved_source, named_source, rules_of, with_source, without_source
from monjyu_assets.sources.scan import find_files
from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.collection import CollectionRecord, SourceRules, load_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.parts import PartStore
from tests.assets.changes import paper_text
from tests.conftest import call_monjyu


@pytest.mark.parametrize(
    ("include", "exclude", "left"),
    [
        ([], [], ["a.md", "b.txt", "drafts/c.md", "old/drafts/d.md"]),
        (["*.md"], [], ["a.md", "drafts/c.md", "old/drafts/d.md"]),
        ([], ["drafts"], ["a.md", "b.txt"]),
        ([], ["drafts/*"], ["a.md", "b.txt", "old/drafts/d.md"]),
        ([], ["/drafts/"], ["a.md", "b.txt", "old/drafts/d.md"]),
        (["old/*", "b.*"], ["*.txt"], ["old/drafts/d.md"]),
    ],
)
def test_patterns_choose_files(include: list[str], exclude: list[str], left: list[str]) -> None:
    names = ["a.md", "b.txt", "drafts/c.md", "old/drafts/d.md"]
    assert [name for name in names if chosen(name, SourceRules(include=include, exclude=exclude))] == left


def ids(record: CollectionRecord) -> dict[str, str]:
    """What makes the id of each file, by path."""
    return {str(file.path): f"{file.relative} {file.salt}" for file in find_files(record)}


def test_ids_of_a_source_stay_whatever_becomes_of_the_others(tmp_path: Path) -> None:
    record = CollectionRecord(name="c")
    folders = {name: tmp_path / name for name in ("one", "two", "three")}
    for folder in folders.values():
        folder.mkdir()
        (folder / "a.md").write_text(folder.name)
        record = with_source(record, folder)
    before = ids(record)
    assert len(set(before.values())) == 3
    two, three = str(folders["two"]), str(folders["three"])
    left = without_source(record, str(folders["one"]))
    assert left.sources == [two, three]
    assert ids(left) == {path: made for path, made in before.items() if "/one/" not in path}
    moved = moved_source(left, two, tmp_path / "moved")
    folders["two"].rename(tmp_path / "moved")
    assert ids(moved)[str(tmp_path / "moved" / "a.md")] == before[f"{two}/a.md"]
    folders["two"].mkdir()
    (folders["two"] / "a.md").write_text("another two")
    again = with_source(with_source(moved, folders["two"]), folders["one"])
    assert len(set(ids(again).values())) == 4, "the old place of a source that was moved is a source of its own"


def test_sources_do_not_overlap(tmp_path: Path) -> None:
    record = with_source(CollectionRecord(name="c"), tmp_path / "a" / "b")
    assert with_source(record, tmp_path / "a").sources == [str(tmp_path / "a")]
    assert with_source(record, tmp_path / "a" / "b" / "c") == record
    both = with_source(record, tmp_path / "d")
    for new in (tmp_path / "d", tmp_path / "d" / "e", tmp_path):
        with pytest.raises(ConfigurationError, match="already"):
            moved_source(both, str(tmp_path / "a" / "b"), new)
    with pytest.raises(ConfigurationError, match="Its sources: "):
        named_source(both, tmp_path / "nowhere")
    assert named_source(both, tmp_path / "d" / ".." / "d") == str(tmp_path / "d")


def test_a_record_without_rules_has_salts_by_place() -> None:
    record = CollectionRecord(name="c", sources=["/x/one", "/x/two"])
    assert {source: rules.salt for source, rules in rules_of(record).items()} == {"/x/one": "", "/x/two": "/x/two"}
    assert rules_of(without_source(record, "/x/one")) == {"/x/two": SourceRules(salt="/x/two")}


class Shell:
    """Two folders of papers, and a data folder for commands."""

    def __init__(self, root: Path) -> None:
        self.root, self.data = root, DataFolder(root / "data")
        for folder, numbers in {"ra": (11, 24), "rb": (31,)}.items():
            (root / folder).mkdir()
            for number in numbers:
                (root / folder / f"p{number}.md").write_text(paper_text(number))

    def __call__(self, *arguments: str | Path) -> CompletedProcess[str]:
        return call_monjyu(self.data.root, *arguments)

    def done(self, *arguments: str | Path) -> dict[str, int]:
        """The counts of papers of a command that must succeed."""
        answer = self(*arguments, "--json")
        assert answer.returncode == 0, answer.stderr
        counts: dict[str, int] = json.loads(answer.stdout)["papers"]
        return {name: count for name, count in counts.items() if count}

    def parts(self) -> dict[str, set[str]]:
        store = PartStore(self.data.collection("t").parts)
        return {name: {part.data_version for part in store.heads(name)} for name in ("sentences", "chunk_embeddings")}

    def runs_of_papers(self) -> set[str]:
        with open_instance(self.data) as instance:
            return {run.run_id for run in instance.get_runs() if run.job_name in ("level_0", "level_1")}

    def recomputed(self, besides: set[str]) -> dict[str, int]:
        """Papers that the assets' runs of papers have computed, some of the runs left out."""
        found, runs = {}, self.runs_of_papers() - besides
        assert runs
        with open_instance(self.data) as instance:
            for asset in ("parsed_papers", "chunks", "chunk_embeddings"):
                events = instance.fetch_materializations(dg.AssetKey(asset), limit=1000).records
                metadata = [one.asset_materialization.metadata for one in events if one.run_id in runs]
                found[asset] = sum(int(one["papers_recomputed"].value) for one in metadata if "papers_total" in one)
        return found

    def listed(self) -> list[dict[str, object]]:
        answer = self("sources", "list", "-c", "t", "--json")
        found: list[dict[str, object]] = json.loads(answer.stdout)["sources"]
        return found


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_a_moved_source_keeps_ids_and_results(shell: Shell) -> None:
    ra, rb, moved = (shell.root / name for name in ("ra", "rb", "moved"))
    (ra / "below").mkdir()
    (ra / "below" / "p90.md").write_text(paper_text(90))
    assert shell.done("index", ra, rb, "-c", "t", "--no-recursive") == {"total": 3, "added": 3, "skipped": 1}
    before, first = shell.parts(), shell.runs_of_papers()  # several runs, where the papers' shards are apart
    ra.rename(moved)
    refused = shell("index", rb, "-c", "t")
    assert refused.returncode == 1
    assert f"`monjyu sources move {ra} NEW -c t`" in refused.stderr
    assert f"`monjyu sources remove {ra} -c t`" in refused.stderr
    assert [source["readable"] for source in shell.listed()] == [False, True]

    assert shell.done("sources", "move", ra, moved, "-c", "t") == {"total": 3, "unchanged": 3, "skipped": 1}
    assert shell.parts() == before, "ids or texts have changed"
    assert shell.recomputed(besides=first) == {"parsed_papers": 0, "chunks": 0, "chunk_embeddings": 0}
    assert [(source["path"], source["papers"]) for source in shell.listed()] == [(str(moved), 2), (str(rb), 1)]


@pytest.mark.slow
def test_sources_that_vanish_are_removed_added_again_and_chosen_from(shell: Shell) -> None:
    ra, rb = shell.root / "ra", shell.root / "rb"
    assert shell.done("index", ra, rb, "-c", "t")["total"] == 3
    rb.rename(shell.root / "away")
    allowed = shell("index", "-c", "t", "--allow-deletes")
    assert allowed.returncode == 0 and f"`monjyu sources remove {rb} -c t`" in allowed.stderr
    again = shell("index", ra, "-c", "t")
    assert again.returncode == 0 and f"Source {rb} cannot be read" in again.stderr, "its papers have gone already"
    assert shell.done("sources", "remove", rb, "-c", "t") == {"total": 2, "unchanged": 2}
    assert "cannot be read" not in shell("index", "-c", "t").stderr

    assert shell.done("sources", "add", shell.root / "away", "-c", "t", "--exclude", "drafts")["added"] == 1
    (shell.root / "away" / "drafts").mkdir()
    (shell.root / "away" / "drafts" / "p1.md").write_text(paper_text(1))
    assert shell.done("index", "-c", "t") == {"total": 3, "unchanged": 3, "skipped": 1}
    assert shell.done("sources", "remove", shell.root / "away", "-c", "t") == {"total": 2, "deleted": 1, "unchanged": 2}
    assert shell.done("index", ra, "-c", "t", "--include", "p11.*") == {
        "total": 1,
        "deleted": 1,
        "unchanged": 1,
        "skipped": 1,
    }
    assert shell.done("index", ra, "-c", "t", "--include", "*")["total"] == 2, "other patterns stand in for them"


def test_a_moved_source_that_lacks_papers_stops_with_the_question(shell: Shell) -> None:
    for number in range(40, 50):
        (shell.root / "ra" / f"p{number}.md").write_text(paper_text(number))
    assert shell.done("index", shell.root / "ra", "-c", "t")["total"] == 12
    before = load_record(shell.data.collection("t"))
    refused = shell("sources", "move", shell.root / "ra", shell.root / "rb", "-c", "t")
    assert refused.returncode == 1 and "12 of 12 papers" in refused.stderr
    assert load_record(shell.data.collection("t")) == before


@pytest.mark.slow
def test_what_a_failed_run_left_in_the_parts_may_go_without_a_question(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shell.done("index", shell.root / "ra", "-c", "t")["total"] == 2
    for number in range(40, 56):
        (shell.root / "rb" / f"p{number}.md").write_text(paper_text(number))
    with monkeypatch.context() as patch:
        patch.setattr("monjyu_assets.orchestration.assets.index_snapshot.publish", fail)
        assert shell("index", shell.root / "rb", "-c", "t").returncode == 2
    record = load_record(shell.data.collection("t"))
    assert record is not None and record.sources == [str(shell.root / "ra")]
    assert shell.done("index", shell.root / "ra", "-c", "t") == {"total": 2, "deleted": 17, "unchanged": 2}


def fail(*_: object) -> None:
    raise ConfigurationError("It failed.")


def test_the_scan_counts(tmp_path: Path) -> None:
    from monjyu_assets.sources.scan import scan
    from monjyu_core.storage.schemas import empty

    for number in range(3):
        (tmp_path / f"{number}.md").write_text(str(number))
    counted: list[tuple[int, int]] = []
    record = CollectionRecord(name="c", sources=[str(tmp_path)])
    scan(record, empty("manifest"), count=lambda done, total: counted.append((done, total)))
    assert counted == [(1, 0), (2, 0), (3, 0), (1, 3), (2, 3), (3, 3)]
