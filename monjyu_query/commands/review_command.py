"""`monjyu review`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from monjyu_core.errors import QueryError
from monjyu_core.values import Values
from monjyu_query.commands.options import (
    NEW_FILE,
    chosen,
    collection_option,
    collection_searcher,
    format_option,
    interrupt,
    json_option,
    output_option,
    print_json,
    printable,
    show,
    show_progress,
    write_output,
)

if TYPE_CHECKING:
    from monjyu_core.records.reviews import Human, ReviewState, ReviewStore
    from monjyu_query.ranking.open_index import OpenIndex
    from monjyu_query.reviews.protocol import Protocol
    from monjyu_query.reviews.records import Record
    from monjyu_query.reviews.run import Review
    from monjyu_query.search.searcher import Searcher

_protocol = click.argument("protocol", type=NEW_FILE, metavar="PROTOCOL.yaml")


@click.group()
def review() -> None:
    """Screen papers by a protocol; updates screen only new and changed papers."""


@dataclass(frozen=True)
class _Opened:
    """A protocol with the published snapshot."""

    searcher: Searcher
    index: OpenIndex
    protocol: Protocol
    review: Review
    store: ReviewStore

    def records(self, state: ReviewState) -> list[Record]:
        from monjyu_query.reviews.records import review_records

        return review_records(self.index, self.protocol, state)

    def told(self, records: list[Record]) -> Values:
        """The fields with which each output of `--json` begins."""
        from monjyu_query.reviews.export import review_json

        return review_json(self.index, self.protocol, records)


def _open(path: Path, collection: str | None) -> _Opened:
    """Open the protocol with the named collection, or else the protocol's own collection, or else the only one."""
    from monjyu_core.records.reviews import ReviewStore
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.reviews.protocol import read_protocol
    from monjyu_query.reviews.run import Review

    protocol = read_protocol(path)
    searcher = collection_searcher(collection or protocol.collection)
    store = ReviewStore(DataFolder.default(), searcher.collection)
    return _Opened(searcher, searcher.current(), protocol, Review(searcher, store, protocol), store)


@review.command()
@_protocol
@collection_option
@json_option
def init(protocol: Path, collection: str | None, as_json: bool) -> None:
    """Write a template of a protocol; an existing file is not overwritten."""
    from monjyu_query.reviews.protocol import protocol_template, review_name

    _, name = chosen(collection)
    try:
        with protocol.open("x", encoding="utf-8") as file:
            file.write(protocol_template(review_name(protocol.stem), name))
    except FileExistsError:
        raise QueryError(f"{protocol} already exists.", "Name another file, or change this one.") from None
    except OSError as error:
        raise QueryError(f"{protocol} cannot be written: {error.strerror}.", "Name another file.") from error
    text = f"Written to {protocol}. Change it, then: monjyu review run {protocol}"
    show({"protocol": str(protocol), "collection": name}, as_json, lambda: text)


@review.command()
@_protocol
@collection_option
@click.option("--again", is_flag=True, help="Screen every paper again, including unchanged ones.")
@json_option
def run(protocol: Path, collection: str | None, again: bool, as_json: bool) -> None:
    """Screen new and changed papers, or all papers if the criteria have changed."""
    from monjyu_query.reviews.protocol import protocol_text

    opened = _open(protocol, collection)
    opened.store.keep_protocol(opened.protocol.name, protocol_text(protocol))  # for the page, which shows the criteria
    done = opened.review.run(opened.index, again=again, told=show_progress, cancel=interrupt())
    records = opened.records(done.state)
    if as_json:
        told = {"screened": done.screened, "kept": done.kept, "gone": done.gone, "whole": done.whole}
        called = {"failed": done.failed, "usage": done.usage.model_dump(mode="json")}
        print_json(opened.told(records) | told | called)
        return
    gone = f", {len(done.gone)} removed" if done.gone else ""
    click.echo(f"{len(done.screened)} screened, {done.kept} unchanged{gone}.")
    if not done.whole:
        click.echo("Stopped; run the same command to continue.", err=True)
    if done.failed:
        click.echo(
            f"{len(done.failed)} calls of the model failed; the next run repeats them: {done.failed[0]}", err=True
        )
    _print_counts(opened, records)


@review.command()
@_protocol
@collection_option
@click.option("--only", type=click.Choice(("included", "excluded", "unsure", "pending")), help="Only these papers.")
@json_option
def status(protocol: Path, collection: str | None, only: str | None, as_json: bool) -> None:
    """Show the counts, and each paper with its decision, reason and quote."""
    from monjyu_query.reviews.export import record_json, record_lines

    opened = _open(protocol, collection)
    records = opened.records(opened.review.state(opened.index))
    shown = [one for one in records if one.paper_id and one.outcome != "unsupported" and only in (None, one.outcome)]
    if as_json:
        print_json(opened.told(records) | {"records": [record_json(one) for one in shown]})
        return
    _print_counts(opened, records)
    for one in shown:
        click.echo("\n".join(["", *record_lines(opened.protocol, one)]))


def _print_counts(opened: _Opened, records: list[Record]) -> None:
    from monjyu_query.answers.render import safe
    from monjyu_query.reviews.prisma import boxes, prisma

    for head, lines in boxes(prisma(opened.protocol, records)).values():
        click.echo("\n".join([safe(head), *(f"    {safe(line)}" for line in lines)]))


@review.command()
@_protocol
@click.argument("paper")
@click.argument("decision", type=click.Choice(("include", "exclude", "undo")))
@click.option("--reason", default="", help="Reason; required for include and exclude.")
@click.option("--criterion", default="", metavar="ID", help="Criterion of the protocol that decides.")
@collection_option
@json_option
def decide(
    protocol: Path,
    paper: str,
    decision: str,
    reason: str,
    criterion: str,
    collection: str | None,
    as_json: bool,
) -> None:
    """Decide on a paper yourself; this overrides every run until `undo`.

    PAPER is an id, a DOI, words of a title, or first author and year.
    """
    from monjyu_query.reviews.export import record_json, record_lines

    opened = _open(protocol, collection)
    taken: dict[str, Human | None] = {"include": "include", "exclude": "exclude", "undo": None}
    paper_id, state = opened.review.decide(
        opened.index, printable(paper), taken[decision], printable(reason), criterion
    )
    [record] = [one for one in opened.records(state) if one.paper_id == paper_id]
    told = {"review": opened.protocol.name, "collection": opened.searcher.collection} | record_json(record)
    show(told, as_json, lambda: "\n".join(record_lines(opened.protocol, record)))


@review.command()
@_protocol
@collection_option
@format_option("monjyu_query.reviews.export", "markdown")
@output_option
@json_option
def export(protocol: Path, collection: str | None, form: str, output: Path | None, as_json: bool) -> None:
    """Write the review: a report, all decisions (csv, json), RIS of the included papers, labels for ASReview, the
    evidence table (csv), the flow diagram (svg, mermaid).
    """
    from monjyu_query.reviews.export import exported

    opened = _open(protocol, collection)
    records = opened.records(opened.review.state(opened.index))
    content = exported("json" if as_json else form, opened.searcher, opened.index, opened.protocol, records)
    if output is None:
        click.echo(content, nl=False)
        return
    write_output(output, content.encode())
    click.echo(f"Written to {output}.")
