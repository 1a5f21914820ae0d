"""The answer to a question, as `monjyu search --json` prints it. Pydantic models: `model_dump()` is the JSON."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from monjyu_core.paper import Box, Span
from monjyu_core.values import Values
from monjyu_query.asking.lazy_explanation import LazyExplanation

Status = Literal["complete", "partial", "abstained"]
Verdict = Literal["supported", "partly", "contradicted", "not_found"]
"""The sources' verdict on a sentence."""
Basis = Literal["statement", "synthesis", "gap"]
"""Based on one source, on several together, or a statement that the sources do not say something."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Parameters(_Model):
    """The parameters of a search: the values of the request, otherwise of the settings; None for one that no mode used.
    Names and scales are as in `SearchRequest`; `budget` is a number of tests, `modes` are the modes that were combined
    or that the controller may use."""

    top_k: int
    alpha: float | None = None
    min_score: float | None = None
    expand: int | None = None
    rerank: bool | None = None
    modes: list[str] | None = None
    budget: int | None = None
    max_level: int | None = None
    patience: int | None = None
    sufficiency: str | int | None = None
    subqueries: int | None = None
    threshold: float | None = None


class Routing(_Model):
    """The kind of question, why this mode answers it, and its parameters (`params`; None if nothing was searched).

    `confidence`: the probability (0 to 1, calibrated) that the kind is right; `runner_up`: the second most likely kind.
    None if patterns or a model chose the kind.
    """

    query_type: str
    reason: str
    confidence: float | None = None
    runner_up: str | None = None
    params: Parameters | None = None


class Citation(_Model):
    """A verbatim quote of a paper as evidence of the answer; `n` is its number in the answer.

    A quote is a sentence, or a few consecutive ones, of which `key` was the match. `spans` covers every page of the
    quote, `page` and `boxes` the first; null and empty if the source has no pages.
    """

    n: int
    paper_id: str
    paper_title: str
    chunk_id: str
    sentence_ids: list[str]
    quote: str
    key: str | None = None
    page: int | None = None
    boxes: list[Box] = []
    spans: list[Span] = []
    relevance: float | None = None
    """The ranker's probability that the quote is evidence; None if nothing ranked it."""
    retracted: bool = False
    """Whether a notice retracts the paper (`scholarly.notices`)."""


class SentenceCheck(_Model):
    """The check of a sentence that a model wrote against the sources that it cites.

    `verdict`: whether the sources support the sentence; `method`: compared by words, or by a model (`roles.verify`)
    that read sentence and sources. `kind`: a `synthesis` is based on several sources together, a `gap` states what they
    do not report. `reasons`: arguments against the sentence.
    """

    verdict: Verdict
    method: Literal["words", "model"]
    kind: Basis = "statement"
    reasons: list[str] = []


class Segment(_Model):
    """A piece of an answer and the `n` of its citations; brackets in `text` are the papers' own.

    Joined, the texts are the answer without its marks, including white space between them. `label`: the beginning of
    the text, after white space and dash, that names the paper.
    """

    text: str
    label: str | None = None
    heading: bool = False
    """Whether the text is the heading of the following segments."""
    citations: list[int] = []
    check: SentenceCheck | None = None
    """For a sentence that a model wrote; None if the text is quoted or was composed without a model."""


class HitScores(_Model):
    """Why a passage was found: similarity (cosine), BM25 and both fused, the passage's rank (from 1) by the first two,
    and the question's words in it. A score is None if the mode does not use it."""

    vector: float | None = None
    keyword: float | None = None
    fused: float | None = None
    vector_rank: int | None = None
    keyword_rank: int | None = None
    matched: list[str] = []


class Hit(_Model):
    """A passage. `score` is on the mode's scale (see `SearchRequest`); `text` is the raw text of the chunk, the
    `ord`-th (from 0) of its paper. `found_by`: the wordings of the question that found it, if there were several."""

    chunk_id: str
    paper_id: str
    paper_title: str
    score: float
    text: str
    section_type: str
    page: int | None = None
    ord: int | None = None
    year: int | None = None
    authors: list[str] = []
    doi: str | None = None
    scores: HitScores | None = None
    found_by: list[str] = []
    retracted: bool = False


class ContextSource(_Model):
    """The `n`-th source of a context; `label` is the short name of its paper in answers."""

    n: int
    chunk_id: str
    paper_id: str
    label: str
    page: int | None = None


class Context(_Model):
    """Claims and best hits as one text for another model: numbered sources, each between lines with its hash; `tokens`
    are counted by cl100k."""

    text: str
    tokens: int
    sources: list[ContextSource]


class Cell(_Model):
    """The text of a table's cell, the `n` of its citations, and the paper that it names, if any. `value` is the
    requested value as printed in the text: "120 students"."""

    text: str
    citations: list[int] = []
    paper_id: str | None = None
    value: str | None = None


class AnswerTable(_Model):
    """A table in an answer: each row has as many cells as there are columns. `engine` is the engine that wrote its
    cells."""

    title: str = ""
    columns: list[str]
    rows: list[list[Cell]]
    engine: Literal["extractive", "llm"] = "extractive"


class Usage(_Model):
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    relevance_tests: int = 0
    held_back: int = 0
    budget_total: int = 0
    cache_hits: int = 0
    seconds: float = 0.0


class SearchResult(_Model):
    """One search result. `resolved_query`: the complete question into which a follow-up was rewritten; None if the
    question was complete. `verified`: every quote was found in its source; False if there are no quotes.

    `segments` are the pieces of the answer and `tables` its tables, to be rendered; `answer` is both as Markdown, in
    which `[n]` is the `n` of a citation and the papers' own brackets are escaped (`\\[2\\]`).

    `confidence`: the calibrated probability (0 to 1) that the answer contains the requested information; None if
    nothing was judged.

    `total_count`: the number of passages from which the hits were taken: those that pass the filters and `min_score`
    and, in mode keyword, have a word of the question; `total_papers`: the number of their papers. None if not all were
    compared (scores of several modes, a large collection with an index of vectors).

    `context`: the evidence of the answer as a text for another model, if requested: the claims of modes lazy, local and
    global, and the hits.

    `model`: the model that wrote the answer, None for an extractive one. `phases`: seconds by phase. `follow_ups`:
    further questions that the collection can answer. `lazy`: how a lazy search ran, None in other modes.
    """

    query: str
    resolved_query: str | None = None
    collection: str
    snapshot_id: str
    level: int
    mode: str
    routing: Routing
    status: Status = "complete"
    warnings: list[str] = []
    trace_id: str
    answer: str = ""
    segments: list[Segment] = []
    tables: list[AnswerTable] = []
    answer_engine: str = ""
    verified: bool = False
    confidence: float | None = None
    citations: list[Citation] = []
    hits: list[Hit] = []
    context: Context | None = None
    total_count: int | None = None
    total_papers: int | None = None
    claims: list[Values] = []
    subqueries: list[str] = []
    communities_visited: list[str] = []
    lazy: LazyExplanation | None = None
    follow_ups: list[str] = []
    model: str | None = None
    phases: dict[str, float] = {}
    usage: Usage = Usage()
