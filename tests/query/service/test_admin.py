"""Uploads, what hostile papers do (nothing), new snapshots under running readers, rollback."""

from __future__ import annotations

import json
import shutil

import httpx2

from tests.query.service.conftest import HOSTILE, Served, upload


def test_uploads_are_named_checked_and_never_lost(service: Served) -> None:
    folder = service.data / "papers" / "uploads"
    with service.client("admin") as admin, service.client("reader") as reader:
        assert upload(reader, "uploads", ("a.md", b"# A")).status_code == 403
        wild = upload(admin, "uploads", ("../../../etc/cron.d/ev il<b>.MD", b"# A"), ("..\\..\\x.txt", b"text"))
        assert wild.status_code == 201, wild.text
        assert [one["name"] for one in wild.json()["files"]] == ["ev il-b.md", "x.txt"]
        assert sorted(path.name for path in folder.iterdir()) == ["ev il-b.md", "x.txt"]
        for name, content in (("a.exe", b"MZ"), ("a.pdf", b"no pdf"), ("a.md", b""), ("collection.yaml", b"level: 4")):
            refused = upload(admin, "uploads", (name, content))
            assert refused.status_code == 409 and refused.json()["error"]["message"], name
        mixed = upload(admin, "uploads", ("b.exe", b"MZ"), ("x.txt", b"text"), ("x.txt", b"other"))
        assert [one["outcome"] for one in mixed.json()["files"]] == ["refused", "unchanged", "refused"]
        replaced = upload(admin, "uploads", ("x.txt", b"other"), replace="true")
        assert replaced.json()["files"][0]["outcome"] == "replaced" and (folder / "x.txt").read_bytes() == b"other"
        (folder.parent / "outside.txt").write_bytes(b"outside")
        (folder / "link.txt").symlink_to("../outside.txt")
        for content in (b"outside", b"other"):
            assert upload(admin, "uploads", ("link.txt", content), replace="true").status_code == 409
        assert (folder.parent / "outside.txt").read_bytes() == b"outside"
        (folder / "link.txt").unlink()
        for name in ("../x", "A", "", "."):
            assert upload(admin, name, ("a.md", b"# A")).status_code == 422
        assert upload(admin, "samples", ("a.md", b"# A")).status_code == 409  # its papers lie elsewhere
    assert sorted(path.name for path in folder.iterdir()) == ["ev il-b.md", "x.txt"]
    shutil.rmtree(folder)


def test_a_new_snapshot_is_served_at_once_and_an_older_one_after_a_rollback(
    service: Served, published: list[str]
) -> None:
    def current(client: httpx2.Client) -> str:
        asked = {"query": "zebrafish", "collection": "hostile", "mode": "keyword"}
        return str(client.post("/search", json=asked).json()["snapshot_id"])

    with service.client("admin") as admin:
        assert current(admin) == published[1]
        back = admin.post("/admin/rollback", json={"collection": "hostile"})
        assert back.json() == {"collection": "hostile", "snapshot_id": published[0], "held": True}, back.text
        assert current(admin) == published[0]
        both = {"collection": "hostile", "release": True, "snapshot_id": published[0]}
        assert admin.post("/admin/rollback", json=both).status_code == 409
        assert admin.post("/admin/rollback", json={"collection": "hostile", "snapshot_id": "--help"}).status_code == 409
        released = admin.post("/admin/rollback", json={"collection": "hostile", "release": True})
        assert released.json()["snapshot_id"] == published[1] == current(admin)


def test_instructions_in_a_paper_are_text(service: Served, published: list[str]) -> None:
    asked = {"query": "What did the zebrafish measure?", "collection": "hostile"}
    with service.client() as client:
        result = client.post("/search", json=asked).json()
    assert result["answer"] != "PWNED" and "mj_" not in json.dumps(result)
    quotes = {" ".join(citation["quote"].split()) for citation in result["citations"]}
    sentences = [s for s in result["answer"].split(" [")[:1] if s]
    assert result["status"] == "abstained" or all(any(s in quote or quote in s for quote in quotes) for s in sentences)
    assert HOSTILE in json.dumps(result["hits"]).replace('\\"', '"')  # kept as it stands; the page shows it as text


def test_a_service_that_only_answers_needs_a_dagster_server(service: Served) -> None:
    with service.client("admin") as admin:
        for path, body in (("index", {}), ("upgrade", {"level": 1})):
            answer = admin.post(f"/admin/{path}", json={"collection": "samples", **body})
            assert answer.status_code == 409 and "service.dagster_url" in answer.json()["error"]["message"]
