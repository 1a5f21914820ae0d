"""The model of `roles.verify` on claims and the passages that were found for them; no other judges them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monjyu_core.models.account import Account
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.event_loop import run
from monjyu_core.text.language import message_language
from monjyu_query.answers.verification.model_check import LONGEST_REASON, ModelVerifier, Stated
from monjyu_query.drafts.checked import CheckedCitation
from monjyu_query.ranking.tools import Tools


@dataclass(frozen=True)
class Read:
    """A check under way with the sentences of the paper that the model is shown."""

    check: CheckedCitation
    text: str


def ask_model(tools: Tools, account: Account, read: Sequence[Read]) -> str:
    """Let the model say the verdicts, a few claims a call; why not, where some are not judged."""
    if not tools.uses_model("verify") or not read:
        return ""
    session = tools.session(account)
    papers = sorted({one.check.paper_id for one in read if one.check.paper_id})
    language = message_language(read[0].check.claim)
    verifier = ModelVerifier(session, tools.settings, language, papers)
    stated = [Stated(one.check.claim, ((number, one.text),)) for number, one in enumerate(read, start=1)]
    try:
        verdicts = run(verifier.verify(stated))
    except ModelCallError as error:
        return f"Not all citations were checked by the model: {error}"
    for one, verdict in zip(read, verdicts, strict=True):
        if verdict is not None:
            one.check.verdict, one.check.method = verdict.verdict, "model"
            lost = one.check.reasons if verdict.verdict != "supported" else []
            one.check.reasons = [*lost, *filter(None, [verdict.reason[:LONGEST_REASON]])]
    return f"Not all citations were checked by the model: {verifier.unread}" if verifier.unread else ""
