"""What kind of question it is, by English and Japanese patterns.

survey asks what a body of papers says as a whole, comparison sets things against each other, factoid asks for one fact
or a yes, exploration for how and why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

QueryType = Literal["survey", "exploration", "comparison", "factoid"]
QUERY_TYPES: tuple[QueryType, ...] = get_args(QueryType)


@dataclass(frozen=True)
class Kind:
    """The type of a question, and the words of it (or of a model) that say so.

    `confidence` is the chance that it is right, `runner_up` the type that comes next; None where they are not known."""

    name: QueryType
    reason: str
    confidence: float | None = None
    runner_up: QueryType | None = None


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_FACT_FIRST = re.compile(r"^\W*(who|whom|whose|when|where)\b", re.IGNORECASE)
_COMPARISON = _any(
    r"\b(compar(e|es|ed|ing|ison|isons|ative)|contrast|versus|vs|differ(s|ed|ing|ences?)?|different (from|to|than))\b",
    r"\b(distinguish|similarit|outperform|trade-?off|advantages?\b.{0,40}\bover|surpass)",
    r"\b(better|worse|faster|slower|cheaper|higher|lower|larger|smaller|stronger|weaker|more \w+|less \w+) than\b",
    r"\bas \w+ as (?!well\b)(?!soon\b)(?!long\b)|\b(rather than|instead of|pros and cons|relative to)\b",
    r"\bwhich (one )?(is|are|performs|works|does) (the )?(better|best|worse|greater|bigger|more|less)\b",
    r"\bpreferable\b|\bhigher or lower\b",
    r"\b(should|would) (i|we|you|one)\b.{1,80}\bor\b",
    r"^\W*[\w-]+( [\w-]+){0,2} or [\w-]+\b|\b(which|what) .{1,80}\b(\w+),? or (\w+)\b",
    r"比較|比べ|変更点|変化は|対比|違い|違う|違っ|異な|相違|共通点|類似点|どちら|どっち|優劣|一長一短",
    r"(長所|利点|メリット)と(短所|欠点|デメリット)|上回|下回|差(が|は|を|異)|一致し|食い違|差[。?？]?$|VS",
    r"よりも?.{0,15}(優れ|劣|良|高|低|速|遅|多|少な|強|弱|大き|小さ)",
    r"(?<![絶反相敵応一])対(?![象応策話面談立処抗称数角])",
)
_SURVEY = _any(
    r"\b(survey|overview|(?<!peer )(?<!code )reviews?|literature|landscape|roadmap|bibliography)\b",
    r"\b(state[- ]of[- ]the[- ]art|trends?|themes?|summar(y|i[sz]e|i[sz]ing)|research directions?)\b",
    r"\b(open|unsolved|remaining) (problems?|questions?|issues?)\b",
    r"\b(what|which)( (main|major|key|different|other|common))? (topics?|subjects?|areas|kinds|types|sorts|categories"
    r"|approaches|methods|techniques|datasets|data sets|tools|benchmarks|models|algorithms|applications) "
    r"(\w+ ){0,6}?(are|were|have|has|do|does|did|exist|is|can|cover|covered)\b",
    r"\b(main|major|key|overall|principal) (findings|results|contributions|conclusions|topics|ideas|messages)\b",
    r"\bwhat (do we know|is known)\b|\b(research|work|studies|papers|articles|publications) (on|about|into)\b",
    r"\bwhat has been (done|proposed|published|studied|written|found)\b|\b(so far|to date|over the (last|past) \w+)\b",
    r"\b(list|enumerate|collect|catalogue)( me)? (all|every|the)\b|\ball (the )?(\w+ ){0,3}(mentioned|used|proposed)\b",
    r"^\W*(what|which)\b[^,;]{1,80}\b(do|did|have|are) (the|these|most|all|many) (papers|authors|studies|articles)\b",
    r"\b(across|throughout) (the|these|this|all)( \w+)? (papers|collection|corpus|studies|literature)\b",
    r"傾向|流行|(どんな|どのような|どういう)(研究|論文|手法|技術|アプローチ)(が|は)|サーベイ|レビュー|概観|概要|俯瞰|動向|潮流",
    r"トレンド|全体像|全体を通|全体の|まとめ|要約|一覧|列挙|網羅|総括|整理し|分かってい|わかってい|知られてい|代表的な",
    r"論文を(紹介|挙げ|教え)|研究の(現状|状況|課題|流れ|歴史)|先行研究|これまでの研究|最新の研究|研究状況|発展の|歴史を|変遷",
    r"展望|今後の(課題|方向)|未解決|(主な|主要な|おもな)(テーマ|論点|話題|研究|トピック|手法|課題)|論点",
    r"(どんな|どのような)(もの|種類|話題|テーマ)(が|は|に)|には?(どんな|どのような|どういう|何が).{0,12}(あり|ある|存在)",
)
_EXPLORATION = _any(
    r"^\W*(how (?!(many|much|long|large|fast|often|old|big|far|high|well|tall|wide|deep|soon|accurate)\b)|why\b)",
    r"^\W*(explain|describe|discuss|elaborate|explore|tell me (about|how|why)|in (what|which) (way|sense|respect))",
    r"\b(what|which) (role|happens|helps|effects?|impact|influence|factors?|challenges?|difficulties|obstacles|reasons?"
    r"|causes|drives|motivates|makes|explains|lessons|considerations|consequences|implications)\b",
    r"^\W*what (is|are|were|was) the (\w+ ){0,2}?(role|reasons?|causes?|effects?|impacts?|influence|consequences"
    r"|implications|mechanisms?|motivations?|challenges|difficulties|factors|idea|intuition|rationale|relationship)\b",
    r"\b(and|,) (how|why) (do|does|did|is|are|can|should)\b",
    r"なぜ|何故|どうして|理由|原因|要因|仕組み|しくみ|メカニズム|背景|考え方|影響|効果|役割|工夫|困難|関係し|関係は|過程",
    r"どのように(?!.{0,8}(あり|ある))|どう(すれば|やって|やれば|したら|なる|関係|影響|役立|働)|何が起こ|について(教え|説明|述べ|詳し|知り)|説明し|詳しく",
)
_FACTOID = _any(
    r"^\W*(who|whom|whose|when|where|which|what|what's|name|define|definition|give the)\b",
    r"^\W*(in|on|at|by|for|from|under|of|with|since|to|until) (which|what|whom|when)\b",
    r"^\W*(is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|must|may)\b",
    r"\bhow (many|much|long|large|fast|often|old|big|far|high|well|tall|wide|deep|soon|accurate)\b|\bstands? for\b",
    r"^\W*(doi|title|authors?|year|date|number|name|value|version|licen[cs]e|email|e-mail|url|homepage"
    r"|minimum|maximum|average|mean|median|total|accuracy|precision|recall|size|price|length|duration|population)\b",
    r"とは|誰|だれ|いつ|どこ|いくつ|いくら|どれ(くらい|ほど|だけ)|どの(くらい|程度|[^よう]{1,8}(で|に|が|を))|何の略|意味は|定義",
    r"何(年|人|個|日|月|回|件|名|本|倍|語|時間|分|秒|割|歳|種|点|％|%|パーセント|トークン|枚|社|校|ページ)|は何(です|でしょう|か|？|\?|$)|の名前",
    r"(率|値|数|量|年|名|日|番号|所在地|住所|料金|精度|著者|題名|作者)(は|を教え)|は[?？]$|か国|を教えて[。]?$",
)
_JA_ASKS = re.compile(r"(です|ます|ません|でしょう|した|[うくすつぬむるい]|の|ない)?か[。?？]?\s*$")
_JA_WORD = re.compile(r"なぜ|何|誰|いつ|どこ|どの|どう|どんな|いくつ|いかに")

_ORDER: tuple[tuple[QueryType, re.Pattern[str]], ...] = (
    ("factoid", _FACT_FIRST),
    ("comparison", _COMPARISON),
    ("survey", _SURVEY),
    ("exploration", _EXPLORATION),
    ("factoid", _FACTOID),
)


def fitting(query: str) -> list[bool]:
    """Which of the patterns fit, in their order, and whether it asks for yes or no in Japanese."""
    return [bool(pattern.search(query)) for _, pattern in _ORDER] + [_asks_yes_or_no(query)]


def _asks_yes_or_no(query: str) -> bool:
    return bool(_JA_ASKS.search(query) and not _JA_WORD.search(query))


def kind_of(query: str) -> Kind:
    """The first type whose patterns fit, of who, when and where; comparison; survey; exploration; factoid. Exploration
    where none does."""
    for name, pattern in _ORDER:
        found = pattern.search(query)
        if found:
            return Kind(name, f"“{' '.join(found.group().split())}” says so")
    if _asks_yes_or_no(query):
        return Kind("factoid", "it can be answered with yes or no")
    return Kind("exploration", "no other pattern matches")
