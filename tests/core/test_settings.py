"""Settings: sources in their order, secrets hidden, and every one in a reuse key or exempt with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from monjyu_core.commands import config
from monjyu_core.errors import ConfigurationError
from monjyu_core.schemas import ASSET_TABLES
from monjyu_core.settings import Changes, Limit, NoResult, Settings, leaves, load_settings, settings_key
from monjyu_core.settings_file import template


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path))
    return tmp_path


def test_every_setting_is_in_a_reuse_key_or_exempt() -> None:
    for name, field in leaves(Settings):
        marks = [mark for mark in field.metadata if isinstance(mark, Changes | Limit | NoResult)]
        assert len(marks) == 1, f"{name} says not whether it changes a result"
        mark = marks[0]
        if isinstance(mark, NoResult):
            assert mark.why
        else:
            assert set(mark.assets) <= ASSET_TABLES.keys(), f"{name} names an unknown asset"


def test_a_setting_in_a_key_changes_it_and_no_other() -> None:
    before, after = load_settings(), load_settings({"chunking": {"size_tokens": 150}})
    assert settings_key(before, "chunks") != settings_key(after, "chunks")
    assert settings_key(before, "parsed_papers") == settings_key(after, "parsed_papers")
    limited = load_settings({"parse": {"timeout_seconds": 5}})
    assert settings_key(before, "parsed_papers") == settings_key(limited, "parsed_papers")
    assert settings_key(before, "parsed_papers", Limit) != settings_key(limited, "parsed_papers", Limit)


def test_environment_over_file_over_default_and_overrides_over_all(
    own_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings().search.top_k == 10
    (own_data / "monjyu.yaml").write_text("search: {top_k: 20, alpha: 0.5}\nprofiles: {azure: {search: {alpha: 0.1}}}")
    assert (load_settings().search.top_k, load_settings().search.alpha) == (20, 0.5)
    monkeypatch.setenv("MONJYU_SEARCH__TOP_K", "30")
    assert (load_settings().search.top_k, load_settings().search.alpha) == (30, 0.5)
    assert load_settings({"search": {"top_k": 40}}).search.top_k == 40
    monkeypatch.setenv("MONJYU_PROFILE", "azure")
    assert load_settings().search.alpha == 0.1


@pytest.mark.parametrize(
    "text", ["search: {top_k: many}", "nonsense: 1", "- a", "search: [", "chunking: {overlap_tokens: 300}"]
)
def test_a_wrong_file_is_a_clear_error(own_data: Path, text: str) -> None:
    (own_data / "monjyu.yaml").write_text(text)
    with pytest.raises(ConfigurationError):
        load_settings()


def test_config_show_hides_secrets_and_init_round_trips(own_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_AZURE__OPENAI_API_KEY", "sk-very-secret")
    shown = CliRunner().invoke(config, ["show"])
    assert shown.exit_code == 0
    assert "very-secret" not in shown.output
    assert "size_tokens: 200" in shown.output
    written = CliRunner().invoke(config, ["init"])
    assert written.exit_code == 0
    assert (own_data / "monjyu.yaml").read_text() == template()
    assert "api_key" not in template()
    assert load_settings().chunking.size_tokens == 200
    uncommented = template().replace("# chunking:", "chunking:").replace("#   size_tokens: 200", "  size_tokens: 100")
    (own_data / "monjyu.yaml").write_text(uncommented)
    assert load_settings().chunking.size_tokens == 100
