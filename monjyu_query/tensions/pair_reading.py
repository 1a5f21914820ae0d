"""The model of `roles.verify` on the pairs that an answer would show: what it does not call contradicted goes."""

from __future__ import annotations

from monjyu_core.models.accounting.account import Account
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.event_loop import run
from monjyu_query.answers.verification.model_check import ModelVerifier, Stated
from monjyu_query.search.tools import Tools
from monjyu_query.tensions.tension_list import Tension, Tensions


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
    verifier = ModelVerifier(tools.llm_answers().session(account), tools.settings, language, papers)
    try:
        verdicts = run(verifier.verify(stated))
    except ModelCallError as error:
        return found, f"The pairs were not read by the model: {error}"
    kept = [
        one
        for one, verdict in zip(found.tensions, verdicts, strict=True)
        if verdict is None or verdict.verdict == "contradicted"
    ]
    return _of(found, kept), ""


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
