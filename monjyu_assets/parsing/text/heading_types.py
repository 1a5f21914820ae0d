"""What a heading says: its number and its place in the IMRaD scheme, for English and Japanese papers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from monjyu_core.paper import Section, SectionType

_ARABIC = r"\d{1,2}(?:\.\d{1,2}){0,4}"
_ROMAN = r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})"
_STOP = r"(?:\s?[.:)\]]|\s[-–—|│])"

_NUMBERINGS = [
    # 第1章 はじめに, 第2節: 手法
    re.compile(r"第\s*(?P<n>[\d一二三四五六七八九十]{1,3})\s*[章節部項]\s*[.:、]?\s*(?P<rest>.+)"),
    # Appendix B: Proofs, Section 3. Methods, Chapter 2 Results
    re.compile(
        rf"(?P<n>(?:appendix|section|chapter|part)\s+(?:{_ARABIC}|{_ROMAN}|[A-H](?:\.{_ARABIC})?))"
        rf"(?:{_STOP}\s*|\s+)(?P<rest>.+)",
        re.IGNORECASE,
    ),
    re.compile(rf"付録\s*(?P<n>[A-H]|{_ARABIC})(?:{_STOP}\s*|\s+)(?P<rest>.+)"),
    # 3.1. Methods, (3) Methods, § 3 Methods, 3 | METHODS; not 3D models, 2020 results, 3.5 mm films
    re.compile(rf"§*\s*[(\[]?(?P<n>{_ARABIC}){_STOP}\s*(?P<rest>[^\W\d_\s].*)"),
    re.compile(rf"§*\s*(?P<n>{_ARABIC})\s+(?P<rest>(?:[^\W\d_a-z]|[a-z]{{3,}}).*)"),
    # 1はじめに: no space before a Japanese letter, except counters such as 3次元
    re.compile(rf"(?P<n>{_ARABIC})(?P<rest>[\u3041-\u30ff\u4e00-\u9fff](?<![次元年月日回個人種段値点者本つ]).*)"),
    # IV. Results, IV) Results; IV RESULTS without a mark only for two letters or more
    re.compile(rf"\(?(?P<n>{_ROMAN}){_STOP}\s*(?P<rest>[^\W\d_a-z].*)"),
    re.compile(rf"(?P<n>{_ROMAN})(?<=[IVX][IVX])\s+(?P<rest>[^\W\d_a-z].*)"),
    re.compile(r"(?P<n>I)\s+(?P<rest>INTRODUCTION\b.*)", re.IGNORECASE),
    # A. Data, A.1 Data; not C. elegans
    re.compile(rf"(?P<n>[A-H](?:\.{_ARABIC}))\.?\s+(?P<rest>[^\W\d_].*)"),
    re.compile(rf"\(?(?P<n>[A-H]){_STOP}\s+(?P<rest>[^\W\d_a-z].*)"),
]

_MAY_BE_NUMBERED = re.compile(r"[\s§(\[\d第付]|(?:[A-H]|[IVX]+)[\s.:)\]]|(?i:appendix|section|chapter|part|i\s)")
"""What each of the numberings begins with: few lines get as far as the numberings themselves."""


@lru_cache(maxsize=4096)
def strip_numbering(heading: str) -> tuple[str | None, str]:
    """Split a heading into its number and its words: "3.1 Data" gives ("3.1", "Data"), "Data" gives (None, "Data").

    Numbers are Arabic, Roman, a letter (A to H), `第1章`, or "Appendix B"; full-width digits count as digits.
    The words keep their spelling apart from NFKC folding of the part in front of them.
    """
    text = " ".join(heading.split())
    folded = unicodedata.normalize("NFKC", text)
    for pattern in _NUMBERINGS if _MAY_BE_NUMBERED.match(folded) else ():
        match = pattern.fullmatch(folded)
        if match:
            rest = match["rest"]
            return match["n"], text[-len(rest) :] if text.endswith(rest) else rest
    return None, text


# In order of trust: the first pattern that matches the whole heading names its type.
_VOCABULARY: list[tuple[SectionType, tuple[str, ...]]] = [
    (
        "abstract",
        (
            r"(?:(?:structured|extended|graphical|author|executive|lay|plain language) )?(?:abstracts?|summary)",
            r"synopsis|highlights",
            r"概要|要旨|要約|抄録|和文要旨|論文要旨|あらまし|梗概|アブストラクト|サマリー",
        ),
    ),
    (
        "introduction",
        (
            r"(?:general |brief |short )?introduction(?: to .+)?|introductory remarks|preface|prologue",
            r"motivations?|motivating examples?|background|overview|scope|(?:aims?|objectives?|goals?)",
            r"problem statement|(?:a )?statement of (?:need|the problem)|research (?:questions?|objectives?)",
            r"はじめに|初めに|始めに|序論|緒言|緒論|序章|序説|序|序文|まえがき|導入|イントロダクション",
            r"背景|研究背景|研究の背景|(?:本研究の|研究)?目的",
        ),
    ),
    (
        "related_work",
        (
            r"(?:background (?:and|&) )?related (?:works?|research|literature|studies|approaches|methods)",
            r"(?:previous|prior|existing|earlier) (?:works?|research|studies|approaches)",
            r"(?:review of (?:the )?(?:related )?)?literature(?: review| survey)?|(?:the )?state of the (?:art|field)",
            r"similar (?:works?|packages?|software)|comparison (?:with|to) (?:other|existing|related) .+",
            r"関連研究|先行研究|従来研究|関連文献|関連技術|既存研究|従来手法|文献レビュー",
        ),
    ),
    (
        "acknowledgments",
        (
            r"acknowledge?ments?(?: of .+)?|financial (?:support|disclosure)",
            r"funding(?: (?:sources?|information|statement|acknowledge?ments?))?",
            r"謝辞|謝意|資金|助成|研究助成",
        ),
    ),
    (
        "references",
        (
            r"(?:(?:selected|key|cited|additional) )?references?(?: cited| list| and (?:notes?|further reading))?",
            r"(?:bibliographical references|bibliography|notes and references)",
            r"(?:literature|works|sources) cited|cited literature",
            r"参考文献|引用文献|文献|参照文献|文献一覧|参考資料|引用・参考文献|リファレンス",
        ),
    ),
    (
        "appendix",
        (
            r"(?:online |technical )?appendi(?:x|ces)(?: [a-z0-9]{1,2})?(?: .+)?|annex(?: [a-z0-9]{1,2})?",
            r"(?:electronic |online )?suppl(?:ements?|ementary|emental)"
            r"(?: (?:materials?|data|information|methods|files?|figures?|tables?|text))?",
            r"supporting (?:information|materials?|data)|additional (?:files?|information)",
            r"付録.{0,3}|補遺|補足資料|補足|付記|附録|補足情報|補足説明",
        ),
    ),
    (
        "results",
        (
            r"(?:(?:main|overall|key|our|further|additional|detailed|experimental|empirical|numerical|simulation"
            r"|experiment|evaluation|computational|quantitative|qualitative|preliminary|benchmark|test|survey|study) )*"
            r"(?:results?|findings|outcomes?)(?: (?:of|on|for|from|in) .+)?",
            r"analysis of (?:the )?results|results? analysis",
            r"(?:実験|評価|解析|計算|研究|調査|分析|測定)?(?:の)?結果(?:の概要)?|成果",
        ),
    ),
    (
        "experiments",
        (
            r"(?:(?:numerical|computational|our|main|empirical|simulation|further|additional|synthetic) )*"
            r"(?:experiments?|simulations?|evaluations?|experimentation)(?: (?:of|on|for|with) .+)?",
            r"(?:experimental|evaluation|empirical) "
            r"(?:set-?ups?|evaluations?|studies|study|settings?|protocol|validation|analysis)",
            r"experiments? (?:set-?up|settings?|design)|experimental|benchmarks?|validation",
            r"ablation (?:study|studies)|ablations?|case (?:study|studies)",
            r"performance(?: evaluation| analysis| tests?)?|numerical (?:examples?|tests?)",
            r"(?:評価|数値|検証|比較|予備|計算機|シミュレーション)?実験(?:設定|条件|環境|と評価|および評価)?",
            r"(?:性能|実験的)?評価|ケーススタディ|事例研究|検証|アブレーション",
        ),
    ),
    (
        "discussion",
        (
            r"(?:general |further |brief )?discussions?(?: of .+)?|implications|lessons learned",
            r"(?:our |study )?limitations(?: of .+)?|strengths and limitations|threats to validity",
            r"考察|議論|検討|ディスカッション|総合考察|限界|本研究の限界|妥当性への脅威",
        ),
    ),
    (
        "conclusion",
        (
            r"(?:general |main )?conclusions?|conclusions? (?:remarks|on .+)|concluding (?:remarks|discussion)",
            r"(?:closing|final) (?:remarks|thoughts)|outlook|perspectives?",
            r"future (?:works?|directions?|research|plans?)",
            r"おわりに|終わりに|終りに|結論|結言|結語|結び|むすび|まとめ|むすびに|総括|終章|あとがき",
            r"今後の(?:課題|展望)|展望",
        ),
    ),
    (
        "methods",
        (
            r"(?:(?:proposed|our|the|statistical|experimental|numerical|computational|mathematical|research|general"
            r"|theoretical|online|star|detailed|data|study|laboratory|analytical) )*"
            r"(?:methods?|methodolog(?:y|ies)|approach(?:es)?|procedures?|techniques?|algorithms?|framework|models?"
            r"|materials?|study area|design|subjects|patients|participants|data ?sets?|data|analysis|analyses|section)"
            r"(?: (?:of|for|used|overview|description) .+| overview| description| section)?",
            r"(?:overview of )?(?:the )?(?:proposed )?"
            r"(?:method|approach|system|architecture|implementation)(?: overview| design| details)?",
            r"(?:system|software) (?:design|architecture|overview|model)|software|preliminaries",
            r"problem (?:formulation|definition|setting)|formulation|theory|theoretical (?:background|framework)",
            r"data (?:collection|sources?|analysis|preparation|preprocessing)|sample(?: preparation)?",
            r"(?:提案|研究|実験|解析|分析|調査|評価|計算|測定|統計)?(?:の)?(?:手法|方法|方式|モデル|アルゴリズム)(?:の概要|論)?",
            r"材料と方法|対象と方法|対象および方法|対象|理論|実装|システム(?:構成|概要|設計)",
            r"問題設定|定式化|準備|データ(?:セット)?",
        ),
    ),
]
_PATTERNS = [(kind, re.compile("|".join(patterns))) for kind, patterns in _VOCABULARY]
_AND = re.compile(
    r"\s+(?:and|with|&|/)\s+|\s*[,&/;、・]\s*(?:and\s+)?"
    r"|(?<=[\u30a1-\u9fff])と|と(?=[\u30a1-\u9fff])|(?<=[\u3041-\u9fff])(?:および|及び|ならびに)"
)
_PREFIXED = re.compile(r"\s*[:—–]\s+|\s+-\s+|\.\s+")
_SPACED_OUT = re.compile(r"(?:\w )+\w")
_LONGEST_HEADING = 120


@lru_cache(maxsize=1024)
def section_type(heading: str) -> SectionType:
    """The IMRaD type of a section by its heading alone; `other` if the heading does not say.

    Combined headings take the type of their first known part, results before discussion ("Discussion and Results"
    is results). "Summary" is the abstract where it has no number and the conclusion where it has one.
    """
    number, words = strip_numbering(heading[: 4 * _LONGEST_HEADING])
    if re.match(r"\s*(?:appendix\b|annex\b|付録)", heading, re.IGNORECASE):
        return "appendix"
    text = _normalised(words)
    if not text or len(text) > _LONGEST_HEADING:
        return "other"
    if text == "summary" and number is not None:
        return "conclusion"
    return _lookup(text) or _combined(text) or _lookup(_PREFIXED.split(text)[0]) or "other"


def inherit_types(sections: Sequence[Section]) -> None:
    """Give a subsection whose heading says nothing the type of the section above it ("3.2 Imaging" in Methods).

    Subsections of an abstract keep `other`: if a paper's only section is its summary, they are its body. What stands
    under an appendix or the references belongs to it, whatever its heading.
    """
    above: list[Section] = []
    for section in sections:
        while above and above[-1].level >= section.level:
            above.pop()
        parent = above[-1].section_type if above else "other"
        if section.heading and (parent in ("appendix", "references") or section.section_type == "other"):
            section.section_type = section.section_type if parent == "abstract" else parent
        above.append(section)


def _normalised(words: str) -> str:
    text = unicodedata.normalize("NFKC", words).casefold().strip(" \t.:;-–—*_#【】[]()■●◆")
    text = " ".join(text.split())
    if _SPACED_OUT.fullmatch(text) and len(text) > 5:  # A B S T R A C T
        return text.replace(" ", "")
    return re.sub(r"(?<=[\u3041-\u9fff]) (?=[\u3041-\u9fff])", "", text)  # は じ め に


def _lookup(text: str) -> SectionType | None:
    return next((kind for kind, pattern in _PATTERNS if pattern.fullmatch(text)), None)


def _combined(text: str) -> SectionType | None:
    """Every part of a short enumeration is known, or its first part is."""
    parts = [part for part in _AND.split(text) if part]
    if len(parts) < 2:
        return None
    kinds = [_lookup(part) for part in parts]
    if "results" in kinds and "discussion" in kinds:
        return "results"
    return kinds[0] or (next((kind for kind in kinds if kind), None) if len(parts) == 2 and len(text) < 50 else None)
