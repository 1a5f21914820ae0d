"""Splits academic text into sentences, by rules that look at a few characters on each side of a stop.

Each decision takes constant time, so that a text without a single sentence end takes no longer than any other.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

# Words that end in a full stop without ending a sentence, as academic texts use them. All in lower case.
_NEVER = """
    dr drs prof profs mr mrs ms mx st mt rev hon gen col capt lt sgt gov messrs
    e.g eg i.e ie cf viz vs v.s approx ca resp incl excl esp viz cp
    z.b d.h u.a bzw vgl sog ggf ggfs bspw abb p.ej
"""
_BEFORE_NUMBER = """
    fig figs eq eqs eqn eqns sec secs sect sects tab tabs ref refs ch chap chaps vol vols no nos nr nrs p pp pg pgs
    thm lem prop def defn cor alg algs ex app suppl supp art arts ver v rev ed pt pts bd para paras ln l ll col cols
    jan feb mar apr jun jul aug sep sept oct nov dec
"""
_MAYBE = """
    al inc ltd corp co cos llc plc gmbh jr sr bros assn dept univ inst lab labs natl intl acad
    ph.d phd m.sc b.sc msc bsc m.d b.a m.a d.c u.s u.k u.s.a u.n e.u a.m p.m
    min max avg std dev deg hr hrs sec secs temp conc wt mol est sp spp subsp var cv str
    eds ed trans transl proc conf symp j biol chem phys math sci comput soc int am med res lett
    comm commun trans ann adv appl rev acm ieee
"""
_STARTERS = """
    a about above according accordingly additionally after afterwards again all also although among an and another any
    are as at because before besides both but by can clearly compared consequently conversely currently despite did do
    does due during each either even every few finally first firstly following for from further furthermore given had
    has have having he hence here how however i if importantly in indeed initially instead interestingly is it its
    last lastly later let like likewise many meanwhile more moreover most much my nevertheless next no nonetheless nor
    not notably note now of often on once one only or other others otherwise our over overall participants perhaps
    previous previously rather recall recent recently regarding results second secondly see several she should similar
    similarly since so some specifically still subsequently such suppose that the their then there thereby therefore
    these they third this those though three through throughout thus to together traditionally two under unfortunately
    unless unlike until upon using usually was we were what when where whereas whether which while who why with within
    without yet you your
"""

NEVER_LAST = frozenset(_NEVER.split())
"""Abbreviations that never end a sentence, because a name, an example or a comparison follows."""
BEFORE_NUMBER = frozenset(_BEFORE_NUMBER.split())
"""Abbreviations that do not end a sentence if a number or a label follows ("Fig. 3", "Eq. (2)", "Sec. IV"); otherwise
they are words."""
MAYBE_LAST = frozenset(_MAYBE.split())
"""Abbreviations that end a sentence only if the next word often begins one."""
STARTERS = frozenset(_STARTERS.split())
"""Words that often begin a sentence and seldom have a capital letter inside it."""


Offsets = tuple[int, int]

LOOK_BACK, LOOK_AHEAD = 40, 30
LONGEST_QUOTE = 300
"""Maximum length of a Japanese quotation or parenthesis that is not split; a longer one may be an unclosed bracket."""

_CJK = r"\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff66-\uff9f"
_CITED = r"\[\d[\d,;\s–-]{0,60}\]"
# stop: a run of stops; close: the brackets and quotation marks at the end of the sentence; note: a citation or raised
# number without a space before it; cited: a citation after the stop that still belongs to the sentence. All quantifiers
# are possessive, so nothing is tried twice.
_LATIN_END = (
    r"(?<![.!?…])(?P<stop>[.!?…]++)(?P<close>[\"'”’»)\]}]*+)"
    rf"(?P<note>(?:{_CITED})++|(?<=[a-z][.)\]”\"])\d{{1,3}}(?:[,–-]\d{{1,3}})*+|[⁰¹²³⁴-⁹][⁰¹²³⁴-⁹⁻,]*+)?+"
    rf"(?P<cited>[ ](?:{_CITED}|\([A-Z][^()\n]{{2,200}}(?<=\D)(?:19|20)\d\d[a-z]?\)\.?))?+(?=\s|\Z)"
)
_WIDE_END = (
    rf"(?:[。｡！？]|(?<=[{_CJK}」』）)])[．.](?![\d０-９A-Za-z])|(?<=[{_CJK}])[!?](?=[{_CJK}「『（]))[。｡！？!?]*+"
    rf"(?P<wide>[」』）】〉》〕”’\"')\]]*+)(?:{_CITED})*+"
)
_LATIN = re.compile(_LATIN_END)
_WIDE = re.compile(f"{_WIDE_END}|{_LATIN_END}")

_BLANK_LINE = re.compile(r"\n[^\S\n]*+\n\s*+")
_MARKER = re.compile(r"[^\S\n]*+(?:([•◦‣▪●∙◆■○])|([*+–—-])|(\(?\d{1,2}[.)])|(\(?[a-z][.)]|\(?[ivx]{2,4}\)))[^\S\n]+\S")
_NEXT = re.compile(rf"\s*+([\"'“‘«(\[{{¿¡*_]*+)(\S{{0,{LOOK_AHEAD}}})")
_JOINS = re.compile(r"[\"'“‘«(\[{*_—–/]")
_LETTERS = re.compile(r"[^\W\d_]+")
_NEWLINE = re.compile(r"\n")
_NOT_SPACE = re.compile(r"\S")
_NUMBER_OR_LABEL = re.compile(r"\d|#\d|[A-Z]\.?\d|[A-Z]\b(?!['’])|[IVXLC]+\b|[α-ω]\b|[a-z]\)")
_YEAR = re.compile(r"(?:1[6-9]|20)\d\d[a-z]?[),;]")
_ENUMERATOR = re.compile(r"(?:[a-z]|[ivx]{2,4})\)")
_MIXED_CASE = re.compile(r"[a-z]{1,3}-?[A-Z]")
_INITIALS = re.compile(r"[^\W\d_](?:\.-?[^\W\d_]{1,2})+")
_LABEL = re.compile(
    r"[(\[]?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[IVX]{1,5}|[ivx]{2,4})[)\]]?"
    r"|(?:Supplementary )?(?:Fig(?:ure)?|Tab(?:le)?|Algorithm|Listing|Box|Scheme|Chart|Theorem|Lemma|Definition"
    r"|Proposition|Corollary|Example|Remark|Assumption|Appendix)\.?[ \u00a0]?[A-Z]?\.?\d{0,3}(?:\.\d{1,3})*[a-z]?"
)
_CONTINUES = frozenset(",;:)]}=<>/&|%")
_PARTICLES = frozenset("とはがのをにでもやへなかだっ、，,・")
_CLAUSE_ENDS = (".", ":", ";", "!", "?", ",")
_BULLET = 1
_ABBREVIATIONS = NEVER_LAST | BEFORE_NUMBER | MAYBE_LAST
_PAIRS = dict(zip("」』）)】〉》〕”", "「『（(【〈《〔“", strict=True))
_BRACKET = re.compile("[" + re.escape("".join(_PAIRS) + "".join(_PAIRS.values())) + "]")


def split_sentences(text: str, language: str = "en") -> list[Offsets]:
    """The offsets (start, end) of the sentences in order; only white space is between them.

    `language` is an ISO 639-1 code. In Japanese and Chinese, and in any text with 。, sentences also end at 。！？, but
    not inside a quotation or before a particle after it; otherwise the rules are those for English, whose abbreviations
    are known best. A sentence never continues over a blank line or into the next item of a list.
    """
    wide = language in ("ja", "zh") or "。" in text
    found: list[Offsets] = []
    for start, end in _blocks(text):
        found.extend(_Block(text, start, end, wide).sentences())
    return found


def _blocks(text: str) -> Iterator[Offsets]:
    """Yield the offsets of paragraphs, which are divided into their list items."""
    start = 0
    for blank in _BLANK_LINE.finditer(text):
        yield from _items(text, start, blank.start())
        start = blank.end()
    yield from _items(text, start, len(text))


def _items(text: str, start: int, end: int) -> Iterator[Offsets]:
    """Split a paragraph before each line that begins an item: with a bullet, with a mark of the same kind as the
    previous or next one, or with a mark after a line that ends in a punctuation mark."""
    lines = [start, *(newline.end() for newline in _NEWLINE.finditer(text, start, end))]
    marked = [(line, kind) for line in lines if (kind := _marker(text, line, end))] if len(lines) > 1 else []
    for place, (line, kind) in enumerate(marked):
        near = [kind for _, kind in marked[max(0, place - 1) : place] + marked[place + 1 : place + 2]]
        listed = kind == _BULLET or kind in near or text[max(start, line - 3) : line].rstrip().endswith(_CLAUSE_ENDS)
        if listed and line > start:
            yield start, line
            start = line
    yield start, end


def _marker(text: str, line: int, end: int) -> int:
    """The kind of list mark that begins the line: 1 bullet, 2 dash or star, 3 number, 4 letter; 0 none."""
    found = _MARKER.match(text, line, end)
    return found.lastindex or 0 if found else 0


class _Block:
    """Text without a paragraph break, from `start` to `end`."""

    def __init__(self, text: str, start: int, end: int, wide: bool) -> None:
        self.text, self.start, self.end, self.wide = text, start, end, wide
        self.quotes = _quotations(text, start, end) if wide else []

    def sentences(self) -> Iterator[Offsets]:
        begin = self._skip_space(self.start)
        for stop in (_WIDE if self.wide else _LATIN).finditer(self.text, begin, self.end):
            end = self._wide_end(stop) if stop["stop"] is None else self._latin_end(stop, begin)
            if end:
                yield begin, end
                begin = self._skip_space(end)
        if begin < self.end:
            yield begin, begin + len(self.text[begin : self.end].rstrip())

    def _skip_space(self, place: int) -> int:
        found = _NOT_SPACE.search(self.text, place, self.end)
        return found.start() if found else self.end

    def _wide_end(self, stop: re.Match[str]) -> int | None:
        """The end of a sentence in wide characters; None inside a quotation that the sentence continues: 「…。」と"""
        end = stop.end()
        place = bisect_right(self.quotes, (stop.start(), end)) - 1
        if place >= 0 and end <= self.quotes[place][1]:
            return None
        return None if stop["wide"] and self.text[end : end + 1] in _PARTICLES else end

    def _latin_end(self, stop: re.Match[str], begin: int) -> int | None:
        end, following = stop.end(), _next_word(self.text, stop.end(), self.end)
        if stop["cited"] and following.word and self._is_low(following):
            end = stop.start("cited")
            following = _next_word(self.text, end, self.end)
        if not following.opening and not following.word:
            return end
        return None if self._goes_on(stop, begin, following) else end

    def _goes_on(self, stop: re.Match[str], begin: int, following: _Word) -> bool:
        """Whether the sentence continues after the stop, judged by the words before and after it."""
        first = following.word[:1]
        if (first in _CONTINUES and not following.opening) or following.is_year():
            return True
        if set(stop["stop"]) <= {".", "…"} and stop["stop"] != ".":
            return not first.isupper()
        if self._is_low(following):
            return True
        if stop["stop"] != ".":
            return False
        before = self._word_before(stop.start(), begin)
        if stop["note"] and stop["note"][0] in "123456789":  # a raised number, printed as a plain one
            return len(before) < 3 or before.lower() in _ABBREVIATIONS or not first.isupper()
        if first == "." or not before:
            return first == "." or self.text.endswith(". ", 0, stop.start())
        return self._is_label(stop, begin) or self._is_abbreviation(before, following)

    def _is_abbreviation(self, before: str, following: _Word) -> bool:
        key = before.lower()
        if key in NEVER_LAST:
            return True
        if key in BEFORE_NUMBER and _NUMBER_OR_LABEL.match(following.word):
            return True
        if len(before) == 1 and before.islower():  # a variable, or the first half of "z. B."
            return following.word[1:2] == "."
        if key in MAYBE_LAST or _INITIALS.fullmatch(before) or (len(before) == 1 and before.isalpha()):
            return not following.is_starter()
        return False

    def _is_label(self, stop: re.Match[str], begin: int) -> bool:
        """Whether the sentence so far is only a label: "1", "(a)" or "Figure 2"."""
        near = stop.start() - begin <= LOOK_BACK
        return near and _LABEL.fullmatch(self.text, begin, stop.start()) is not None

    def _is_low(self, following: _Word) -> bool:
        """Whether the next word begins with a lower-case letter, except words like eLife, pH or α-helix; False if the
        whole block is in lower case."""
        word = following.word
        if following.opening.endswith("(") and _ENUMERATOR.match(word):
            return False
        low = word[:1].islower() and not ("α" <= word[0] <= "ω" or _MIXED_CASE.match(word))
        return low and not self._is_caseless

    @cached_property
    def _is_caseless(self) -> bool:
        block = self.text[self.start : self.end]
        return block == block.lower()

    def _word_before(self, place: int, begin: int) -> str:
        """The word that ends at the stop, without brackets and quotes; "" if a space precedes the stop."""
        near = self.text[max(begin, place - LOOK_BACK) : place]
        if not near or near[-1].isspace():
            return ""
        return _JOINS.split(near.rsplit(None, 1)[-1])[-1]


@dataclass(frozen=True, slots=True)
class _Word:
    """The text after a full stop: opening brackets or quotes, and the characters up to the next space."""

    opening: str
    word: str

    def is_year(self) -> bool:
        return self.opening.endswith("(") and _YEAR.match(self.word) is not None

    def is_starter(self) -> bool:
        """Whether it is a word that often begins a sentence, and is not an abbreviation."""
        letters = _LETTERS.match(self.word)
        return letters is not None and letters[0].lower() in STARTERS and self.word[letters.end() :][:1] != "."


def _next_word(text: str, place: int, end: int) -> _Word:
    found = _NEXT.match(text, place, end)
    return _Word(found[1], found[2]) if found else _Word("", "")


def _quotations(text: str, start: int, end: int) -> list[Offsets]:
    """The outermost pairs of brackets and quotation marks up to `LONGEST_QUOTE` apart, as offsets of both, in order."""
    pairs: list[Offsets] = []
    waiting: list[tuple[str, int]] = []
    count = dict.fromkeys(_PAIRS.values(), 0)
    for found in _BRACKET.finditer(text, start, end):
        bracket, place = found[0], found.start()
        if bracket in count:
            waiting.append((bracket, place))
            count[bracket] += 1
        elif count[_PAIRS[bracket]]:
            opened = ("", -1)
            while opened[0] != _PAIRS[bracket]:
                opened = waiting.pop()
                count[opened[0]] -= 1
            pairs.append((opened[1], place))
    return _outermost(sorted(pair for pair in pairs if pair[1] - pair[0] <= LONGEST_QUOTE))


def _outermost(pairs: list[Offsets]) -> list[Offsets]:
    kept: list[Offsets] = []
    for pair in pairs:
        if not kept or pair[0] > kept[-1][1]:
            kept.append(pair)
    return kept
