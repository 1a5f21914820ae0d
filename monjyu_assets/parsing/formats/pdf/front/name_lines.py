"""Personal names in the lines below a title."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monjyu_assets.parsing.bibliography.identifiers import PRINTED_ORCID
from monjyu_assets.parsing.bibliography.names import (
    AND_WORD,
    BY,
    DEGREE,
    JOINED,
    PRINTED_MARKS,
    PRINTED_SEPARATOR,
    family_first,
    is_name,
    person_name,
)
from monjyu_assets.parsing.formats.pdf.front.emails import emails_in
from monjyu_assets.parsing.formats.pdf.front.places import PLACE
from monjyu_assets.parsing.formats.pdf.page.layout import squeezed
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_core.language.vocabulary import alternatives

_BY_OR_AND = re.compile(rf"(?:{BY.pattern}|(?:{AND_WORD}|&)\s+)")
_CODE = re.compile(r"[A-Z]{0,2}\d{0,2}[A-Z]?-\d{1,3}[A-Z]?\s")
"""The number of a talk or poster in front of its authors (T5-17)."""
_MEMBER_NUMBER = re.compile(r"\b\d{6,}\b")
"""Students' numbers beside their names."""
_GLUED = re.compile(r"(?<=[^\W\d_]{2})\d{1,2}(?=[\s,;]|$)")
"""A mark that the font draws raised."""
_BRACKETED = re.compile(r"\[\s?\d{1,2}(?:\s?,\s?\d{1,2})*\s?\]")
_DEGREES = re.compile(r"(?:[A-Z][a-z]?\.\s?)+[A-Z]?|[A-Z]{2,4}(?:-[A-Z]{2,4})*|PhD")
"""Degrees and memberships behind a name: M.S., CCC-SLP. Initials alone are no name either."""
SUPERVISED = re.compile(rf"{alternatives('labels.supervisors')}\s*(?:[:：]\s*|\s|$)", re.I)
"""In front of the name of a supervisor, who is no author."""
_FIRM = re.compile(r"(?:ltd|limited|inc|llc|llp|corp|gmbh|plc|s\.?a|s\.?r\.?l|ag|b\.?v|n\.?v|pty|co)\.?", re.I)
"""Legal forms of companies, behind a comma."""


def name_parts(line: Line) -> tuple[list[str], bool]:
    """The line's parts between separators, without marks and degrees; and whether its last part may run on."""
    if SUPERVISED.match(line.text):
        return [], False
    if turned := _turned_list(line):
        return turned, False
    if bold := _bold_head(line):
        return [bold], False
    # Raised marks and wide gaps follow a name: both separate names where no comma is printed.
    kept = [" ; " if script == 1 else character for character, script in zip(line.text, line.script, strict=True)]
    for gap in line.wide_gaps:
        kept[gap] = " ; "
    text = DEGREE.sub("", " ".join(_BRACKETED.sub(" ; ", PRINTED_ORCID.sub(" ", "".join(kept))).split()))
    if head := _BY_OR_AND.match(text) or _CODE.match(text):
        text = text[head.end() :]
    text = _GLUED.sub(" ; ", _MEMBER_NUMBER.sub(" ", text))
    parts = [" ".join(PRINTED_MARKS.sub(" ", part).split()).strip(" .:") for part in PRINTED_SEPARATOR.split(text)]
    parts = [JOINED.sub("", part, count=1) for part in parts]
    raised = bool(line.script) and line.script[len(line.text.rstrip()) - 1] == 1
    runs_on = not raised and not re.search(r"(?:[,;&*\u2217\u2020\u2021\d\]]|\band)$", line.text.rstrip())
    kept_parts = _without_degrees([name for part in parts if part for name in _apart(part)])
    if len(kept_parts) > 1 and _FIRM.fullmatch(kept_parts[-1]):
        kept_parts = [*kept_parts[:-2], f"{kept_parts[-2]}, {kept_parts[-1]}"]  # a company, not a person
    return kept_parts, runs_on


def _bold_head(line: Line) -> str:
    """The bold name with which a line "**Ada Byron**, student at ..." begins."""
    stop = next((k for k, bold in enumerate(line.bold) if not bold), 0)
    name, rest = line.text[:stop].strip(" ,"), line.text[stop:].lstrip(" ,")
    return name if len(rest) > 3 and rest[0].islower() and not any(line.bold[stop:]) and is_name(name) else ""


def _turned_list(line: Line) -> list[str]:
    """The persons of a line "Ordonez, Carlos; España, Elena"; nothing for other lines."""
    pieces = [piece.strip(" .*") for piece in line.text.split(";") if piece.strip()]
    if len(pieces) < 2 or not all(re.fullmatch(r"[^,\d]+,[^,\d]+", piece) for piece in pieces):
        return []
    names = [person_name(piece) for piece in pieces]
    return names if all(map(is_name, names)) else []


def _without_degrees(parts: list[str]) -> list[str]:
    """Initials at the end of a line may go on as a name; those between names are degrees."""
    behind = [k > 0 and is_name(parts[k - 1]) and _DEGREES.fullmatch(part) for k, part in enumerate(parts)]
    return [
        part for k, part in enumerate(parts)
        if not behind[k] or (k == len(parts) - 1 and re.fullmatch(r"(?:[A-Z]\.?\s?)+", part))
    ]  # fmt: skip


def _apart(part: str) -> list[str]:
    """Chinese names with a space between them: 殷昊 李寿山 贡正仙. Some begin with a common surname (李寿), and not
    only every other one, as in Japanese names with a space inside."""
    words = part.split()
    if len(words) < 3 or not all(2 <= len(word) <= 4 and family_first(word) for word in words):
        return [part]
    known = [is_name(word[:2]) for word in words]
    return words if sum(known) >= 0.5 * len(words) and any(known[1::2]) else [part]


def turned_name(line: Line, below: Sequence[Line]) -> str | None:
    """The person of a line "Babbage, Charles" above a line with an address or e-mail; None for other lines. Two words
    on each side of the comma are one person where the e-mail `below` is made of both sides."""
    parts, _ = name_parts(line)
    if len(parts) != 2 or "," not in line.text or not below:
        return None
    if not (PLACE.search(below[0].text) or "@" in below[0].text):
        return None
    if is_name(parts[0]):
        mails = [mail for each in below for mail, _, _ in emails_in(each.text)]
        if len(mails) != 1 or not _of_both(mails[0], parts):
            return None
    name = person_name(", ".join(parts))
    return name if is_name(name) else None


def _of_both(mail: str, parts: Sequence[str]) -> bool:
    """The local part is a word of one side and at least the initial of the other: jorgef, j.perez."""
    local = squeezed(mail.split("@")[0])
    sides = [[squeezed(word) for word in part.split()] for part in parts]
    for own, other in (sides, sides[::-1]):
        for word in own:
            before, found, after = local.partition(word)
            if len(word) > 3 and found and any((before or after or " ")[0] == each[:1] for each in other):
                return True
    return False


def names_in_line(line: Line) -> list[str]:
    """Names in a line whose parts are mostly names."""
    parts, _ = name_parts(line)
    names = [part for part in parts if is_name(part)]
    return names if names and len(names) >= 0.6 * len(parts) else []
