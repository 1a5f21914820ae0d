"""Reads title, authors and abstract with a model (`roles.parse`, off by default) if the rules found no title.

A value from the model is used only if it is on the page, so that the model cannot invent any.
"""

from dataclasses import dataclass

from pydantic import BaseModel

from monjyu_assets.work.work import Work
from monjyu_core.errors import DocumentError
from monjyu_core.language.packs import LANGUAGES
from monjyu_core.models.call_errors import ModelAnswerUnusable, ModelCallError, ModelContentFiltered, PromptTooLong
from monjyu_core.models.calls.event_loop import run
from monjyu_core.models.factory import check_role, context_room, role_model
from monjyu_core.models.prompts import Prompt, fence, load_prompt
from monjyu_core.models.types import Message
from monjyu_core.paper import Author, ParsedPaper
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_core.text.tokens import beginning, count_tokens

MOST_TEXT = 6000
"""The maximum number of characters of the page that are sent."""
OF_THIS_PAGE_ALONE = (ModelAnswerUnusable, ModelContentFiltered, PromptTooLong)
"""Failures that would occur again for the same page, but not for other pages."""
LONGEST_TITLE, SHORTEST_ABSTRACT, MOST_AUTHORS = 500, 80, 100
AFTER_NAMES = frozenset(["abstract", "and", "in", "introduction", "our", "summary", "the", "these", "this", "we"])
"""Words with which the text continues after a name. Small models copy them if the page has no line break ("Carl Frank
We")."""
READ_BY_MODEL = "Title, authors or abstract were read by a model."


class FrontMatter(BaseModel):
    """The values that a model copies from a first page."""

    title: str = ""
    authors: list[str] = []
    abstract: str = ""


@dataclass(frozen=True)
class Looked:
    """The paper after this step. `lacked`: the rules found no title; `waits`: the model could not be called."""

    outcome: ParsedPaper | DocumentError
    lacked: bool = False
    waits: bool = False


def page_one_key(settings: Settings) -> str:
    """The part of the reuse key of untitled papers that depends on the model and its prompts; "" without a model."""
    if settings.roles.parse.engine != "llm":
        return ""
    prompts = [load_prompt("page_one", language, settings.prompts.folder).hash for language in LANGUAGES]
    return digest(role_model(settings, "parse")[1].model, *prompts)


class PageOne:
    """Calls the model of `roles.parse` for one asset. Raises ConfigurationError if the model is not set up."""

    def __init__(self, work: Work, asset: str) -> None:
        self._work, self._asset = work, asset
        self._on = work.settings.roles.parse.engine == "llm"
        self._failed = False
        if self._on:
            check_role(work.settings, "parse")

    def look(self, outcome: ParsedPaper | DocumentError) -> Looked:
        """If a paper has no title, complete it with what the model reads on its first page. After an error of the
        server, this run makes no more calls, and the next run tries again. A page that it cannot read is skipped."""
        if isinstance(outcome, DocumentError) or outcome.title.strip():
            return Looked(outcome)
        page = first_page(outcome)
        if not self._on or not page:
            return Looked(outcome, lacked=True)
        if self._failed:
            return Looked(outcome, lacked=True, waits=True)
        prompt = load_prompt("page_one", outcome.language, self._work.settings.prompts.folder)
        try:
            found = run(self._asked(prompt, page, outcome.paper_id))
        except OF_THIS_PAGE_ALONE as error:
            self._work.warn(f"No model read the first page of {outcome.source_path}: {error}")
            return Looked(outcome, lacked=True)
        except ModelCallError as error:
            self._failed = True
            self._work.warn(f"The model for first pages could not be called: {error} The next run tries again.")
            return Looked(outcome, lacked=True, waits=True)
        return Looked(with_front_matter(outcome, page, found), lacked=True)

    async def _asked(self, prompt: Prompt, page: str, paper_id: str) -> FrontMatter:
        room = context_room(self._work.settings, "parse") - count_tokens(prompt.render(source=fence(1, "")))
        messages = [Message("user", prompt.render(source=fence(1, beginning(page, room))))]
        session = self._work.session(self._asset)
        return await session.structured("parse", messages, prompt.hash, FrontMatter, [paper_id] if paper_id else [])


def first_page(paper: ParsedPaper) -> str:
    """The text of page 1 with its headings; for a document without pages, the beginning of the text."""
    lines: list[str] = []
    for section in paper.sections:
        spans = [sentence for sentence in section.sentences if sentence.spans]
        if spans and spans[0].spans[0].page > 1:
            continue
        on_page = [s.text for s in section.sentences if not s.spans or s.spans[0].page == 1]
        lines += [section.heading, *(on_page or ([] if section.sentences else [section.text]))]
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))[:MOST_TEXT]


def with_front_matter(paper: ParsedPaper, page: str, found: FrontMatter) -> ParsedPaper:
    """The paper completed with the values of `found` that are on the page and missing from the paper."""
    squeezed = _squeezed(page)
    new: dict[str, object] = {}
    title = " ".join(found.title.split())
    if 0 < len(title) <= LONGEST_TITLE and _is_printed(title, squeezed):
        new["title"] = title
    names = [_name(name) for name in found.authors[:MOST_AUTHORS]]
    if not paper.authors and (there := [name for name in names if _is_printed(name, squeezed)]):
        new["authors"] = [Author(name=name) for name in dict.fromkeys(there)]
    abstract = " ".join(found.abstract.split())
    stands = len(abstract) >= SHORTEST_ABSTRACT and _is_printed(abstract, squeezed)
    if not paper.abstract and stands and not _holds(abstract, [title, *names]):
        new["abstract"] = abstract
    if not new:
        return paper
    return paper.model_copy(update=new | {"warnings": [*paper.warnings, READ_BY_MODEL]})


def _name(copied: str) -> str:
    words = copied.split()
    while words and words[-1].casefold().strip(".,:") in AFTER_NAMES:
        words.pop()
    return " ".join(words)


def _holds(abstract: str, front: list[str]) -> bool:
    """Whether the title or a name is in the abstract, which means that the model copied the page instead."""
    squeezed = _squeezed(abstract)
    return any(_is_printed(text, squeezed) for text in front)


def _is_printed(text: str, page: str) -> bool:
    wanted = _squeezed(text)
    return len(wanted) > 1 and wanted in page


def _squeezed(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
