"""Sections that journals ask for and that nobody asks about: competing interests, funding, who did what, licences.

They stay in the tables and can be read. They are not chunked, so "None." never becomes an answer.
"""

from __future__ import annotations

import re

from monjyu_assets.parsing.text.heading_types import strip_numbering

_LONGEST = 2000
_BRIEF = 300
"""Characters of a section: a longer one discusses the subject itself."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_STATEMENT = r"(?: (?:statements?|declarations?|disclosures?|information|notes?))?"
_THINGS = r"(?:data|datasets?|codes?|materials?|software)"
_SEVERAL = rf"{_THINGS}(?:(?:,| and| &)+ {_THINGS})*"

_ALWAYS = _any(
    r"(?:(?:declarations?|statements?|disclosures?) of )?(?:potential |financial )?"
    rf"(?:conflicts? of|conflicting|competing|declarations? of) (?:financial )?interests?{_STATEMENT}",
    rf"funding(?: sources?| support)?{_STATEMENT}",
    r"sources? of (?:funding|support)|role of the fund(?:er|ing source)s?",
    rf"(?:credit )?author(?:s|['’]s|s['’]|ship)?(?: and)? contributions?{_STATEMENT}",
    r"contributions? (?:of (?:the )?authors?|to the (?:article|course|manuscript|paper))",
    r"credit(?: author(?:ship)?)? (?:contributions?|statement)",
    r"consent (?:for publication|to publish)|publisher['’]s note",
    r"pre-?publication history|provenance and peer review",
    r"利益相反(?:の開示|に関する開示|事項|について|自己申告)?|開示事項|著者(?:の)?(?:貢献度?|役割)",
    r"資金源|研究資金|(?:掲載|出版)同意",
)
"""Headings of sections that are boilerplate up to `_LONGEST` characters."""

_IF_BRIEF = _any(
    rf"{_SEVERAL} (?:availability|accessibility|sharing|access){_STATEMENT}",
    rf"availability of (?:supporting )?{_SEVERAL}{_STATEMENT}",
    r"(?:research )?(?:ethics?|ethical)(?: (?:approval|clearance|compliance|considerations?|standards))?"
    rf"(?: and consent to participate)?{_STATEMENT}",
    rf"compliance with ethical standards|institutional review board{_STATEMENT}",
    rf"(?:informed )?consent{_STATEMENT}|human (?:and animal )?rights{_STATEMENT}",
    r"(?:financial |author )?disclosures?(?: statements?)?|declarations?",
    r"open access|copyright(?: and licen[cs]e)?|licen[cs]e|rights and permissions",
    r"倫理(?:的配慮|審査|承認|規定)|データ(?:の)?(?:利用|入手)可能性|データ公開",
    r"インフォームド・?コンセント|ライセンス|著作権(?:表示)?",
)
"""Headings of sections that are boilerplate up to `_BRIEF` characters: a longer one is about the study."""

_NOTHING = _any(
    r"none|nil|n/?a|not applicable|declared none|no (?:competing|conflicts?|potential)[^.]{0,80}",
    r"(?:none|nothing) (?:was |were |to be |to )?(?:declared?|disclosed?|reported?)",
    r"the authors?(?:\(s\))? (?:confirm|declare|have declared|report|state)[^.]{0,60} no "
    r"(?:known |potential |financial )*(?:competing|conflicts?)[^.]{0,120}",
    r"なし|該当なし|特になし|(?:開示すべき)?利益相反は?(?:ない|ありません|なし)",
)
"""Texts, in small letters, that say there is nothing to say, whatever their heading."""


def is_boilerplate(heading: str, text: str) -> bool:
    """Whether no search needs the section: it is short and has such a heading, or it says nothing."""
    body = text.strip(" .。\n")
    if _NOTHING.fullmatch(body[:_BRIEF].casefold()) and len(body) <= _BRIEF:
        return True
    words = " ".join(strip_numbering(heading)[1].casefold().split()).strip(" .:;：")
    length = len(body)
    return bool((length <= _LONGEST and _ALWAYS.fullmatch(words)) or (length <= _BRIEF and _IF_BRIEF.fullmatch(words)))
