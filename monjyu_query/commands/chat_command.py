"""`monjyu chat`: asks consecutive questions, each with the conversation before it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from monjyu_core.errors import MonjyuError
from monjyu_query.asking.request import SearchQuestion, Turn, make_request
from monjyu_query.commands.options import collection_option, collection_searcher, json_option, options_of, print_json

if TYPE_CHECKING:
    from monjyu_query.asking.result import SearchResult
    from monjyu_query.search.searcher import Searcher

PROMPT = "> "
HELP = "/new begins a new conversation, /alone asks the last question as written, /help shows this, /quit ends."
REMEMBERED = 20
"""The maximum number of turns to keep; a follow-up looks back at up to eight questions."""


@click.command()
@collection_option
@options_of(SearchQuestion, "mode")
@json_option
def chat(collection: str | None, mode: str, as_json: bool) -> None:
    """Ask one question after another; follow-ups are understood.

    One question per line, typed or piped. /new starts a new conversation, /alone asks the last question as written,
    /quit or the end of the input ends. With --json each result is one line.
    """
    searcher = collection_searcher(collection)
    talk = Conversation(searcher, mode, as_json)
    if sys.stdin.isatty():
        click.echo(f"Collection {searcher.collection}. {HELP}", err=True)
    while (line := _next_line()) is not None and talk.take(line):
        pass


def _next_line() -> str | None:
    """Return the next line, or None at the end of the input or after Ctrl-C at the prompt."""
    if not sys.stdin.isatty():
        return sys.stdin.readline() or None
    try:
        return input(PROMPT)
    except (EOFError, KeyboardInterrupt):
        click.echo()
        return None


class Conversation:
    """A conversation about one collection."""

    def __init__(self, searcher: Searcher, mode: str, as_json: bool) -> None:
        self._searcher = searcher
        self._mode = mode
        self._as_json = as_json
        self._turns: list[Turn] = []
        self._last = ""

    def take(self, line: str) -> bool:
        """Execute a line. Returns False if it ends the conversation."""
        said = line.strip()
        if said in ("/quit", "/exit"):
            return False
        if said == "/new":
            self._turns, self._last = [], ""
            click.echo("A new conversation.", err=True)
        elif said == "/alone" and self._last:
            del self._turns[-2:]
            self._ask(self._last, [])
        elif said.startswith("/"):
            click.echo(HELP if said != "/alone" else "No question has been asked yet.", err=True)
        elif said:
            self._ask(said, self._turns)
        return True

    def _ask(self, question: str, before: list[Turn]) -> None:
        """Ask a question. If that fails, report the error and do not remember the question."""
        try:
            request = make_request(
                query=question, collection=self._searcher.collection, mode=self._mode, history=before
            )
            result = self._searcher.search(request)
        except MonjyuError as error:
            click.echo(f"Error: {error}", err=True)
            return
        self._last = question
        answered = [Turn(role="user", content=question), Turn(role="assistant", content=result.answer)]
        self._turns = [*self._turns, *answered][-REMEMBERED:]
        self._show(result)

    def _show(self, result: SearchResult) -> None:
        if self._as_json:
            print_json(result.model_dump(mode="json"))
            return
        from rich.console import Console
        from rich.text import Text

        from monjyu_query.answers.render import answer_text, print_table, safe
        from monjyu_query.digests.result import source_line

        console = Console(highlight=False)
        if result.resolved_query:
            console.print(Text(f"Asked as: {safe(result.resolved_query)} (/alone asks it as written)", style="dim"))
        for warning in result.warnings:
            console.print(Text(f"Note: {safe(warning)}", style="yellow"))
        console.print(answer_text(result.segments))
        for table in result.tables:
            print_table(table, console)
        for citation in result.citations:
            console.print(Text(safe(source_line(citation)), style="cyan"))
        console.print()
