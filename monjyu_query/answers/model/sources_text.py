"""The passages found as one text for a model: what `roles.answer` is sent, or a model of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monjyu_core.models.prompts import fence
from monjyu_core.text.language import message_language
from monjyu_core.text.tokens import count_many, count_tokens
from monjyu_query.asking.passages import Passage, load_passages
from monjyu_query.asking.result import Context, ContextSource, Hit
from monjyu_query.papers.paper_label import paper_labels
from monjyu_query.ranking.open_index import OpenIndex


def about_passage(passage: Passage, labels: Mapping[str, str]) -> str:
    """How the paper is called (by its id), its title and the headings above the passage."""
    return " ".join(filter(None, (labels.get(passage.paper_id, ""), passage.paper_title, passage.header)))


def source_text(passage: Passage, labels: Mapping[str, str]) -> str:
    """A passage with what stands before it."""
    return f"{about_passage(passage, labels)}\n{passage.text}"


def context_of(
    index: OpenIndex, query: str, hits: Sequence[Hit], claims: Sequence[Mapping[str, Any]], most: int
) -> Context:
    """What the answer was written from as one text: the claims, in modes that draw some, then the hits, in order.

    Numbered from 1, each between lines that hold a hash of it so that a paper cannot end its own quotation; as many as
    have `most` tokens (cl100k) together.
    """
    scores = {claim["chunk_id"]: float(claim["score"]) for claim in claims} | {hit.chunk_id: hit.score for hit in hits}
    papers = [claim["paper_id"] for claim in claims] + [hit.paper_id for hit in hits]
    labels = paper_labels(index, papers, message_language(query))
    found = load_passages(index.snapshot.cursor_of(papers), list(scores), list(scores.values()), index.kept)
    passages = {passage.chunk_id: passage for passage in found}
    written = [(passages[claim["chunk_id"]], _claim_text(claim)) for claim in claims if claim["chunk_id"] in passages]
    written += [(passages[hit.chunk_id], passages[hit.chunk_id].text) for hit in hits if hit.chunk_id in passages]
    texts = [fence(n, f"{about_passage(one, labels)}\n{text}") for n, (one, text) in enumerate(written, start=1)]
    text, count = "", 0
    for count in range(_fitting(texts, most), -1, -1):
        text = "\n\n".join(texts[:count])
        if count_tokens(text) <= most:
            break
    told = [
        ContextSource(n=n, chunk_id=one.chunk_id, paper_id=one.paper_id, label=labels[one.paper_id], page=one.page)
        for n, (one, _) in enumerate(written[:count], start=1)
    ]
    return Context(text=text, tokens=count_tokens(text), sources=told)


def _claim_text(claim: Mapping[str, Any]) -> str:
    """The sentence of the paper, under what was made of it where that is in other words."""
    statement, quote = str(claim["statement"]), str(claim["quote"])
    return quote if statement == quote else f"{statement}\n{quote}"


def _fitting(texts: Sequence[str], most: int) -> int:
    """How many of the first texts have no more tokens together; what joins them is not counted yet."""
    total = 0
    for place, tokens in enumerate(count_many(texts)):
        total += tokens
        if total > most:
            return place
    return len(texts)
