"""Tools about papers: `monjyu_get_paper`, `monjyu_citations`, `monjyu_summarize`, `monjyu_compare`, `monjyu_locate`."""

from typing import Annotated, Any

from mcp.types import CallToolResult
from pydantic import Field

from monjyu_query.answers.render import quotable, safe
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.api.product_requests import ComparisonRequest, QuoteRequest, SummaryRequest
from monjyu_query.citations.view import CitationView, times_cited
from monjyu_query.digests.result import Digest
from monjyu_query.mcp_server.paper_view import PaperView, view_of
from monjyu_query.mcp_server.register import as_tool_errors, takes_fields_of
from monjyu_query.mcp_server.search_tools import Collection
from monjyu_query.mcp_server.texts import QUOTED, digest_text, given
from monjyu_query.papers.quotes import Located

PaperName = Annotated[str, Field(description="Id, DOI, words of the title, authors and year, or a description.")]


class PaperTools:
    """The tools for papers. Clients see their names, parameters and docstrings."""

    def __init__(self, monjyu: AsyncMonjyu, most_characters: int) -> None:
        self._monjyu = monjyu
        self._most_characters = most_characters

    async def monjyu_get_paper(
        self,
        paper_id: PaperName,
        collection: Collection = None,
        section: Annotated[
            str,
            Field(
                description="A section's number, type (methods, results, ...) or words of its heading; `all`; or "
                "nothing for the abstract."
            ),
        ] = "",
        offset: Annotated[int, Field(ge=0, description="Offset to continue a long text (next_offset).")] = 0,
        references: Annotated[bool, Field(description="Include the reference list.")] = False,
    ) -> Annotated[CallToolResult, PaperView]:
        """Read a paper: its metadata, its list of sections, and the text of its abstract or of a section."""
        with as_tool_errors():
            paper = await self._monjyu.paper(paper_id, collection)
            view = view_of(paper, section, offset, self._most_characters, references)
        return given(view.as_text(), view)

    async def monjyu_citations(
        self,
        paper_id: PaperName,
        collection: Collection = None,
        depth: Annotated[int, Field(ge=1, le=10, description="Number of steps to follow.")] = 1,
        min_count: Annotated[int, Field(ge=1, description="Minimum of shared citing papers or cited works.")] = 1,
    ) -> Annotated[CallToolResult, CitationView]:
        """Show the papers of the collection that a paper cites and those that cite it, with the citing sentences, and
        related papers."""
        with as_tool_errors():
            view = await self._monjyu.citations(paper_id, collection, depth, min_count)
        return given(_citations(view), view)

    @takes_fields_of(SummaryRequest)
    async def monjyu_summarize(self, **asked: Any) -> Annotated[CallToolResult, Digest]:
        """Summarize a paper's purpose, data, methods, results, limits and conclusion in its own, cited sentences."""
        with as_tool_errors():
            digest = await self._monjyu.summarize(**asked)
        return given(digest_text(digest), digest)

    @takes_fields_of(ComparisonRequest)
    async def monjyu_compare(
        self,
        aspects: list[str],
        aspect: Annotated[str, Field(description="One aspect, as in `aspects`.")] = "",
        **asked: Any,
    ) -> Annotated[CallToolResult, Digest]:
        """Compare papers by aspect, in their own, cited sentences, and show which of them cite each other."""
        with as_tool_errors():
            wanted = [*([aspect] if aspect.strip() else []), *aspects]
            digest = await self._monjyu.compare(aspects=list(dict.fromkeys(wanted)), **asked)
        return given(digest_text(digest), digest)

    @takes_fields_of(QuoteRequest)
    async def monjyu_locate(self, **asked: Any) -> Annotated[CallToolResult, Located]:
        """Find the paper, page and rectangles of quoted words, even if hyphens, spaces or some words differ. Without
        a match, the quote is not from this collection."""
        with as_tool_errors():
            located = await self._monjyu.locate(**asked)
        return given(_located(located), located)


def _located(located: Located) -> str:
    if not located.places:
        return "Nothing in the collection matches this quote."
    lines = [QUOTED]
    for place in located.places:
        where = f", page {place.page}" if place.page else ""
        named = f"{quotable(place.paper_title)}{where} ({place.paper_id}; {place.score:.0%} alike)"
        lines.append(f"- {named}: “{quotable(place.text)}”")
    return "\n".join(lines)


def _citations(view: CitationView) -> str:
    lines = [f"{safe(view.title)} ({view.paper_id})"]
    lines += [safe(f"{one.kind} ({one.source}{f', {one.date}' if one.date else ''})") for one in view.notices]
    lines += [safe(f"{one.source}: {times_cited(one)}") for one in view.records if one.citation_count is not None]
    for name, links in (("Cites", view.cites), ("Cited by", view.cited_by)):
        lines += ["", f"{name}: {len(links)}"]
        for link in links:
            lines.append(f"- {safe(link.title)} ({link.paper_id}{f', {link.year}' if link.year else ''}; {link.depth})")
            lines += [f"  “{safe(context.context)}”" for context in link.contexts[:3]]
    for name, counted in (("Cited together with it", view.co_cited), ("Cite the same works", view.coupled)):
        lines += ["", f"{name}: {len(counted)}", *(f"- {safe(c.title)} ({c.paper_id}): {c.count}" for c in counted)]
    return "\n".join([*lines, "", f"References outside the collection: {view.unresolved_references}"])
