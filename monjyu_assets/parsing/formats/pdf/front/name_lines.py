"""Personal names in the lines below a title."""

from __future__ import annotations

import re

from monjyu_assets.parsing.bibliography.identifiers import PRINTED_ORCID
from monjyu_assets.parsing.bibliography.names import (
    AND_WORD,
    BY,
    DEGREE,
    PRINTED_MARKS,
    PRINTED_SEPARATOR,
    is_name,
    person_name,
)
from monjyu_assets.parsing.formats.pdf.front.places import PLACE
from monjyu_assets.parsing.formats.pdf.page.lines import Line

_BY_OR_AND = re.compile(rf"(?:{BY.pattern}|(?:{AND_WORD}|&)\s+)")
_FIRM = re.compile(r"(?:ltd|limited|inc|llc|llp|corp|gmbh|plc|s\.?a|s\.?r\.?l|ag|b\.?v|n\.?v|pty|co)\.?", re.I)
"""Legal forms of companies, behind a comma."""


def name_parts(line: Line) -> tuple[list[str], bool]:
    """The line's parts between separators, without marks and degrees; and whether its last part may run on."""
    # Raised marks and wide gaps follow a name: both separate names where no comma is printed.
    kept = [" ; " if script == 1 else character for character, script in zip(line.text, line.script, strict=True)]
    for gap in line.wide_gaps:
        kept[gap] = " ; "
    text = DEGREE.sub("", " ".join(PRINTED_ORCID.sub(" ", "".join(kept)).split()))
    if by := _BY_OR_AND.match(text):
        text = text[by.end() :]
    parts = [" ".join(PRINTED_MARKS.sub(" ", part).split()).strip(" .:") for part in PRINTED_SEPARATOR.split(text)]
    raised = bool(line.script) and line.script[len(line.text.rstrip()) - 1] == 1
    runs_on = not raised and not re.search(r"(?:[,;&*\u2217\u2020\u2021\d]|\band)$", line.text.rstrip())
    kept_parts = [part for part in parts if part]
    if len(kept_parts) > 1 and _FIRM.fullmatch(kept_parts[-1]):
        kept_parts = [*kept_parts[:-2], f"{kept_parts[-2]}, {kept_parts[-1]}"]  # a company, not a person
    return kept_parts, runs_on


def turned_name(line: Line, below: Line) -> str | None:
    """The person of a line "Babbage, Charles" above a line with an address or e-mail; None for other lines."""
    parts, _ = name_parts(line)
    if len(parts) != 2 or is_name(parts[0]) or not (PLACE.search(below.text) or "@" in below.text):
        return None
    name = person_name(", ".join(parts))
    return name if "," in line.text and is_name(name) else None


def names_in_line(line: Line) -> list[str]:
    """Names in a line whose parts are mostly names."""
    parts, _ = name_parts(line)
    names = [part for part in parts if is_name(part)]
    return names if names and len(names) >= 0.6 * len(parts) else []
