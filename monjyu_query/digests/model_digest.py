"""What a model writes of chosen passages, each sentence checked against them; nothing where no model is set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monjyu_query.asking.passages import Passage
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import Usage
from monjyu_query.digests.asker import Asker
from monjyu_query.digests.draft import Draft
from monjyu_query.ranking.open_index import OpenIndex

MOST_PASSAGES = 24


def write_part(
    searcher: Asker, index: OpenIndex, draft: Draft, heading: str, task: str, passages: Sequence[Passage]
) -> bool:
    """Let the role `answer` write on `task` from the passages. False where it failed; True too where it is no model."""
    if not searcher.tools.uses_model("answer") or not passages:
        return True
    from monjyu_query.answers.model.model_answer import answer_with_model

    request = make_request(query=task, collection=searcher.collection)
    account = searcher.account(index)
    asked = index.keywords.query_terms(task).result()
    events: list[dict[str, Any]] = []
    some = list(passages)[:MOST_PASSAGES]
    written, failure = answer_with_model(searcher.tools, index, request, some, asked, account, events.append)
    draft.add_usage(Usage(**vars(account.used)))
    if written is None:
        draft.warnings.append(failure)
        return False
    draft.warnings += written.warnings
    draft.written(heading, events)
    return True
