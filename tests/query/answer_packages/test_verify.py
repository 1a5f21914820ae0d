"""`monjyu verify`: one changed byte is found, a forged quote is found, and a package can do no harm."""

from __future__ import annotations

import contextlib
import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from monjyu_core.storage.folders import DataFolder
from monjyu_query.answer_packages.asked_answer import AskedAnswer, asked_again
from monjyu_query.answer_packages.canonical import canonical_bytes, text_sha256
from monjyu_query.answer_packages.checking import package_reading
from monjyu_query.answer_packages.checking.package_reading import NotAPackage, read_package
from monjyu_query.answer_packages.checking.verification import Verified, verify_package
from monjyu_query.answer_packages.package import package_of
from monjyu_query.answer_packages.package_files import as_zip, with_manifest, write_package
from monjyu_query.answer_packages.signature import signed
from tests.conftest import call_monjyu
from tests.properties import HealthCheck, examples, given, st

CHANGES = examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def outcomes(found: Verified) -> dict[str, str]:
    return {check.check: check.outcome for check in found.checks}


def rewritten(package: dict[str, bytes], **files: bytes) -> dict[str, bytes]:
    """A forgery: other files (`answer` for answer.json), with a manifest that fits."""
    changed = package | {f"{name}.json": content for name, content in files.items()}
    changed.pop("manifest-sha256.txt")
    return with_manifest(changed)


def test_an_answer_made_again_is_the_same_to_the_byte(
    asked_data: Path, asked: AskedAnswer, package: dict[str, bytes], tmp_path: Path
) -> None:
    again = asked_again(DataFolder(asked_data), asked.trace_id)
    assert again.differs == () and package_of(again) == package
    for name in ("package", "package.zip"):
        write_package(package, tmp_path / name)
        found = verify_package(tmp_path / name, DataFolder(asked_data))
        assert found.ok
        assert outcomes(found) == dict.fromkeys(("files", "archive", "contents", "quotes", "answer"), "holds") | {
            "signature": "not_checked"
        }


@CHANGES
@given(place=st.floats(0, 1, exclude_max=True), other=st.integers(1, 255))
def test_one_changed_byte_of_an_archive_is_found(
    package: dict[str, bytes], tmp_path: Path, place: float, other: int
) -> None:
    raw = bytearray(as_zip(package))
    raw[int(place * len(raw))] ^= other
    (tmp_path / "changed.zip").write_bytes(raw)
    assert not holds(tmp_path / "changed.zip")


@CHANGES
@given(which=st.integers(0), place=st.floats(0, 1, exclude_max=True), other=st.integers(1, 255))
def test_one_changed_byte_of_a_file_is_found(
    package: dict[str, bytes], tmp_path: Path, which: int, place: float, other: int
) -> None:
    folder = tmp_path / "package"
    if not folder.exists():
        write_package(signed(package, pem(Ed25519PrivateKey.generate())), folder)
        assert holds(folder)
    paths = sorted(folder.rglob("*.*"))
    path = paths[which % len(paths)]
    content = path.read_bytes()
    at = int(place * len(content))
    path.write_bytes(content[:at] + bytes([content[at] ^ other]) + content[at + 1 :])
    try:
        assert not holds(folder), (path.name, at)
    finally:
        path.write_bytes(content)


def holds(path: Path) -> bool:
    try:
        return verify_package(path, None).ok
    except NotAPackage:
        return False


def pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_a_file_more_or_less_is_found(package: dict[str, bytes], tmp_path: Path) -> None:
    write_package(package | {"more.txt": b""}, tmp_path / "more")
    write_package({name: content for name, content in package.items() if name != "README.md"}, tmp_path / "less")
    for name, said in (("more", "not listed: more.txt"), ("less", "missing: README.md")):
        found = verify_package(tmp_path / name, None)
        assert not found.ok and said in found.checks[0].details


def test_forged_words_with_fitting_hashes_are_found(
    asked_data: Path, package: dict[str, bytes], tmp_path: Path
) -> None:
    data = DataFolder(asked_data)
    answer, evidence = (json.loads(package[f"{name}.json"]) for name in ("answer", "evidence"))
    cited = evidence["citations"][0]
    words = cited["quote"].replace(" the ", " no ", 1)
    assert words != cited["quote"]
    whole = len(cited["sentences"]) == 1
    cited |= {"quote": words, "quote_sha256": text_sha256(words)}
    if whole:
        cited["sentences"][0] |= {"text": words, "text_sha256": text_sha256(words)}
    answer["citations"][0]["quote"] = words
    both = rewritten(package, answer=canonical_bytes(answer), evidence=canonical_bytes(evidence))
    write_package(both, tmp_path / "both")
    assert outcomes(verify_package(tmp_path / "both", data)) == {
        "files": "holds", "archive": "holds", "signature": "not_checked", "contents": "holds",
        "quotes": "differs", "answer": "differs",
    }  # fmt: skip
    answer = json.loads(package["answer.json"]) | {"status": "abstained"}
    write_package(rewritten(package, answer=canonical_bytes(answer)), tmp_path / "status")
    found = verify_package(tmp_path / "status", data)
    assert outcomes(found)["quotes"] == "holds" and found.checks[-1].details == ["status"]


def test_what_is_not_here_cannot_be_checked(package: dict[str, bytes], tmp_path: Path) -> None:
    write_package(package, tmp_path / "package")
    found = verify_package(tmp_path / "package", DataFolder(tmp_path / "empty"))
    assert found.ok and outcomes(found)["quotes"] == outcomes(found)["answer"] == "not_checked"


def test_a_package_can_make_nobody_pay(asked_data: Path, package: dict[str, bytes], tmp_path: Path) -> None:
    """Neither settings that name a service nor a request that asks a model is followed."""
    question = json.loads(package["question.json"])
    for values in ({"backend": "azure_search"}, {"router": "model"}):
        told = question | {"settings": question["settings"] | {"search": question["settings"]["search"] | values}}
        path = tmp_path / next(iter(values))
        write_package(rewritten(package, question=canonical_bytes(told)), path)
        assert outcomes(verify_package(path, DataFolder(asked_data)))["answer"] in ("not_checked", "differs")
    told = question | {"settings": {"storage": {"uri": "s3://x"}}}
    write_package(rewritten(package, question=canonical_bytes(told)), tmp_path / "group")
    assert outcomes(verify_package(tmp_path / "group", DataFolder(asked_data)))["answer"] == "holds", "passed over"


def archive(*entries: tuple[str | zipfile.ZipInfo, bytes], packed: int = zipfile.ZIP_STORED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", packed) as made:
        for name, content in entries:
            made.writestr(name, content)
    return written.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry


def lying_bomb() -> bytes:
    """A file of 4 MB that says it has 10 bytes."""
    raw = archive(("manifest-sha256.txt", b"\0" * (4 << 20)), packed=zipfile.ZIP_DEFLATED)
    return raw.replace((4 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little"))


MANIFEST = ("manifest-sha256.txt", b"")
HOSTILE: dict[str, Callable[[], bytes]] = {
    "slip": lambda: archive(MANIFEST, ("../../escaped.txt", b"x")),
    "absolute": lambda: archive(MANIFEST, ("/tmp/escaped.txt", b"x")),
    "windows": lambda: archive(MANIFEST, ("..\\escaped.txt", b"x")),
    "deep": lambda: archive(MANIFEST, ("a/b/c/d/e/f.txt", b"x")),
    "link": lambda: archive(MANIFEST, (link("evidence.json"), b"/etc/passwd")),
    "twice": lambda: archive(MANIFEST, MANIFEST),
    "many": lambda: archive(MANIFEST, *((f"{n}.txt", b"") for n in range(package_reading.MOST_FILES + 1))),
    "bomb": lambda: archive(MANIFEST, ("zeros", b"\0" * (5 << 20)), packed=zipfile.ZIP_DEFLATED),
    "lzma": lambda: archive(MANIFEST, packed=zipfile.ZIP_LZMA),
    "no zip": lambda: b"PK\x03\x04 and nothing else",
    "empty": lambda: archive(("README.md", b"")),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_archive_is_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_reading, "MOST_BYTES", 4 << 20)
    path = tmp_path / "hostile.zip"
    path.write_bytes(HOSTILE[kind]())
    with pytest.raises(NotAPackage):
        read_package(path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["hostile.zip"]


def test_a_lying_bomb_gives_no_more_than_it_says(tmp_path: Path) -> None:
    (tmp_path / "bomb.zip").write_bytes(lying_bomb())
    with contextlib.suppress(NotAPackage):
        assert sum(map(len, read_package(tmp_path / "bomb.zip").files.values())) <= 10


def test_a_hostile_folder_is_refused(package: dict[str, bytes], tmp_path: Path) -> None:
    def linked(folder: Path) -> None:
        (folder / "extra.json").symlink_to("/etc/passwd")

    def to_folder(folder: Path) -> None:
        (folder / "crops").symlink_to("/etc")

    def pipe(folder: Path) -> None:
        os.mkfifo(folder / "pipe.json")

    for number, spoil in enumerate((linked, to_folder, pipe)):
        folder = tmp_path / str(number)
        write_package(package, folder)
        spoil(folder)
        with pytest.raises(NotAPackage):
            read_package(folder)


@pytest.mark.parametrize(
    "name, content",
    [
        ("answer", b"[" * 200_000),
        ("evidence", b'{"citations": [{"n": {}}]}'),
        ("question", b"null"),
        ("snapshot", b'{"snapshot_id": "../../x", "collection": "../samples", "manifest_sha256": ""}'),
    ],
)
def test_contents_of_any_kind_are_told_not_raised(
    asked_data: Path, package: dict[str, bytes], tmp_path: Path, name: str, content: bytes
) -> None:
    write_package(rewritten(package, **{name: content}), tmp_path / "package")
    found = verify_package(tmp_path / "package", DataFolder(asked_data))
    assert found.ok == (name == "snapshot"), found
    if found.ok:
        assert outcomes(found)["answer"] == outcomes(found)["quotes"] == "not_checked"


def test_signatures(package: dict[str, bytes], tmp_path: Path) -> None:
    mine, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    write_package(signed(package, pem(mine)), tmp_path / "signed")
    write_package(package, tmp_path / "plain")
    forged = signed(package, pem(mine))
    forged["signature.json"] = signed(with_manifest({"a": b""}), pem(mine))["signature.json"]
    write_package(forged, tmp_path / "forged")
    for key, name in ((mine, "mine.pem"), (other, "other.pem")):
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (tmp_path / name).write_bytes(public)

    def code(*arguments: Any) -> int:
        return call_monjyu(tmp_path / "data", "verify", *arguments).returncode

    assert code(tmp_path / "signed") == code(tmp_path / "signed", "--key", tmp_path / "mine.pem") == 0
    assert code(tmp_path / "signed", "--key", tmp_path / "other.pem") == 1
    assert code(tmp_path / "plain") == 0 and code(tmp_path / "plain", "--key", tmp_path / "mine.pem") == 1
    assert code(tmp_path / "forged") == 1
    assert code(tmp_path / "signed", "--key", tmp_path / "signed" / "README.md") == 2
