"""A refused command changes nothing, and a first run that fails leaves no collection."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from monjyu_assets.orchestration.instance import open_instance
from monjyu_core.errors import ConfigurationError, IndexBuildError
from monjyu_core.storage.folders import GONE, DataFolder
from monjyu_query.asking.which_collection import chosen_collection
from tests.assets.changes import paper_text
from tests.conftest import call_monjyu, once
from tests.properties import HealthCheck, examples, given, st

LEVEL = 1
NO_MODEL = {"MONJYU_ROLES__EXTRACT__ENGINE": "llm", "MONJYU_ROLES__EXTRACT__MODEL": "nowhere"}
NO_LEVEL = {"MONJYU_EMBEDDING__MODEL": "word2vec"}


class Desk:
    """A collection `t` of the folder `ra`, and around it what commands are refused for."""

    def __init__(self, root: Path) -> None:
        self.root, self.data = root, DataFolder(root / "data")

    def make(self) -> None:
        for folder, numbers in {"ra": range(20, 30), "rb": (31,), "empty": ()}.items():
            (self.root / folder).mkdir(parents=True)
            for number in numbers:
                (self.root / folder / f"p{number}.md").write_text(paper_text(number))
        (self.root / "notes.xyz").write_text("no paper")
        with self.environment({"MONJYU_PUBLISH__KEEP_SNAPSHOTS": "1"}):  # none to go back to
            done = call_monjyu(self.data.root, "index", self.root / "ra", "-c", "t", "--level", str(LEVEL))
        assert done.returncode == 0, done.stderr

    def bytes(self) -> dict[str, bytes]:
        """Every file of the data folder but locks."""
        return {
            str(path.relative_to(self.data.root)): path.read_bytes()
            for path in sorted(self.data.root.rglob("*"))
            if path.is_file() and not path.name.endswith(".lock")
        }

    @contextmanager
    def without(self, name: str) -> Iterator[None]:
        """While a source is away."""
        (self.root / name).rename(self.root / "away")
        try:
            yield
        finally:
            (self.root / "away").rename(self.root / name)

    @contextmanager
    def emptied(self) -> Iterator[None]:
        """While the source has lost most of its papers."""
        with self.without("ra"):
            (self.root / "ra").mkdir()
            (self.root / "ra" / "p20.md").write_text(paper_text(20))
            try:
                yield
            finally:
                shutil.rmtree(self.root / "ra")

    @contextmanager
    def with_yaml(self, text: str) -> Iterator[None]:
        (self.root / "ra" / "collection.yaml").write_text(text)
        try:
            yield
        finally:
            (self.root / "ra" / "collection.yaml").unlink()

    @contextmanager
    def environment(self, values: dict[str, str]) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in values.items():
                patch.setenv(name, value)
            yield

    def refused(self, command: str) -> None:
        """Words of a command, `ra` and the like standing for the folders of this desk."""
        here = {"ra", "rb", "empty", "nowhere", "notes.xyz", "ra/p20.md"}
        words = [str(self.root / word) if word in here else word for word in command.split()]
        answer = call_monjyu(self.data.root, *words)
        assert answer.returncode in (1, 2) and not answer.stdout, f"{command}: {answer}"
        assert answer.stderr.startswith(("monjyu: ", "Usage: ")), f"{command}: {answer.stderr}"


ANYHOW = (
    "index nowhere -c t",
    "index notes.xyz -c t",
    "index empty -c t",
    "index rb empty -c t",
    "index empty -c ghost",
    "index rb -c Ghost!",
    "index rb ra",
    "index -c ghost",
    "index rb -c t --include *.pdf",
    "index rb -c ghost --exclude *.md",
    "index ra/p20.md -c t --include *.md",
    "index rb -c t --level 7",
    "upgrade ghost --level 1",
    "upgrade t --level 0",
    "upgrade t --level 9",
    "downgrade t --level 1 --yes",
    "downgrade t --level 3 --yes",
    "downgrade ghost --level 0 --yes",
    "sources list -c ghost",
    "sources add rb -c ghost",
    "sources add empty -c t",
    "sources move ra empty -c t",
    "sources move ra nowhere -c t",
    "sources move ra ra -c t",
    "sources move rb empty -c t",
    "sources move ra rb -c t",
    "sources remove ra -c t",
    "sources remove rb -c t",
    "sources remove rb -c ghost",
    "purge no-such-paper -c t",
    "purge no-such-paper -c ghost",
    "collections delete ghost --yes",
    "snapshots rollback no-such-snapshot -c t",
    "snapshots rollback -c t",
)
CONDITIONS: dict[str, tuple[Callable[[Desk], object], tuple[str, ...]]] = {
    "any": (lambda desk: desk.environment({}), ANYHOW),
    "source away": (
        lambda desk: desk.without("ra"),
        ("index rb -c t", "index rb -c t --level 4", "upgrade t --level 4", "index -c t", "sources add rb -c t"),
    ),
    "papers away": (
        Desk.emptied,
        ("index rb -c t --level 3", "index ra -c t", "upgrade t --level 2", "sources add rb -c t"),
    ),
    "no model": (
        lambda desk: desk.environment(NO_MODEL),
        ("upgrade t --level 2", "upgrade t --level 4", "index rb -c t --level 2", "index rb -c ghost --level 2"),
    ),
    "bad setting": (
        lambda desk: desk.environment(NO_LEVEL),
        ("index rb -c t", "index rb -c ghost", "upgrade t --level 2", "sources add rb -c t", "downgrade t -l 0 --yes"),
    ),
    "bad collection.yaml": (
        lambda desk: desk.with_yaml("levels: 3\n"),
        ("index rb -c t", "upgrade t --level 2", "index ra -c ghost", "sources add rb -c t"),
    ),
    "level too high": (
        lambda desk: desk.with_yaml("level: 1\n"),
        ("downgrade t -l 0 --yes",),
    ),
}
REFUSED = [(condition, command) for condition, (_, commands) in CONDITIONS.items() for command in commands]


@pytest.fixture(scope="session")
def desk_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return once(tmp_path_factory, "refused", lambda root: Desk(root).make())


@pytest.fixture
def desk(desk_root: Path, tmp_path: Path) -> Desk:
    """A copy would have other sources: those that use it leave it as it was, or use names of their own."""
    return Desk(desk_root)


def refuse(desk: Desk, condition: str, command: str) -> None:
    with CONDITIONS[condition][0](desk):  # type: ignore[attr-defined]
        desk.refused(command)


@pytest.mark.slow
def test_every_refused_command_leaves_every_byte_as_it_was(desk: Desk) -> None:
    before = desk.bytes()
    for condition, command in REFUSED:
        refuse(desk, condition, command)
        assert desk.bytes() == before, f"{condition}: {command}"


@examples(5, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
@given(st.lists(st.sampled_from(REFUSED), min_size=2, max_size=12))
def test_no_sequence_of_refused_commands_changes_what_the_next_one_does(
    desk_root: Path, sequence: list[tuple[str, str]]
) -> None:
    desk = Desk(desk_root)
    before = desk.bytes()
    for condition, command in sequence:
        refuse(desk, condition, command)
    assert desk.bytes() == before
    done = call_monjyu(desk.data.root, "index", desk.root / "ra", "-c", "t", "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["level"], result["papers"]["unchanged"]) == (0, LEVEL, 10), done.stderr
    assert desk.bytes() == before


def interrupt(*_: object) -> None:
    """Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)


def refuse_to_publish(*_: object) -> None:
    raise IndexBuildError("It cannot be published.")


def lack_an_extra(*_: object) -> None:
    raise ConfigurationError("A package is not installed.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "how", "code"),
    [
        ("index_snapshot.publish", refuse_to_publish, 1),
        ("index_snapshot.publish", interrupt, 130),
        ("level_0.chunk_stage.chunk_shards", lack_an_extra, 2),
    ],
)
def test_a_first_run_that_fails_leaves_no_collection_and_can_go_on(
    tmp_path: Path, where: str, how: Callable[..., None], code: int
) -> None:
    data, papers = DataFolder(tmp_path / "data"), tmp_path / "new"
    papers.mkdir()
    (papers / "p1.md").write_text(paper_text(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"monjyu_assets.orchestration.assets.{where}", how)
        answer = call_monjyu(data.root, "index", papers, "-c", "new", "--level", "1")
    assert answer.returncode == code, answer.stderr
    assert data.collections() == []
    assert call_monjyu(data.root, "collections", "list").stdout.startswith("No collections")
    assert call_monjyu(data.root, "status").stdout.startswith("No collections")
    with pytest.raises(ConfigurationError, match="no collections"):
        chosen_collection(data, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DAGSTER_HOME", raising=False)
        with open_instance(data) as instance:
            assert instance.get_dynamic_partitions("collections") == []
    again = call_monjyu(data.root, "index", papers, "-c", "new", "--json")
    assert again.returncode == 0, again.stderr
    assert data.collections() == ["new"]
    deleted = call_monjyu(data.root, "collections", "delete", "new", "--yes")
    assert deleted.returncode == 0 and data.collections() == []


def test_a_deletion_that_was_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    data = DataFolder(tmp_path / "data")
    (data.index / f"{GONE}c-0123456789ab" / "parts").mkdir(parents=True)
    done = call_monjyu(data.root, "collections", "delete", "c", "--yes")
    assert done.returncode == 0 and list(data.index.iterdir()) == []
    assert call_monjyu(data.root, "collections", "delete", "c", "--yes").returncode == 2
