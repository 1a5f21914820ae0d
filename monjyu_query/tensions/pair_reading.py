"""The model of `roles.verify` reads pairs of statements: those of the rules, and where there are none, those of papers
that speak of the same; what it does not call contradicted is no disagreement."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from monjyu_core.models.accounting.account import Account
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.event_loop import run
from monjyu_core.text.word_terms import word_terms
from monjyu_query.answers.verification.model_check import ModelVerifier, SentenceVerdict, Stated
from monjyu_query.search.passages import PassageSentence
from monjyu_query.search.tools import Tools
from monjyu_query.tensions.tension_list import Tension, Tensions

MOST_PAIRS = 16
"""Pairs of statements that the model reads for an answer: two calls."""


def held_by_model(tools: Tools, account: Account, found: Tensions, language: str) -> tuple[Tensions, str]:
    """The tensions without those that the model, shown one side as a claim and the other as its source, does not call
    contradicted; and what to warn of. All of them where no model is set, or none answers."""
    if not found.tensions or not tools.uses_model("verify"):
        return found, ""
    quotes = {citation.n: citation.quote for citation in found.citations}
    stated = [
        Stated(quotes[one.first.citation], ((one.second.citation, quotes[one.second.citation]),))
        for one in found.tensions
    ]
    papers = sorted({citation.paper_id for citation in found.citations})
    verdicts, warning = _verdicts(tools, account, stated, papers, language)
    kept = [
        one
        for one, verdict in zip(found.tensions, verdicts, strict=True)
        if verdict is None or verdict.verdict == "contradicted"
    ]
    gone = len(found.tensions) - len(kept)
    if gone:
        told = f"{gone} of {len(found.tensions)} pairs that the rules found were left out: the model does not call them"
        warning = f"{told} contradicted. `monjyu tensions` lists all.{' ' * bool(warning)}{warning}"
    return _of(found, kept), warning


def opposed_by_model(
    tools: Tools, account: Account, what: str, statements: Sequence[PassageSentence], language: str
) -> tuple[list[tuple[PassageSentence, PassageSentence]], str]:
    """Pairs of statements of two papers about `what` that the model calls contradicted, of those that share most words;
    and what to warn of. Nothing where no model is set."""
    pairs = _likely(what, statements) if tools.uses_model("verify") else []
    numbers = {text: n for n, text in enumerate(dict.fromkeys(other.text for _, other in pairs), start=1)}
    stated = [Stated(one.text, ((numbers[other.text], other.text),)) for one, other in pairs]
    papers = sorted({sentence.passage.paper_id for pair in pairs for sentence in pair})
    verdicts, warning = _verdicts(tools, account, stated, papers, language)
    held = [
        pair
        for pair, verdict in zip(pairs, verdicts, strict=True)
        if verdict is not None and verdict.verdict == "contradicted"
    ]
    return held, warning


def _likely(what: str, statements: Sequence[PassageSentence]) -> list[tuple[PassageSentence, PassageSentence]]:
    """The pairs of two papers that share most words (Jaccard) beside those of `what`, the most first."""
    about = set(word_terms([what])[0])
    words = [set(some) - about for some in word_terms([one.text for one in statements])]
    scored = [
        (len(words[a] & words[b]) / len(words[a] | words[b]), a, b)
        for a, b in combinations(range(len(statements)), 2)
        if statements[a].passage.paper_id != statements[b].passage.paper_id and words[a] & words[b]
    ]
    best = sorted(scored, key=lambda one: (-one[0], one[1], one[2]))[:MOST_PAIRS]
    return [(statements[a], statements[b]) for _, a, b in best]


def _verdicts(
    tools: Tools, account: Account, stated: Sequence[Stated], papers: Sequence[str], language: str
) -> tuple[list[SentenceVerdict | None], str]:
    """A verdict for each, None where the model gave none; and why it gave none at all."""
    if not stated:
        return [], ""
    verifier = ModelVerifier(tools.llm_answers().session(account), tools.settings, language, papers)
    try:
        verdicts = run(verifier.verify(stated))
        return verdicts, f"Not all pairs were read by the model: {verifier.unread}" if verifier.unread else ""
    except ModelCallError as error:
        return [None] * len(stated), f"The pairs were not read by the model: {error}"


def _of(found: Tensions, kept: list[Tension]) -> Tensions:
    """With the citations of these pairs alone, numbered anew."""
    used = sorted({side.citation for one in kept for side in (one.first, one.second)})
    place = {old: new for new, old in enumerate(used, start=1)}
    tensions = [
        one.model_copy(
            update={
                name: side.model_copy(update={"citation": place[side.citation]})
                for name, side in (("first", one.first), ("second", one.second))
            }
        )
        for one in kept
    ]
    citations = [one.model_copy(update={"n": place[one.n]}) for one in found.citations if one.n in place]
    left = found.total - len(found.tensions) + len(kept)
    return found.model_copy(update={"tensions": tensions, "citations": citations, "total": left})
