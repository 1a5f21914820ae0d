"""The tools `monjyu_export_answer` and `monjyu_check_citations`."""

import base64
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.types import BlobResourceContents, CallToolResult, ContentBlock, EmbeddedResource, TextContent
from mcp.types import TextResourceContents as TextFile
from pydantic import BaseModel, Field

from monjyu_core.errors import ConfigurationError, QueryError
from monjyu_core.storage.state_store import StateStore
from monjyu_query.answer_packages.all_forms import FORMS, written
from monjyu_query.answer_packages.asked_answer import AskedAnswer, asked_again
from monjyu_query.answer_packages.document import notes_of
from monjyu_query.answers.render import safe
from monjyu_query.api.facade import Monjyu
from monjyu_query.api.product_requests import DraftRequest
from monjyu_query.asking.fields import OneOf
from monjyu_query.drafts.checked import CheckedDraft, as_text
from monjyu_query.mcp_server.caller_identity import CallersMonjyu, may_see_trace
from monjyu_query.mcp_server.register import as_tool_errors, takes_fields_of
from monjyu_query.mcp_server.texts import QUOTED, given
from monjyu_query.search.traces import no_such_trace, read_trace

MOST_BYTES = 8 * 1024 * 1024
"""The maximum size of a file, because a message contains it whole, as base64."""
TraceId = Annotated[str, Field(pattern="^[0-9a-f]{16}$", description="`trace_id` of a result of monjyu_search.")]
Form = Annotated[
    str,
    OneOf(FORMS),
    Field(description="markdown and bibtex are text; ro-crate is an archive that `monjyu verify` checks."),
]


class ExportedAnswer(BaseModel):
    """The exported file. `differs`: the fields that differ from the stored search; `notes`: warnings, and notes on
    differences and omitted quotes."""

    trace_id: str
    snapshot_id: str
    format: str
    name: str
    media_type: str
    size: int
    differs: list[str]
    notes: list[str]


class AnswerTools:
    """The tools for exports and drafts. Clients see their names, parameters and docstrings."""

    def __init__(self, monjyu: CallersMonjyu) -> None:
        self._monjyu = monjyu

    @takes_fields_of(DraftRequest)
    async def monjyu_check_citations(
        self,
        text: str,
        format: Annotated[Literal["markdown", "latex", "text"], Field(description="Its format.")] = "markdown",
        **asked: Any,
    ) -> Annotated[CallToolResult, CheckedDraft]:
        """Check the citations of a draft. Returns for each citing sentence the nearest passages of the cited paper, the
        figures, names and quotes that occur nowhere in it and, if a model is set up for this, a verdict; without one,
        judge by the passages."""
        with as_tool_errors():
            checked = await self._monjyu.check_citations(text, format=format, **asked)
        return given(f"{QUOTED}\n\n{as_text(checked)}", checked)

    async def monjyu_export_answer(
        self, trace_id: TraceId, context: Context[Any, Any], format: Form = "markdown"
    ) -> Annotated[CallToolResult, ExportedAnswer]:
        """Export an earlier answer as a file: a document with numbered sources and bibliography, the cited papers as
        BibTeX, or a package with all its evidence. The question is asked again on its snapshot."""
        with as_tool_errors():
            asked, content = await self._monjyu.run(lambda: _exported(self._monjyu.blocking, trace_id, format, context))
        form = FORMS[format]
        told = ExportedAnswer(
            trace_id=trace_id,
            snapshot_id=asked.index.snapshot.id,
            format=format,
            name=f"answer-{trace_id}.{form.ending}",
            media_type=form.media_type.partition(";")[0],
            size=len(content),
            differs=list(asked.differs),
            notes=notes_of(asked),
        )
        said = "\n".join([f"{told.name}: {told.size} bytes.", *(f"Note: {safe(note)}" for note in told.notes)])
        file = EmbeddedResource(type="resource", resource=_resource(told, content))
        blocks: list[ContentBlock] = [TextContent(type="text", text=said), file]
        return CallToolResult(content=blocks, structured_content=told.model_dump(mode="json"))


def _exported(monjyu: Monjyu, trace_id: str, form: str, context: Context[Any, Any]) -> tuple[AskedAnswer, bytes]:
    """Return the exported answer. Raises QueryError if it is too large, does not exist or may not be seen by the
    caller; the last two cases have the same message."""
    monjyu.flush_traces()
    kept = read_trace(StateStore(monjyu.data.state), trace_id)
    try:
        searcher = monjyu.searcher(kept["collection"]) if may_see_trace(context, kept) else None
    except ConfigurationError:  # a collection that the caller may not see, or that was deleted
        searcher = None
    if searcher is None:
        raise no_such_trace(trace_id)
    asked = asked_again(monjyu.data, trace_id, kept, searcher)
    content = written(asked, form)
    if len(content) > MOST_BYTES:
        raise QueryError(
            f"The file has {len(content):,} bytes, more than {MOST_BYTES:,}.", "Ask for markdown or bibtex."
        )
    return asked, content


def _resource(told: ExportedAnswer, content: bytes) -> TextFile | BlobResourceContents:
    uri = f"monjyu://answers/{told.name}"
    if FORMS[told.format].is_text:
        return TextFile(uri=uri, mime_type=told.media_type, text=content.decode("utf-8"))
    return BlobResourceContents(uri=uri, mime_type=told.media_type, blob=base64.b64encode(content).decode())
