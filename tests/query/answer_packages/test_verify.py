"""`monjyu verify`: one changed byte is found, a forged quote is found, and a package can do no harm."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import re
import stat
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from monjyu_core.storage.folders import DataFolder
from monjyu_query.answer_packages import package_files
from monjyu_query.answer_packages.asked_answer import AskedAnswer, asked_again, asked_now
from monjyu_query.answer_packages.package import package_of
from monjyu_query.answer_packages.package_files import (
    NotAPackage,
    as_zip,
    canonical_bytes,
    read_package,
    signed,
    text_sha256,
    with_manifest,
    write_package,
)
from monjyu_query.answer_packages.verification import Verified, verify_package
from monjyu_query.asking.request import make_request
from tests.conftest import call_monjyu
from tests.copies import copy_data
from tests.core.models.fake_server import FakeModels
from tests.properties import HealthCheck, examples, given, st
from tests.query.answer_packages.conftest import QUESTION
from tests.query.test_llm_answer import quoting

CHANGES = examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def outcomes(found: Verified) -> dict[str, str]:
    return {check.check: check.outcome for check in found.checks}


def rewritten(package: dict[str, bytes], files: dict[str, bytes]) -> dict[str, bytes]:
    """A forgery: other files, with a manifest that fits."""
    changed = package | files
    return with_manifest({name: content for name, content in changed.items() if name != "manifest-sha256.txt"})


def test_an_answer_made_again_is_the_same_to_the_byte(
    asked_data: Path, asked: AskedAnswer, package: dict[str, bytes], tmp_path: Path
) -> None:
    again = asked_again(DataFolder(asked_data), asked.trace_id)
    assert again.differs == () and package_of(again) == package
    for name in ("package", "package.zip"):
        write_package(package, tmp_path / name)
        found = verify_package(tmp_path / name, DataFolder(asked_data))
        assert found.ok, found
        assert outcomes(found) == dict.fromkeys(("files", "quotes", "answer", "package", "record"), "holds")


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
    """Without a collection: whether the files are as their manifest says, and signed if they say so."""
    try:
        found = outcomes(verify_package(path, DataFolder(path.parent / "empty")))
    except NotAPackage:
        return False
    return "differs" not in found.values()


def public(key: Ed25519PrivateKey) -> str:
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_what_is_not_here_is_named_and_not_ok(package: dict[str, bytes], tmp_path: Path) -> None:
    write_package(package, tmp_path / "package")
    found = verify_package(tmp_path / "package", DataFolder(tmp_path / "empty"))
    assert not found.ok and outcomes(found) == {"files": "holds", "package": "not_checked"}
    assert set(found.checks[-1].details) == package.keys()
    assert call_monjyu(tmp_path / "empty", "verify", tmp_path / "package").returncode == 3


def test_without_its_trace_only_a_signer_can_say_when_it_was_asked(
    asked_data: Path, asked: AskedAnswer, tmp_path: Path
) -> None:
    """The same answer under a trace that is kept nowhere."""
    elsewhere = package_of(replace(asked, trace_id="0" * 16), author="Ada")
    key = Ed25519PrivateKey.generate()
    write_package(signed(elsewhere, pem(key)), tmp_path / "package")
    found = verify_package(tmp_path / "package", DataFolder(asked_data))
    assert not found.ok and outcomes(found).pop("record") == "not_checked"
    assert found.checks[-1].details == ["author", "trace_id", "asked_at", "again"]
    signer = outcomes(verify_package(tmp_path / "package", DataFolder(asked_data), key=public(key)))
    assert set(signer.values()) == {"holds"}


def test_under_another_name_of_the_collection(asked_data: Path, asked: AskedAnswer, tmp_path: Path) -> None:
    write_package(package_of(asked), tmp_path / "package")
    copy_data(asked_data, tmp_path / "data")
    root = DataFolder(tmp_path / "data").collection("samples").root
    root.rename(root.with_name("mine"))
    found = verify_package(tmp_path / "package", DataFolder(tmp_path / "data"), "mine")
    assert found.ok, found


MODES: tuple[dict[str, Any], ...] = (
    *({"mode": mode} for mode in ("auto", "keyword", "vector", "hybrid", "lazy", "local", "global", "multi")),
    *({"controller": controller} for controller in ("progressive", "hybrid")),
    *({"response_type": form} for form in ("list", "table", "report")),
    {"query": "What is this collection about?"},
    {"query": "Which papers are about communities?"},
    {"query": "zebrafish larvae in zero gravity"},
    {"mode": "hybrid", "rerank": True, "history": [{"role": "user", "content": "What is a relevance budget?"}]},
)


@pytest.mark.parametrize("values", MODES, ids=lambda values: "-".join(map(str, values.values()))[:40])
def test_honest_packages_of_every_kind_hold(whole_data: Path, tmp_path: Path, values: dict[str, Any]) -> None:
    data = DataFolder(whole_data)
    asked = asked_now(data, make_request(**{"query": QUESTION, "collection": "samples"} | values))
    write_package(package_of(asked), tmp_path / "package")
    found = verify_package(tmp_path / "package", data)
    assert found.ok, [check for check in found.checks if check.outcome != "holds"]


def test_what_a_model_wrote_is_named_and_the_rest_is_compared(
    answer_model: FakeModels, asked_data: Path, tmp_path: Path
) -> None:
    data = DataFolder(asked_data)
    request = make_request(query=QUESTION, collection="samples", mode="hybrid")
    answer_model.default = quoting
    package = package_of(asked_now(data, request))
    answer = json.loads(package["answer.json"])
    assert answer["answer_engine"] == "llm" and answer["citations"]
    calls = len(answer_model.requests)
    write_package(package, tmp_path / "package")
    found = verify_package(tmp_path / "package", data)
    assert len(answer_model.requests) == calls, "nobody pays for a check"
    wanted = dict.fromkeys(("files", "quotes", "package", "record"), "holds") | {"answer": "not_checked"}
    assert outcomes(found) == wanted and not found.ok
    assert {"segments", "hits", "routing"} <= set(found.checks[2].details)
    for kind in OF_A_MODEL:
        forged = FORGERIES[kind](package)
        write_package(forged, tmp_path / kind)
        assert "differs" in outcomes(verify_package(tmp_path / kind, data)).values(), kind


def edited(name: str, change: Callable[[Any], object]) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    """A JSON file changed, with a manifest that fits."""

    def forged(package: dict[str, bytes]) -> dict[str, bytes]:
        value = json.loads(package[name])
        change(value)
        return rewritten(package, {name: canonical_bytes(value)})

    return forged


def replaced(name: str, old: str, new: str) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    def forged(package: dict[str, bytes]) -> dict[str, bytes]:
        assert re.search(old.encode(), package[name]), (name, old)
        return rewritten(package, {name: re.sub(old.encode(), new.encode(), package[name], count=1)})

    return forged


def both(change: Callable[[Any, Any], object], **more: Any) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    """Answer and evidence changed so that they agree."""

    def forged(package: dict[str, bytes]) -> dict[str, bytes]:
        answer, evidence = (json.loads(package[f"{name}.json"]) for name in ("answer", "evidence"))
        change(answer, evidence)
        answer |= more
        files = {"answer.json": canonical_bytes(answer), "evidence.json": canonical_bytes(evidence)}
        return rewritten(package, files)

    return forged


def invent(answer: Any, evidence: Any, sentences: bool = True) -> None:
    """The first quote says something else, and its hashes fit."""
    words = "Relevance budgets were shown to be useless in all trials."
    answer["citations"][0]["quote"] = words
    cited = evidence["citations"][0]
    cited |= {"quote": words, "quote_sha256": text_sha256(words)}
    if sentences:
        cited["sentences"] = cited["sentences"][:1]
        cited["sentences"][0] |= {"text": words, "text_sha256": text_sha256(words)}
    else:
        cited["sentences"], answer["citations"][0]["sentence_ids"] = [], []


def attribute(answer: Any, evidence: Any) -> None:
    """The first quote to another paper of the collection."""
    other = next(hit["paper_id"] for hit in answer["hits"] if hit["paper_id"] != answer["citations"][0]["paper_id"])
    answer["citations"][0]["paper_id"] = evidence["citations"][0]["paper_id"] = other


def shorten(answer: Any, evidence: Any) -> None:
    """The first quote ends before its point."""
    words = answer["citations"][0]["quote"].rpartition(" ")[0]
    answer["citations"][0]["quote"] = words
    evidence["citations"][0] |= {"quote": words, "quote_sha256": text_sha256(words)}


def unsourced(answer: Any, evidence: Any) -> None:
    invent(answer, evidence, sentences=False)


def unknown_papers(answer: Any, evidence: Any) -> None:
    for cited in (*answer["citations"], *evidence["citations"], *evidence["papers"]):
        cited["paper_id"] = f"nobody-{cited.get('n', 0):012x}"


def first(name: str, **values: Any) -> Callable[[Any], None]:
    return lambda value: value[name][0].update(values)


def without(name: str) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda package: rewritten({key: value for key, value in package.items() if key != name}, {})


BOX = [{"page": 1, "boxes": [[1.0, 2.0, 3.0, 4.0]]}]
Forgery = Callable[[dict[str, bytes]], dict[str, bytes]]
FORGERIES: dict[str, Forgery] = {
    "readme": replaced("README.md", r"# .*", "# The opposite is true"),
    "readme quote": replaced("README.md", "“[^”]{20}", "“It was shown that not"),
    "paper title": edited("evidence.json", first("papers", title="Another title")),
    "paper title in the answer": edited("answer.json", first("citations", paper_title="Another title")),
    "file hash": edited("evidence.json", first("papers", file_sha256="0" * 64)),
    "page": both(lambda a, e: (first("citations", page=9)(a), first("citations", page=9)(e))),
    "boxes": edited("answer.json", first("citations", boxes=[[1.0, 2.0, 3.0, 4.0]], spans=BOX)),
    "bibliography": replaced("bibliography.bib", r"title = \{[^}]*", "title = {Another title"),
    "quote": both(invent),
    "quote without sentences": both(unsourced),
    "quote without sentences, by a model": both(unsourced, answer_engine="llm", model="gpt-4o"),
    "quote of another paper": both(attribute),
    "papers that do not exist": both(unknown_papers),
    "status": edited("answer.json", lambda a: a.update(status="partial")),
    "text of a passage": edited("answer.json", first("hits", text_sha256="0" * 64)),
    "retraction hidden or invented": both(
        lambda a, e: (first("citations", retracted=True)(a), first("citations", retracted=True)(e))),
    "snapshot": edited("snapshot.json", lambda s: s.update(snapshot_id="20200101T000000-000000000000")),
    "hashes of the snapshot": edited("snapshot.json", lambda s: s.update(manifest_sha256="0" * 64)),
    "question": edited("question.json", lambda q: (q.update(question="Why?"), q["request"].update(query="Why?"))),
    "mode asked": edited("question.json", lambda q: q["request"].update(mode="vector")),
    "settings": edited("question.json", lambda q: q["settings"]["search"].update(top_k=3)),
    "settings of a service": edited("question.json", lambda q: q["settings"].update(storage={"uri": "s3://x"})),
    "time": edited("question.json", lambda q: q.update(asked_at="2020-01-01T00:00:00+00:00")),
    "trace": edited("question.json", lambda q: q.update(trace_id="0" * 16)),
    "quotes said to be gone": edited("question.json", lambda q: q["again"]["left_out"].append({"why": "purged"})),
    "asked of another snapshot": edited("question.json", lambda q: q.update(asked_of="20200101T000000-000000000000")),
    "lineage": edited("lineage.json", lambda value: value["entity"].popitem()),
    "steps": edited("workflow.json", lambda value: value.update(deterministic=False)),
    "crate": replaced("ro-crate-metadata.json", r'"name": "Answer to: [^"]*', '"name": "Answer to: Why?'),
    "author": replaced("ro-crate-metadata.json", r'"name": "Ada"', '"name": "Bob"'),
    "a file added": lambda package: rewritten(package, {"notes.md": b"Believe this."}),
    "a page added": lambda package: rewritten(package, {"crops/1-p1.png": b"\x89PNG"}),
    "a program added": lambda package: rewritten(package, {"crops/run.exe": b"MZ"}),
    "a file removed": without("lineage.json"),
    "the evidence removed": without("evidence.json"),
    "written differently": lambda package: rewritten(
        package, {"answer.json": json.dumps(json.loads(package["answer.json"]), indent=1).encode()}),
    "a key twice": replaced("answer.json", r"\{", '{"status": "partial", '),
    "no number": replaced("answer.json", r'"confidence": ?[0-9.]+', '"confidence": NaN'),
    "letters that look alike": replaced("README.md", "a", "\u0430"),
    "line ends": lambda package: rewritten(package, {"README.md": package["README.md"].replace(b"\n", b"\r\n")}),
    "citations in another order": both(lambda a, e: (a["citations"].reverse(), e["citations"].reverse())),
    "half of a quote": both(shorten),
    "nothing said": edited("answer.json", lambda a: a.update(answer="", segments=[], citations=[])),
    "version of Monjyu": edited("workflow.json", lambda w: w["software"].update(version="9.9.9")),
    "another name of a file": lambda package: rewritten(
        {"Readme.md" if name == "README.md" else name: content for name, content in package.items()}, {}),
}  # fmt: skip
"""Each with hashes that fit."""
OF_A_MODEL = (
    *("readme", "readme quote", "paper title", "paper title in the answer", "file hash", "page", "boxes", "quote"),
    *("quote without sentences", "quote of another paper", "bibliography", "snapshot", "hashes of the snapshot"),
    *("a file added", "a file removed", "text of a passage", "time", "crate", "lineage", "papers that do not exist"),
)
"""What is found though the answer cannot be asked again."""
OF_QUOTES = ("quote", "quote without sentences", "half of a quote", "quote of another paper", "page", "boxes")


@pytest.mark.parametrize("kind", FORGERIES)
def test_a_forgery_with_fitting_hashes_is_found(
    asked_data: Path, asked: AskedAnswer, tmp_path: Path, kind: str
) -> None:
    honest = package_of(asked, author="Ada")
    forged = FORGERIES[kind](honest)
    assert forged != honest
    write_package(forged, tmp_path / "forged")
    found = verify_package(tmp_path / "forged", DataFolder(asked_data))
    assert not found.ok and found.checks[0].outcome == "holds", found
    named = {check.check for check in found.checks if check.outcome == "differs"}
    assert named or kind in ("author", "trace"), found
    assert "quotes" in named or kind not in OF_QUOTES, found


TOGETHER: tuple[Forgery, ...] = (
    edited("evidence.json", first("papers", licence="https://creativecommons.org/licenses/by/4.0/")),
    edited("evidence.json", first("citations", page=999)),
    edited("evidence.json", lambda e: e["citations"][0]["sentences"][0].update(spans=BOX)),
    replaced("bibliography.json", r'"title": "[^"]*', '"title": "Another title'),
    edited("answer.json", lambda a: a.update(confidence=0.99)),
    edited("answer.json", lambda a: (first("segments", text="The opposite.")(a),
                                                           a.update(answer="The opposite."))),
    edited("answer.json", lambda a: a["segments"][0].update(citations=[len(a["citations"])])),
    edited("answer.json", first("hits", score=99.0)),
    edited("answer.json", lambda a: a.update(snapshot_id="20200101T000000-000000000000")),
    edited("snapshot.json", lambda s: s["models"].update(phrases="gpt-4o")),
    edited("answer.json", lambda a: a["tables"].append(
        {"title": "", "columns": ["Trials"], "rows": [[{"text": "99", "citations": [1]}]]})),
    edited("answer.json", lambda a: a["warnings"].append("All is well.")),
    edited("answer.json", lambda a: a.update(level=4)),
    edited("answer.json", lambda a: a["routing"].update(reason="An expert chose it.")),
    edited("answer.json", lambda a: a["usage"].update(llm_calls=99)),
    lambda package: rewritten(
        package, {"bibliography.bib": package["bibliography.bib"].rpartition(b"\n@")[0]}),
    edited("answer.json", lambda a: a["hits"].reverse()),
)  # fmt: skip
"""One for each field and file that the comparison names."""


def test_every_field_and_file_that_differs_is_named(asked_data: Path, asked: AskedAnswer, tmp_path: Path) -> None:
    write_package(reduce(lambda package, forged: forged(package), TOGETHER, package_of(asked)), tmp_path / "forged")
    named = {one.check: set(one.details) for one in verify_package(tmp_path / "forged", DataFolder(asked_data)).checks}
    assert named["answer"] >= {"answer", "confidence", "hits", "level", "routing", "segments", "tables", "usage"}
    assert named["answer"] >= {"snapshot_id", "warnings"}
    assert named["package"] >= {"answer.json", "bibliography.bib", "bibliography.json", "evidence.json"}
    assert "snapshot.json" in named["package"]


def with_search(values: dict[str, str], question: Any) -> None:
    question["settings"]["search"].update(values)


def test_a_package_can_make_nobody_pay(asked_data: Path, package: dict[str, bytes], tmp_path: Path) -> None:
    """Neither settings that name a service nor a request that asks a model is followed."""
    for values in ({"backend": "azure_search"}, {"router": "model"}):
        path = tmp_path / next(iter(values))
        write_package(edited("question.json", partial(with_search, values))(package), path)
        found = verify_package(path, DataFolder(asked_data))
        assert not found.ok and not {"holds", "differs"} & {outcomes(found).get("answer", "not_checked")}
    asking = edited("question.json", lambda q: q["request"].update(models={"answer": "default"}))(package)
    write_package(asking, tmp_path / "models")
    assert not verify_package(tmp_path / "models", DataFolder(asked_data)).ok


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
    "many": lambda: archive(MANIFEST, *((f"{n}.txt", b"") for n in range(package_files.MOST_FILES + 1))),
    "bomb": lambda: archive(MANIFEST, ("zeros", b"\0" * (5 << 20)), packed=zipfile.ZIP_DEFLATED),
    "lzma": lambda: archive(MANIFEST, packed=zipfile.ZIP_LZMA),
    "no zip": lambda: b"PK\x03\x04 and nothing else",
    "empty": lambda: archive(("README.md", b"")),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_archive_is_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_files, "MOST_BYTES", 4 << 20)
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


LISTS = b"[" + b"[]," * 2_000_000 + b"[]]"


@pytest.mark.parametrize(
    "forged",
    [
        {"zeros": bytes(len(LISTS))},
        {"signature.json": LISTS},
        {"manifest-sha256.txt": b"\n" * len(LISTS)},
        {"question.json": LISTS},
        {"answer.json": LISTS},
    ],
    ids=lambda forged: str(*forged),
)
def test_a_package_of_any_kind_takes_about_its_size(
    asked_data: Path, package: dict[str, bytes], tmp_path: Path, forged: dict[str, bytes]
) -> None:
    (tmp_path / "bomb.zip").write_bytes(as_zip(package | forged))
    verify_package(tmp_path / "bomb.zip", DataFolder(asked_data))  # loads what it needs
    tracemalloc.start()
    try:
        assert not verify_package(tmp_path / "bomb.zip", DataFolder(asked_data)).ok
        assert tracemalloc.get_traced_memory()[1] < 2 * len(LISTS) + (4 << 20)
    finally:
        tracemalloc.stop()


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
    write_package(rewritten(package, {f"{name}.json": content}), tmp_path / "package")
    assert not verify_package(tmp_path / "package", DataFolder(asked_data)).ok


def test_signatures(asked_data: Path, package: dict[str, bytes], tmp_path: Path) -> None:
    mine, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    write_package(signed(package, pem(mine)), tmp_path / "signed")
    write_package(package, tmp_path / "plain")
    forged = signed(package, pem(mine))
    forged["signature.json"] = signed(with_manifest({"a": b""}), pem(mine))["signature.json"]
    write_package(forged, tmp_path / "forged")
    for key, name in ((mine, "mine.pem"), (other, "other.pem")):
        (tmp_path / name).write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))

    def code(*arguments: Any) -> int:
        return call_monjyu(asked_data, "verify", *arguments).returncode

    assert code(tmp_path / "signed") == code(tmp_path / "signed", "--key", tmp_path / "mine.pem") == 0
    assert code(tmp_path / "signed", "--key", tmp_path / "other.pem") == 1
    assert code(tmp_path / "plain") == 0 and code(tmp_path / "plain", "--key", tmp_path / "mine.pem") == 1
    assert code(tmp_path / "forged") == 1
    assert code(tmp_path / "signed", "--key", tmp_path / "signed" / "README.md") == 2
