"""Japanese follow-ups: words that refer back, parts of a question, and questions about a term of the previous one."""

import re

from monjyu_query.asking.topic import topic_of
from monjyu_query.search.english_follow_ups import BRACKET, MOST_CONTEXT, Talk

_POINTS = re.compile(
    r"(?:^|(?<=[、。\s]))(?:それら?|これ(?!ら)|これら(?!の(?:論文|研究|文献|資料|コレクション))|そこ|そちら|あれ|彼ら?|彼女|前者|後者|両者|同じく)"
    r"|そんなに?|それぞれ|(?:その|この(?!(?:論文|文献|資料)(?:集|群)|分野|コレクション)|同)(?=[^\s、])|上記|さっきの|先ほどの|そう(?=です|いう|なる|言)"
)
_FEW_TERMS, _FEW_SIGNS = 2, 16
"""The number of terms and characters of a question that is on the same subject if it names a term of the previous
one."""
_KEPT = ("両者", "前者", "後者")
_PLACE = re.compile(r"それ(?!ぞれ)ら?|これら?|そこ|その|この|前者|後者|両者|彼ら?|彼女")
_LEAD = re.compile(r"^(?:では|じゃあ?|それでは|そして|また|それから|さらに|あと|でも|ちなみに|なら)[、\s]*")
_MORE = re.compile(r"^(?:もっと|もう少し|さらに|より)?(?:詳しく|具体的に|ほかに|他に|例えば|たとえば|例を|例は)")
_SHORT = re.compile(r"^(.{1,14}?)(?:の場合|について)?(?:では|は|だと|なら|も)?[?？]?$")
_WHOLE = re.compile(
    r"(?:です|ます|ません|でしょう|ました|ですか|か|して|ください|べる|たい|いる|ある|せよ|まとめて|とは)[。?？\s]*$|とは[?？]?$"
)
_TOPIC = re.compile(r"(?:は|が|を|について)")
_FRAME = re.compile(
    r"誰|提案|具体|程度|安全|無料|有料|方法|理由|原因|効果|欠点|利点|違い|差|量|値|数|年|週間|時間|回|人|使|可能|必要|詳|影響|何|次|例"
)
_LATIN = re.compile(r"[A-Za-z]")
_TERM = re.compile(
    r"[\u30a1-\u30fcA-Za-z0-9]+[\u3400-\u9fff]*[A-Z]?"
    r"|[\u3400-\u9fff](?:[みきりしいけめえれび]?[\u3400-\u9fff\u30a1-\u30fc])+[A-Z]?"
)


def japanese_follow_up(query: str, talk: Talk) -> str | None:
    """The question completed from the previous one; None if it is complete by itself."""
    before, answer = talk.before, talk.answer
    points = _POINTS.search(query)
    rest = _LEAD.sub("", query, count=1).strip(" 。?？")
    if points:
        entity = _entity(before, answer, place="そこ" in points.group())
        meant = _PLACE.match(query, points.start())
        if entity and meant and meant.group() not in _KEPT:
            link = "の" if meant.group() in ("その", "この") else ""
            return f"{query[: meant.start()]}{entity}{link}{query[meant.end() :]}{_context(query, before, entity)}"
        return f"{query}{_context(query, before, '')}"
    if not _WHOLE.search(query) and (short := _SHORT.match(rest)) and _asks_on(query, rest):
        return _in_place(rest, short.group(1), talk)
    own = [term for term in _TERM.findall(rest) if not _FRAME.search(term)]
    known = [term for term in own if term in before]
    if known and len(own) <= _FEW_TERMS and len(rest) <= _FEW_SIGNS and not _collection(query):
        return f"{query}{_context(query, before, '')}"
    if _MORE.match(rest) or not own or (len(own) == 1 and len(rest) < 12 and not _TOPIC.search(rest)):
        if _collection(query):
            return None
        return f"{query}{_context(query, before, '')}"
    return None


def _asks_on(query: str, rest: str) -> bool:
    """Whether the question is a part that replaces another one, such as 「Rでは？」, and not keywords of a new one."""
    return bool(re.search(r"(は|では|だと|なら|の場合|も)[?？]?$", query.strip(" 。"))) and len(rest) <= 16


def _collection(query: str) -> bool:
    return bool(re.search(r"(これらの|この)?(論文集?|文献|コレクション|資料)(全体|の主|は|で|に)|テーマ", query))


def _terms(text: str) -> list[str]:
    return [term for term in dict.fromkeys(_TERM.findall(text)) if not _FRAME.fullmatch(term)]


def _entity(before: str, answer: str, *, place: bool) -> str:
    """The subject: the word marked by は, otherwise the first term; that of the answer, if a place was asked for."""
    if place and answer:
        said = _terms(re.split("[。]", answer)[0])
        if said:
            return said[0]
    marked = re.search(r"([\u30a1-\u30fcA-Za-z0-9\u3400-\u9fff]+)(?:に)?は", before)
    found = _terms(marked.group(1)) if marked else []
    terms = found or _terms(before)
    return terms[0] if terms else ""


def _context(query: str, before: str, entity: str) -> str:
    terms = [term for term in _terms(before) if term not in query and term != entity][: MOST_CONTEXT - 2]
    return f"（{' '.join(terms)}）" if terms else ""


def _in_place(rest: str, part: str, talk: Talk) -> str:
    """The last complete question with the new part in place of a similar term, or added to it."""
    kept = BRACKET.sub("", talk.whole)
    terms = _terms(kept)
    latin = bool(_LATIN.match(part))
    like = [term for term in terms if (latin and _LATIN.match(term)) or (not latin and term[-1] == part[-1])]
    if not like and re.search(r"(?:では|だと|なら|の場合は?)$", rest):
        like = terms
    if like and "との" not in part:
        return kept.replace(like[0], part.strip(), 1)
    return f"{rest}{_context(rest, talk.before, '') or f'（{topic_of(talk.before)}）'}"
