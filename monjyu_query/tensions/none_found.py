"""The answer where no tension is known: that none was found, among how many papers, and what these say."""

from __future__ import annotations

from monjyu_query.answers.answering import Answer
from monjyu_query.search.result import Segment, Status
from monjyu_query.tensions.what_papers_say import Said

_WORDS = {
    "en": {
        "none": "No contradiction about {what} was found among the {n} papers that speak of it.",
        "one": "No contradiction about {what} was found: one paper alone speaks of it.",
        "nobody": "No contradiction about {what} was found: no paper here speaks of it.",
        "anything": "No contradictions were found among the {n} papers.",
        "unread": "Whether papers contradict each other about {what} is not known here: the index is at level {level}, "
        "and contradictions are looked for at level 4. {n} papers speak of it.",
        "unread_all": "Whether papers contradict each other is not known here: the index is at level {level}, and "
        "contradictions are looked for at level 4.",
        "says": "What they say:",
    },
    "ja": {
        "none": "{what}について、これに触れる {n} 件の論文の間に矛盾は見つかりませんでした。",
        "one": "{what}について矛盾は見つかりませんでした。これに触れる論文は 1 件だけです。",
        "nobody": "{what}について矛盾は見つかりませんでした。これに触れる論文はここにありません。",
        "anything": "{n} 件の論文の間に矛盾は見つかりませんでした。",
        "unread": "{what}について論文の間に矛盾があるかは、ここでは分かりません。この索引はレベル {level} で、"
        "矛盾はレベル 4 で調べられます。これに触れる論文は {n} 件です。",
        "unread_all": "論文の間に矛盾があるかは、ここでは分かりません。この索引はレベル {level} で、"
        "矛盾はレベル 4 で調べられます。",
        "says": "述べられていること:",
    },
}


def none_found(said: Said, what: str, level: int | None, language: str) -> Answer:
    """`level` is that of an index in which no tensions were looked for, None where they were. It answers where they
    were and papers speak of it, answers in part where they were not, and else abstains."""
    words = _WORDS[language]
    if level is not None:
        name = "unread" if what else "unread_all"
    elif not what:
        name = "anything"
    else:
        name = {0: "nobody", 1: "one"}.get(said.papers, "none")
    told = [Segment(text=words[name].format(what=what, n=said.papers, level=level))]
    if said.citations:
        told.append(Segment(text=f"\n\n{words['says']}"))
        told += [
            Segment(text=f"\n- {' '.join(citation.quote.split())}", citations=[citation.n])
            for citation in said.citations
        ]
    nothing = not said.papers or (level is not None and not said.citations)
    status: Status = "abstained" if nothing else "partial" if level is not None else "complete"
    return Answer(told, status, said.citations, verified=bool(said.citations))
