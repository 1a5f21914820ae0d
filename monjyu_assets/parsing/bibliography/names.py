"""Recognises names of people as papers write them, and splits lists of authors; no other module has patterns for them.

The form of a list of names depends on its place, so each pattern of particles and separators is named after its place.
Authors at the head of a reference are read in `reference_authors`. The words are in `monjyu_core.language`.
"""

import re
import unicodedata
from functools import cache

from monjyu_core.language.vocabulary import alternation, alternatives, stems, vocabularies, words
from monjyu_core.paper import Author


def _small_letters() -> str:
    """Ranges of the lower-case letters of Latin, Greek, Cyrillic and Armenian, for use in a character class."""
    found = [code for code in (*range(0x590), *range(0x1E00, 0x2000)) if chr(code).islower()]
    starts = [code for code in found if code - 1 not in set(found)]
    ends = [code for code in found if code + 1 not in set(found)]
    return "".join(chr(a) if a == b else f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True))


UPPER = rf"[^\W\d_{_small_letters()}]"
"""A capital letter, or a letter of a script without capitals."""


def _any_case(particles: list[str]) -> str:
    return "|".join(sorted((f"[{word[0]}{word[0].upper()}]{word[1:]}" for word in particles), key=len, reverse=True))


_PARTICLES = frozenset(words("names.particles")) | {"ter", "'t", "st.", "do", "das", "vom"}
_LONG_PARTICLES = sorted(word for word in _PARTICLES if len(word) > 1 and word.isalpha() and word not in ("st", "mac"))
CITED_PARTICLE = rf"(?:{_any_case(_LONG_PARTICLES)})"
"""A particle in a citation ("de la Cruz, 2019")."""
LISTED_PARTICLE = rf"(?:(?:{_any_case(_LONG_PARTICLES)}|'t)[\s-]+)"
"""A particle in front of a surname in a reference list, with the space or hyphen after it."""
NO_PARTICLE = r"(?!and\b|van\b|von\b|der\b|den\b)"
"""Not a particle: used in front of a word that would otherwise indicate a sentence."""
# "y" and "e" join the two surnames of one person as well ("Santiago Ramón y Cajal"): a name of two words follows them.
_JOINING = "|".join(word for word in words("names.and") if word in _PARTICLES)
_AND_WORDS = [word for word in words("names.and") if word not in _PARTICLES and word != "&"]
_AND_FORMS = dict.fromkeys([*_AND_WORDS, "And", *(word.upper() for word in _AND_WORDS if word.isalpha())])
AND_WORD = alternation(list(_AND_FORMS))
"""Words for "and", case-sensitive: "Ed" is a name, "ed" is Italian."""
JOINED = re.compile(rf"^(?:{_JOINING})\s+(?={UPPER})")
""""e" or "y" in front of the last name of a list, if it is at the beginning of a line."""
AND = rf"(?:&|(?<=\s){AND_WORD}(?=\s)|(?<=\s)(?:{_JOINING})(?=\s+[^\s,;]+\s+[^\W\d_]))"
"""Between the last two names of a list."""
ENTRY_NAME = re.compile(
    rf"(?:{CITED_PARTICLE}\s){{0,2}}{UPPER}[\w'\u2019-]+,?\s+(?:{UPPER}|{AND_WORD}|&|\()|"
    rf"(?:{UPPER}\.[\s-]?){{1,3}}{UPPER}"
)
"""A name with which an entry of a reference list may begin."""


BY = re.compile(
    rf"(?i:{alternatives('labels.authors')})(?:\s*[:：]\s*|\s+(?={UPPER}))|Von\s+(?={UPPER}[\w.-]*\s+{UPPER})"
)
"""Words such as "by" in front of the names under a title."""
GAP = re.compile(r"(?<=\S)(?:[^\S\t\r\n]{3,}|[\t\u2001\u2003]\s*)(?=\S)")
"""Nothing but space between two names of a line."""
PRINTED_SEPARATOR = re.compile(
    rf"\s+\u00c6\s+|{GAP.pattern}|\s*(?:[,;\u00b7\u2022\u2013\u2014\u060c\u3001\u30fb\uff0c\uff1b]|{AND})\s*"
)
"""A separator between printed names; some fonts of older journals encode a raised dot as \u00c6."""
_LISTED = re.compile(rf"\s*(?:,\s*{AND}|[,\u060c\u3001\u30fb\uff0c\uff0f]|{AND})\s*|{GAP.pattern}")
_NAME_MARKS = re.compile(r"\^[^^]*\^|<[^>]*>|\[[^\]]*\]|[*†‡§¶#∗⁎\d¹²³⁰-⁹_`]+")  # marks that point at footnotes
_INITIALS = rf"(?:{UPPER}{{1,2}}\.[\s-]?){{1,4}}"
_SURNAME_FIRST = re.compile(rf"({UPPER}[\w'\u2019-]+(?:\s{UPPER}[\w'\u2019-]+)?)\s+({_INITIALS})")


def split_names(text: str) -> list[str]:
    """Split a line into names as "Given Family": "A. Ames, B. Birk and C. Cole", "Ames, A.; Birk, B.",
    山田太郎・鈴木花子."""
    text = _NAME_MARKS.sub("", text)
    parts = re.split(r"\s*[;\uff1b]\s*", text) if re.search(r"[;\uff1b]", text) else _LISTED.split(text)
    parts = [cleaned for part in parts if (cleaned := " ".join(part.split()).strip(" ,"))]
    if len(parts) > 1 and len(parts) % 2 == 0 and all(re.fullmatch(_INITIALS, part) for part in parts[1::2]):
        parts = [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return [person_name(part) for part in parts]


def full_name(given: str, family: str) -> str:
    """Join given and family name in their written order: the family name first if its script requires it."""
    return f"{family} {given}" if given and family and family_first(family + given) else f"{given} {family}".strip()


def person_name(text: str) -> str:
    """Write a name in spoken order: "Surname, Given" and "Surname G." reversed, 山田, 太郎 as 山田 太郎."""
    family, comma, given = (part.strip() for part in text.partition(","))
    if comma and given and "," not in given:
        return full_name(given, family)
    text = text.strip(" ,")
    match = _SURNAME_FIRST.fullmatch(text)
    return f"{match[2].strip()} {match[1]}" if match else text


def given_and_family(name: str) -> tuple[str, str]:
    """Split "A. B. van der Berg", 山田 太郎 or 李四 into given names and family name."""
    if family_first(name):
        parts = name.split() if " " in name.strip() else [name[:1], name[1:]]
        return " ".join(parts[1:]), parts[0]
    parts = name.split()
    first = next((i for i, word in enumerate(parts[1:-1], 1) if word[:1].islower()), len(parts) - 1)
    return " ".join(parts[:first]), " ".join(parts[first:])


_NAMES_BY_LANGUAGE = [each.get("names", {}) for each in vocabularies().values()]
_FAMILY_FIRST = re.compile(f"[{''.join(names['letters'] for names in _NAMES_BY_LANGUAGE if 'letters' in names)}\\s]+")
_SURNAMES = frozenset("".join(names.get("surnames", "") for names in _NAMES_BY_LANGUAGE).replace("\n", ""))
_HAN, _KANA, _HANGUL = r"\u3005\u4e00-\u9fff", r"\u3041-\u30ff", r"\uac00-\ud7a3"
_APART = re.compile(rf"[{_HAN}]{{1,4}}\s[{_HAN}{_KANA}]{{1,4}}|[{_HANGUL}]{{1,2}}\s[{_HANGUL}]{{1,3}}")
_CLOSED = re.compile(rf"[{_HAN}]{{1,4}}[{_HAN}{_KANA}]{{1,4}}")
_CJK_NAME = re.compile(rf"(?=.{{3}})[{_HAN}{_KANA}]{{1,4}}[ \u3000]?[{_HAN}{_KANA}]{{1,5}}")
_FOOTNOTES = re.compile(r"[*†‡§¶#∗\d¹²³⁰-⁹()（）]+")


def family_first(name: str) -> bool:
    """Whether a name is in a script that puts the family name first (Chinese, Japanese, Korean)."""
    return _FAMILY_FIRST.fullmatch(name) is not None


def cjk_authors(line: str) -> list[Author]:
    """The authors if the whole line consists of names in Chinese, Japanese or Korean: several with separators, one with
    a space (山田 太郎), or one that begins with a surname (王小明)."""
    names = [" ".join(name.split()) for name in re.split(r"\s*[・、，,;；/／]\s*", _FOOTNOTES.sub("", line).strip())]
    if not 1 <= len(names) <= 60 or not all(2 <= len(name) <= 9 for name in names) or any(map(_is_no_name, names)):
        return []
    sure = [_APART.fullmatch(name) is not None or _has_surname(name) for name in names]
    fits = all(known or _CLOSED.fullmatch(name) for known, name in zip(sure, names, strict=True))
    return [Author(name=name) for name in names] if all(sure) or (len(names) > 1 and fits) else []


def _has_surname(name: str) -> bool:
    """Whether the name is two to four Chinese or Korean letters without a space, the first of which is a common
    surname."""
    return (
        2 <= len(name) <= 4
        and name[0] in _SURNAMES
        and re.fullmatch(r"[\u4e00-\u9fff]+|[\uac00-\ud7a3]+", name) is not None
    )


def author_line(line: str) -> list[Author]:
    """The authors if the whole line is a list of personal names in an alphabetic script; otherwise empty."""
    if len(line) > 600 or re.search(r"[.!?:]$|[:!?]", line.strip(" *")):
        return []
    names = split_names(line)
    return [Author(name=name) for name in names] if names and all(map(is_name, names)) else []


DEGREE = re.compile(
    r"(?:[,\s]+(?:Ph\.?\s?D|M\.?\s?D|M\.?\s?Sc|B\.?\s?Sc|M\.?S|MPH|DVM|MBBS|FRCP|RN|MBA|Jr|Sr)\.?)+"
    r"(?=\s*(?:[,;&*\u2020]|\d|$|and\b))|\b(?:Dr|Prof)\.\s"
)
PRINTED_MARKS = re.compile(
    r"[*\u2217\u2020\u2021\u00a7\u00b6\u2016#\u2709\ue000-\uf8ff\u25a0\u2606\u2605|\u00a9\u00ae]|\(\d{1,2}\)|\b\d{1,2}\b|(?<=\D)\d{1,2}$"
)
STOPS = re.compile(r"^[ .:]+|(?<![\u0400-\u052f])[ .:]+$|(?<=[^\W\d_]{2})[ .:]+$")
"""Full stops around a name, without that of an initial behind a Cyrillic surname."""
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[-'\u2019\u02bc.](?=[^\W\d_]))*\.?$")


_ELIDED = re.compile(rf"(?:d|l|dell)['\u2019](?={UPPER})")
"""A particle without its vowel: d'Aumont."""


@cache
def _no_name() -> re.Pattern[str]:
    small = "|".join(re.escape(word) for word in words("names.small_words") if word not in _PARTICLES)
    return re.compile(rf"(?i:{stems('names.organisation')}|{stems('names.no_names', whole=True)})|\b(?:{small})\b")


def _is_no_name(text: str) -> bool:
    """Whether the text contains a word of an address, a heading or a sentence."""
    return _no_name().search(text) is not None


def is_name(text: str) -> bool:
    """Whether the text is a name: two to six capitalised words or initials, possibly with particles, without words of
    addresses and headings; or a Chinese, Japanese or Korean name."""
    text = text.strip()
    if len(text) > 50 or _is_no_name(text):
        return False
    if family_first(text):
        return (
            _has_surname(text)
            or _APART.fullmatch(text) is not None
            or (3 <= len(text) <= 8 and _CJK_NAME.match(text) is not None)
        )
    tokens = _without_marks(text).split()
    if not 2 <= len(tokens) <= 6:
        return False
    proper = 0
    for token in tokens:
        if token.casefold() in _PARTICLES:
            continue
        if not _WORD.match(token) or _ELIDED.sub("", token)[0].islower():
            return False
        proper += len(token.strip(".")) > 1
    return proper >= 1


def _without_marks(text: str) -> str:
    """The text without marks above and below letters (vowels of Devanagari and Arabic), which `re` does not treat as
    letters."""
    return text if text.isascii() else "".join(c for c in text if unicodedata.category(c)[0] != "M")


def printed_names(text: str) -> list[str]:
    """Names in a text such as "A. Smith1, B. Jones and C. de Vries, Ph.D."; other parts are ignored."""
    text = DEGREE.sub("", " ".join(text[:5000].split()))
    parts = [PRINTED_MARKS.sub("", part).strip(" .:") if part else "" for part in PRINTED_SEPARATOR.split(text)]
    return [" ".join(part.split()) for part in parts if is_name(part)]
