"""`monjyu answer export`, `monjyu answer diff` and `monjyu verify`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from monjyu_core.user_files.bounded_reading import read_bytes
from monjyu_query.asking.request import SearchQuestion, make_request
from monjyu_query.commands.options import (
    FILE,
    chosen,
    collection_option,
    format_option,
    json_option,
    options_of,
    print_json,
    printable,
    show,
    write_output,
)

if TYPE_CHECKING:
    from monjyu_query.answer_packages.asked_answer import AskedAnswer
    from monjyu_query.answer_packages.package import Crops
    from monjyu_query.answer_packages.verification import Verified


@click.command()
@click.argument("asked")
@collection_option
@format_option("monjyu_query.answer_packages.all_forms", "ro-crate")
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
@click.option("--sign", type=FILE, metavar="KEY", help="Sign the package with this private Ed25519 key (PEM).")
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
        raise click.UsageError("--crops, --sign and --author require a package (--format ro-crate).")
    answer = _answer(printable(asked), collection, mode)
    if form == "ro-crate":
        _write_package(answer, output, crops, printable(author) if author else None, sign)
    else:
        from monjyu_query.answer_packages.all_forms import written

        write_output(output, written(answer, form))
    left = {"purged" if one.why == "purged" else one.paper_id for one in answer.left_out}
    if as_json:
        told = {"trace_id": answer.trace_id, "snapshot_id": answer.index.snapshot.id, "format": form}
        print_json(told | {"output": str(output), "differs": list(answer.differs), "left_out": sorted(left)})
        return
    from monjyu_query.answer_packages.document import notes_of

    for note in notes_of(answer):
        click.echo(f"Note: {note}", err=True)
    click.echo(f"Written to {output}.")


def _answer(asked: str, collection: str | None, mode: str) -> AskedAnswer:
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.answer_packages.asked_answer import asked_again, asked_now, is_trace_id

    if is_trace_id(asked):
        answer = asked_again(DataFolder.default(), asked)
        if collection is not None and answer.request.collection != collection:
            raise click.UsageError(f"That search was made in collection {answer.request.collection}.")
        return answer
    data, name = chosen(collection)
    return asked_now(data, make_request(query=asked, collection=name, mode=mode))


def _write_package(answer: AskedAnswer, output: Path, crops: bool, author: str | None, sign: Path | None) -> None:
    from monjyu_query.answer_packages.package import package_of
    from monjyu_query.answer_packages.package_files import LONGEST_KEY, signed, write_package

    with _drawing() if crops else nullcontext() as crop:
        files = package_of(answer, crop, author)
    write_package(signed(files, read_bytes(sign, LONGEST_KEY)) if sign else files, output)


@contextmanager
def _drawing() -> Iterator[Crops]:
    """Yield a function that draws images of quotes, in a process that ends with the block."""
    from monjyu_core.settings.settings import load_settings
    from monjyu_query.answer_packages.crops import crops_by
    from monjyu_query.service.server.drawing import Drawing

    settings = load_settings().service
    with closing(Drawing(settings.page_seconds, settings.page_memory_mb)) as drawing:
        yield crops_by(drawing.draw)


# `monjyu answer diff`.
@click.command("diff")
@click.argument("question")
@collection_option
@click.option("--from", "older", metavar="SNAPSHOT", help="Older snapshot; by default the one before the newer.")
@click.option("--to", "newer", metavar="SNAPSHOT", help="Newer snapshot; by default the published one.")
@click.option("--since", metavar="DATE", help="Instead of --from: the snapshot that was the newest at this time.")
@options_of(SearchQuestion, "mode", help="Mode, for a question in words.")
@json_option
def diff(
    question: str,
    collection: str | None,
    older: str | None,
    newer: str | None,
    since: str | None,
    mode: str,
    as_json: bool,
) -> None:
    """Show which citations an answer gained, lost or moved between two snapshots, and which document caused it.

    QUESTION is the id of a saved question, or the text of a question.
    """
    from monjyu_core.records.question_list import QUESTIONS
    from monjyu_query.saved.compared_snapshots import Journey, snapshots_between
    from monjyu_query.saved.digest import diff_markdown
    from monjyu_query.saved.saving import checked

    data, name = chosen(collection)
    folder = data.collection(name)
    asked = QUESTIONS.read(folder).questions.get(question)
    if asked is None:
        asked = checked({"text": question, "mode": mode}).model_copy(update={"id": ""})
    found = Journey(data, name, *snapshots_between(folder, older, newer, since)).diff(asked)
    show(found, as_json, lambda: f"{found.older} → {found.newer}\n\n{diff_markdown(found)}".rstrip())


_SIGNS = {"holds": "ok", "differs": "DIFF", "not_checked": "?"}


@click.command()
@click.argument("package", type=click.Path(exists=True, path_type=Path))
@click.option("-c", "--collection", metavar="NAME", help="The collection, if it has another name here.")
@click.option("--key", type=FILE, help="The public Ed25519 key (PEM) that must have signed the package.")
@json_option
def verify(package: Path, collection: str | None, key: Path | None, as_json: bool) -> None:
    """Verify the package of an answer by building it again.

    PACKAGE is a folder or archive written by `monjyu answer export`. If the collection is indexed here, every file is
    compared with one built from it. Exit code 0: everything matches; 1: something differs; 2: it is not a package; 3:
    something could not be compared.
    """
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.answer_packages.package_files import LONGEST_KEY, public_key_of
    from monjyu_query.answer_packages.verification import verify_package

    wanted = public_key_of(read_bytes(key, LONGEST_KEY)) if key else None
    with _drawing() as crop:
        found = verify_package(package, DataFolder.default(), collection, wanted, crop)
    differs = any(check.outcome == "differs" for check in found.checks)
    end = "DIFFERS" if differs else "ok" if found.ok else "NOT EVERYTHING COULD BE COMPARED"
    show(found, as_json, lambda: "\n".join([*_checked(found), end]))
    sys.exit(0 if found.ok else 1 if differs else 3)


def _checked(found: Verified) -> Iterator[str]:
    from monjyu_query.answers.render import safe

    for check in found.checks:
        yield f"{_SIGNS[check.outcome]:<5}{check.check}: {safe(check.said)}"
        yield from (f"       {safe(one)}" for one in check.details)


@click.group()
def answer() -> None:
    """Export answers; show how they changed between snapshots."""


answer.add_command(diff)
answer.add_command(export)
