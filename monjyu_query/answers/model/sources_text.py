"""The passages found as one text for a model: what `roles.answer` is sent, or a model of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monjyu_core.models.prompts import fence
from monjyu_core.text.language import message_language
from monjyu_core.text.tokens import count_many, count_tokens
from monjyu_query.answers.paper_label import paper_labels
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, load_passages
from monjyu_query.search.result import Context, ContextSource, Hit


def about_passage(passage: Passage, labels: Mapping[str, str]) -> str:
    """How the paper is called (by its id), its title and the headings above the passage."""
    return " ".join(filter(None, (labels.get(passage.paper_id, ""), passage.paper_title, passage.header)))


def source_text(passage: Passage, labels: Mapping[str, str]) -> str:
    """A passage with what stands before it."""
    return f"{about_passage(passage, labels)}\n{passage.text}"


def context_of(index: OpenIndex, query: str, hits: Sequence[Hit], most: int) -> Context:
    """The hits in order, numbered from 1, each between lines that hold a hash of it so that a paper cannot end its own
    quotation; as many as have `most` tokens (cl100k) together."""
    labels = paper_labels(index, [hit.paper_id for hit in hits], message_language(query))
    wanted = [hit.chunk_id for hit in hits]
    cursor = index.snapshot.cursor_of(hit.paper_id for hit in hits)
    passages = load_passages(cursor, wanted, [hit.score for hit in hits], index.kept)
    texts = [fence(n, source_text(passage, labels)) for n, passage in enumerate(passages, start=1)]
    text, count = "", 0
    for count in range(_fitting(texts, most), -1, -1):
        text = "\n\n".join(texts[:count])
        if count_tokens(text) <= most:
            break
    told = [
        ContextSource(n=n, chunk_id=one.chunk_id, paper_id=one.paper_id, label=labels[one.paper_id], page=one.page)
        for n, one in enumerate(passages[:count], start=1)
    ]
    return Context(text=text, tokens=count_tokens(text), sources=told)


def _fitting(texts: Sequence[str], most: int) -> int:
    """How many of the first texts have no more tokens together; what joins them is not counted yet."""
    total = 0
    for place, tokens in enumerate(count_many(texts)):
        total += tokens
        if total > most:
            return place
    return len(texts)
