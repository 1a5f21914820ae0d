"""What README and the guides show works as written."""

from __future__ import annotations

import re
import shlex
from io import StringIO
from pathlib import Path

import pytest

from tests.conftest import ROOT, call_monjyu, run_monjyu

TEXTS = ["README.md", "docs/index.md", "docs/ask.md", "docs/operate.md"]
LATER = ("make ", "source ")
"""Not run here: `make demo` and `make test` are run by CI and by hand in a fresh clone."""
IN_A_PROCESS = ("index", "automation")
"""They open Dagster's instance and set up the logs of their process; the others are run in this one."""


def commands(name: str) -> list[str]:
    """The commands in the `sh` blocks of a document, comments left out."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith(LATER)]


def test_documents_show_commands_at_all() -> None:
    assert len(commands("README.md")) >= 9


@pytest.mark.slow
def test_every_command_shown_works(sample_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What several pages show runs once."""
    monkeypatch.chdir(ROOT)
    for command in dict.fromkeys(line for name in TEXTS for line in commands(name)):
        program, *arguments = shlex.split(command)
        assert program == "monjyu", command
        files = [str(p) for a in arguments if "*" in a for p in sorted(ROOT.glob(a))]
        arguments = [a for a in arguments if "*" not in a] + files
        if arguments[:2] == ["config", "init"]:
            (sample_data / "monjyu.yaml").unlink(missing_ok=True)
        monkeypatch.setattr("sys.stdin", StringIO("Why are papers kept in shards?\n"))  # what is said to `chat`
        run = run_monjyu if arguments[0] in IN_A_PROCESS else call_monjyu
        done = run(sample_data, *arguments)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert done.stdout.strip(), command
