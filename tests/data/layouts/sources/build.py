"""Typesets the papers of this folder and writes their truth files; needs a TeX system, which the tests do not.

    python tests/data/layouts/sources/build.py [NAME ...]

What stands on the first page is taken from NAME.json, the rest from NAME.tex and refs.bib: headings with their level
by nesting (a run-in head under a section is one level below it), references in printed order, and for each citation
in the running text the number of its reference.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_HEADING = re.compile(
    r"\\(?P<kind>appendix\b|(?:chapter|section|subsection|subsubsection|paragraph)\*?\{(?P<text>[^{}]*)\})"
    r"|\\begin\{(?P<env>acks|acknowledgments)\}"
)
_DATED = {"SOURCE_DATE_EPOCH": "1600000000", "FORCE_SOURCE_DATE": "1"}
_ORDER = ["chapter", "section", "subsection", "subsubsection", "paragraph"]
_CITE = re.compile(r"\\cite(?:p|t|alp)?(?:\[[^\]]*\])*\{([^}]*)\}(?:--\\cite\{([^}]*)\})?")


def typeset(name: str, folder: Path) -> None:
    """PDF of a paper in `folder`."""
    for path in HERE.iterdir():
        if path.suffix in (".tex", ".bib"):
            shutil.copy(path, folder)
    source = (HERE / f"{name}.tex").read_text("utf-8")
    japanese = "{jsarticle}" in source
    latex = ["uplatex" if japanese else "pdflatex", "-interaction=nonstopmode", name]
    for command in (latex, ["upbibtex" if japanese else "bibtex", name], latex, latex, latex):
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False, env=os.environ | _DATED)
    if japanese:
        subprocess.run(["dvipdfmx", "-q", name], cwd=folder, check=True)
    shutil.copy(folder / f"{name}.pdf", HERE.parent / "pdf")


def bibliography() -> dict[str, dict[str, Any]]:
    """Truth entries by key."""
    entries: dict[str, dict[str, Any]] = {}
    from pylatexenc.latex2text import LatexNodes2Text

    plain = LatexNodes2Text().latex_to_text
    for line in (HERE / "refs.bib").read_text("utf-8").splitlines():
        key = line.split("{")[1].split(",")[0]
        fields = {
            name: plain(re.sub(r"\\url", "", value))
            for name, value in re.findall(r"(\w+)=(\{.*?\}|\d+)(?=, \w+=|\}$)", line)
        }
        entry: dict[str, Any] = {
            "title": fields["title"],
            "year": fields["year"],
            "authors": fields["author"].split(" and "),
        }
        entries[key] = entry | ({"doi": fields["doi"]} if "doi" in fields else {})
    return entries


def sections(body: str) -> list[dict[str, Any]]:
    """Headings in order, levels by nesting."""
    found: list[dict[str, Any]] = []
    depths: list[int] = []
    for match in _HEADING.finditer(body):
        if match["kind"] == "appendix":
            continue
        kind = (match["kind"] or "section").split("{")[0].rstrip("*")
        text = match["text"] or ("Acknowledgments" if match["env"] else "")
        depth = _ORDER.index(kind)
        while depths and depths[-1] >= depth:
            depths.pop()
        depths.append(depth)
        found.append({"title": text.rstrip("."), "level": len(depths)})
    return found


def cited(body: str, keys: list[str]) -> list[int]:
    """Numbers (from 0) of the references cited, in order of the text; [3]--[5] cites what lies between."""
    numbers: list[int] = []
    for match in _CITE.finditer(body):
        own = [keys.index(key) for key in match[1].split(",")]
        if match[2]:
            last = keys.index(match[2])
            own = list(range(own[0], last + 1))
        numbers += own
    return numbers


def truth(name: str, folder: Path) -> dict[str, Any]:
    """The truth file of a paper that has been typeset in `folder`."""
    source = re.sub(r"(?<!\\)%.*", "", (HERE / f"{name}.tex").read_text("utf-8"))
    front = json.loads((HERE / f"{name}.json").read_text("utf-8"))
    body = source.split(r"\begin{document}")[1]
    abstract = re.search(
        r"\\begin\{abstract\}(.*?)(?:\\keywords|\\end\{abstract\})|\\bfseries Abstract\} (.*?)\\par", body, re.S
    )
    if abstract and "abstract" not in front:
        front["abstract"] = " ".join((abstract[1] or abstract[2]).split())
    entries = bibliography()
    keys = re.findall(
        r"\\bibitem\s*(?:\[(?:[^\[\]]|\[[^\]]*\])*\])?\s*%?\s*\{(\w+)\}", (folder / f"{name}.bbl").read_text("utf-8")
    )
    front["sections"] = sections(body)
    front["references"] = [entries[key] for key in keys]
    front["inline_citations"] = cited(body, keys)
    return front


def main() -> int:
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.json"))
    for name in names:
        with tempfile.TemporaryDirectory() as temporary:
            typeset(name, Path(temporary))
            made = truth(name, Path(temporary))
            text = json.dumps(made, ensure_ascii=False, indent=1)
            (HERE.parent / "truth" / f"{name}.json").write_text(text + "\n", "utf-8")
        print(
            name,
            len(made["sections"]),
            "headings",
            len(made["references"]),
            "references",
            len(made["inline_citations"]),
            "citations",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
