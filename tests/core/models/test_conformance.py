"""Every role and every fault with every provider's server comes out as it should, and docs/models.md says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.models.conformance import (
    BEGIN,
    CHAT_ROLES,
    EMBEDDING,
    FAULTS,
    JSON_ROLES,
    PAGE,
    faults,
    results,
    tables,
)
from tests.core.models.fake_server import Provider
from tests.core.models.providers import PROVIDERS

IN_CHAT = [one for one in PROVIDERS if "chat" in one.serves]
WRITE = "run `python -m tests.core.models.conformance`"


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path))


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.name)
def test_roles_and_faults(provider: Provider) -> None:
    trial, refused, chat, vectors = found = results(provider)
    roles = {*(CHAT_ROLES if "chat" in provider.serves else ()), *({"embed", "rerank"} & set(provider.serves))}
    assert {one.role: (one.verdict, one.why) for one in trial.roles} == dict.fromkeys(roles, ("good", ""))
    assert len(refused) <= len(provider.refuses)
    for fault in FAULTS if chat else ():
        came_to = chat[fault.about, "assess"], chat[fault.about, "answer"]
        assert came_to == (fault.asked, fault.streamed), fault.about
    assert vectors == {about: EMBEDDING[about] for about in vectors}
    written = PAGE.read_text(encoding="utf-8").splitlines()
    own = [line for line in tables({provider.name: found}).splitlines() if line.startswith(f"| {provider.name} |")]
    assert len(own) == 1 and set(own) <= set(written), WRITE


def test_the_page_has_every_provider_and_fault() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(line in page.splitlines() for line in tables({}).splitlines()), WRITE
    said, _, written = page.partition(BEGIN)
    for provider in PROVIDERS:
        assert f"| {provider.name} |" in written and f"| {provider.name} |" in said, provider.name


@pytest.mark.slow
@pytest.mark.parametrize("provider", IN_CHAT, ids=lambda one: one.name)
def test_every_role_meets_every_fault(provider: Provider) -> None:
    found = faults(provider, JSON_ROLES)
    wanted = {(fault.about, role): fault.asked for fault in FAULTS for role in JSON_ROLES}
    assert found == wanted | {(fault.about, "answer"): fault.streamed for fault in FAULTS}
