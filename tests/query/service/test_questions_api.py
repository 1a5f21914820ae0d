"""Saved questions over HTTP: who may, what is refused, what is told."""

from __future__ import annotations

from tests.query.service.conftest import Served


def test_a_question_is_saved_listed_and_removed(service: Served) -> None:
    asked = {"collection": "samples", "id": "kept", "text": "How is a lease kept?", "mode": "keyword"}
    asked |= {"expect": {"must_mention": ["lease"], "same_answer": True}, "severity": "block"}
    there = {"collection": "samples"}
    with service.client("admin") as admin, service.client("reader") as reader, service.client() as anyone:
        assert reader.post("/questions", json=asked).status_code == 403
        assert anyone.post("/questions", json=asked).status_code == 401
        saved = admin.post("/questions", json=asked)
        assert saved.status_code == 200 and saved.json()["by"].startswith("key:"), saved.text
        listed = reader.get("/questions", params=there).json()["questions"]
        (one,) = [one for one in listed if one["id"] == "kept"]
        assert one["expect"]["same_answer"] and one["answer"] is None
        changed = reader.get("/questions/changes", params=there)  # there is one snapshot only
        assert changed.status_code == 409 and "one snapshot" in changed.json()["error"]["message"]
        assert reader.delete("/questions/kept", params=there).status_code == 403
        assert admin.delete("/questions/kept", params=there).json()["text"] == "How is a lease kept?"
        assert admin.delete("/questions/kept", params=there).status_code == 404
        for wrong in ({"text": " "}, {"id": "../x"}, {"expect": {"must_cite": "x"}}, {"severity": "loud"}, {"more": 1}):
            assert admin.post("/questions", json=asked | wrong).status_code == 422, wrong
