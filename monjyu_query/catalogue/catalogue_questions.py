"""Which question about the collection itself a text asks, by English and Japanese patterns.

The whole text must be understood: what is left over makes it an ordinary question, which is searched for.
"""

# ruff: noqa: E501 - a pattern a line, so that they can be read under each other
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "authors", "listed", "counted", "year", "venue", "doi", "citing", "cited", "mentions", "newest", "oldest",
    "prolific", "most_cited", "venues", "years",
    "makers",
]  # fmt: skip


@dataclass(frozen=True)
class CatalogueQuestion:
    """`name` is the paper, the author or the word that is asked about; years are inclusive. `counts`: a number is asked
    for, of papers that cite or mention it too."""

    kind: Kind
    name: str = ""
    author: str = ""
    year_from: int | None = None
    year_to: int | None = None
    language: str = ""
    counts: bool = False


_PAPERS = r"(?:papers?|articles?|publications?|documents?)"
_THE = r"(?:the |this |our |my |these |all )?"
_HERE = rf"(?:(?:in|of) {_THE}(?:collection|corpus|index|library|data ?set)|here|there|available|indexed|in total|in all|altogether)"
_NAME = r"(?P<name>.{1,150}?)"
_YEAR = r"((?:18|19|20)\d\d)"
_NO_NAME = re.compile(
    r"^(?:it|this|that|they|them|these|those|which|what|who|whom|an?|any|some|most|more|students?|participants?|people"
    r"|patients?|each|both|other|others|the (?:course|study|authors?|students?|papers?|results?)|これ|それ|この論文|その論文)$",
    re.IGNORECASE,
)

_ASKS = re.compile(r"何|いつ|どの|どこ|誰|なぜ|どう")

# fmt: off
_PLAIN: tuple[tuple[Kind, str], ...] = (
    (
        "prolific",
        rf"(?:who|which authors?|what authors?) (?:wrote|has|have|published|is|are) (?:written )?(?:the )?(?:most|author of (?:the )?most) {_PAPERS}(?: {_HERE})?",
    ),
    ("authors", rf"who (?:wrote|authored|has written|published) (?:the (?:paper|article) )?{_NAME}"),
    ("authors", rf"who (?:is|are|was|were) {_THE}authors? of (?:the (?:paper|article) )?{_NAME}"),
    (
        "makers",
        rf"who (?:developed|created|made|built|designed|maintains|is behind|are behind|(?:is|are) the (?:developers?|creators?|makers?) of) (?:the )?{_NAME}",
    ),
    ("authors", rf"by whom (?:was|is) {_NAME} (?:written|published)"),
    ("authors", rf"(?:the )?authors of (?:the (?:paper|article) )?{_NAME}"),
    (
        "year",
        rf"(?:when|in (?:which|what) year|(?:which|what) year) (?:was|were|did) {_NAME} (?:published|written|appear|come out)",
    ),
    ("year", rf"what is the (?:year of publication|publication (?:year|date)) of {_NAME}"),
    (
        "venue",
        rf"(?:where|in (?:which|what) (?:journal|venue|conference)) (?:was|were|did) {_NAME} (?:published|appear)",
    ),
    ("doi", rf"(?:what is |what'?s )?the doi (?:of|for) {_NAME}"),
    (
        "citing",
        rf"(?:which|what|how many) (?:other )?{_PAPERS} (?:in {_THE}collection )?(?:cite|cites|refer to|reference) {_NAME}",
    ),
    ("citing", rf"(?:who|what) cites {_NAME}"),
    ("citing", rf"by (?:which|how many) {_PAPERS} is {_NAME} cited"),
    ("cited", rf"(?:which|what|how many) {_PAPERS} (?:does|is|are) {_NAME} (?:cite|citing|cited by)"),
    ("cited", rf"(?:what|whom) does {_NAME} cite"),
    (
        "mentions",
        rf"(?:which|what|how many) (?:of {_THE})?{_PAPERS} (?:mention|mentions|name|contain|use|uses) (?:the (?:word|term|name) )?{_NAME}",
    ),
    ("newest", rf"(?:which|what) (?:is|are) the (?:newest|latest|most recent) {_PAPERS}(?: {_HERE})?"),
    ("newest", rf"(?:the )?(?:newest|latest|most recent) {_PAPERS}(?: {_HERE})?"),
    ("oldest", rf"(?:which|what) (?:is|are) the (?:oldest|earliest|first) {_PAPERS}(?: {_HERE})?"),
    ("prolific", r"(?:who|which authors?) (?:is|are) the most (?:prolific|frequent|common)(?: authors?)?"),
    ("most_cited", rf"(?:which|what) {_PAPERS} (?:is|are) (?:the )?(?:most cited|cited most)(?: often)?(?: {_HERE})?"),
    ("most_cited", rf"(?:which|what) (?:is|are) the most cited {_PAPERS}(?: {_HERE})?"),
    (
        "venues",
        rf"(?:which|what) (?:journals?|venues?|conferences?) (?:are|do|were) {_THE}{_PAPERS} (?:published in|from|in|come from|appear in)",
    ),
    ("venues", rf"(?:which|what) (?:journals|venues|conferences) are (?:there|covered|{_HERE})"),
    (
        "years",
        rf"(?:which|what) years (?:are|do|does|were) (?:covered|{_THE}(?:{_PAPERS}|collection) (?:from|cover|covers|published|published in))",
    ),
    ("years", rf"(?:from )?(?:which|what) years (?:are|were) {_THE}{_PAPERS}(?: from| published)?"),
    (
        "authors",
        r"(?P<name>.{2,80}?)(?:の論文)?(?:の(?:著者|筆者|執筆者)は(?:誰|だれ|どなた|誰々)?(?:です)?|を(?:書いた|執筆した)のは(?:誰|だれ)(?:です)?)(?:か)?",
    ),
    (
        "year",
        r"(?P<name>.{2,80}?)(?:の論文)?は(?:いつ|何年に)(?:出版|発表|公開|刊行|書か)(?:された|され|れた|した)?(?:もの)?(?:です|ました|でしょう)?か?",
    ),
    ("year", r"(?P<name>.{2,80}?)の(?:発表年|出版年|発行年)は(?:いつ|何年)?(?:です)?か?"),
    ("doi", r"(?P<name>.{2,80}?)のDOI(?:は(?:何)?(?:です)?か?)?"),
    (
        "venue",
        r"(?P<name>.{2,80}?)(?:の論文)?は(?:どこ|どの(?:雑誌|学会|会議))(?:に|で)(?:掲載|発表|出版)(?:された|され)?(?:もの)?(?:です|ました)?か?",
    ),
    (
        "citing",
        r"(?:どの論文が)?(?P<name>.{2,80}?)を引用して(?:いる|います)(?:論文)?(?:は(?:どれ|何本|いくつ)?(?:です|あります)?)?か?",
    ),
    (
        "citing",
        r"(?P<name>.{2,80}?)を引用(?:する|した)論文(?:は(?:どれ|何本)?(?:です|あります)?か?|を(?:教えて|挙げて).*)?",
    ),
    ("cited", r"(?P<name>.{2,80}?)は(?:どの論文|何)を引用して(?:いる|います)か?"),
    (
        "mentions",
        r"(?:どの論文が)?(?P<name>.{1,60}?)(?:に言及して|を(?:使って|使用して|用いて))(?:いる|います)(?:論文)?(?:は(?:どれ|何本)?(?:です|あります)?)?か?",
    ),
    (
        "mentions",
        r"(?P<name>.{1,60}?)(?:に言及する|に言及した|を(?:使う|使った|用いる|用いた))論文(?:は(?:どれ|何本)?(?:です|あります)?か?|を(?:教えて|挙げて).*)?",
    ),
    ("newest", r"(?:最新の|(?:一番|最も)新しい)論文(?:は(?:どれ|何)?(?:です)?か?|を(?:教えて|挙げて).*)?"),
    ("oldest", r"(?:最古の|(?:一番|最も)古い)論文(?:は(?:どれ|何)?(?:です)?か?|を(?:教えて|挙げて).*)?"),
    (
        "prolific",
        r"(?:最も|一番)(?:多く(?:の)?論文を(?:書いた|書いている|執筆した)|論文(?:の数)?[がの]多い)(?:の)?(?:著者|人)?(?:は(?:誰|だれ)?(?:です)?か?)?",
    ),
    ("most_cited", r"(?:最も|一番)(?:多く)?引用され(?:た|ている)論文(?:は(?:どれ|何)?(?:です)?か?)?"),
    ("years", r"(?:何年から何年までの論文|どの年の論文)(?:が(?:あります|ある)|です)か?"),
)
# fmt: on
_COMPILED = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _PLAIN]

_COUNT = re.compile(
    rf"how many {_PAPERS}(?: (?:are|is|does|do|have|has|were|was|did))?(?: {_THE}(?:collection|corpus)\b| we\b| you\b| i\b)?"
    rf"(?: (?:have|has|hold|contain|include))?(?P<tail>.*)",
    re.IGNORECASE,
)
_LIST = re.compile(
    rf"(?:(?:please )?(?:list|show(?: me)?|give me|name)|(?:which|what)(?= {_PAPERS}))(?: (?:all|every|the|me|of))*"
    rf" {_PAPERS}(?: (?:are|were|is|did|does|do|has|have))?(?P<tail>.*)",
    re.IGNORECASE,
)
_WROTE = re.compile(
    rf"(?:which|what|how many) {_PAPERS} (?:did|has|have|does) {_NAME}"
    rf" (?:write|written|wrote|author|authored|publish|published)(?: {_HERE})?",
    re.IGNORECASE,
)
_JA_COUNT = re.compile(
    r"(?P<tail>.{0,60}?)(?:論文|文献|文書)(?:は|が)(?:全部で|全体で)?(?:何本|何件|いくつ|何報|何編|どのくらい)(?:あり|ある|です|入って|含まれ|収め)?.{0,6}"
)
_JA_LIST = re.compile(
    r"(?P<tail>.{0,60}?)(?:論文|文献)(?:の一覧|は(?:どれ|何|ありますか|あるか|ある)?(?:です)?か?|を(?:一覧|列挙|挙げ|教え|リスト|見せ).*|一覧)(?:を.*)?"
)


def recognised(query: str) -> CatalogueQuestion | None:
    """The question, where all of the text is understood."""
    text = " ".join(query.split()).rstrip("?？。.! ")
    for kind, pattern in _COMPILED:
        found = pattern.fullmatch(text)
        if found:
            name = _named(found.groupdict().get("name") or "")
            if "name" in found.groupdict() and not name:
                continue
            return CatalogueQuestion(kind, name, counts=_counts(text))
    return _selection(text)


def _counts(text: str) -> bool:
    return bool(re.match(r"how many|by how many", text, re.IGNORECASE)) or "何本" in text


def _named(name: str) -> str:
    """Without quotation marks; empty where it names nothing."""
    name = re.sub(r"^(?:the|paper|article|論文)\s+", "", name.strip(" “”\"'「」『』,、"), flags=re.IGNORECASE)
    return "" if _NO_NAME.match(name) or _ASKS.search(name) else name.strip(" “”\"'「」『』")


def _selection(text: str) -> CatalogueQuestion | None:
    wrote = _WROTE.fullmatch(text)
    if wrote:
        author = _named(wrote["name"])
        return CatalogueQuestion("counted" if _counts(text) else "listed", author=author) if author else None
    patterns: tuple[tuple[Kind, re.Pattern[str], Callable[[str], _Selected | None]], ...] = (
        ("counted", _COUNT, _english), ("listed", _LIST, _english),
        ("counted", _JA_COUNT, _japanese), ("listed", _JA_LIST, _japanese),
    )  # fmt: skip
    for kind, pattern, understood in patterns:
        found = pattern.fullmatch(text)
        if found is None:
            continue
        chosen = understood(found["tail"])
        if chosen is None:
            continue
        if kind == "listed" and chosen == _Selected() and not _ASKS_ALL.search(text):
            return None
        return CatalogueQuestion(
            kind, "", chosen.author, chosen.year_from, chosen.year_to, chosen.language, counts=kind == "counted"
        )
    return None


_ASKS_ALL = re.compile(
    rf"^(?:please )?(?:list|show|give|name)|{_HERE}|do (?:we|you) have|一覧|リスト|列挙", re.IGNORECASE
)


@dataclass(frozen=True)
class _Selected:
    author: str = ""
    year_from: int | None = None
    year_to: int | None = None
    language: str = ""


_LANGUAGES = {"english": "en", "japanese": "ja", "german": "de", "french": "fr", "chinese": "zh", "spanish": "es"}
_JA_LANGUAGES = {"英語": "en", "日本語": "ja", "中国語": "zh", "ドイツ語": "de", "フランス語": "fr"}
_FILLER = re.compile(
    rf"^(?:{_HERE}|do (?:we|you|i) have|are there|does it have|have|in|and|that are|were|published|you have|we have|stored)\b",
    re.IGNORECASE,
)


def _english(tail: str) -> _Selected | None:
    """What follows "papers"; None where a word of it is not understood."""
    values: dict[str, object] = {}
    rest = tail.strip(" ,")
    steps: tuple[tuple[str, Callable[[re.Match[str]], dict[str, object]]], ...] = (
        (rf"^(?:published |written )?(?:in|of|from)(?: the year)? {_YEAR}(?! ?[-–to])\b(?! on)", lambda m: {"year_from": int(m[1]), "year_to": int(m[1])}),
        (rf"^(?:published |written )?(?:between|from) {_YEAR} (?:and|to|until) {_YEAR}\b", lambda m: {"year_from": int(m[1]), "year_to": int(m[2])}),
        (rf"^(?:published |written )?(?:since|from) {_YEAR}(?: on(?:wards)?)?\b", lambda m: {"year_from": int(m[1])}),
        (rf"^(?:published |written )?after {_YEAR}\b", lambda m: {"year_from": int(m[1]) + 1}),
        (rf"^(?:published |written )?(?:before) {_YEAR}\b", lambda m: {"year_to": int(m[1]) - 1}),
        (rf"^(?:published |written )?(?:until|up to) {_YEAR}\b", lambda m: {"year_to": int(m[1])}),
        (r"^(?:written )?in (english|japanese|german|french|chinese|spanish)\b", lambda m: {"language": _LANGUAGES[m[1].casefold()]}),
        (r"^(?:written |authored |published )?by (?:the author )?((?:[A-Z][\w'’.-]*|de|van|von|der|la|del)(?: (?:[A-Z][\w'’.-]*|de|van|von|der|la|del))*)", lambda m: {"author": m[1]}),
    )  # fmt: skip
    while rest:
        for pattern, value in steps:
            found = re.match(pattern, rest, 0 if "A-Z" in pattern else re.IGNORECASE)
            if found:
                values |= value(found)
                break
        else:
            found = _FILLER.match(rest)
            if found is None:
                return None
        rest = rest[found.end() :].strip(" ,")
    return _Selected(**values)  # type: ignore[arg-type]


def _japanese(tail: str) -> _Selected | None:
    """What stands before 「論文」; None where a part of it is not understood."""
    values: dict[str, object] = {}
    rest = re.sub(
        r"^(?:この|本)?(?:コレクション|索引|文献集)(?:全体)?(?:に(?:は)?|の)?(?:ある|含まれる|入っている)?(?:の)?",
        "",
        tail.strip(" 、"),
    )
    found = re.match(r"^((?:18|19|20)\d\d)年から((?:18|19|20)\d\d)年まで(?:の|に(?:発表|出版)された)", rest)
    if found:
        values, rest = {"year_from": int(found[1]), "year_to": int(found[2])}, rest[found.end() :]
    found = re.match(r"^((?:18|19|20)\d\d)年(以降|以後|以前|より前|より後|まで)?(?:の|に(?:発表|出版)された)", rest)
    if found:
        year, side = int(found[1]), found[2] or ""
        first = {"year_from": year + (side == "より後")} if side in ("", "以降", "以後", "より後") else {}
        last = {"year_to": year - (side == "より前")} if side in ("", "以前", "より前", "まで") else {}
        values |= first | last
        rest = rest[found.end() :]
    found = re.match(r"^(英語|日本語|中国語|ドイツ語|フランス語)(?:の|で書かれた)", rest)
    if found:
        values["language"] = _JA_LANGUAGES[found[1]]
        rest = rest[found.end() :]
    found = re.match(r"^(?P<who>[^はがをに、]{2,30}?)(?:が(?:書いた|執筆した)|の書いた|による|著の)", rest)
    if found:
        values["author"] = found["who"]
        rest = rest[found.end() :]
    return None if rest.strip(" のは、") else _Selected(**values)  # type: ignore[arg-type]
