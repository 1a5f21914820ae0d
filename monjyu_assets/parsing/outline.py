"""The structure of plain text: blocks between blank lines, headings among them, sections and reference entries.

Headings are found conservatively, since nothing marks them: underlined lines, numbered lines that stand alone, known
section names, short lines in capitals, and short lines in title case between paragraphs. A missed heading costs little
(its words stay in the text); a false one breaks a section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from monjyu_assets.parsing.common import Entry, join_lines
from monjyu_assets.parsing.headings import section_type, strip_numbering
from monjyu_core.paper import Section

_UNDERLINE = re.compile(r"(=+|-+|~+)\s*")
_BULLET = re.compile(r"\s*(?:[-*•‣◦–]|\(?(?:\d{1,2}|[a-z])[.)])\s+\S")  # noqa: RUF001
_LABEL = re.compile(r"\s*(?:\[(?P<b>\w{1,12})\]|(?P<n>\d{1,3})[.)]|\((?P<p>\d{1,3})\))\s+(?=\S)")
_RUN_IN = re.compile(r"(?P<h>abstract|summary|概要|要旨|要約|抄録)\s*(?:[.:：]|\s?[—–-])\s*(?=\S)", re.IGNORECASE)  # noqa: RUF001
_SENTENCE_END = re.compile(r"[.!?。．！？:;,、：；…][\"'”’)\]]*$")  # noqa: RUF001
_SMALL_WORDS = {"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "vs", "with"}
_LONG_LINE = 160
_LONGEST_HEADING = 100


@dataclass(frozen=True)
class Heading:
    text: str
    level: int
    run_in: str = ""


@dataclass
class Outline:
    """Sections with their text, and the entries of the reference list."""

    sections: list[Section] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


def blocks_of(text: str) -> list[list[str]]:
    """Runs of lines between blank lines, right-stripped."""
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip():
            blocks[-1].append(line.rstrip())
        elif blocks[-1]:
            blocks.append([])
    return blocks if blocks[-1] else blocks[:-1]


def outline(blocks: list[list[str]]) -> Outline:
    """Sections and reference entries of a document's blocks (its title and authors already taken off)."""
    result = Outline(sections=[Section(heading="")])
    paragraphs: list[str] = []
    words = _words(blocks)
    blocks = list(_headings_apart(blocks))
    in_references = marked = False
    for index, block in enumerate(blocks):
        heading = _heading(blocks, index, in_references, marked)
        if heading:
            marked = True
            result.sections[-1].text = "\n\n".join(paragraphs)
            paragraphs = [heading.run_in] if heading.run_in else []
            kind = section_type(heading.text)
            in_references = kind == "references"
            if not result.sections[-1].text and result.sections[-1].heading == heading.text:
                result.sections.pop()  # a heading printed twice
            result.sections.append(Section(heading=heading.text, level=heading.level, section_type=kind))
        elif in_references:
            found = entries_of(block, words)
            result.entries.extend(found)
            paragraphs.extend(entry.text for entry in found)
        else:
            paragraphs.extend(paragraphs_of(block, words))
    result.sections[-1].text = "\n\n".join(paragraphs)
    _shift_levels(result.sections)
    return result


def paragraphs_of(block: list[str], words: frozenset[str]) -> list[str]:
    """A block's paragraphs: hard-wrapped lines joined; lists, long lines and aligned text kept apart."""
    if len(block) > 1 and sorted(map(len, block))[len(block) // 2] > _LONG_LINE:
        return [line.strip() for line in block]
    if sum(bool(re.search(r"\S(?: {3,}|\t)\S", line)) for line in block) * 2 > len(block):
        return ["\n".join(line.strip() for line in block)]
    starts = [i for i, line in enumerate(block) if _BULLET.match(line)]
    if len(starts) > 1 or starts == [0]:
        bounds = [0, *[i for i in starts if i], len(block)]
        return [_joined(block[a:b], words) for a, b in pairwise(bounds)]
    return [_joined(block, words)]


def entries_of(block: list[str], words: frozenset[str]) -> list[Entry]:
    """Reference entries of one block: by printed numbers, else by hanging indents or long lines, else the block."""
    starts = [i for i, line in enumerate(block) if _LABEL.match(line)]
    if not starts and len(block) > 1:
        flush = [i for i, line in enumerate(block) if not line[0].isspace()]
        if 0 in flush and len(flush) < len(block):
            starts = flush
        elif min(map(len, block)) > 100 or all(re.search(r"\(?(?:19|20)\d\d", line) for line in block):
            starts = list(range(len(block)))
    bounds = sorted({0, *starts, len(block)})
    return [_entry(_joined(block[a:b], words)) for a, b in pairwise(bounds)]


def _entry(text: str) -> Entry:
    match = _LABEL.match(text)
    return Entry(match["b"] or match["n"] or match["p"], text[match.end() :]) if match else Entry(None, text)


def _headings_apart(blocks: list[list[str]]) -> Iterator[list[str]]:
    """Give underlined headings and section names a block of their own where no blank line follows them."""
    for block in blocks:
        start = 0
        for i in range(len(block) - 1):
            if _is_underline(block[i], block[i + 1]):
                if i > start:
                    yield block[start:i]
                yield block[i : i + 2]
                start = i + 2
        rest = block[start:]
        if start == 0 and len(rest) > 1 and _known_name(rest[0]):
            yield rest[:1]
            rest = rest[1:]
        if rest:
            yield rest


def _is_underline(line: str, below: str) -> bool:
    width = len(line.strip())
    return (
        _UNDERLINE.fullmatch(below) is not None
        and 3 <= width <= _LONGEST_HEADING
        and len(below.strip()) >= max(3, 0.6 * width)
        and len(below.strip()) <= 3 * width
        and _UNDERLINE.fullmatch(line) is None
    )


def _known_name(line: str) -> bool:
    """A known section name and nothing else, written like a heading."""
    text = line.strip()
    _, words = strip_numbering(text)
    if len(text) > 60 or words[:1].islower() or _ends(text) or re.search(r"[.:：]\s", words):  # noqa: RUF001
        return False
    return section_type(text) != "other"


def _ends(text: str) -> bool:
    return _SENTENCE_END.search(text) is not None


def _heading(blocks: list[list[str]], index: int, in_references: bool, marked: bool) -> Heading | None:
    block = blocks[index]
    line = block[0].strip()
    if len(block) == 2 and _is_underline(*block):
        return Heading(line, 1 if block[1].startswith("=") else 2)
    if not in_references and (match := _RUN_IN.match(line)):
        return Heading(match["h"], 1, join_lines([line[match.end() :], *block[1:]]))
    if len(block) > 1 or len(line) > _LONGEST_HEADING:
        return None
    if _known_name(line):
        return Heading(line, _depth(line))
    if in_references:
        return None
    if _numbered(blocks, index):
        return Heading(line, _depth(line))
    if _capitals(line):
        return Heading(line, 1)
    return Heading(line, 2 if marked else 1) if _title_case(blocks, index) else None


def _depth(line: str) -> int:
    number, _ = strip_numbering(line)
    return 1 + (number or "").count(".")


def _numbered(blocks: list[list[str]], index: int) -> bool:
    """A number and a few words without a full stop; not one of a row of such lines, which is a list."""
    line = blocks[index][0].strip()
    number, words = strip_numbering(line)
    if number is None or _ends(line) or len(words.split()) > 12 or words[:1].islower():
        return False
    for neighbour in (index - 1, index + 1):
        if 0 <= neighbour < len(blocks) and len(blocks[neighbour]) == 1:
            other, _ = strip_numbering(blocks[neighbour][0].strip())
            if other is not None and other.count(".") == number.count("."):
                return False
    return True


def _capitals(line: str) -> bool:
    letters = [c for c in line if c.isalpha()]
    return (
        len(letters) >= 4
        and len(line) <= 60
        and len(line.split()) <= 8
        and all(c.isupper() for c in letters)
        and not _ends(line)
        and not re.search(r"[=<>|{}]|\d{3}", line)
    )


def _title_case(blocks: list[list[str]], index: int) -> bool:
    """A few capitalised words between a finished paragraph and a longer one."""
    line = blocks[index][0]
    words = [word for word in re.split(r"[\s/-]+", line.strip()) if word.lower().strip(",") not in _SMALL_WORDS]
    if not words or len(words) > 8 or len(line) > 70 or _ends(line) or re.search(r"^\s|[\d|=@#*]", line):
        return False
    if not (line[0].isascii() and line[0].isupper()) or sum(word[:1].isupper() for word in words) < 0.7 * len(words):
        return False
    before = index == 0 or _SENTENCE_END.search(blocks[index - 1][-1]) is not None or len(blocks[index - 1]) == 1
    after = index + 1 < len(blocks) and len(join_lines(blocks[index + 1])) > max(80, 2 * len(line))
    return before and after


def _words(blocks: list[list[str]]) -> frozenset[str]:
    """Words of the text that no line end cuts: they decide which hyphens at line ends are joined."""
    return frozenset(word.lower() for block in blocks for line in block for word in re.findall(r"[^\W\d_]{4,}", line))


def vocabulary(blocks: list[list[str]]) -> frozenset[str]:
    """Public name of the words by which `paragraphs_of` and `entries_of` join hyphenated line ends."""
    return _words(blocks)


def _joined(lines: list[str], words: frozenset[str]) -> str:
    """Lines as one paragraph; a hyphen at a line end goes only if the joined word occurs elsewhere."""
    parts = [lines[0]]
    for line in lines[1:]:
        head = re.search(r"([^\W\d_]{2,})-$", parts[-1])
        tail = re.match(r"\s*([^\W\d_]{2,})", line)
        if head and tail and tail[1].islower():
            glue = "" if (head[1] + tail[1]).lower() in words else "-"
            parts[-1] = parts[-1][:-1] + glue + line.lstrip()
        else:
            parts.append(line)
    return join_lines(parts)


def _shift_levels(sections: list[Section]) -> None:
    """The highest heading has level 1."""
    lowest = min((section.level for section in sections if section.heading), default=1)
    for section in sections:
        section.level = max(1, section.level - lowest + 1)
