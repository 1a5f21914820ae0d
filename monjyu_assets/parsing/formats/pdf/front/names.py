"""Personal names in the lines below a title."""

from __future__ import annotations

import re

from monjyu_assets.parsing.formats.pdf.page.lines import Line

_DEGREE = re.compile(
    r"(?:[,\s]+(?:Ph\.?\s?D|M\.?\s?D|M\.?\s?Sc|B\.?\s?Sc|M\.?S|MPH|DVM|MBBS|FRCP|RN|MBA|Jr|Sr)\.?)+"
    r"(?=\s*(?:[,;&*\u2020]|\d|$|and\b))|\b(?:Dr|Prof)\.\s"
)
_MARKS = re.compile(
    r"[*\u2217\u2020\u2021\u00a7\u00b6\u2016#\u2709\ue000-\uf8ff\u25a0\u2606\u2605|\u00a9\u00ae]|\b\d{1,2}\b|(?<=\D)\d{1,2}$"
)
_SPLIT = re.compile(r"\s*(?:,|;|\u00b7|\u2022|\u2013|\u2014|\band\b|\bAnd\b|\bAND\b|&|\bet\b|\bund\b)\s*")
_PARTICLES = {
    "van", "von", "der", "den", "de", "del", "della", "di", "da", "dos", "du", "la", "le", "ter", "ten", "bin", "ibn",
    "al", "el", "y", "e", "st", "zu", "af", "do", "das", "mac", "ben", "op", "vom", "zur", "st.",
}  # fmt: skip
_NOT_NAMES = re.compile(
    r"\b(?:universit|institut|depart[e]?ment|facult|laborator|hospital|academ|correspond|introduc|keyword|licen[sc]e|"
    r"copyright|corporation|foundation|contribut|manuscript|engineer|technolog|software|repositor|environmental)|"
    r"\b(?:dept|school|college|center|centre|centro|division|research|national|science|sciences|medicine|street|road|"
    r"avenue|box|email|e-mail|author|authors|editor|editors|edited|reviewed|review|received|accepted|published|abstract|"
    r"journal|article|open|access|press|inc|ltd|gmbh|group|project|team|usa|uk|china|india|japan|germany|france|italy|"
    r"spain|brazil|canada|australia|netherlands|switzerland|january|february|march|april|june|july|august|september|"
    r"october|november|december|the|of|for|with|from|in|on|to|by|an|is|are|using|based|analysis|study|effect|effects|"
    r"learning|system|systems|model|models|data|method|methods|approach|toward|towards|summary|background|volume|"
    r"biology|physics|chemistry|mathematics|computer|archive|submitted|state|city|united|kingdom|states|equal|version|"
    r"general|information|notice|notices|contents|chapter|section|table|figure|appendix|report|we|our|this|that|these|new|how|what|why|can|not|results|discussion|conclusion|conclusions)\b",
    re.I,
)  # fmt: skip
_TOKEN = re.compile(r"[^\W\d_](?:[^\W\d_]|[-'\u2019\u02bc.](?=[^\W\d_]))*\.?$")
_JAPANESE = re.compile(r"[\u4e00-\u9fff\u3040-\u30ff]{1,4}[ \u3000]?[\u4e00-\u9fff\u3040-\u30ff]{1,5}$")


def is_name(text: str) -> bool:
    """Two to six capitalised words or initials, particles allowed, none of the words of addresses and headings."""
    text = text.strip()
    if _JAPANESE.fullmatch(text) and 3 <= len(text) <= 8:
        return True
    tokens = text.split()
    if not 2 <= len(tokens) <= 6 or len(text) > 50 or _NOT_NAMES.search(text):
        return False
    proper = 0
    for token in tokens:
        if token.casefold() in _PARTICLES:
            continue
        if not _TOKEN.match(token) or not token[0].isupper():
            return False
        proper += len(token.strip(".")) > 1
    return proper >= 1


def split_names(text: str) -> list[str]:
    """Names in a text such as "A. Smith1, B. Jones and C. de Vries, Ph.D."; parts that are none are left out."""
    text = _DEGREE.sub("", " ".join(text[:5000].split()))
    parts = [_MARKS.sub("", part).strip(" .:") if part else "" for part in _SPLIT.split(text)]
    return [" ".join(part.split()) for part in parts if is_name(part)]


def name_parts(line: Line) -> tuple[list[str], bool]:
    """The line's parts between separators, without marks and degrees; and whether its last part may run on."""
    # Raised marks follow a name, and so do wide gaps: both part names where no comma is printed.
    kept = [" ; " if script == 1 else character for character, script in zip(line.text, line.script, strict=True)]
    for gap in line.wide_gaps:
        kept[gap] = " ; "
    text = _DEGREE.sub("", " ".join("".join(kept).split()))
    parts = [" ".join(_MARKS.sub(" ", part).split()).strip(" .:") for part in _SPLIT.split(text)]
    raised = bool(line.script) and line.script[len(line.text.rstrip()) - 1] == 1
    runs_on = not raised and not re.search(r"(?:[,;&*\u2217\u2020\u2021\d]|\band)$", line.text.rstrip())
    return [part for part in parts if part], runs_on


def names_in_line(line: Line) -> list[str]:
    """Names in a line of which most parts are names."""
    parts, _ = name_parts(line)
    names = [part for part in parts if is_name(part)]
    return names if names and len(names) >= 0.6 * len(parts) else []
