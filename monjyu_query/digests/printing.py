"""Prints a digest in a terminal. Papers are untrusted: their text is never markup, and has no control characters."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from monjyu_query.answers.render import answer_text, cell_text, print_table, quotable, safe, source_text
from monjyu_query.asking.result import AnswerTable
from monjyu_query.digests.result import Digest, word


def print_digest(digest: Digest) -> None:
    """Print the subject, the warnings, the paragraphs and the tables, then the sources."""
    console = Console(highlight=False)
    console.print(Text(safe(digest.subject), style="bold"))
    for warning in digest.warnings:
        console.print(Text(f"Note: {safe(warning)}", style="yellow"))
    if text := answer_text(digest.segments()):
        console.print(Padding(text, (1, 0)))
    for table in digest.tables:
        if digest.kind == "table" and console.is_terminal:
            _print_rows(digest, table, console)
        else:
            print_table(table, console)
    if not digest.parts and not digest.tables:
        console.print(Text(word("nothing", digest.language), style="dim"))
    for citation in digest.citations:
        console.print(source_text(citation))


def _print_rows(digest: Digest, table: AnswerTable, console: Console) -> None:
    """Print the rows paper by paper: a terminal is too narrow for six columns of quotes."""
    titles = {paper.paper_id: paper.title for paper in digest.papers}
    for name, *cells in table.rows:
        title = titles.get(name.paper_id or "", "")
        console.print(Text(f"{quotable(name.text)}  ", style="bold").append(quotable(title), style="not bold"))
        for column, cell in zip(table.columns[1:], cells, strict=True):
            line = Text.assemble((f"{quotable(column)}: ", "underline"), cell_text(cell))
            console.print(Padding(line, (0, 0, 0, 2)))
        console.print()
