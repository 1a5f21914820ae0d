"""What turns a sentence's meaning round: negation, opposites, hedges, words that claim everything."""

from __future__ import annotations

import re
from collections.abc import Iterator

NEGATIONS = frozenset(
    (
        "not", "no", "never", "none", "nor", "neither", "without", "cannot", "n't", "hardly", "rarely", "lack", "lacks",
        "lacked", "lacking", "fail", "fails", "failed", "absence", "absent", "exclude", "excluded", "except", "unable",
        "nobody", "nothing", "unlike", "instead", "rather", "avoid", "avoids", "avoided", "free", "non", "barely",
        "unavailable", "unaffected", "unchanged", "insufficient", "prevent", "prevents", "prevented",
    )
)  # fmt: skip
_OPPOSITES = """
increase increased increases increasing rise rises rose risen rising grow grows grew growing growth gain gains gained elevate elevated raise raised raises improve improved improves improvement higher upregulated up boost boosted enhance enhanced enhances expanded | decrease decreased decreases decreasing reduce reduced reduces reducing reduction fall falls fell fallen falling drop drops dropped decline declined declines lower lowered lowers worsen worsened less diminish diminished downregulated down impair impaired shrink shrank suppress suppressed inhibit inhibited
more greater larger bigger higher longer heavier most highest largest greatest longest stronger strongest better best above exceed exceeds exceeded faster earlier easier majority | fewer less smaller lower shorter lighter least lowest smallest shortest weaker weakest worse worst below slower later harder minority
before prior precede preceded preceding earlier first beforehand initially beginning start | after following follow followed later last afterwards subsequently finally end
positive positively | negative negatively
advantage advantages benefit benefits beneficial strength strengths | disadvantage disadvantages drawback drawbacks harmful weakness weaknesses
success successful successfully succeed succeeded | failure unsuccessful fail failed
easy easily easier simple simpler simplifies | difficult difficulty hard harder complex complicates
include includes included including | exclude excludes excluded excluding
significant significantly | insignificant nonsignificant
same identical similar equal alike unchanged | different differ differs differed distinct changed
present presence | absent absence
presence with | without
open | closed proprietary
free | paid commercial
accept accepted | reject rejected
support supports supported confirm confirmed confirms | contradict contradicts contradicted refute refuted reject
activate activated activates activation stimulate | inhibit inhibited inhibits inhibition suppress deactivate
high | low
large | small
long | short
strong strongly | weak weakly
male males men man boys | female females women woman girls
optional voluntary | mandatory required compulsory
online remote virtual | offline in-person
beginner beginners novice novices introductory | advanced expert experts
rare rarely seldom | common commonly often frequent frequently usually
left | right
inside within internal | outside external
upper top | lower bottom
inferior | superior
many | few
cause causes caused causing | prevent prevents prevented
old older | young younger new newer
public publicly | private privately
partial partially partly | complete completely fully entire entirely
"""
_OPPOSITES_JA = """
増加 増え 増大 上昇 上が 高ま 向上 拡大 伸び|減少 減り 減っ 低下 下降 下が 低ま 縮小 落ち
高い 高く 高か 高温|低い 低く 低か 低温
大きい 大きく 大きな 大型|小さい 小さく 小さな 小型
多い 多く 多数|少ない 少なく 少数
長い 長く|短い 短く
前に 以前 先に 前は 前年|後に 以後 以降 後は 翌年
強い 強く|弱い 弱く
速い 速く 早い 早く|遅い 遅く
成功|失敗
可能で|不可能
有効|無効
必要|不要
優れ 優位|劣る 劣り 劣位
男性 男子|女性 女子
東部 東側|西部 西側
北部 北側|南部 南側
左|右
始ま 開始|終わ 終了
肯定|否定
賛成|反対
公開|非公開
容易|困難
上位 上部|下位 下部
暖か 温暖|寒冷
賛成|反対
最大|最小
最高|最低
最初|最後
内側 内部|外側 外部
古い|新しい
広い 広く|狭い 狭く
国内|国外 海外
正の 陽性|負の 陰性
"""
HEDGES = re.compile(
    r"\b(?:may|might|could|can|suggest\w*|possibl[ey]|perhaps|likely|probabl[ey]|appear\w*|seem\w*|potential\w*|"
    r"hypothesi\w*|tend\w*|indicat\w*|anecdotal\w*|preliminary|tentative\w*|some|often|sometimes|usually|generally|"
    r"mostly|typically|believe\w*|expect\w*|hope\w*|aim\w*|plan\w*|approximately|about|around|almost|nearly|"
    r"at least|up to|estimated?|presum\w+|would|should|in part|partly|assum\w+|unclear|uncertain|not yet|"
    r"evidence for|considered|think|thought|weak\w*|informal\w*)\b"
    r"|可能性|かもしれ|考えられ|思われ|とされ|だろう|示唆|場合が|一部|こともあ|ことが多|推定|推測|見られ|おそらく|約|ほぼ|程度|という|いわれ|言われ|らしい|傾向|説",
    re.I,
)
STRONG_HEDGES = re.compile(
    r"\b(?:may|might|could|suggest\w*|possibl[ey]|perhaps|probabl[ey]|potential\w*|hypothesi\w*|anecdotal\w*|preliminary|"
    r"hope\w*|aims?|aimed|plan(?:s|ned)?|unclear|uncertain|future|expect\w*|believe\w*|appear\w*|seem\w*)\b"
    r"|可能性|かもしれ|考えられ|思われ|だろう|示唆|推定|推測|おそらく|予定",
    re.I,
)
_ABSOLUTE = re.compile(
    r"\b(?P<word>all|every|everyone|always|never|only|prov(?:e|es|ed|en)|proof|guarantee\w*|complete(?:ly)?|entire(?:ly)?|"
    r"fully|must|definitiv\w+|conclusive\w*|eliminat\w+|universal\w*|certain(?:ly)?|undoubted\w*|unequivocal\w*|"
    r"exclusive\w*|invariabl\w+|any|anyone|nobody|none|no one|impossible|perfect\w*|solely|ensures?|ensured|establish\w*|"
    r"whenever|regardless|best|most|each|cures?|definitely|solves?|inevitabl\w+|undeniabl\w+|irrefutabl\w+|prime|"
    r"whole|worldwide|everywhere|demonstrates?|confirms?|sole|fastest|largest|first)\b"
    r"|(?P<ja>すべて|全て|全員|全国|必ず|常に|決して|唯一|のみ|だけ|完全|絶対|間違いなく|証明|確実|あらゆる|いつも|一切|どの|世界中|誰も|断定|明らか|不可欠|最も|最大|最初)",
    re.I,
)
_NEGATED_JA = re.compile(r"(?:ない|なく|なかっ|ません|ず[、。に]|ぬ|ざる|無い|無く|なし|ないまま|ずに)")
_NOT_NEGATED_JA = re.compile(r"(?:ほかならない|に過ぎない|にすぎない|だけでなく|のみならず|ばかりでなく|ばかりか|かもしれない|なければならない|少なくない|少ない|少なく|やむを得ない|危ない)")


def _sides() -> dict[str, set[tuple[int, int]]]:
    found: dict[str, set[tuple[int, int]]] = {}
    for number, line in enumerate(line for line in _OPPOSITES.splitlines() if line):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                found.setdefault(word, set()).add((number, side))
    return found


SIDES = _sides()
"""Word to the (pair, side) that it stands on."""
SIDES_JA = [
    tuple(tuple(side.split()) for side in line.split("|")) for line in _OPPOSITES_JA.splitlines() if line
]


def absolutes(text: str) -> set[str]:
    """The words that claim everything or certainty, cut so that forms of one word agree."""
    return {match.group().lower()[:5] for match in _ABSOLUTE.finditer(text)}


def opposed(claim: set[str], source: set[str], everywhere: set[str]) -> set[str]:
    """Words of the claim whose opposite stands in the source where the word itself, or one of its side, does not."""
    found = set()
    for word in claim & SIDES.keys():
        if word in everywhere:
            continue
        sides = SIDES[word]
        there = {side for other in source for side in SIDES.get(other, ())}
        if any((pair, 1 - side) in there for pair, side in sides) and not any(side in there for side in sides):
            found.add(word)
    return found


def opposed_ja(claim: str, source: str) -> set[str]:
    found = set()
    for pair in SIDES_JA:
        for side in (0, 1):
            own = [word for word in pair[side] if word in claim]
            other = [word for word in pair[1 - side] if word in source]
            if own and other and not any(word in source for word in pair[side]) and not any(w in claim for w in pair[1 - side]):
                found.update(own)
    return found


def negated_ja(text: str) -> int:
    """How many predicates are negated."""
    return len(_NEGATED_JA.findall(_NOT_NEGATED_JA.sub("", text)))


def negated_words(words: list[str], reach: int = 4) -> Iterator[int]:
    """The places of the words that a negation before them reaches, within the clause."""
    for place, word in enumerate(words):
        if word in NEGATIONS:
            for step in range(1, reach + 1):
                if place + step >= len(words) or words[place + step] in {",", ";", "but", "and", "which", "that", "while"}:
                    break
                yield place + step
