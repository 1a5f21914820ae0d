"""Files written by keyword, for papers that come with others."""

from __future__ import annotations

from pathlib import Path


def write_files(folder: Path, **files: str) -> Path:
    """Each text under its keyword: `refs__a_bib` is `refs/a.bib`. Gives the folder."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
