"""`monjyu answer diff`."""

from __future__ import annotations

import click

from monjyu_query.asking.request import SearchQuestion
from monjyu_query.commands.options import collection_option, json_option, options_of, print_json


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
    """Show what an answer gained, lost and moved between two snapshots, and which document caused it.

    QUESTION is the id of a saved question, or a question in words.
    """
    from monjyu_core.questions.question_record import read_questions
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.asking.which_collection import chosen_collection
    from monjyu_query.saved.changes.digest import diff_markdown
    from monjyu_query.saved.changes.travelling import Journey, snapshots_between
    from monjyu_query.saved.keeping import checked

    data = DataFolder.default()
    name = chosen_collection(data, collection)
    folder = data.collection(name)
    asked = read_questions(folder).questions.get(question)
    if asked is None:
        asked = checked({"text": question, "mode": mode}).model_copy(update={"id": ""})
    found = Journey(data, name, *snapshots_between(folder, older, newer, since)).diff(asked)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        click.echo(f"{found.older} → {found.newer}\n\n{diff_markdown(found)}".rstrip())
