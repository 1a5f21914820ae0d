"""The Dockerfile by what it promises: pinned, with hashes, not root, and nothing but code inside."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

DOCKERFILE = ROOT / "deploy" / "Dockerfile"
TEXT = DOCKERFILE.read_text(encoding="utf-8").replace("\\\n", " ")
STAGES = {
    name: (base, body)
    for base, name, body in re.findall(
        r"^FROM (\S+) AS (\S+)\n(.*?)(?=^FROM |\Z)", TEXT, flags=re.MULTILINE | re.DOTALL
    )
}


def test_bases_are_pinned_and_every_package_has_a_hash() -> None:
    outside = {base for base, _ in STAGES.values() if base not in STAGES}
    assert outside and all(re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+[\w.-]*", base) for base in outside)
    installs = re.findall(r"(?:pip install|uv build)[^&\n]*", TEXT)
    assert len(installs) >= 5
    assert all("--require-hashes" in line or "--no-deps --no-index" in line for line in installs), installs


@pytest.mark.parametrize("name", ["query", "writer"])
def test_an_image_is_not_root_and_says_how_it_is(name: str) -> None:
    base, body = STAGES[name]
    assert base == "runtime" and "COPY --from=" in body
    assert re.search(r"^USER \d+:\d+$", body, flags=re.MULTILINE) and "USER root" not in body
    assert "HEALTHCHECK" in body
    assert f"COPY --from={name}-packages" in body


def test_the_query_image_is_made_of_the_query_lock() -> None:
    _, body = STAGES["query-packages"]
    assert "-r requirements-query.lock" in body and "-r requirements.lock" not in body


def test_only_what_is_copied_is_sent_to_docker() -> None:
    lines = [
        line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if not line.startswith("#")
    ]
    assert lines[0] == "*"
    sent = {line[1:] for line in lines if line.startswith("!")}
    copies = re.findall(r"^COPY (?!--from)(.+)$", TEXT, flags=re.MULTILINE)
    copied = {source for line in copies for source in line.split()[:-1]}
    assert sent == copied
    assert all((ROOT / name).exists() for name in sent)
