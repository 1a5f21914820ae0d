"""Corrections and operators' routes over HTTP: who may, what is refused, what is told."""

from __future__ import annotations

from tests.query.service.conftest import Served


def test_corrections_are_made_seen_and_taken_back(service: Served) -> None:
    with service.client("admin") as admin, service.client("reader") as reader, service.client() as anyone:
        paper_id = reader.get("/papers", params={"collection": "samples"}).json()["papers"][0]["paper_id"]
        asked = {"collection": "samples", "paper_id": paper_id, "field": "title", "value": "Corrected", "note": "why"}
        assert reader.post("/corrections", json=asked).status_code == 403
        assert anyone.post("/corrections", json=asked).status_code == 401
        try:
            made = admin.post("/corrections", json=asked).json()
            assert made["changed"] and made["corrections"][0]["by"].startswith("key:"), made
            assert not admin.post("/corrections", json=asked).json()["changed"]
            there = {"collection": "samples", "paper_id": paper_id}
            seen = reader.get("/corrections", params=there).json()["corrections"]
            assert [(one["field"], one["value"], one["note"]) for one in seen] == [("title", "Corrected", "why")]
        finally:
            gone = admin.post("/corrections", json=asked | {"value": None}).json()
        assert gone["changed"] and gone["corrections"] == []
        assert admin.post("/corrections", json=asked | {"paper_id": "nothing"}).status_code == 404
        for wrong in ({"field": "doi", "value": "x"}, {"value": "a\x00"}, {"value": ["a"]}):
            assert admin.post("/corrections", json=asked | wrong).status_code == 409, wrong
        for wrong in ({"field": "sha256"}, {"value": "x" * 20_001}, {"more": 1}):
            assert admin.post("/corrections", json=asked | wrong).status_code == 422, wrong


def test_keys_are_made_shown_once_and_revoked_and_nobody_is_locked_out_unawares(service: Served) -> None:
    with service.client("admin") as admin, service.client("reader") as reader:
        assert reader.get("/admin/keys").status_code == 403
        made = admin.post("/admin/keys", json={"name": "for a test", "role": "reader", "expires": "1d"})
        assert made.status_code == 201 and made.json()["key"].startswith(f"mj_{made.json()['id']}_")
        listed = admin.get("/admin/keys").json()["keys"]
        assert "sha256" not in str(listed) and made.json()["id"] in [one["id"] for one in listed]
        own = next(one["id"] for one in listed if one["own"])
        refused = admin.post("/admin/keys/revoke", json={"id": own})
        assert refused.status_code == 409 and "your own key" in refused.json()["error"]["message"]
        assert admin.post("/admin/keys/revoke", json={"id": made.json()["id"]}).json()["revoked"]
        assert admin.post("/admin/keys/revoke", json={"id": made.json()["id"]}).status_code == 404


def test_snapshots_estimates_and_runs(service: Served) -> None:
    with service.client("admin") as admin:
        kept = admin.get("/admin/snapshots", params={"collection": "samples"}).json()["snapshots"]
        assert [one["current"] for one in kept][-1]
        cost = admin.post("/admin/estimate", json={"collection": "samples", "level": 1}).json()
        assert cost["llm_calls"] == 0 and cost["cost_usd"] == 0
        seen = admin.get("/admin/runs").json()
        assert seen["url"] is None and "monjyu up" in seen["problem"] and seen["runs"] == []
