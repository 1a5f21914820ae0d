"""What digests say themselves, in the language of the question or of most of the papers."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_core.text.language import is_japanese, message_language
from monjyu_query.digests.paper_text import about
from monjyu_query.ranking.open_index import OpenIndex

_WORDS = {
    "summary": ("Summary", "要約"),
    "comparison": ("Comparison", "比較"),
    "overview": ("Overview", "概観"),
    "content": ("Content", "内容"),
    "aspect": ("Aspect", "観点"),
    "paper": ("Paper", "論文"),
    "year": ("Year", "年"),
    "contributes": ("What it contributes", "貢献"),
    "page": ("Page", "ページ"),
    "quote": ("Quote", "引用"),
    "title": ("Title", "題名"),
    "authors": ("Authors", "著者"),
    "no_paper": ("No paper says enough on “{column}”.", "「{column}」について十分な記述のある論文がない。"),
    "further": ("Further papers", "その他の論文"),
    "cites": ("{citing} cites {cited}.", "{citing}は{cited}を引用している。"),
    "both": ("Terms that they share: {terms}.", "共通する用語：{terms}。"),
    "beside": ("{papers}, side by side.", "{papers}の比較。"),
    "nothing": ("Nothing that was read says enough on this.", "読んだ箇所に、これについて十分な記述は見つからない。"),
    "little": ("{paper} says too little on “{aspect}”.", "{paper}には「{aspect}」についての記述が少ない。"),
}


def word(name: str, language: str, **values: str) -> str:
    return _WORDS[name][language == "ja"].format(**values)


def listed(names: Sequence[str], language: str) -> str:
    """`A, B and C`."""
    if language == "ja":
        return "、".join(names)
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def language_for(index: OpenIndex, paper_ids: Sequence[str], question: str = "") -> str:
    """ja or en: of the question, where there is one, else of most of the papers."""
    if question.strip():
        return message_language(question)
    japanese = sum(is_japanese(" ".join(about(index, paper))) for paper in paper_ids)
    return "ja" if 2 * japanese > len(paper_ids) else "en"
