"""The numbers that labels have in the printed paper: sections, figures, tables and equations, counted in order."""

from __future__ import annotations

import re

from monjyu_assets.parsing.formats.latex.latex_names import DISPLAYED

_EVENT = re.compile(
    r"\\(?P<edge>begin|end)\s*\{(?P<name>[A-Za-z]+)(?P<star>\*?)\}"
    r"|\\(?P<level>section|subsection|subsubsection)(?P<unnumbered>\*?)(?=\s*[\[{])"
    r"|\\(?P<appendix>appendix)(?![a-z])|\\label\s*\{(?P<label>[^{}]{1,200})\}|(?P<row>\\\\)"
)
_COUNTED = {"figure": "figure", "table": "table", "wrapfigure": "figure", "wraptable": "table", "longtable": "table"}
_COUNTED |= {"sidewaysfigure": "figure", "sidewaystable": "table", "algorithm": "algorithm"}
_BY_ROW = {"align", "gather", "eqnarray", "flalign", "alignat"}
_PASSED = {
    "document",
    "center",
    "minipage",
    "tabular",
    "tabularx",
    "split",
    "aligned",
    "cases",
    "subequations",
    "quote",
}
_LEVELS = ("section", "subsection", "subsubsection")


def label_numbers(source: str) -> dict[str, str]:
    """Number by label. Labels of what is not counted here (theorems, items) have none."""
    counts: dict[str, int] = {}
    numbers: dict[str, str] = {}
    sections = [0, 0, 0]
    appendix = False
    current: list[str | None] = [None]
    rows: list[bool] = [False]
    for event in _EVENT.finditer(source):
        if event["level"] and not event["unnumbered"]:
            place = _LEVELS.index(event["level"])
            sections = [*sections[:place], sections[place] + 1, *([0] * (2 - place))]
            parts = [str(number) for number in sections[: place + 1]]
            if appendix and 0 < sections[0] <= 26:
                parts[0] = chr(64 + sections[0])
            current[-1] = ".".join(parts)
        elif event["appendix"]:
            appendix, sections = True, [0, 0, 0]
        elif event["edge"] == "begin":
            name, star = event["name"], event["star"]
            kind = _COUNTED.get(name) or (
                "equation" if name in DISPLAYED and name != "subequations" and not star else None
            )
            if kind:
                counts[kind] = counts.get(kind, 0) + 1
            current.append(str(counts[kind]) if kind else current[-1] if name in _PASSED else None)
            rows.append(name in _BY_ROW and not star)
        elif event["edge"] == "end" and len(current) > 1:
            current.pop()
            rows.pop()
        elif event["row"] and rows[-1]:
            counts["equation"] += 1
            current[-1] = str(counts["equation"])
        elif event["label"] and (number := current[-1]):
            numbers.setdefault(event["label"].strip(), number)
    return numbers
