"""GET /answers/{trace_id}/export: a file for whoever asked; for everyone else there is no such answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.state_store import StateStore
from monjyu_query.answer_packages.all_forms import FORMS
from monjyu_query.answer_packages.crops import crops_by
from monjyu_query.answer_packages.verification import verify_package
from monjyu_query.service.access.keys import create_key
from tests.query.service.conftest import Serving

QUESTION = {"query": "How are the pages of an exported answer numbered under a budget?", "collection": "samples"}


def test_each_form_for_whoever_asked(
    serve_with: Serving, service_data: Path, published: list[str], tmp_path: Path
) -> None:
    store = StateStore(service_data / "state")
    keys = {name: create_key(store, "", "reader")[0] for name in ("ada", "ben")}
    keys["admin of another"] = create_key(store, "", "admin", collections=["hostile"])[0]
    with serve_with(require_key=True) as (served, service):
        held = replace(served, keys=keys)
        with held.client("ada") as ada, held.client("ben") as ben, held.client("admin of another") as admin:
            trace_id = ada.post("/search", json=QUESTION).json()["trace_id"]
            path = f"/answers/{trace_id}/export"
            for form, kind, ending in ((name, one.media_type, one.ending) for name, one in FORMS.items()):
                answer = ada.get(path, params={"format": form})
                assert answer.status_code == 200, answer.text
                assert answer.headers["content-type"] == kind and answer.headers["cache-control"] == "no-store"
                assert f'"answer-{trace_id}.{ending}"' in answer.headers["content-disposition"]
            package: Any = ada.get(path, params={"format": "ro-crate", "crops": True})
            (tmp_path / "answer.zip").write_bytes(package.content)
            draw = crops_by(service.drawing.draw)
            found = verify_package(tmp_path / "answer.zip", DataFolder(service_data), crops=draw)
            assert found.ok, found
            undrawn = verify_package(tmp_path / "answer.zip", DataFolder(service_data))
            assert undrawn.ok == (b"crops/1-p" not in package.content)
            assert b"crops/1-p" in package.content or b"/pages" not in package.content
            before = len(store.keys("traces"))
            assert [client.get(path).status_code for client in (ben, admin)] == [404, 404]
            assert ada.get(f"/answers/{'0' * 16}/export").status_code == 404
            assert ada.get(path, params={"format": "exe"}).status_code == 422
            service.traces.flush()
            assert len(store.keys("traces")) == before, "an export leaves no trace"
