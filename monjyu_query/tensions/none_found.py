"""The answer where no contradiction is known: whether any was looked for, among how many papers, and what these say."""

from __future__ import annotations

from monjyu_core.wording import counted
from monjyu_query.answers.answering import Answer
from monjyu_query.asking.result import Segment, Status
from monjyu_query.tensions.statements import Said

_WORDS = {
    "en": {
        "none": "A model read what the {n} papers that speak of {what} say most alike ({read}), and calls none of it "
        "contradictory.",
        "anything": "A model read what the {n} papers say most alike ({read}), and calls none of it contradictory.",
        "unlike": "No two statements about {what} of the {n} papers that speak of it are alike enough to be compared.",
        "unlike_all": "No two statements of the {n} papers are alike enough to be compared.",
        "one": "No contradiction about {what} was found: one paper alone speaks of it.",
        "nobody": "No contradiction about {what} was found: no paper here speaks of it.",
        "unread": "Whether papers contradict each other about {what} is not known here: no model has read what they "
        "say. {n} papers speak of it.",
        "unread_all": "Whether papers contradict each other is not known here: no model has read what they say.",
        "says": "What they say:",
    },
    "ja": {
        "none": "{what}に触れる {n} 件の論文の最も似た記述をモデルが読み（{read}）、矛盾するものはないとしました。",
        "anything": "{n} 件の論文の最も似た記述をモデルが読み（{read}）、矛盾するものはないとしました。",
        "unlike": "{what}に触れる {n} 件の論文に、比べられるほど似た記述はありません。",
        "unlike_all": "{n} 件の論文に、比べられるほど似た記述はありません。",
        "one": "{what}について矛盾は見つかりませんでした。これに触れる論文は 1 件だけです。",
        "nobody": "{what}について矛盾は見つかりませんでした。これに触れる論文はここにありません。",
        "unread": "{what}について論文の間に矛盾があるかは、ここでは分かりません。モデルが記述を読んでいません。"
        "これに触れる論文は {n} 件です。",
        "unread_all": "論文の間に矛盾があるかは、ここでは分かりません。モデルが記述を読んでいません。",
        "says": "述べられていること:",
    },
}


def none_found(said: Said, what: str, read: int | None, language: str) -> Answer:
    """`read`: the pairs of statements that a model read, 0 where none are alike, None where no model read them. It
    answers where a model looked or one paper alone speaks of it, answers in part where none did, and else abstains."""
    words = _WORDS[language]
    if what and said.papers < 2:
        name = ("nobody", "one")[said.papers]
    elif read is None:
        name = "unread" if what else "unread_all"
    elif what:
        name = "none" if read else "unlike"
    else:
        name = "anything" if read else "unlike_all"
    pairs = counted(read or 0, "pair") if language == "en" else f"{read} 組"
    told = [Segment(text=words[name].format(what=what, n=said.papers, read=pairs))]
    if said.citations:
        told.append(Segment(text=f"\n\n{words['says']}"))
        told += [
            Segment(text=f"\n- {' '.join(citation.quote.split())}", citations=[citation.n])
            for citation in said.citations
        ]
    nothing = not said.papers or (name.startswith("unread") and not said.citations)
    status: Status = "abstained" if nothing else "partial" if name == "unread" else "complete"
    return Answer(told, status, said.citations, verified=bool(said.citations))
