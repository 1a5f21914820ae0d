"""Azure OpenAI asked with an identity's token instead of a key."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from monjyu_core.azure import credentials
from monjyu_core.errors import ConfigurationError
from monjyu_core.models.call_errors import ModelUnreachable
from monjyu_core.models.calls.event_loop import run
from monjyu_core.models.factory import chat_client, named_model, server_of
from monjyu_core.models.types import ChatRequest, Message
from monjyu_core.settings.settings import load_settings
from tests.core.models.fake_server import KEY, FakeModels

ASKED = ChatRequest((Message("user", "hello"),), 10)


class Signing:
    """Gives a new token for each scope asked, as azure-identity's credentials do."""

    def __init__(self) -> None:
        self.scopes: list[str] = []

    def get_token(self, scope: str) -> SimpleNamespace:
        self.scopes.append(scope)
        return SimpleNamespace(token=KEY, expires_on=int(time.time()) + 3600)


@pytest.fixture
def signing(monkeypatch: pytest.MonkeyPatch) -> Signing:
    made = Signing()
    monkeypatch.setattr(credentials, "identity", lambda: made)
    return made


def model(base_url: str, **azure: object) -> dict[str, object]:
    return {"models": {"m": {"provider": "azure", "model": "gpt", "base_url": base_url}}, "azure": azure}


def ask(settings: dict[str, object]) -> str:
    name, chosen = named_model(load_settings(settings), "m", "a test")
    client = chat_client(name, chosen, 5)

    async def once() -> str:
        try:
            return (await client.chat(ASKED)).text
        finally:
            await client.close()

    return run(once())


@pytest.mark.parametrize("credential", ["auto", "identity"])
def test_without_a_key_an_identity_signs_in(fake: FakeModels, signing: Signing, credential: str) -> None:
    assert ask(model(fake.url, credential=credential)) == "An answer."
    assert signing.scopes == [credentials.OF_COGNITIVE_SERVICES]
    [request] = fake.requests
    assert request.headers["authorization"] == f"Bearer {KEY}" and "api-key" not in request.headers


def test_a_key_goes_before_the_identity_and_is_wanted_where_keys_are(fake: FakeModels, signing: Signing) -> None:
    assert ask(model(fake.url, openai_api_key=KEY)) == "An answer."
    assert "authorization" not in fake.requests[0].headers and signing.scopes == []
    with pytest.raises(ConfigurationError, match="api_key is missing"):
        server_of(*named_model(load_settings(model(fake.url, credential="key")), "m", "a test"))


def test_a_token_goes_over_https_only(signing: Signing) -> None:
    with pytest.raises(ModelUnreachable, match="https only"):
        ask(model("http://models.example.org"))
    assert signing.scopes == []


def test_a_key_of_azure_in_the_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "monjyu.yaml"
    monkeypatch.setenv("MONJYU_CONFIG", str(file))
    for text in (
        "azure: {openai_api_key: abcdef}",
        "profiles: {azure: {azure: {openai_api_key: abcdef}}}",
    ):
        file.write_text(text)
        with pytest.raises(ConfigurationError, match="a secret") as raised:
            load_settings()
        assert "MONJYU_AZURE__" in str(raised.value) and "abcdef" not in str(raised.value)
    file.write_text("azure: {keys_in_file: true, openai_api_key: abcdef}")
    assert load_settings().azure.openai_api_key is not None
