"""`monjyu answer export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from monjyu_query.asking.request import SearchQuestion
from monjyu_query.commands.options import (
    collection_option,
    format_option,
    json_option,
    options_of,
    print_json,
    write_output,
)
from monjyu_query.commands.searching import printable

if TYPE_CHECKING:
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.answer_packages.asked_answer import AskedAnswer


@click.command()
@click.argument("asked")
@collection_option
@format_option("monjyu_query.answer_packages.forms.all_forms", "ro-crate")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="File to write; for a package a new folder or a .zip file.",
)
@options_of(SearchQuestion, "mode", help="Mode, for a new question.")
@click.option("--crops", is_flag=True, help="Add images of the quotes on their pages (packages only).")
@click.option("--author", metavar="NAME", help="Author named in the package's metadata.")
@click.option(
    "--sign",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="KEY",
    help="Sign the package with this private Ed25519 key (PEM).",
)
@json_option
def export(
    asked: str,
    collection: str | None,
    form: str,
    output: Path,
    mode: str,
    crops: bool,
    author: str | None,
    sign: Path | None,
    as_json: bool,
) -> None:
    """Write an answer as a file, or as a package that `monjyu verify` checks.

    ASKED is the `trace_id` of an earlier search, or a new question.
    """
    if form != "ro-crate" and (crops or sign or author):
        raise click.UsageError("--crops, --sign and --author go with packages (--format ro-crate).")
    from monjyu_core.storage.folders import DataFolder

    data = DataFolder.default()
    answer = _answer(data, printable(asked), collection, mode)
    if form == "ro-crate":
        _write_package(answer, output, crops, printable(author) if author else None, sign)
    else:
        from monjyu_query.answer_packages.forms.all_forms import written

        write_output(output, written(answer, form))
    left = {"purged" if one.why == "purged" else one.paper_id for one in answer.left_out}
    if as_json:
        told = {"trace_id": answer.trace_id, "snapshot_id": answer.index.snapshot.id, "format": form}
        print_json(told | {"output": str(output), "differs": list(answer.differs), "left_out": sorted(left)})
        return
    from monjyu_query.answer_packages.forms.document import notes_of

    for note in notes_of(answer):
        click.echo(f"Note: {note}", err=True)
    click.echo(f"Written to {output}.")


def _answer(data: DataFolder, asked: str, collection: str | None, mode: str) -> AskedAnswer:
    from monjyu_query.answer_packages.asked_answer import asked_again, asked_now, is_trace_id
    from monjyu_query.asking.request import make_request
    from monjyu_query.asking.which_collection import chosen_collection

    if is_trace_id(asked):
        answer = asked_again(data, asked)
        if collection is not None and answer.request.collection != collection:
            raise click.UsageError(f"That search was made in {answer.request.collection}.")
        return answer
    return asked_now(data, make_request(query=asked, collection=chosen_collection(data, collection), mode=mode))


def _write_package(answer: AskedAnswer, output: Path, crops: bool, author: str | None, sign: Path | None) -> None:
    from monjyu_core.user_files.bounded_reading import read_bytes
    from monjyu_query.answer_packages.package import package_of
    from monjyu_query.answer_packages.package_files import write_package
    from monjyu_query.answer_packages.signature import LONGEST_KEY, signed

    if crops:
        from monjyu_core.settings.settings import load_settings
        from monjyu_query.answer_packages.crops import crops_by
        from monjyu_query.service.pages.drawing import Drawing

        settings = load_settings().service
        drawing = Drawing(settings.page_seconds, settings.page_memory_mb)
        try:
            files = package_of(answer, crops_by(drawing.draw), author)
        finally:
            drawing.close()
    else:
        files = package_of(answer, author=author)
    write_package(signed(files, read_bytes(sign, LONGEST_KEY)) if sign else files, output)
