"""Files of strangers: each bound is refused in words, within a second or so of the processor, whatever the format."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import yaml

from monjyu_assets.libraries import zotero_database as bounded_sqlite
from monjyu_assets.libraries.zotero_database import bounded_database
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import read_yaml
from monjyu_core.user_files.bounded_reading import (
    FileRefused,
    parse_json,
    parse_yaml,
    read_bytes,
    read_folder,
    read_text,
    unzip,
)
from monjyu_query.saved.saving import read_file
from tests.limits import ends

MERGES = "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 4)}]\n" for n in range(1, 15))
LISTS = "a0: &a0 [x, x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
YAML = {
    "merge keys": MERGES,
    "lists of lists": LISTS,
    "a list in itself": "a: &a [*a]\n",
    "deep": "[" * 5_000,
    "deep mappings": "".join(" " * n + "a:\n" for n in range(300)),
    "base 60": "a: " + ":".join(["59"] * 200_000),
    "base 60 with a point": "a: " + ":".join(["59"] * 200) + ".5",
    "many": "b: [" + "x, " * 200_000 + "x]",
}


@pytest.mark.parametrize("kind", YAML)
def test_yaml_bombs(kind: str, tmp_path: Path) -> None:
    with pytest.raises((FileRefused, yaml.YAMLError)):
        ends(lambda: parse_yaml(YAML[kind]))
    (tmp_path / "review.yaml").write_text(YAML[kind])
    for read in (read_yaml, read_file):
        with pytest.raises(ConfigurationError):
            ends(partial(read, tmp_path / "review.yaml"))


def test_yaml_with_a_few_aliases_is_read() -> None:
    assert parse_yaml("a: &a {x: 1}\nb: {<<: *a, y: 2}\nc: [*a, *a]\n")["b"] == {"x": 1, "y": 2}
    assert parse_yaml("") is None


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" + "[]," * 60_000 + "[]]", "[" + "0," * 200_000])
def test_json_bombs(text: str) -> None:
    with pytest.raises((FileRefused, ValueError)):
        ends(lambda: parse_json(text, 50_000))


def test_what_is_not_a_regular_file_of_that_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/hostname")
    (tmp_path / "large").write_bytes(b"x" * 11)
    (tmp_path / "latin").write_bytes(b"\xe9")
    for name in ("pipe", "large", "latin", "missing", "n" * 5_000, "."):
        with pytest.raises(FileRefused) as refused:
            ends(partial(read_text, tmp_path / name, 10))
        assert len(refused.value.message) < 1_000
    with pytest.raises(FileRefused):
        read_bytes(tmp_path / "link", 1_000, follow=False)
    with pytest.raises(FileRefused):
        read_bytes(Path("/dev/zero"), 1_000)
    assert read_bytes(tmp_path / "large", 11) == b"x" * 11


def zipped(*entries: tuple[str, bytes], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", packed) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return written.getvalue()


def zip64(entries: int) -> bytes:
    """An end that counts one entry, and before it that of ZIP64, which Python believes."""
    raw = zipped(("a.txt", b""))
    end = raw.rfind(b"PK\5\6")
    (start,) = struct.unpack_from("<I", raw, end + 16)
    listed = raw[start:end] * entries
    found = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, entries, entries, len(listed), start)
    return raw[:start] + listed + found + struct.pack("<4sLQL", b"PK\6\7", 0, start + len(listed), 1) + raw[end:]


ZIPS: dict[str, Callable[[], bytes]] = {
    "zeros": lambda: zipped(("a.txt", b"\0" * (50 << 20))),
    "many": lambda: zipped(*((f"{n}.txt", b"") for n in range(200))),
    "up": lambda: zipped(("../a.txt", b"")),
    "cut off": lambda: zipped(("a.txt", b"x" * 100))[:-30],
    "unusual": lambda: zipped(("a.txt", b"x" * 100), packed=zipfile.ZIP_BZIP2),
    "nothing": lambda: b"",
    "another directory": lambda: zip64(50_000),
    "a directory that lies": lambda: zipped(("a.txt", b"")).replace(
        b"PK\x05\x06\0\0\0\0\1\0\1\0", b"PK\x05\x06" + b"\xff" * 8
    ),
}


@pytest.mark.parametrize("kind", ZIPS)
def test_zip_bombs_take_no_memory(kind: str) -> None:
    data = ZIPS[kind]()
    tracemalloc.start()
    try:
        with pytest.raises(FileRefused):
            ends(lambda: unzip(io.BytesIO(data), 100, 1 << 20, strict=True))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_what_is_unpacked_is_in_memory_once() -> None:
    packed = io.BytesIO(zipped(("a.txt", bytes(8 << 20))))
    tracemalloc.start()
    try:
        assert unzip(packed, 1, 8 << 20).files == {"a.txt": bytes(8 << 20)}
        assert tracemalloc.get_traced_memory()[1] < 19 << 20, "with the bytes that it is compared with"
    finally:
        tracemalloc.stop()


def test_a_folder_is_read_within_bounds(tmp_path: Path) -> None:
    (tmp_path / "crops").mkdir()
    (tmp_path / "crops" / "1.png").write_bytes(b"x" * 6)
    (tmp_path / "a.json").write_bytes(b"{}")
    assert read_folder(tmp_path, 10, 10) == {"a.json": b"{}", "crops/1.png": b"x" * 6}
    for most_files, most_bytes in ((2, 10), (10, 7)):
        with pytest.raises(FileRefused):
            read_folder(tmp_path, most_files, most_bytes)
    (tmp_path / "crops" / "a name.png").write_bytes(b"")
    with pytest.raises(FileRefused):
        read_folder(tmp_path, 10, 10)


SCHEMAS = {
    "recursive view": "CREATE VIEW tags AS WITH RECURSIVE r(a, b) AS (SELECT 1, 'x' UNION ALL SELECT a + 1, b FROM r) "
    "SELECT * FROM r",
    "view of a table": "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'x'); CREATE VIEW tags AS SELECT * FROM t",
    "long value": "CREATE TABLE tags(a, b AS (zeroblob(900000000)) STORED)",
    "computed value": "CREATE TABLE tags(a, b AS (hex(zeroblob(20000000)))); INSERT INTO tags VALUES (1)",
    "no table": "CREATE TABLE other(a)",
}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_sqlite_bombs(kind: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "z.sqlite") as made:
        made.executescript(SCHEMAS[kind])
        if kind == "long value":
            made.execute("DROP TABLE tags")
            made.execute("CREATE TABLE tags(a, b)")
            made.execute("INSERT INTO tags VALUES (1, zeroblob(17 * 1024 * 1024))")
    with bounded_database(tmp_path / "z.sqlite") as rows, pytest.raises((FileRefused, sqlite3.Error)):
        ends(lambda: list(rows("SELECT a, b FROM tags")))


def test_sqlite_rows_text_and_time_have_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect(tmp_path / "z.sqlite") as made:
        made.execute("CREATE TABLE tags(a, b)")
        made.executemany("INSERT INTO tags VALUES (?, ?)", [(n, "x" * 100) for n in range(2_000)])
    for limit, value in (("MOST_ROWS", 1_000), ("MOST_CHARACTERS", 100_000)):
        with monkeypatch.context() as patch:
            patch.setattr(bounded_sqlite, limit, value)
            with bounded_database(tmp_path / "z.sqlite") as rows, pytest.raises(FileRefused):
                list(rows("SELECT a, b FROM tags"))
    monkeypatch.setattr(bounded_sqlite, "LONGEST_SECONDS", 0.2)
    with bounded_database(tmp_path / "z.sqlite") as rows, pytest.raises(sqlite3.OperationalError, match="interrupt"):
        ends(lambda: list(rows("SELECT count(*) FROM tags one, tags two, tags three")))


def test_pure_json_is_read() -> None:
    assert parse_json(json.dumps({"a": [1, 2]}), 10) == {"a": [1, 2]}
