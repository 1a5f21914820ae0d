"""No text of a paper steers a terminal or turns the direction of what follows, whichever parser read it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from monjyu_assets.parsing.sandbox import worker
from monjyu_core.settings.papers import ParserSettings
from monjyu_core.text.unicode_words import blanked, escaped_in_json, has_controls, plain_values, without_controls

EVIL = "Title \u202eexe.txt\u202c \u2066in\u2069 \u200fmark \u061c"
ENTITIES = "Title &#x202e;exe.txt&#x202c; &#x2066;in&#x2069; &#x9b;31m"
PROSE = "The reservoir of the valley is measured in every week of the year by three people. " * 3
TEX = f"\\documentclass{{article}}\\title{{{EVIL}}}\\begin{{document}}\\maketitle\\section{{A}}{EVIL} {PROSE}"
TITLE = ENTITIES.replace("&#x9b;31m", "")
FILES = {
    "paper.md": f"---\ntitle: {EVIL}\nauthor: {EVIL}\n---\n\n# {EVIL}\n\n## Results\n\n{EVIL} {PROSE}\n",
    "paper.html": f"<title>{ENTITIES}</title><body><h1>{ENTITIES}</h1><h2>A</h2><p>{ENTITIES} {PROSE}</p>",
    "paper.tex": f"{TEX}\\end{{document}}",
    "paper.txt": f"{EVIL}\n\nResults\n\n{EVIL} {PROSE}\n",
    "paper.xml": "<article><front><article-meta><title-group><article-title>"
    f"{TITLE}</article-title></title-group></article-meta></front><body><sec><title>A</title><p>{PROSE}</p></sec></body>"
    "</article>",
}
TYPES = {".md": "md", ".html": "html", ".tex": "latex", ".txt": "txt", ".xml": "xml"}


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inside for text in texts(one)]


def test_no_parser_lets_them_through(tmp_path: Path) -> None:
    tasks = []
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, "utf-8")
        tasks.append(json.dumps({"path": str(tmp_path / name), "document_type": TYPES[Path(name).suffix]}))
    command = [sys.executable, "-m", worker.__name__, ParserSettings().model_dump_json()]
    done = subprocess.run(
        command, input="\n".join(tasks) + "\n", capture_output=True, text=True, check=True, timeout=300
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(FILES)
    for answer, name in zip(answers, FILES, strict=True):
        assert "exe.txt" in json.dumps(answer.get("paper")), (name, answer)
        assert not [text for text in texts(answer) if has_controls(text)], name


def test_what_they_are() -> None:
    assert all(map(has_controls, "\x1b\x00\x07\x7f\x9b\u200e\u200f\u061c\u202a\u202e\u2066\u2069"))
    assert not has_controls("a\n\tb – ü 漢字 می‌خواهم 👩‍🔬 \u00ad")
    assert blanked("a\u202eb") == "a b" and without_controls("a\x1b[31mb") == "a[31mb"
    assert plain_values({"a": ["\u202ex", 1, {"b": "\x9by"}]}) == {"a": [" x", 1, {"b": " y"}]}
    assert json.loads(escaped_in_json(json.dumps("\u202e\x7f", ensure_ascii=False))) == "\u202e\x7f"
