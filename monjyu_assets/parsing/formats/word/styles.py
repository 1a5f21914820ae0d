"""Determines the role of a Word paragraph (heading, title, caption, …) from its style, and its look from its
formatting."""

import re
from functools import cache

from lxml import etree

from monjyu_assets.parsing.office.packages import Element
from monjyu_core.language.packs import also, cues

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LONGEST_CHAIN = 12
_MOST_LEVELS = 9

# Word writes its own styles in English in every language; journals' templates and other programs do not.
_HEADING_NAME = re.compile(
    r"(?:^|[\W\d_])(?:sub)*(?:head(?:ing)?|section|überschrift|titre|título|titolo|kop"
    + also("styles.heading_name")
    + r")[\s_-]*(?P<n>[1-9])\b"
    r"|(?:^|[\W_])(?P<m>[1-9])(?:st|nd|rd|th)[ -]?order[ -]?head|^head(?P<k>[1-9])$",
    re.IGNORECASE,
)
_ROLES = {
    "title": re.compile(cues("styles.roles_title")),
    "author": re.compile(r"(?:^|[\W\d_])authors?(?:[\W_]?names?)?$" + also("styles.roles_author")),
    "affiliation": re.compile(cues("styles.roles_affiliation")),
    "date": re.compile(r"^date$" + also("styles.roles_date")),
    "abstract": re.compile(r"(?:^|[\W\d_])abstract(?:[\W_]?text)?$" + also("styles.roles_abstract")),
    "keywords": re.compile(r"(?:^|[\W\d_])key ?words?$" + also("styles.roles_keywords")),
    "caption": re.compile(r"caption|(?:^|[\W\d_])table (?:head|title)$" + also("styles.roles_caption")),
    "contents": re.compile(r"^toc\b|^toc ?\d|^contents \d|table of figures|^index \d" + also("styles.roles_contents")),
}


class Styles:
    """The styles of a document, each resolved along the chain of styles it is based on, and its automatic numbers."""

    def __init__(self, root: Element | None, numbering: Element | None = None) -> None:
        self._styles: dict[str, Element] = {}
        self._lists = _numbers(numbering)
        self._default = ""
        for style in root.iter(f"{W}style") if root is not None else ():
            if style.get(f"{W}type", "paragraph") != "paragraph":
                continue
            self._styles.setdefault(style.get(f"{W}styleId", ""), style)
            if style.get(f"{W}default") in ("1", "true", "on"):
                self._default = self._default or style.get(f"{W}styleId", "")
        self.role = cache(self._role)
        self.level = cache(self._level)

    def id_of(self, paragraph: Element) -> str:
        return value(paragraph, "pPr/pStyle") or self._default

    def _role(self, style_id: str) -> str:
        """One of title, author, affiliation, date, abstract, keywords, caption, contents; empty for any other."""
        for style in self._chain(style_id):
            name = (value(style, "name") or style.get(f"{W}styleId", "")).casefold()
            found = next((role for role, pattern in _ROLES.items() if pattern.search(name)), None)
            if found:
                return found
        return ""

    def _level(self, style_id: str) -> int | None:
        """The heading level (1 to 9) that the style specifies, or None."""
        for style in self._chain(style_id):
            name = value(style, "name") or style.get(f"{W}styleId", "")
            if match := _HEADING_NAME.search(name):
                return int(next(group for group in match.groups() if group))
            outline = number(value(style, "pPr/outlineLvl"))
            if outline is not None:
                return outline + 1 if outline < _MOST_LEVELS else None
        return None

    def property(self, style_id: str, path: str) -> str | None:
        """The nearest value of a property in the chain; an empty one counts as "1" (`<w:b/>`)."""
        return next((found for style in self._chain(style_id) if (found := value(style, path)) is not None), None)

    def numbering(self, style_id: str) -> tuple[str | None, str | None, str]:
        """(numId, ilvl, the style with the numId), from the chain."""
        found: tuple[str | None, str | None, str] = (None, None, "")
        for style in self._chain(style_id):
            num, level = value(style, "pPr/numPr/numId"), value(style, "pPr/numPr/ilvl")
            found = (found[0] or num, found[1] or level, found[2] or (style.get(f"{W}styleId", "") if num else ""))
        return found

    def depth(self, paragraph: Element) -> int:
        """The number of parts in the automatic number of a paragraph: 2 for "%1.%2" and "4.%1.", 0 for a bullet or no
        number."""
        num, level, source = self.numbering(self.id_of(paragraph))
        num, level = value(paragraph, "pPr/numPr/numId") or num, value(paragraph, "pPr/numPr/ilvl") or level
        texts = self._lists.get(num or "", {})
        text = texts.get(source) if level is None else texts.get(level)
        return len(re.findall(r"%\d|\d+", text or texts.get("0", "")))

    def _chain(self, style_id: str) -> list[Element]:
        chain: list[Element] = []
        while style_id in self._styles and len(chain) < _LONGEST_CHAIN:
            chain.append(self._styles[style_id])
            style_id = value(chain[-1], "basedOn") or ""
        return chain


def _numbers(root: Element | None) -> dict[str, dict[str, str]]:
    """The patterns of automatic numbers ("%1.%2") by list, then by level or by the style that has the level."""
    if root is None:
        return {}
    patterns = {
        each.get(f"{W}abstractNumId", ""): {
            key: value(level, "lvlText") or ""
            for level in each.iter(f"{W}lvl")
            for key in (level.get(f"{W}ilvl", ""), value(level, "pStyle"))
            if key
        }
        for each in root.iter(f"{W}abstractNum")
    }
    return {n.get(f"{W}numId", ""): patterns.get(value(n, "abstractNumId") or "", {}) for n in root.iter(f"{W}num")}


def value(element: Element, path: str) -> str | None:
    """`w:val` of a descendant by path; "1" if it has none, None if there is no such element."""
    found = element.find("/".join(W + step for step in path.split("/")))
    return None if found is None else str(found.get(f"{W}val", "1"))


def number(text: str | None) -> int | None:
    try:
        return None if text is None else round(float(text))
    except (ValueError, OverflowError):
        return None


def is_on(text: str | None) -> bool:
    """Whether a switch (`w:b`, `w:vanish`) is on."""
    return text is not None and text not in ("0", "false", "off", "none")


class Look:
    """How a paragraph is formatted: all in bold, all underlined, centred, and the size of its largest letters in points
    (0 if unspecified)."""

    def __init__(self, paragraph: Element, styles: Styles) -> None:
        style = styles.id_of(paragraph)
        own_bold = is_on(styles.property(style, "rPr/b"))
        own_size = number(styles.property(style, "rPr/sz")) or 0
        runs = [run for run in paragraph.iter(f"{W}r") if "".join(run.itertext()).strip()]
        bold = [value(run, "rPr/b") for run in runs]
        self.bold = bool(runs) and all(own_bold if own is None else is_on(own) for own in bold)
        self.size = max((number(value(run, "rPr/sz")) or own_size for run in runs), default=0) / 2
        self.underlined = bool(runs) and all((value(run, "rPr/u") or "none") != "none" for run in runs)
        self.centred = (value(paragraph, "pPr/jc") or styles.property(style, "pPr/jc")) == "center"


def new_style(style_id: str, name: str) -> Element:
    style = etree.Element(f"{W}style", {f"{W}type": "paragraph", f"{W}styleId": style_id})
    etree.SubElement(style, f"{W}name", {f"{W}val": name})
    return style
