"""Requests for summaries, comparisons, surveys, study tables, quotes to locate, and drafts to check."""

from typing import Annotated, Literal

from pydantic import Field

from monjyu_query.asking.fields import CollectionBody, asked
from monjyu_query.asking.request import ANY_TEXT, LONGEST_QUERY, NUMBER, Budget, Filters
from monjyu_query.digests.comparison import MOST_ASPECTS
from monjyu_query.digests.comparison import MOST_PAPERS as MOST_COMPARED
from monjyu_query.digests.study_table import MOST_PAPERS as MOST_ROWS
from monjyu_query.digests.survey import MOST_PAPERS
from monjyu_query.digests.table_columns import MOST_COLUMNS
from monjyu_query.papers.quotes import MOST_CHARACTERS

MOST_TEXT = 200_000
"""The maximum number of characters in a draft, and in its bibliography."""
Words = Annotated[str, Field(max_length=1000)]
PaperName = Annotated[str, Field(min_length=1, max_length=1000, pattern=ANY_TEXT)]
NAMED = "Id, DOI, words of the title, authors and year, or a description."


class SummaryRequest(CollectionBody):
    """A request for a summary: a paper's purpose, data, methods, results, limits and conclusion."""

    paper_id: PaperName = asked(NAMED, ...)
    focus: Words = asked("A question to answer from the paper first.", "")
    length: Literal["short", "medium", "long"] = asked("The number of sentences per part.", "medium")
    section: Words = asked("Only this section: its number, type (methods, results, ...) or words of its heading.", "")


class ComparisonRequest(CollectionBody):
    """A request to compare papers."""

    paper_ids: Annotated[
        list[PaperName], Field(min_length=2, max_length=MOST_COMPARED, json_schema_extra={"uniqueItems": True})
    ] = Field(description=f"Two to six papers. {NAMED}")
    aspects: Annotated[list[Words], Field(max_length=MOST_ASPECTS)] = asked(
        "Aspects to compare, such as “evaluation data”; by default purpose, data, method, results, limits, "
        "conclusion and availability.",
        [],
    )


class SurveyRequest(CollectionBody):
    """A request for a survey of a topic."""

    topic: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY, pattern=ANY_TEXT)] = asked("In words.", ...)
    papers: Annotated[int, Field(ge=1, le=MOST_PAPERS), NUMBER] = asked("The maximum number of papers.", 10)
    budget: Budget | None = asked(
        "Find the papers by lazy search with this number of relevance tests, such as z100; by default in one pass."
    )
    filters: Filters = Field(Filters(), description="Filters of the papers.")


class TableRequest(CollectionBody):
    """A request for a table with one row per paper: for the named papers, those that say most on a topic, or all that
    pass the filters."""

    columns: Annotated[list[Words], Field(min_length=1, max_length=MOST_COLUMNS)] | None = asked(
        "Attributes to ask of each paper, such as “sample size”; by default question, method, sample, measure, "
        "result and limitation."
    )
    paper_ids: Annotated[list[PaperName], Field(max_length=MOST_ROWS)] = asked("Only these papers.", [])
    about: Words = asked("Only the papers that say most on this topic.", "")
    filters: Filters = Field(Filters(), description="Filters of the papers.")
    papers: Annotated[int, Field(ge=1, le=MOST_ROWS), NUMBER] | None = asked(
        "The maximum number of papers; by default 50."
    )
    engine: Literal["extractive", "llm"] | None = asked(
        "Fill cells with quotes (extractive) or by the model of roles.answer."
    )


class QuoteRequest(CollectionBody):
    """A request to locate a quote, even if hyphens, line ends, spaces, punctuation or some words differ."""

    quote: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)] = asked(
        "The copied text, a sentence or more.", ...
    )
    most: Annotated[int, Field(ge=1, le=50), NUMBER] = asked("The maximum number of matches.", 5)


class DraftRequest(CollectionBody):
    """A request to check whether the papers that a draft cites support its statements."""

    text: Annotated[str, Field(min_length=1, max_length=MOST_TEXT, pattern=ANY_TEXT)] = asked(
        "The draft, or sentences of it, with their citations; a Word file in Base64.", ...
    )
    format: Literal["markdown", "latex", "text", "docx"] = asked("Its format.", "markdown")
    bibliography: Annotated[str, Field(max_length=MOST_TEXT)] = asked(
        "The text of the .bib file (or CSL JSON) with its citation keys.", ""
    )
