"""The HEAD of an asset's shard: which parts are current, bucket by bucket, and what each rests on."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict

from monjyu_core.errors import StorageError
from monjyu_core.storage.part_file import part_name, read_footer


class TableEntry(TypedDict):
    """The part of one table."""

    version: str
    rows: int
    data_version: str


class PartEntry(TableEntry):
    """The primary table's part with the asset's version, its recipe, the versions of its inputs and the parts of the
    asset's other tables."""

    asset_version: str
    code_version: str
    inputs: dict[str, str]
    siblings: dict[str, TableEntry]


@dataclass
class Head:
    """`parts` by bucket. `buckets` counts those of the shard; it holds in the HEAD of the manifest, and other parts may
    be named for a moment. `seen` keeps what its one reader made of the entries, by table and bucket."""

    buckets: int = 1
    parts: dict[str, PartEntry] = field(default_factory=dict)
    seen: dict[tuple[str, str], Any] = field(default_factory=dict, compare=False, repr=False)

    def packed(self) -> bytes:
        return json.dumps({"buckets": self.buckets, "parts": self.parts}, sort_keys=True, indent=1).encode() + b"\n"

    def copy(self) -> Head:
        return Head(self.buckets, copy.deepcopy(self.parts))


def read_head(path: Path) -> Head:
    """Empty where there is none. Do not change it: it is shared."""
    try:
        seen = path.stat()
    except FileNotFoundError:
        return Head()
    return _read(path, seen.st_mtime_ns, seen.st_ino, seen.st_size)


@lru_cache(maxsize=1024)
def _read(path: Path, *seen: int) -> Head:
    """A HEAD is replaced by a new file and never written in place, so what was read of this file holds."""
    content = path.read_text("utf-8").strip()
    if not content:
        return Head()
    if not content.startswith("{"):
        return Head(parts={path.parent.name.removeprefix("shard="): _legacy_entry(path, content)})
    try:
        found = json.loads(content)
        return Head(found["buckets"], found["parts"])
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{path} is damaged.", "Delete it and index the collection again.") from error


def _legacy_entry(head: Path, version: str) -> PartEntry:
    """What a HEAD of earlier versions names: the hash of the primary part, whose footer has the rest."""
    own = head.parent / part_name(version)
    more = read_footer(own).more

    def entry(path: Path) -> TableEntry:
        footer = read_footer(path)
        return {"version": path.stem, "rows": footer.rows, "data_version": footer.data_version}

    beside = {
        name: head.parents[2] / name / head.parent.name / part_name(its) for name, its in more["siblings"].items()
    }
    return {
        **entry(own),
        "asset_version": str(more["asset_version"]),
        "code_version": str(more["code_version"]),
        "inputs": more["inputs"],
        "siblings": {name: entry(path) for name, path in beside.items()},
    }


def named_parts(head: str) -> set[tuple[str | None, str]]:
    """The parts that the text of a HEAD names, by table (None: the primary one) and version. Of an earlier version it
    names the primary part alone."""
    if not head.startswith("{"):
        return {(None, head.strip())}
    entries: list[PartEntry] = list(json.loads(head)["parts"].values())
    siblings = {(table, one["version"]) for entry in entries for table, one in entry["siblings"].items()}
    return siblings | {(None, entry["version"]) for entry in entries}
