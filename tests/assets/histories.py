"""Random histories of a collection: what its owner does, and what goes wrong meanwhile.

Every step runs in a process of its own, as commands do, so that it can be ended anywhere; papers are changed here. What
must hold: readers find papers that the sources held at one time, and the tables at the end are those of a fresh build.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import seed as seeded
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from monjyu_assets.indexing.index_operations import purge_paper, release_rollback, roll_back, verify_all
from monjyu_assets.indexing.requests import downgrade_collection, index_collection, move_source
from monjyu_assets.levels.phrases.paper_phrases import ChunkText, paper_mentions
from monjyu_assets.libraries.syncing import sync_library
from monjyu_assets.parsing.bibliography.companions import companion_files, joined_sha256
from monjyu_assets.parsing.dispatch import parse_document
from monjyu_assets.publishing import snapshot_build
from monjyu_core.records.corrections import PaperIdentity, correct
from monjyu_core.remote.collection_lock import holding
from monjyu_core.remote.copies import pull_all
from monjyu_core.remote.object_store import Objects, open_objects
from monjyu_core.remote.state import RemoteState
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import known_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import file_paper_id
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import held, published, read_current
from tests.assets.changes import CORRECTED, Folder, full_paper, paper_text
from tests.assets.in_process import parsed_here
from tests.assets.worlds import World, differences
from tests.core.remote.conftest import bucket_of
from tests.forked import Ended, Forked
from tests.kill_at import Counter as Changes
from tests.killing import State, readable
from tests.object_servers import azurite, moto
from tests.properties import sequences, st
from tests.test_full_disk import mount
from tests.waiting import wait_until

SOURCES = ("add", "edit", "move", "delete", "restore", "swap", "copy", "touch", "bib", "record", "unrecord", "broken")
SMALL = st.integers(0, 59)
ENDS = {"killed": signal.SIGKILL, "told to end": signal.SIGTERM, "interrupted": signal.SIGINT}
CHANGES = 120
"""About how many changes of files and requests an index of four papers makes; a kill after the last one never comes."""
KEEP = 2
PAGE = 4096
ROOM = "size=900m"
STEPS = 6
"""At most, of a history."""
BIB = "@article{{w{n}, title={{{title}}}, author={{Mori, Kenji}}, year={{{year}}}, file={{:w{n}.md:md}}}}\n"


@dataclass(frozen=True)
class Place:
    """Where a step runs: one machine's data folder, its environment, and by how many hours its clock is behind."""

    data: Path
    environment: Mapping[str, str]
    behind: int = 0

    @contextmanager
    def entered(self) -> Iterator[None]:
        os.environ.update(self.environment, MONJYU_DATA=str(self.data), DAGSTER_HOME="")
        now, behind = time.time, timedelta(hours=self.behind)

        class Behind(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return datetime.now(tz) - behind

        with pytest.MonkeyPatch.context() as patch, parsed_here():
            if self.behind:
                patch.setattr(snapshot_build, "datetime", Behind)
                patch.setattr(time, "time", lambda: now() - behind.total_seconds())
            yield


# --- steps, each in a process of its own


def at(place: Place, work: Callable[..., Any], *arguments: Any) -> Any:
    with place.entered():
        return work(place.data, *arguments)


def ended_at(place: Place, number: int, change: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """The same, with a signal just before its n-th change of a file, or request to the object store."""
    changes, asked = Changes(str(place.data), change, number), Objects._asked
    sys.addaudithook(changes)

    def counted(self: Objects, call: Callable[[], Any]) -> Any:
        changes.step()
        return asked(self, call)

    Objects._asked = counted  # type: ignore[method-assign]
    return at(place, work, *arguments)


def build(data: Path, papers: Path, level: int) -> None:
    """By the stages alone, which take a fifth of the time of a command."""
    with holding(DataFolder(data).collection("c"), load_settings(), fail):
        World(data, papers).build(level)


def index(data: Path, papers: Path, level: int) -> None:
    index_collection(DataFolder(data), papers, "c", level=level, allow_deletes=True, say=fail)


def purge(data: Path, paper_id: str) -> None:
    purge_paper(DataFolder(data), "c", paper_id)


def downgrade(data: Path, level: int) -> None:
    downgrade_collection(DataFolder(data), "c", level)


def move(data: Path, old: Path, new: Path) -> None:
    move_source(DataFolder(data), "c", old, new, allow_deletes=True)


def switch(data: Path) -> None:
    """Roll back, or release what was."""
    folder = DataFolder(data).collection("c")
    if held(folder):
        release_rollback(folder)
    elif len(published(folder)) > 1:
        roll_back(folder, None)


def mend(data: Path, paper_id: str, sha256: str, field: Any, value: Any) -> None:
    correct(
        DataFolder(data).collection("c"), load_settings(), paper_id, field, value, seen=PaperIdentity(sha256), by="me"
    )


def fetch(data: Path) -> None:
    pull_all(DataFolder(data), load_settings(), [])


def look(data: Path) -> State | None:
    """The papers that readers find; records of a file of many are left out."""
    folder = DataFolder(data)
    if read_current(folder.collection("c")) is None:
        return None
    return frozenset(row for row in readable(folder, "c") if not row[0].startswith(("r", "broken")))


def finish(data: Path, papers: Path, level: int, root: Path) -> list[str]:
    """Build to the end, and say what is not as after a fresh build of the same sources."""
    folder = DataFolder(data).collection("c")
    if held(folder):
        release_rollback(folder)
    build(data, papers, level)
    fresh = World(data, papers).fresh(root / "fresh")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MONJYU_STORAGE__URI", raising=False)
        fresh.build(level)
    wrong = differences(World(data, papers), fresh)
    before = read_current(folder)
    build(data, papers, level)
    wrong += ["what was built is built again"] * (read_current(folder) != before)
    wrong += [f"{name}: {problem}" for name, found in verify_all(folder, None).items() for problem in found]
    left = [*folder.root.rglob(".*.tmp"), *folder.snapshots.glob(".*")]
    snapshots = published(folder)
    searched = {entry.name for name in snapshots for entry in read_manifest(folder, name).search}
    wrong += [f"left: {path}" for path in left]
    wrong += [f"{len(snapshots)} snapshots are kept"] * (len(snapshots) > KEEP + 2)
    wrong += ["search files that no snapshot names"] * ({path.name for path in folder.search.iterdir()} != searched)
    if objects := open_objects(load_settings()):
        wrong += stored(objects, root / "reader", papers, fresh)
    return wrong


def stored(objects: Objects, reader: Path, papers: Path, fresh: World) -> list[str]:
    """What another machine finds that has never seen the collection, and objects that nobody needs."""
    fetch(reader)
    found = objects.read("index/c/state.json.gz")
    assert found is not None
    state = RemoteState.unpacked(found.content)
    named = {f"index/c/blobs/{name}" for name in (*state.files.values(), *state.dropped)}
    there = {name for name in objects.names("index/c/blobs") if not name.endswith(".lock")}
    apart = differences(World(reader, papers), fresh)
    return [f"in the store: {one}" for one in apart] + [f"left in the store: {one}" for one in sorted(there ^ named)]


def fail(text: str) -> None:
    assert "waiting" not in text, text


def load() -> None:
    """What every step would load and compile anew, half of its time. Models, Lance and DuckDB are only imported: they
    crash or hang in a fork of a process that has used them."""
    import igraph  # noqa: F401
    import lancedb  # noqa: F401
    import openvino  # noqa: F401

    import monjyu_assets.definitions
    import monjyu_assets.orchestration.runs
    import monjyu_assets.scholarly.lookup  # noqa: F401
    from monjyu_assets.chunking.papers import Chunker
    from monjyu_assets.levels.phrases import english_phrases

    english_phrases.parser()
    settings = load_settings()
    chunker = Chunker(settings)
    with tempfile.TemporaryDirectory() as folder:
        for seed, language in ((5, "ja"), (4, "en")):
            path = Path(folder, f"{seed}.md")
            path.write_text(full_paper(seed))
            parse_document({"path": str(path), "document_type": "md"}, settings.parse)
            chunks = chunker.chunk_text(path.read_text(), language=language)
            paper_mentions([ChunkText("", tuple(chunk.text for chunk in chunks))])


# --- the history


class History(RuleBasedStateMachine):
    """One collection `c`; where `stores` makes an object store of its own, on two machines. `disk` is a file system
    that may be filled and turned read-only."""

    forked: Forked
    disk: Path
    mounted = False
    stores: Callable[[], dict[str, str]] = dict
    done: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(dir=self.disk))
        self.papers = self.root / "papers" / "c"
        self.papers.mkdir(parents=True)
        for name in ("a", "b", "fresh", "reader"):  # whose libraries are the same
            (self.root / name).mkdir()
            (self.root / name / "papers").symlink_to(self.root / "papers")
        self.environment = type(self).stores() | {"MONJYU_PUBLISH__KEEP_SNAPSHOTS": str(KEEP)}
        self.machine, self.behind, self.works, self.broken = "a", 0, 0, False
        self.states: list[State] = []
        self.level = self.highest = 1

    @property
    def data(self) -> Path:
        return self.root / self.machine

    @property
    def folder(self) -> Folder:
        """What changes the papers; it has no index of its own."""
        return Folder(cast(World, SimpleNamespace(papers=self.papers)), records=self.records, gone=self.gone)

    # --- running steps

    def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """A step that must succeed."""
        ended = self._forked(at, work, *arguments)
        assert ended == Ended(result=ended.result), ended.error or f"{work.__name__} ended by signal {ended.signal}"
        self.broken = False
        return ended.result

    def _forked(self, how: Callable[..., Any], *arguments: Any) -> Ended:
        self.broken = True  # until the step is known to have held
        return self.forked.run(how, Place(self.data, self.environment, self.behind), *arguments)

    def settle(self) -> None:
        """The sources as they are now, with the bibliographies beside them, may be published from now on."""
        files = [path for path in self.papers.rglob("*.md") if path.name != "broken.md"]
        found = {
            file_paper_id(path.relative_to(self.papers).as_posix()): joined_sha256(
                path, companion_files(path, self.papers)
            )
            for path in files
        }
        self.states.append(frozenset(one for one in found.items() if one[0] not in self.excluded))

    def check(self) -> None:
        """Readers find a state of the sources, whole."""
        seen = self.run(look)
        self.broken = seen is not None and seen not in self.states
        assert not self.broken, f"{sorted(seen)} is none of {[sorted(state) for state in self.states]}"

    # --- what the owner does

    @initialize()
    def begin(self) -> None:
        self.records: dict[str, str] = {}
        self.gone: dict[str, bytes] = {}
        self.excluded: set[str] = set()
        for number, seed in enumerate((3, 8, 15)):
            self.folder.apply(("add", number, seed))
        self.index_it(False)

    @rule(action=st.sampled_from(SOURCES), number=st.integers(0, 5), seed=SMALL)
    def change(self, action: str, number: int, seed: int) -> None:
        self.folder.apply((action, number, seed))

    @rule(command=st.booleans())
    def index_it(self, command: bool) -> None:
        self.settle()
        self.run(index if command else build, self.papers, self.level)
        self.check()

    @rule(level=st.sampled_from((0, 1, 1, 1, 4)))
    def level_from_now(self, level: int) -> None:
        self.level = level
        self.highest = max(level, self.highest)

    @rule(level=st.sampled_from((0, 1)))
    def downgrade_it(self, level: int) -> None:
        if max(self.run(built_level), 0) > level:
            self.run(downgrade, level)
            self.level = self.highest = level
            self.check()

    @rule()
    def switch_snapshot(self) -> None:
        self.run(switch)
        self.check()

    @rule(number=st.integers(0, 5))
    def purge_one(self, number: int) -> None:
        known = sorted(self.run(look) or ())
        if known:
            paper_id = known[number % len(known)][0]
            self.excluded.add(paper_id)
            self.states += [frozenset(one for one in state if one[0] != paper_id) for state in self.states]
            self.settle()
            self.run(purge, paper_id)
            self.check()
            assert paper_id not in {one[0] for one in self.run(look) or ()}

    @rule(number=st.integers(0, 5), which=st.integers(0, len(CORRECTED) - 1), value=st.integers(0, 3))
    def correct_one(self, number: int, which: int, value: int) -> None:
        known = sorted(self.run(look) or ())
        if known:
            field, values = CORRECTED[which]
            self.run(mend, *known[number % len(known)], field, values[value % len(values)])

    @rule(seed=SMALL)
    def import_library(self, seed: int) -> None:
        """Another work of a library with a file, and a title that changed; it is indexed with the next index."""
        shelf = self.root / "shelf"
        shelf.mkdir(exist_ok=True)
        self.works = 1 + self.works % 2
        for work in range(self.works):
            (shelf / f"w{work}.md").write_text(paper_text(seed + work))
        texts = [BIB.format(n=n, title=f"Work {n} of {seed}", year=1990 + seed) for n in range(self.works)]
        (shelf / "library.bib").write_text("".join(texts))
        self.run(sync, shelf / "library.bib")

    @rule()
    def move_papers(self) -> None:
        old, there = self.papers, self.papers.with_name(f"moved{len(self.states)}")
        self.papers = old.rename(there)
        self.settle()
        self.run(move, old, there)
        self.check()

    @rule(hours=st.sampled_from((1, 30, 9000)))
    def clock_set_back(self, hours: int) -> None:
        self.behind += hours

    @precondition(lambda self: self.environment.get("MONJYU_STORAGE__URI"))
    @rule()
    def other_machine(self) -> None:
        self.machine = "b" if self.machine == "a" else "a"
        self.run(fetch_or_go_on)

    # --- what goes wrong

    def something_to_do(self, seed: int) -> None:
        """Where nothing has changed, a run is over before anything can go wrong."""
        self.folder.apply(("add", 7, seed))
        self.settle()

    @rule(how=st.sampled_from(sorted(ENDS)), change=st.integers(1, CHANGES), seed=SMALL)
    def ended(self, how: str, change: int, seed: int) -> None:
        self.something_to_do(seed)
        ended = self._forked(ended_at, int(ENDS[how]), change, index, self.papers, self.level)
        self.done[how if ended.signal or "KeyboardInterrupt" in ended.error else "had ended"] += 1
        assert ended.signal or not ended.error or "KeyboardInterrupt" in ended.error, ended.error
        self.check()

    @precondition(lambda self: self.mounted)
    @rule(pages=st.integers(0, 200), seed=SMALL)
    def full_disk(self, pages: int, seed: int) -> None:
        self.something_to_do(seed)
        used = shutil.disk_usage(self.disk).used
        self.remount(f"size={used + pages * PAGE}")
        ended = self._forked(at, index, self.papers, self.level)
        self.remount(ROOM)
        self.done["full disk" if ended.error or ended.signal else "had room"] += 1
        self.check()

    @precondition(lambda self: self.mounted)
    @rule()
    def read_only(self) -> None:
        self.settle()
        self.remount("ro")
        ended = self._forked(at, index, self.papers, self.level)
        self.remount("rw")
        self.done["read-only"] += 1
        assert ended.error, "nothing can be written"
        self.check()

    def remount(self, options: str) -> None:
        """A disk is made read-only once no file is open for writing: a killed run's helpers end a little after it."""
        command = ["mount", "-o", f"remount,{options}", str(self.disk)]
        wait_until(
            lambda: subprocess.run(command, check=False).returncode == 0, 60, state=lambda: f"{self.disk} stayed busy"
        )

    # --- the end

    def teardown(self) -> None:
        try:
            if not self.broken and self.states:
                self.behind = 0
                self.folder.apply(("add", 9, 40))  # so that there is something to publish
                wrong = self.run(finish, self.papers, self.highest, self.root)
                assert not wrong, wrong
                self.done["histories"] += 1
        finally:
            shutil.rmtree(self.root)


def sync(data: Path, library: Path) -> None:
    sync_library(DataFolder(data), "bibtex", library, "c", say=fail)


def built_level(data: Path) -> int:
    folder = DataFolder(data).collection("c")
    names = published(folder)
    return max(read_manifest(folder, names[-1]).level, known_record(DataFolder(data), "c").level) if names else -1


def fetch_or_go_on(data: Path) -> None:
    """What was done here and did not reach the store is brought there by the next command."""
    if not DataFolder(data).collection("c").record.is_file():
        fetch(data)


# --- many of them


@contextmanager
def surroundings(folder: Path, forked: Forked, store: str = "local") -> Iterator[dict[str, Any]]:
    """What histories share: a file system in memory, if one can be mounted, and the server of a store (s3, azure)."""
    own: dict[str, Any] = {"forked": forked, "disk": folder / "disk", "done": Counter()}
    own["disk"].mkdir()
    with ExitStack() as server:
        numbers = count()
        if store == "s3":
            endpoint = server.enter_context(moto())
            own["stores"] = staticmethod(lambda: bucket_of(endpoint, f"history {next(numbers)}"))
        elif store == "azure":
            place = server.enter_context(azurite())
            uris = (f"az://library/history{number}" for number in numbers)
            own["stores"] = staticmethod(lambda: place | {"MONJYU_STORAGE__URI": next(uris)})
        own["mounted"] = mount("-t", "tmpfs", "-o", ROOM, "tmpfs", str(own["disk"]))
        if own["mounted"]:
            server.callback(subprocess.run, ["umount", "-l", str(own["disk"])], check=True)
        yield own


def run_histories(number: int, own: dict[str, Any], seed: int | None = None) -> None:
    """Try random histories, without a seed the same each time; `done` counts what happened."""
    machine = type("Histories", (History,), own)
    machine = machine if seed is None else seeded(seed)(machine)
    run_state_machine_as_test(machine, settings=sequences(number, stateful_step_count=STEPS))
