"""A question that asks one thing of a paper that it names is no survey, whatever its wording: "What future work do the
authors of r-cubed plan?"."""

from __future__ import annotations

from monjyu_query.answers.wanted.wanted import wanted
from monjyu_query.catalogue.named_papers import paper_in_question
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.routing.question_kinds import Kind


def of_one_paper(index: OpenIndex, query: str, kind: Kind) -> Kind:
    """The kind of the question, a factoid where it is such a question."""
    if kind.name not in ("survey", "exploration") or wanted(query) is None or paper_in_question(index, query) is None:
        return kind
    return Kind("factoid", "it asks one thing of a paper that it names")
