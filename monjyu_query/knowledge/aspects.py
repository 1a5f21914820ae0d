"""What a reader wants to know of any paper, and the sentences that tell it: by their words, their section's heading and
type, and what they share with title and abstract. English and Japanese."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

AspectName = Literal[
    "purpose", "need", "sample", "methods", "results", "limits", "conclusion", "availability", "measures", "licence"
]

_KINDS = (
    r"(?:course|package|tool|tutorial|library|module|software|curriculum|workshop|set|framework|system|template"
    r"|bundle|guide"
    r"|guidebook|textbook|interpreter|resource|application|repository|program|book|toolkit|platform|collection|series)"
)
_PEOPLE = (
    r"(?:patients|participants|students|children|cases|subjects|samples|learners|attendees|individuals|women|men|adults"
    r"|mice|sequences|respondents|people|hospitals|studies|genomes|isolates|users|volunteers|infants|animals|households"
    r"|teachers|instructors|researchers|records|documents|articles|countries|strains|specimens)"
)
_ONES = "two|three|four|five|six|seven|eight|nine"
_NUMBER_WORD = (
    rf"(?:(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[\s-](?:one|{_ONES}))?"
    rf"|{_ONES}|ten|eleven|twelve|zero|hundreds?|thousands?|(?:m|b|tr)illions?|dozens?|twice|thrice)"
)
_NUMBER = rf"(?:(?!(?:19|20)\d\d\b)\d[\d,.]*|{_NUMBER_WORD}|several)"
_COUNT = rf"(?<![-\w]){_NUMBER}(?: (?!of\b)[\w-]+){{0,3}} {_PEOPLE}\b"
COUNTED = re.compile(rf"{_COUNT}|\d ?(?:人|名|例|件|社|校|世帯|頭|匹)", re.IGNORECASE)
"""Whom or what a study has, in figures."""


@dataclass(frozen=True)
class Aspect:
    """`strong` and `weak` are words of sentences that tell it, `headings` those of sections that do; `types` their
    types; `figures`: a sentence with a number tells more; `named`: how a reader may ask for it in a word or two."""

    name: AspectName
    titles: tuple[str, str]
    strong: re.Pattern[str]
    weak: re.Pattern[str]
    headings: re.Pattern[str]
    types: tuple[str, ...]
    named: re.Pattern[str]
    figures: bool = False

    def title(self, language: str) -> str:
        return self.titles[language == "ja"]


def _aspect(
    name: AspectName,
    titles: tuple[str, str],
    strong: str,
    weak: str,
    headings: str,
    types: Sequence[str],
    named: str,
    *,
    figures: bool = False,
) -> Aspect:
    strong_, weak_, headings_, named_ = (
        re.compile(one, re.IGNORECASE)
        for one in (strong, weak, headings, rf"\W*(?:the )?(?:main |key |primary )?(?:{named})\W*$")
    )
    return Aspect(name, titles, strong_, weak_, headings_, tuple(types), named_, figures)


ASPECTS: tuple[Aspect, ...] = (
    _aspect(
        "purpose",
        ("Purpose", "目的"),
        r"\b(?:we|(?:this|the present|the current) (?:\w+ )?(?:paper|article|study|work|tutorial|report|review|module"
        r"|course|package"
        r"|project|resource|library|software|guidebook|workshop|curriculum))\b.{0,60}\b(?:present|introduc|describ"
        r"|propos|develop"
        r"|provid|offer|aim|investigat|examin|review|stud(?:y|ied)|sought|seek|creat|outlin|explor|teach|focus|discuss"
        r"|address|assess|evaluat|takes|guid|cover)\w*|\bfills? (?:this|the|an?) (?:\w+ )?(?:need|gap)\b"
        r"|\b(?:aims?|goals?|purpose|objectives?) (?:of|is|was|were|are|here)\b"
        rf"|^.{{2,60}}?\b(?:is|are) (?:an?|the|both an?)\b[^.]{{0,90}}\b{_KINDS}\b"
        r"|\bto (?:determine|investigate|examine|assess|evaluate|describe|test|compare|explore|establish) (?:whether"
        r"|the|how|if|what)\b"
        r"|\b(?:here|in this (?:study|paper|work|article|report)),? we\b"
        r"|本(?:研究|論文|稿|書|報告)|目的(?:は|と)|提案する|を紹介",
        r"\b(?:designed|intended|meant|aims?|helps?|allows?|enables?|teach(?:es)?) (?:to|for|users|students"
        r"|learners)\b|とは|である。",
        r"summary|abstract|overview|purpose|aims?|objectives?|目的|要旨|概要",
        ("abstract",),
        r"purposes?|aims?|goals?|objectives?|what (?:it|they) (?:is|are)(?: about)?|topics?|目的|狙い|概要",
    ),
    _aspect(
        "need",
        ("Why it is needed", "背景"),
        r"\b(?:there (?:is|are|was|were|has been|have been)|we could not find) (?:currently |still "
        r"|also )?(?:an? )?(?:growing |clear |great |urgent "
        r"|increasing )?(?:need|lack|gap|demand|few|little|no|paucity|limited|not|resource)\b|\b(?:need for|lack of"
        r"|gap between|bridge th)"
        r"|\b(?:remains?|is|are|still) (?:poorly|unclear|unknown|lacking|scarce|difficult|challenging|a challenge"
        r"|limited|not (?:typically|usually|well))"
        r"|\b(?:however|but|although|despite|yet|unfortunately)\b.{0,90}\b(?:lack|few|little|no|not|difficult|limited"
        r"|challeng\w+|insufficient|gap"
        r"|unclear|unknown|rarely|seldom|struggle)\b|課題|問題となって|必要(?:がある|とされ|性)|不足して",
        r"\b(?:need(?:s|ed)?|challeng\w+|difficult\w*|important|essential|increasing(?:ly)?|often|struggle)\b|しかし"
        r"|必要|重要",
        r"need|motivation|background|rationale|背景|動機|はじめに|序論",
        ("introduction",),
        r"needs?|motivations?|backgrounds?|why|rationale|problems?|背景|動機|課題",
    ),
    _aspect(
        "sample",
        ("For whom, and on what data", "対象とデータ"),
        rf"{_COUNT}"
        r"|\b(?:aimed|targeted|intended|designed|tailored|suitable|written|geared|appropriate|useful|accessible|meant"
        r"|taught"
        r"|offered|addressed) (?:at|to|for|towards?|as)\b.{0,80}\b(?:students?|learners?|undergrad\w*|graduates?"
        r"|researchers?"
        r"|educators?|instructors?|users|beginners?|teachers?|people|audience|scientists?|anyone|novices?|biologists?"
        r"|engineers?)\b"
        r"|\bno (?:prior|previous)\b.{0,20}\b(?:experience|knowledge)\b|\bprerequisites?\b|\b(?:target"
        r"|intended) audience\b"
        r"|\b(?:data ?sets?|data) (?:was|were|from|comes?|came|includ\w+|consist\w*|cover\w*)\b"
        r"|\d+ ?(?:人|名|例|件|社|校|世帯|頭|匹|点)|対象(?:は|とし|に)|データ(?:は|を)",
        r"\b(?:students?|audience|participants?|patients?|data ?sets?|cohort|learners?|samples?|undergraduates?)\b"
        r"|対象|データ",
        r"audience|participants?|patients?|\bdata\b(?! (?:analysis|science|availability))|datasets?|population"
        r"|subjects|samples?"
        r"|learners|prerequisites|対象|データ|標本",
        (),
        r"(?:target |intended )?audiences?|samples?|data|data ?sets?|participants?|patients?|populations?|subjects"
        r"|students?|learners?"
        r"|(?:for )?whom|users?|対象|対象者|データ|標本|読者",
        figures=True,
    ),
    _aspect(
        "methods",
        ("Method", "方法"),
        r"\bwe (?:\w+ )?(?:used?|perform(?:ed)?|conduct(?:ed)?|collect(?:ed)?|measured?|analy[sz]ed?|compared?"
        r"|appl(?:y|ied)"
        r"|employ(?:ed)?|adopt(?:ed)?|designed?|implement(?:ed)?|estimated?|computed?|trained?|built|follow(?:ed)?"
        r"|recruited"
        r"|assess(?:ed)?|evaluated?|tested|sequenced|searched|constructed|divided)\b"
        r"|\b(?:was|were) (?:\w+ )?(?:performed|collected|measured|analy[sz]ed|conducted|obtained|randomi[sz]ed"
        r"|carried out"
        r"|assessed|determined|extracted|isolated|recruited|calculated|estimated|used|developed|screened|compared"
        r"|enrolled)\b"
        r"|\b(?:consists? of|comprises?|(?:is|are) (?:\w+ )?(?:structured|organi[sz]ed|divided|composed|built"
        r"|based on|implemented|written in"
        r"|broken|grouped|split|made up)|implements)\b|\beach (?:lesson|unit|module|week|session|notebook|class)\b"
        r"|を用い(?:て|た)|によって(?:測定|分析|調査)|を(?:行った|実施した|測定した|分析した)|構成され",
        r"\bby \w+ing\b|\b(?:automatically|allows?|supports?|guid(?:es|ing)|using|approach|methods?|techniques?"
        r"|procedures?|models?|exercises?|live[- ]coding|hands-on)\b|方法|手法|用い",
        r"method|approach|content|structure|design|instruction|feature|functionality|usage|implementation|pedagog"
        r"|modules?\b|curriculum"
        r"|overview|architecture|materials and|organi[sz]ation|方法|手法|構成|設計",
        ("methods",),
        r"methods?|methodolog(?:y|ies)|approach(?:es)?|procedures?|techniques?|designs?|structure|content|pedagogy"
        r"|how|方法|手法|構成",
    ),
    _aspect(
        "results",
        ("Results", "結果"),
        r"\bwe (?:also |then |further |have )?(?:find|found|show|showed|shown|observed?|demonstrated?|identified"
        r"|detected|confirmed|achieved?|obtained)\b"
        r"|\b(?:results?|findings|data|analys[ei]s|feedback|survey|evaluation|evaluations|evidence"
        r"|responses)(?: [\w-]+){0,5} (?:show|indicat|suggest|demonstrat"
        r"|reveal|confirm|positive)\w*"
        r"|\b(?:significant(?:ly)?|odds ratio|outperform\w*)\b|\bp ?[<=] ?0?\.\d|\b95 ?% CI\b|\b(?:increas|decreas"
        r"|reduc|improv)ed (?:by|from|to|in)\b"
        r"|\b(?:higher|lower|more|less|greater|fewer|better|faster) than\b|\bassociated with\b"
        r"|\b(?:students|learners|attendees|participants|instructors|users|respondents) (?:\w+ ){0,6}(?:reported"
        r"|responded|felt|found|said|rated"
        r"|would recommend|appreciated|learned|agreed|praised|indicated)\b"
        r"|\b(?:has|have) been (?:\w+ )?(?:used|taught|tested|adopted|downloaded|run|delivered|offered|viewed)\b"
        r"|\b(?:was|were) (?:\w+ )?(?:taught|piloted|offered|delivered|used (?:in|by|at|with))\b"
        r"|\bwe (?:have )?(?:taught|piloted)\b"
        r"|結果(?:、|は|として|から)|示した|示された|わかった|分かった|明らかに|有意|増加した|減少した|認められ",
        r"\b(?:increas|decreas|improv|reduc)\w+|\b(?:successful(?:ly)?|effective|positive|feedback|percent)\b|\d ?%"
        r"|増加|減少",
        r"results?\b|findings?|experiences?\b|recent uses?|impact|evaluation|outcomes?\b|feedback|adoption|case stud"
        r"|teaching experience"
        r"|prior use|deployment|結果|評価|実績",
        ("results", "experiments"),
        r"results?|findings?|outcomes?|effects?|effectiveness|evidence|evaluations?|impacts?|結果|成果|効果|評価",
        figures=True,
    ),
    _aspect(
        "limits",
        ("Limitations", "限界"),
        r"\b(?:limitations?|limited (?:to|by)|caveats?|drawbacks?|shortcomings?|weakness(?:es)?|beyond the scope"
        r"|small sample|not yet"
        r"|(?:has|have) not (?:\w+ )?been (?:\w+ )?(?:tested|evaluated|assessed|validated|measured|studied)"
        r"|(?:future|further) (?:work|research|studies|study|versions?|development|investigations?|plans)"
        r"|only supports?"
        r"|(?:do|does|did) not (?:currently )?(?:support|cover|include|address|assess|measure|allow|account)"
        r"|should be interpreted|remains? to be|warrants?|we (?:did|do) not|generali[sz]ab\w+|potential bias)\b"
        r"|限界|制約|今後の(?:課題|研究)|できていない|未(?:検証|解決|解明)",
        r"\b(?:however|although|currently|cannot|challeng\w+|difficult\w*)\b|ただし|しかし",
        r"limit|future|challenges?\b|lessons learn|outlook|限界|課題|今後",
        (),
        r"limits?|limitations?|weakness(?:es)?|drawbacks?|caveats?|future work|shortcomings?|限界|制約|課題|欠点"
        r"|今後の課題",
    ),
    _aspect(
        "conclusion",
        ("Conclusion", "結論"),
        r"\b(?:in (?:conclusion|summary|sum)|(?:we|to) conclude|overall|taken together|in short|conclusions?)\b"
        r"|\b(?:these|our|the present|the) (?:results|findings|data|study|work)(?: \w+){0,3} (?:suggest|indicate"
        r"|support|demonstrate|highlight|provide|underline)\w*"
        r"|\bwe (?:hope|believe|recommend|expect|suggest|propose that)\b|結論|以上(?:の|より|から)|期待される"
        r"|と考えられる",
        r"\b(?:thus|therefore|should|suggests? that|may be|can be (?:used|adapted|extended)|valuable|help)\b"
        r"|したがって|このように",
        r"conclu|discussion|summary and|closing|結論|おわりに|まとめ|考察",
        ("conclusion", "discussion"),
        r"conclusions?|takeaways?|messages?|implications?|結論|まとめ|示唆",
    ),
    _aspect(
        "availability",
        ("Availability", "入手方法"),
        r"\b(?:licen[sc]ed? (?:under|as)|(?:MIT|BSD|GPL\S*|Apache|CC\S*|Creative Commons|public"
        r"|open)[\w .,()-]{0,30} licen[sc]e|under (?:an?|the) [\w .()-]{0,40}licen[sc]e"
        r"|creative commons|CC[- ]BY|freely available|open[- ]sourced?|(?:on|via|through|at|from|in) (?:an? |the "
        r"|our |its |public |open )*(?:github|gitlab|zenodo|pypi|cran|conda|osf)"
        r"|available (?:\w+ ){0,3}(?:at|on|from|under|via|through|online|as open)\b|github\.com|zenodo"
        r"|data availability)"
        r"|公開(?:され|して)|ライセンス|オープンソース|入手でき|無料で",
        r"\b(?:repository|download(?:ed|s)?|github|open access|source code)\b|公開|利用でき",
        r"availab|licen[sc]e|access\b|install|reuse|入手|公開|ライセンス",
        (),
        r"availability|licen[sc](?:e|es|ing)|code|source code|access|open[- ]?source|repository|ライセンス"
        r"|公開|入手方法?|コード",
    ),
)
MEASURES = _aspect(
    "measures",
    ("Measures", "測定"),
    r"\b(?:outcomes?|end ?points?) (?:was|were|is|are|measures?|included?)\b"
    r"|\b(?:was|were|is|are) (?:\w+ )?(?:measured|assessed|evaluated|quantified|scored|rated|recorded|estimated"
    r"|determined|monitored|graded|calculated) (?:\w+ )?(?:by|using|with|via|through|from|as|on|at|in terms of)\b"
    r"|\bwe (?:\w+ )?(?:measured?|assess(?:ed)?|evaluated?|quantif(?:y|ied)|scored?|rated?|record(?:ed)?|surveyed)\b"
    r"|\b(?:questionnaires?|surveys?|scales?|inventor(?:y|ies)|instruments?|metrics?|scores?|tests?|rubrics?|interviews?)"
    r"\b.{0,60}\b(?:used|measur\w+|assess\w+|administered|completed|consist\w*|evaluat\w+|conducted|filled)\b"
    r"|\b(?:accuracy|precision|recall|F1|AUC|AUROC|RMSE|MAE|BLEU|sensitivity|specificity|likert"
    r"|pre-? ?(?:and|/) ?post|odds ratio|hazard ratio)\b"
    r"|(?:を|により|によって|で)(?:測定|評価|計測|算出|判定)し|尺度|アンケート|質問紙|指標(?:は|と|に)|測定項目",
    r"\b(?:measur\w+|metrics?|scores?|questionnaires?|surveys?|assess\w+|criteri\w+|quizzes|exams?)\b|評価|測定|得点",
    r"measure|outcome|assessment|evaluation|metrics?|instruments?|endpoints?|survey|data collection|測定|評価|指標",
    ("methods", "experiments"),
    r"(?:outcome )?(?:measures?|measurements?|metrics?|instruments?|endpoints?)|outcome variables?|測定|評価指標|指標"
    r"|尺度|評価方法",
)
LICENCE = _aspect(
    "licence",
    ("Licence", "ライセンス"),
    r"\blicen[sc]ed? (?:under|as)|\b(?:MIT|BSD|L?GPL\S*|Apache|CC\S*|Creative Commons|public|open)"
    r"[\w .,()-]{0,30} licen[sc]e|under (?:an?|the) [\w .()-]{0,40}licen[sc]e|creative commons|CC[- ]BY"
    r"|public domain|ライセンス",
    r"\blicen[sc]\w+\b|open[- ]source",
    r"licen[sc]e|availab|ライセンス",
    (),
    r"(?:software |content )?licen[sc](?:e|es|ing)|ライセンス",
)
"""What a study measures, and how; under what terms something may be used: in study tables alone."""
OF_TABLES = (MEASURES, LICENCE)
COMPARED: tuple[AspectName, ...] = (
    *("purpose", "sample", "methods", "results", "limits", "conclusion", "availability"),
)
"""What papers are compared by where nothing else is asked."""


def aspect_named(words: str) -> Aspect | None:
    """The aspect that a reader means by a word or two; None where it is something else."""
    return next((aspect for aspect in (*ASPECTS, *OF_TABLES) if aspect.named.match(words)), None)


def aspect(name: AspectName) -> Aspect:
    return next(one for one in ASPECTS if one.name == name)


def says_purpose(text: str) -> bool:
    """Whether a sentence says what its paper is for."""
    return bool(ASPECTS[0].strong.search(text))
