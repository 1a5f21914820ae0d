"""Finds the authors of a paper: the names below or above the title, or those of PDF Info that page 1 prints as well."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from monjyu_assets.parsing.bibliography.identifiers import PRINTED_ORCID
from monjyu_assets.parsing.bibliography.names import (
    AND_WORD,
    BY,
    DEGREE,
    JOINED,
    PRINTED_MARKS,
    PRINTED_SEPARATOR,
    STOPS,
    UPPER,
    family_first,
    is_name,
    person_name,
    printed_names,
)
from monjyu_assets.parsing.formats.pdf.front.affiliations import PLACE
from monjyu_assets.parsing.formats.pdf.front.title_page import emails_in, refit
from monjyu_assets.parsing.formats.pdf.page.layout import Layout, squeezed
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.text.author_block import RECEIVED, ends_front
from monjyu_core.language.vocabulary import alternatives
from monjyu_core.paper import Author

_BY_OR_AND = re.compile(rf"(?:{BY.pattern}|(?:{AND_WORD}|&)\s+)")
_ALONE = re.compile(rf"{alternatives('labels.authors')}\s*[:：]?", re.I)
_CODE = re.compile(r"[A-Z]{0,2}\d{0,2}[A-Z]?-\d{1,3}[A-Z]?\s")
"""The number of a talk or poster before its authors (T5-17)."""
_MEMBER_NUMBER = re.compile(r"\b\d{6,}\b")
"""Student numbers next to names."""
_GLUED = re.compile(r"(?<=[^\W\d_]{2})\d{1,2}(?=[\s,;]|$)")
"""A footnote mark whose font draws it raised, so that it looks like a part of the name."""
_POINTED = re.compile(r"\b([A-Z][a-z]{3,30})\.((?:[A-Z]\.){0,3}[A-Z]\b)")
"""A name and the initials behind it without spaces (Vidhya.K.A)."""
_BRACKETED = re.compile(r"\[\s?\d{1,2}(?:\s?,\s?\d{1,2})*\s?\]")
_MAIL_BEHIND = re.compile(r"[(<\[]\s?[\w.+-]{1,64}@[\w.-]{1,120}\s?[)>\]]")
"""An e-mail address after a name: Ada Byron (ada@x.org)."""
_TOWN_BEHIND = re.compile(rf"\s\([^()@\d]{{2,40}}\)(?=\s*(?:[,;]|$|{AND_WORD}\s))")
"""The place of a person after the name: Ada Byron (London)."""
KIND = re.compile(
    r"(?:(?:original|research|review|regular|full|short|brief|case|technical|invited|feature)\s+)?"
    r"(?:articles?|papers?|reports?|communications?|notes?|letters?|research|stud(?:y|ies)|contributions?)", re.I,
)  # fmt: skip
"""A label that a journal prints above a title: ORIGINAL PAPER."""
_ORCID_SIGN = re.compile(r"(?<=[a-z\u00df-\u00ff])(?:ID|iD)(?=[\s,;*\d]|$)")
"""The icon of ORCID after a name, if it is drawn with letters."""
_NAME_WITH_ROLE = re.compile(
    rf"({UPPER}[\w'\u2019-]+\s(?:{UPPER}\.\s?){{1,3}}),\s*|((?:{UPPER}\.\s?){{1,3}}{UPPER}[\w'\u2019-]+)\s+(?=[^\W\d_])"
)
_DEGREES = re.compile(r"(?:[A-Z][a-z]?\.\s?)+[A-Z]?|[A-Z]{2,4}(?:-[A-Z]{2,4})*|PhD")
"""Degrees and memberships after a name: M.S., CCC-SLP. Initials alone are not a name either."""
_MEMBERSHIP = re.compile(rf"{UPPER}[^\W\d_]+(?: {UPPER}[^\W\d_]+)?, [A-Z]{{2,6}}")
"""A grade and a society: Senior Member, IEEE."""
SUPERVISED = re.compile(rf"{alternatives('labels.supervisors')}\s*(?:[:：]\s*|\s|$)", re.I)
"""Words before the name of a supervisor, who is not an author."""
_LABEL = re.compile(r"[^:\uff1a]{2,40}[:\uff1a][\s\d./-]*")
"""A label alone, or with a number ("Student number: 4711")."""
_FIRM = re.compile(r"(?:ltd|limited|inc|llc|llp|corp|gmbh|plc|s\.?a|s\.?r\.?l|ag|b\.?v|n\.?v|pty|co)\.?", re.I)
"""Legal forms of companies after a comma."""


def name_parts(line: Line) -> tuple[list[str], bool]:
    """The line's parts between separators, without marks and degrees, and whether its last part may continue on the
    next line."""
    if SUPERVISED.match(line.text) or _LABEL.fullmatch(line.text):
        return [], False
    if turned := _turned_list(line):
        return turned, False
    if named := _bold_head(line) or _with_role(line):
        return [named], False
    if heads := _before_degrees(line):
        return heads, False
    # Raised marks and wide gaps follow a name: both separate names without a printed comma.
    kept = [" ; " if script == 1 else character for character, script in zip(line.text, line.script, strict=True)]
    for start, stop in _words_in_italics(line):
        kept[start:stop] = [" ; ", *[""] * (stop - start - 1)]
    for start, gap in pairwise([-1, *line.wide_gaps]):
        # A wide space in a scan may lie within a name, in front of an initial.
        within = " " not in line.text[start + 1 : gap] and re.match(rf"{UPPER}\.\s{UPPER}", line.text[gap + 1 :])
        if not within:
            kept[gap] = " ; "
    plain = _ORCID_SIGN.sub(" ; ", _BRACKETED.sub(" ; ", PRINTED_ORCID.sub(" ", "".join(kept))))
    plain = _TOWN_BEHIND.sub(" ; ", _MAIL_BEHIND.sub(" ; ", plain))
    text = DEGREE.sub("", " ".join(plain.split()))
    if head := _BY_OR_AND.match(text) or _CODE.match(text):
        text = text[head.end() :]
    text = re.sub(r"(?<=[A-Z]\.)(?=[A-Z][^\W\d_]{2})", " ", _POINTED.sub(r"\1 \2", text))
    text = _GLUED.sub(" ; ", _MEMBER_NUMBER.sub(" ", text))
    parts = [STOPS.sub("", " ".join(PRINTED_MARKS.sub(" ", part).split())) for part in PRINTED_SEPARATOR.split(text)]
    parts = [JOINED.sub("", part, count=1) for part in parts]
    raised = bool(line.script) and line.script[len(line.text.rstrip()) - 1] == 1
    runs_on = not raised and not re.search(r"(?:[,;&*\u2217\u2020\u2021\d\]]|\band)$", line.text.rstrip())
    kept_parts = _without_degrees([name for part in parts if part for name in _apart(part)])
    if len(kept_parts) > 1 and _FIRM.fullmatch(kept_parts[-1]):
        kept_parts = [*kept_parts[:-2], f"{kept_parts[-2]}, {kept_parts[-1]}"]  # a company, not a person
    return kept_parts, runs_on


def _words_in_italics(line: Line) -> Iterator[tuple[int, int]]:
    """Yield the ranges of roles, memberships and conjunctions that are in italics between upright names: "Ada Byron
    *professor*", "Ada Byron, *Member, IEEE*"."""
    if 0.1 < line.italic_share < 0.6:
        italic = "".join(str(int(flag)) if c.isalnum() else "-" for c, flag in zip(line.text, line.italic, strict=True))
        for match in re.finditer("1[1-]*", italic):
            words = line.text[match.start() : match.end()].strip(" ,")
            if words[:1].islower() or _MEMBERSHIP.fullmatch(words):
                yield match.start(), match.end()


def _bold_head(line: Line) -> str:
    """The bold name with which a line "**Ada Byron**, student at ..." begins; empty for other lines."""
    stop = next((k for k, bold in enumerate(line.bold) if not bold), 0)
    name, rest = line.text[:stop].strip(" ,"), line.text[stop:].lstrip(" ,")
    told = len(rest) > 3 and (rest[0].islower() or PLACE.search(rest)) and not any(line.bold[stop:])
    return name if told and is_name(name) else ""


def _with_role(line: Line) -> str:
    """The name at the start of "Ivanov I. I., student of the chair of mathematics, i@x.org"; empty for other lines."""
    match = _NAME_WITH_ROLE.match(line.text)
    name, rest = (match[1] or match[2], line.text[match.end() :]) if match else ("", "")
    told = match is None or match[1] or (rest[0].islower() and not _BY_OR_AND.match(rest))
    role = re.search(r"[^\W\d_]{4}", rest) and told
    return name.strip() if role and not any(map(is_name, printed_names(rest))) and is_name(name) else ""


def _turned_list(line: Line) -> list[str]:
    """The persons of a line "Ordonez, Carlos; España, Elena" or "Ordonez, Carlos¹ and España, Elena²"; an empty list
    for other lines."""
    pieces = [piece.strip(" .,*") for piece in re.split(rf"[\d;][\d,;]*|\bID\b|\s(?:{AND_WORD}|&)\s", line.text)]
    sides = [[side.strip() for side in piece.split(",")] for piece in pieces if piece]
    turned = all(len(each) == 2 and not all(map(is_name, each)) for each in sides)
    names = [person_name(", ".join(each)) for each in sides]
    return names if len(names) > 1 and turned and all(map(is_name, names)) else []


def _before_degrees(line: Line) -> list[str]:
    """The persons of a line "Ada Byron, M Ed; Charles Babbage, MD, PhD", where commas separate degrees and semicolons
    persons; an empty list for other lines."""
    items = [[part.strip(" *\u2217") for part in item.split(",")] for item in line.text.split(";") if item.strip()]
    names, degrees = [item[0] for item in items], [part for item in items for part in item[1:]]
    short = degrees and all(len(squeezed(part)) < 6 for part in degrees)
    return names if short and len(names) > 1 and all(map(is_name, names)) else []


def _without_degrees(parts: list[str]) -> list[str]:
    """The parts without degrees. Initials at the end of a line may continue as a name; those between names are
    degrees."""
    behind = [k > 0 and is_name(parts[k - 1]) and _DEGREES.fullmatch(part) for k, part in enumerate(parts)]
    return [
        part for k, part in enumerate(parts)
        if not behind[k] or (k == len(parts) - 1 and re.fullmatch(r"(?:[A-Z]\.?\s?)+", part))
    ]  # fmt: skip


def _apart(part: str) -> list[str]:
    """Split Chinese names separated by spaces: 殷昊 李寿山 贡正仙. At least half of them begin with a common surname
    (李寿), and not only every second one, as in Japanese names written with a space inside. Any other part is returned
    whole."""
    words = part.split()
    if len(words) < 3 or not all(2 <= len(word) <= 4 and family_first(word) for word in words):
        return [part]
    known = [is_name(word[:2]) for word in words]
    return words if sum(known) >= 0.5 * len(words) and any(known[1::2]) else [part]


def turned_name(line: Line, below: Sequence[Line]) -> str | None:
    """Return the person of a line "Babbage, Charles" above an affiliation or e-mail address; None for other lines. If
    the words before the comma are a name by themselves, the only e-mail address in `below` must combine both sides."""
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
    """Whether the local part of an e-mail address is a word of one side next to an initial of the other: jorgef,
    j.perez."""
    local = squeezed(mail.split("@")[0])
    sides = [[squeezed(word) for word in part.split()] for part in parts]
    for own, other in (sides, sides[::-1]):
        for word in own:
            before, found, after = local.partition(word)
            if len(word) > 3 and found and any((before or after or " ")[0] == each[:1] for each in other):
                return True
    return False


def names_in_line(line: Line) -> list[str]:
    """The names in a line whose parts are mostly names; an empty list for other lines."""
    parts, _ = name_parts(line)
    names = [part for part in parts if is_name(part)]
    return names if names and len(names) >= 0.6 * len(parts) else []


def find_authors(layout: Layout, title_start: int, title_end: int, front_end: int) -> tuple[list[Author], int]:
    """Return the authors in printed order, and the line after the last line of names.

    Names of PDF Info are used only if they are on page 1 and the page yields fewer.
    """
    names, end = _below_title(layout, title_end, front_end)
    if not names:  # some journals print them above the title
        above = _below_title(layout, max(0, title_start - 6), title_start)[0]
        names = [name for name in above if not KIND.fullmatch(name)]
    if not names:  # others at the head of a side column
        beside = (line for line in layout.asides if layout.lines and line.page == layout.lines[0].page)
        names = [name for line in takewhile(names_in_line, beside) for name in names_in_line(line)]
    from_info = _from_info(layout)
    if len(from_info) > len(names) or (not names and from_info):
        names = from_info
    return [Author(name=name) for name in names], end


def _below_title(layout: Layout, start: int, stop: int) -> tuple[list[str], int]:
    parts: list[str] = []
    style: Line | None = None
    end = start
    open_end = False
    turned = 0
    single: set[str] = set()
    stop_at = min(stop, start + 40)
    if introduced := _behind_by(layout, start, stop_at):
        return introduced
    for i in range(start, stop_at):
        line = refit(layout.lines[i], layout)
        received = RECEIVED.match(line.text) is not None
        if ends_front(line.text) or (style is not None and (received or i > end + 8)):
            break
        if received:
            continue  # in a side column
        if style is not None and not _same_face(line, style):
            continue
        if style is not None and style.script[0] != 1 and _is_note(line):
            continue
        own, runs_on = name_parts(line)
        if supervised := _under_supervisors(layout.lines[i - 1], own):
            own, runs_on = [part for part in own if part not in supervised], False
        if not own or (style is None and i > start and _ends_title(layout.lines[i - 1], line)):
            continue
        if style is None and any(_runs_on_as_text(*pair) for pair in pairwise(layout.lines[max(start, i - 1) : i + 2])):
            continue
        if len(set(own)) < len(own) or (parts and _in_address(layout, i, own)):
            continue  # one place for several persons, or a street
        # "Kaohsiung, Taiwan" under names in the usual order is a place.
        if len(parts) == turned and (name := turned_name(line, layout.lines[i + 1 : min(i + 4, stop_at)])):
            parts.append(name)
            turned += 1
            style, end, open_end = style or line, i + 1, False
            continue
        merged = open_end and i == end and _runs_into(parts[-1], own[0])
        checked = [f"{parts[-1]} {own[0]}", *own[1:]] if merged else own
        listed = bool(parts) and i == end and layout.lines[i - 1].text.rstrip().endswith(",")
        if listed and is_name(checked[-1]):  # a continued list of names: its single words are also names
            single.update(part for part in checked if re.fullmatch(rf"{UPPER}[^\W\d_]{{2,}}", part))
        if len(checked) > 2 and all(2 <= len(part) <= 4 and family_first(part) for part in checked):
            single.update(checked if sum(map(is_name, checked)) >= 0.6 * len(checked) else [])  # rare surnames
        if len(with_place := _in_front_of_place(checked, style is None)) < len(checked) and with_place:
            checked, runs_on = with_place, False
        named = [part in single or is_name(part) for part in checked]
        good = sum(named) + (runs_on and not named[-1] and len(checked) > 1 and not PLACE.search(checked[-1]))
        marked = any(named) and line.script[0] != 1 and 1 in line.script
        if good < (0.5 if marked else 0.6) * len(checked):
            continue
        if merged:
            parts.pop()
        parts += checked
        style, end, open_end = style or line, i + 1, runs_on
    names = [part for part in parts if part in single or is_name(part)]
    mails = [mail for line in layout.lines[start:stop_at] for mail, _, _ in emails_in(line.text)]
    # A person may own a domain as well, but a company is below the name of a person.
    return [name for name in dict.fromkeys(names) if name == names[0] or not _owns_domain(name, mails)], end


def _behind_by(layout: Layout, start: int, stop: int) -> tuple[list[str], int] | None:
    """The names below a line with nothing but "by" on a title page, and the line after them. All other names there are
    of a jury or a university."""
    for i in range(start, stop - 1):
        if _ALONE.fullmatch(layout.lines[i].text.strip()):
            end = i + 1
            while end < stop and names_in_line(layout.lines[end]) and (end == i + 1 or _near(layout, end)):
                end += 1
            if end > i + 1:
                return [name for line in layout.lines[i + 1 : end] for name in names_in_line(line)], end
    return None


def _near(layout: Layout, i: int) -> bool:
    """Whether line `i` is directly below the line above it."""
    return 0 < layout.lines[i].base - layout.lines[i - 1].base < 2.4 * layout.lines[i].size


def _is_note(line: Line) -> bool:
    """Whether the line begins with a raised mark and a word: "1 Fraunhofer ITWM"."""
    first = next((k for k, script in enumerate(line.script) if script != 1), 0)
    return first > 0 and line.text[first:].lstrip()[:1].isalpha()


def _under_supervisors(labels: Line, parts: list[str]) -> list[str]:
    """The parts that are below "Supervisor:" in the line above, if that line has one label for each part."""
    bounds = [0, *labels.wide_gaps, len(labels.text)]
    own = [labels.text[a:b].strip() for a, b in pairwise(bounds)]
    if len(own) != len(parts):
        return []
    return [part for label, part in zip(own, parts, strict=True) if SUPERVISED.fullmatch(label)]


def _in_front_of_place(parts: list[str], first: bool) -> list[str]:
    """The names at the start of a line "C. Contreras, University of Delft, The Netherlands"; empty without names. Below
    other names, a town may precede its university, so these lines need an initial."""
    place = next((k for k, part in enumerate(parts) if PLACE.search(part) and not is_name(part)), 0)
    names = parts[:place]
    if not all(map(is_name, names)) or not (first or all(re.match(rf"{UPPER}\.", name) for name in names)):
        return []
    return names


def _in_address(layout: Layout, i: int, parts: list[str]) -> bool:
    """Whether line `i` is between an organisation and a town with its postal code: "One Microsoft Way"."""
    around = layout.lines[i - 1 : i + 2]
    return (
        len(parts) == 1
        and len(around) == 3
        and PLACE.search(around[0].text) is not None
        and re.search(r"\b\d{4,6}\b", around[2].text) is not None
        and not emails_in(around[2].text)
        and not any(map(is_name, name_parts(around[0])[0]))
    )


def _owns_domain(name: str, mails: list[str]) -> bool:
    """Whether this is an organisation: its first word begins the domain of an e-mail address whose local part has none
    of its words: Shazam Entertainment (avery@shazamteam.com)."""
    first, words = squeezed(name.split()[0]), [squeezed(word) for word in name.split()]
    for mail in mails:
        local, _, domain = mail.casefold().partition("@")
        if len(first) > 3 and squeezed(domain).startswith(first) and not any(word[:3] in local for word in words):
            return True
    return False


def _ends_title(above: Line, line: Line) -> bool:
    """Whether these are the last words of a title in another language: as large as the line above, which has no names,
    and close to it."""
    close = above.page == line.page and 0 < line.base - above.base < 1.5 * line.size
    return (
        close
        and line.size > 12.5
        and len(above.text.split()) > 4
        and _same_face(above, line)
        and not any(map(is_name, name_parts(above)[0]))
    )


def _runs_on_as_text(line: Line, below: Line) -> bool:
    """Whether the words below, in the same face and near, continue this line as a sentence: it is a subtitle."""
    near = below.page == line.page and 0 < below.base - line.base < 1.6 * line.size
    first = below.text.split()[0]
    goes_on = first[0].islower() and not JOINED.match(below.text) and "@" not in below.text and len(below.text) > 12
    return near and goes_on and abs(below.size - line.size) < 0.1 and 1 not in line.script and "," not in line.text


def _same_face(line: Line, style: Line) -> bool:
    faces = (line.bold_share - style.bold_share, line.italic_share - style.italic_share)
    return abs(line.size - style.size) < 0.4 and all(abs(face) < 0.7 for face in faces)


def _runs_into(last: str, first: str) -> bool:
    """Whether a name is broken at the line end: at least one half is not a name, but the whole is."""
    if is_name(last) and (not first.isupper() if last.isupper() else re.fullmatch(r"[A-Z]{2,5}", first)):
        return False  # words in another case, or the short name of a university, below a name
    return not (is_name(last) and is_name(first)) and is_name(f"{last} {first}")


def _from_info(layout: Layout) -> list[str]:
    text = layout.info.get("Author", "")
    names = printed_names(text.replace("|", ",")) if text else []
    page = squeezed(" ".join(line.text for line in layout.lines if line.page == 1))
    return [name for name in names if is_name(name) and squeezed(name) in page]
