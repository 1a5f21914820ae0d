"""LaTeX's commands for citations (LaTeX, natbib, biblatex), written out as author and year."""

from __future__ import annotations

import re
from typing import Any

from monjyu_assets.parsing.bibliography.pandoc_citations import Citer
from monjyu_assets.parsing.formats.latex.latex_names import CITATIONS
from monjyu_assets.parsing.text.text_marks import silent

_COMMAND = re.compile(
    r"\\(?:[Cc]ite[a-zA-Z]*|(?:text|paren|auto|foot|super|smart|full|up|short|new|online)cites?|onlinecite|[TPA][a-z]+cite|bibentry|nocite)\*?\s*"
    r"(?:\[[^\[\]]{0,300}\]\s*){0,2}\{([^{}]{1,3000})\}"
)
_UNUSABLE = re.compile(r"[{}\s\[\]@;]")
_MOST_KEYS = 300


def cited_keys(source: str) -> list[str]:
    """All keys that a source cites, in order, each once."""
    return list(dict.fromkeys(key for match in _COMMAND.finditer(source) for key in _keys(match[1])))


def keys_without_mark(source: str) -> list[str]:
    """Keys that are listed without being cited in the text."""
    return [key for match in re.finditer(r"\\nocite\s*\{([^{}*]{1,3000})\}", source) for key in _keys(match[1])]


def all_are_cited(source: str) -> bool:
    return re.search(r"\\nocite\s*\{\s*\*\s*\}", source) is not None


def _keys(text: str) -> list[str]:
    return [key for part in text.split(",")[:_MOST_KEYS] if (key := part.strip()) and not _UNUSABLE.search(key)]


def written(node: Any, citer: Citer | None) -> str | None:
    """What a citation prints; None if the macro is not a citation. Unknown keys stay as they are, in brackets."""
    star = node.nodeargd is not None and bool(node.nodeargd.argnlist) and node.nodeargd.argnlist[0] is not None
    name = node.macroname
    style = next((s for s, names in CITATIONS.items() if name in names or (star and f"{name}*" in names)), None)
    if style is None:
        return None
    given = [argument for argument in node.nodeargd.argnlist[1:] if argument is not None] if node.nodeargd else []
    keys = _keys(given[-1].latex_verbatim().strip("{}")) if given else []
    notes = [_note(argument.latex_verbatim()) for argument in given[:-1]]
    before, after = (notes[0], notes[1]) if len(notes) > 1 else ("", notes[0] if notes else "")
    if not keys:
        return ""
    if citer is None or not any(citer.knows(key) for key in keys):
        return f"[{', '.join(keys)}]"
    if style == "named":
        texts = [citer.write_out(f"@{{{key}}}") if citer.knows(key) else f"[{key}]" for key in keys]
        return ", ".join(texts)
    if style == "author":
        return ", ".join(f"{silent(key)}{citer.people(key)}" if citer.knows(key) else key for key in keys)
    minus = "-" if style == "year" else ""
    items = "; ".join(f"{minus}@{{{key}}}" for key in keys)
    return citer.write_out(f"[{before}{' ' if before else ''}{items}{', ' if after else ''}{after}]")


def _note(source: str) -> str:
    text = re.sub(r"\\[A-Za-z]+\s*|[{}\[\]@$\\]", "", source.replace("~", " ").replace("--", "–"))
    return " ".join(text.split())[:200]
