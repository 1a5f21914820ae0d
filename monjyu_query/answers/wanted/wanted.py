"""What a question wants to be told, and how a sentence shows that it tells it. English and Japanese.

A sentence may have every word of "What license does nbgrader have?" but the licence. An *attribute* has a value that is
written in few ways (a licence, a version, a sum of money), so that its absence can be seen: no sentence that was read
shows one, and there is no answer. An *aspect* (limitations, advantages, plans) is said in many ways: sentences with its
cues come first, and an answer without any says that it may be none.
"""

# ruff: noqa: E501 - patterns are read by their parts
from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.evidence_ranking.answer_types import asks_why, counted, reason_shown

_HEAD = (
    r"\b(?:(?:what|which)(?: (?:\w+ ){0,3}?(?:is|are|was|were|other))?|(?:is|are|were) there(?: any)?|list|name|describe|explain|discuss|state)"
    r" (?:(?:the|some|any|its|their|all|of the)\b ?)*(?:(?!of\b)[\w-]+ ){0,2}?"
)
"""What stands before the thing that a question asks for: it is asked for, not only mentioned."""
_HAS = r"\b(?:has|have|had|having|acknowledge|mention|report|discuss) (?:any |some |the |its |their |\w+ )?"
_JA_ASKED = r"(?:は(?:何|なん|どの|どん|どう|どこ|いくつ|ある|あり)|は?[？?。]?$|を(?:教え|挙げ|述べ|説明)|について(?:教え|説明|述べ))"
"""What follows the thing that is asked for in Japanese."""
_NAMES = (
    r"[Pp]ython|R|Java(?:[Ss]cript)?|TypeScript|C(?:\+\+|#)?|F(?:ortran|ORTRAN)|Haskell|Julia|M(?:atlab|ATLAB)|Octave|Perl"
    r"|PHP|Ruby|Rust|Go(?:lang)?|Scala|Lisp|Scheme|Clojure|OCaml|Prolog|Mathematica|SQL|Swift|Kotlin|Lua|Erlang|Elixir"
    r"|Stata|SAS|SPSS|Pascal|Ada|COBOL|Cython|Bash|NetLogo|Stan|Visual Basic|LaTeX|HTML|Racket|Smalltalk"
)
_SPOKEN = (
    r"English|Japanese|Chinese|Mandarin|French|German|Spanish|Portuguese|Italian|Arabic|Hindi|Korean|Russian|Dutch|Latin"
    r"|Greek|Persian|Turkish|Swedish|Malay|Indonesian|Vietnamese|Thai"
)

Lifts = Literal["always", "named", "never"]


@dataclass(frozen=True)
class Wanted:
    """`told`: what is wanted, in English and Japanese. `asks` is how questions ask for it; `shows` what a sentence that
    tells it has. `closed`: an attribute, see above. `claims`: the kinds of claims of level 4 that are such statements.
    `thanked`: papers say it in their acknowledgments, which are in no passage. `lifts`: when sentences that show
    it are worth more than others: always, where one paper is asked about, or never."""

    told: tuple[str, str]
    asks: re.Pattern[str]
    shows: re.Pattern[str]
    closed: bool
    claims: tuple[str, ...] = ()
    thanked: bool = False
    lifts: Lifts = "always"

    def named(self, language: str) -> str:
        return self.told[language == "ja"]

    def asking(self, query: str) -> str:
        """The part of the question that asks for it, in small letters; empty where it does not."""
        found = self.asks.search(query)
        return found.group().casefold() if found else ""


def _attribute(
    english: str, japanese: str, asks: str, shows: str, *, cased: bool = False, thanked: bool = False
) -> Wanted:
    own, values = re.compile(asks, re.IGNORECASE), re.compile(shows, re.NOFLAG if cased else re.IGNORECASE)
    return Wanted((english, japanese), own, values, True, thanked=thanked)


def _aspect(english: str, japanese: str, asks: str, shows: str, claims: tuple[str, ...] = ()) -> Wanted:
    own, cues = re.compile(asks, re.IGNORECASE), re.compile(shows, re.IGNORECASE)
    return Wanted((english, japanese), own, cues, False, claims)


ATTRIBUTES: tuple[Wanted, ...] = (
    _attribute(
        "a licence",
        "ライセンス",
        rf"\b(?:what|which) (?:[\w-]+ ){{0,3}}?licen[sc]es?\b(?! plate)|\bhow (?:is|are) .*\blicen[sc]ed\b|^\W*(?:is|are) .*\blicen[sc]ed\b"
        rf"|ライセンス{_JA_ASKED}|(?:何|どの|どんな|どのような)(?:の|という)?ライセンス",
        r"(?<![\w.])(?-i:MIT|BSD)(?![\w.]\w)|\b(?:[AL]?GPL\S*|Apache|CC0|CC[- ]?(?:BY|SA|NC)|Creative Commons|Mozilla Public|General Public|EUPL|Unlicense)\b"
        r"|\bpublic domain\b|\blicen[sc]ed (?:under|as)\b|\bunder (?:an?|the) [\w .()-]{0,50}licen[sc]e"
        r"|\b(?:open[- ]source|permissive|proprietary|free|open) (?:software )?licen[sc]e|ライセンス(?:の|で|に|は|：)",
    ),
    _attribute(
        "a version",
        "バージョン",
        rf"\b(?:what|which) (?:[\w-]+ ){{0,2}}?versions?\b|(?:どの|何)(?:の)?バージョン|バージョン{_JA_ASKED}",
        r"\b(?:v|v\.|versions?|release) ?\d|\b\w+ ?[>=]= ?\d|\b(?!(?:Fig|Tab|Sec|Section|Chapter|Table|Figure|Step|Vol|Lesson|Unit|Part)\b)"
        r"(?-i:[A-Z])[\w+#]*(?: v| version)? \d{1,2}\.\d[\d.]*\b(?! ?%)|\b(?:Python|Java|Fortran|Windows|Debian|Matlab) ?\d{1,2}\b"
        r"|バージョン(?:は)?\s?\d|\d版",
    ),
    _attribute(
        "a programming language",
        "プログラミング言語",
        r"\b(?:what|which) (?:programming|computer|coding|scripting) languages?\b"
        r"|\b(?:what|which) languages? .*\b(?:written|implemented|programmed|coded)\b(?! (?:questionnaire|survey))"
        r"|(?:どの|何の|何という|どんな)プログラミング言語|プログラミング言語は(?:何|どれ)",
        rf"\b(?:[Ii]n|[Uu]s(?:e|es|ed|ing)|with|on|for|into|of|a|an|via) (?:the )?(?:{_NAMES})(?![\w-]|\.[A-Z])"
        rf"|(?<![\w.-])(?:{_NAMES})(?: \d[\d.]*)?(?: programming)?"
        r" (?:languages?|packages?|librar(?:y|ies)|modules?|scripts?|code|programs?|notebooks?|implementation|software|API)\b|言語",
        cased=True,
    ),
    _attribute(
        "a language",
        "言語",
        r"\b(?:what|which|in which|in what) languages? (?:is|are|was|were|did|do|does)\b.*"
        r"\b(?:spoken|speak|translated|questionnaires?|surveys?|published|available|searched)\b",
        rf"\b(?:{_SPOKEN})\b|語",
        cased=True,
    ),
    _attribute(
        "an operating system",
        "オペレーティングシステム",
        r"\b(?:what|which) (?:operating systems?|OS(?:es)?|platforms? (?:does|do|is|are|can))\b|(?:どの|何の)(?:OS|オペレーティング)",
        r"\b(?:Windows|Linux|Unix|mac ?OS|OS ?X|Ubuntu|Debian|Android|iOS|POSIX|cross-platform|platform[- ]independent)\b"
        r"|\b(?:any|all|every|most|major|both|different|multiple|common) (?:\w+ )?(?:operating systems?|platforms?)\b",
    ),
    _attribute(
        "a price or cost",
        "費用",
        r"\bhow much (?:does|do|did|will|would|money)\b.{0,80}\b(?:costs?|pay|paid|spent|spend|charged?)\b"
        r"|\bhow (?:expensive|cheap)\b|\bwhat (?:does|do|did) .{1,80}\bcost\b"
        r"|\bwhat (?:is|are|was|were) the (?:\w+ ){0,2}(?:price|fees?|costs?)\b|(?:費用|料金|価格|値段|コスト)は(?:いくら|どの|どれ|何)",
        r"[$€£¥]\s?\d|\d\s?(?:USD|EUR|GBP|US dollars?|dollars?|euros?|pounds?|yen|rupees?|(?:million|billion) (?:\w+ )?dollars?)\b"
        r"|\bfree of charge\b|\bno (?:fee|cost|charge)\b|\bat no\b.{0,20}\bcost\b|\bfreely (?:available|accessible|usable|download\w*)\b|\b(?:for free|free to|is free|are free)\b"
        r"|\bcosts? .{0,40}\d|\d.{0,40}\bcosts?\b|\d[\d,.]*[万億兆]?(?:円|ドル|ユーロ)|無料|無償",
    ),
    _attribute(
        "a funder",
        "資金の提供者",
        r"\bwho (?:has |have )?(?:funded|funds|sponsored|sponsors|financed|finances|paid for|pays for)\b"
        r"|\b(?:what|which|whose) (?:[\w-]+ ){0,3}?(?:fund(?:ed|ing|er|ers)|grants?|sponsors?)\b"
        r"|\bby whom .*\b(?:funded|financed|sponsored)\b|\bhow (?:was|were|is) .*\b(?:funded|financed)\b"
        r"|(?:誰|だれ|どこ|何)(?:が|から|の).{0,20}(?:助成|出資|資金|資助)|(?:助成|資金|スポンサー)は(?:誰|どこ|何)",
        r"\bfund(?:ed|ing|er|ers)\b|\bgrants? (?:\w+ )?(?:from|by|of|no\b|number|agreement|\W?[A-Z]*\d)|\bgrants commission\b"
        r"|\bsponsor\w*|\bfinanc(?:ed|ial(?:ly)? support\w*)|\b(?:was|were|is|are|been) (?:\w+ )?supported by\b"
        r"|\bsupport (?:from|of|by) (?:the )?(?-i:[A-Z])|\bfoundation for\b|\b(?:fellowship|scholarship)\b|\bno (?:specific )?funding\b|助成|出資|資金|科研費|支援",
        thanked=True,
    ),
    _attribute(
        "an address",
        "公開場所",
        r"\b(?:what|which) .*\b(?:url|web ?site|web address|homepage|home page|e-?mail)\b|^\W*where (?:can|could|may|do) .*\b"
        r"(?:download|downloaded|source code|repository|obtain(?:ed)? the (?:code|software|source))\b",
        r"https?:|www\.|\S@\S|\.(?:org|com|io|edu|net)\b|\b(?:github|gitlab|zenodo|cran|pypi|bitbucket|dryad|figshare)\b",
    ),
    _attribute(
        "a dose",
        "用量",
        r"\b(?:what|which) (?:\w+ ){0,2}(?:dose|doses|dosage|dosages|concentrations?)\b|(?:用量|投与量|濃度)は(?:いくら|どの|どれ|何)",
        r"\d\s?(?:mg|µg|μg|ug|ng|g|kg|ml|mL|µl|μl|l|L|IU|U|%|mM|µM|μM|nM|M|ppm|mol|pfu|PFU|TCID\w*)\b|\d\s?%|\d\s?(?:倍|グラム|ミリ)",
        cased=True,
    ),
)
ASPECTS: tuple[Wanted, ...] = (
    _aspect(
        "a limitation",
        "限界や欠点",
        rf"(?:{_HEAD}|{_HAS})(?:limitations?|drawbacks?|disadvantages?|shortcomings?|weaknesses|caveats?|downsides?)\b"
        rf"|(?:限界|欠点|短所|弱点|デメリット|問題点){_JA_ASKED}",
        r"\b(?:limitations?|limited|limits?|caveats?|drawbacks?|disadvantag\w+|shortcomings?|weakness(?:es)?|downsides?)\b"
        r"|\b(?:cannot|can not|unable|unfortunately|insufficient|inadequate|hamper\w*|hinder\w*|suffers? from|prone to|fails?|failed)\b"
        r"|\b(?:do|does|did|is|are|was|were) not (?:\w+ )?(?:yet|able|possible|support\w*|suitable|includ\w+|cover\w*|address\w*"
        r"|assess\w*|measur\w*|allow\w*|account\w*|provid\w*|explicitly|ensure|guarantee|representative|generali[sz]\w+)\b"
        r"|\black(?:s|ed|ing)?\b|\bnot yet\b|\bonly (?:for|one|two|supports?|works?|available|considers?|applies)\b"
        r"|\b(?:supports?|works?|handles?|covers?|applies|available) only\b"
        r"|\b(?:small|limited|short) (?:number|sample|size|duration)\b|\b(?:restrict\w+|risky?|bias(?:ed)?)\b"
        r"|\b(?:toxic\w*|side effects?|adverse|harmful|expensive|costly|time-consuming|resistan(?:t|ce))\b"
        r"|限界|欠点|短所|弱点|制約|できない|できず|困難|不十分|難しい|問題点|副作用",
        ("limitation",),
    ),
    _aspect(
        "an advantage",
        "利点",
        rf"(?:{_HEAD}|{_HAS})(?:advantages?|benefits?|strengths|merits|upsides?)\b|(?:利点|長所|メリット|強み){_JA_ASKED}",
        r"\b(?:advantag\w+|benefi\w+|strengths?|merits?|allow(?:s|ed|ing)?|enabl\w+|improv\w+|easi(?:er|ly)|easy|simpl\w+|flexib\w+"
        r"|fast(?:er)?|quick(?:ly|er)?|effective\w*|efficien\w+|facilitat\w+|better|useful|convenient\w*|reusable|portable|avoid\w*"
        r"|without (?:the need|having|any)|reduc\w+|low(?:er)? cost|inexpensive|cheap\w*|robust|safe(?:r|ly)?|protect\w*)\b"
        r"|利点|長所|有利|優れ|容易|簡単|役立|有効|改善|できる",
    ),
    _aspect(
        "what remains to be done",
        "今後の課題や予定",
        rf"{_HEAD}(?:future|further|next) (?:\w+ )?(?:work|research|stud(?:y|ies)|directions?|plans?|developments?|steps?|investigations?|versions?)\b"
        r"|\bwhat (?:do|does|did|are|is) .{1,80}\b(?:plan(?:s|ned|ning)?|intend(?:s|ed)?|hopes?) (?:to (?:do|add)|for the future|next|in (?:the )?future)\b"
        r"|\bwhat (?:remains?|is left) to be done\b|(?:今後|将来)の(?:課題|研究|予定|計画|展望|方向)",
        r"\b(?:future|further (?:work|research|stud\w+|investigation\w*|development\w*|experiments?|improve\w*)|next steps?|upcoming)\b"
        r"|\bwill (?:be|also|continue|allow|include|provide|help|need|focus|add|extend|explore|investigate|expand|enable)\b"
        r"|\bplan(?:s|ned|ning)? (?:to|on)\b|\bwe (?:will|hope|aim|intend|expect|would like)\b|\bongoing\b|\bremains? to be\b"
        r"|\b(?:could|should|may|can|need to|needs to|must) be (?:further |also )?(?:extended|improved|added|explored|developed|investigated"
        r"|studied|conducted|tested|evaluated|examined|confirmed|performed)\b|\b(?:more|additional) (?:research|studies|work) (?:is|are)\b"
        r"|\bneed for (?:\w+ )?(?:research|studies)\b|\bwelcome\b|今後|将来|予定|課題|必要がある|期待され",
        ("future_work",),
    ),
)


_COUNTS = ("the number that was asked for", "問われた数")
_GIVES = ("a reason", "理由")
_NOTHING = re.compile(r"(?!)")


@lru_cache(maxsize=256)
def wanted(query: str) -> Wanted | None:
    """The first attribute that the question asks for, else the first aspect, else a count or a reason, which other
    sentences are not the worse for; None where it asks for none of them."""
    found = next((one for one in (*ATTRIBUTES, *ASPECTS) if one.asks.search(query)), None)
    if found is not None:
        return found
    if not count_wide(query) and (count := counted(query)) is not None:
        return Wanted(_COUNTS, _NOTHING, count, closed=False, lifts="named")
    return Wanted(_GIVES, _NOTHING, reason_shown(), closed=False, lifts="never") if asks_why(query) else None
