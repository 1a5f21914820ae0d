"""The example notebook runs, and shows what it says."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

NOTEBOOK = ROOT / "docs" / "examples" / "monjyu.ipynb"


def printed(notebook: nbformat.NotebookNode) -> list[str]:
    """What each cell of code printed or showed."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [
        "".join(o.get("text") or o.get("data", {}).get("text/markdown", "") for o in cell.outputs) for cell in cells
    ]


def test_the_notebook_runs(sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_DATA", str(sample_data))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    stored = printed(notebook)
    manager = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(tmp_path / "kernel"))
    NotebookClient(notebook, km=manager, timeout=600, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = printed(notebook)
    for place in (1, 5, 6):  # answers and citations, not counts and times
        assert shown[place] == stored[place]
    assert "complete - **Morvant and Arrowood (2025)**: The Leiden algorithm repairs" in shown[1]
    assert "abstained" in shown[2]
    assert "ConfigurationError" in shown[-1]
