"""`monjyu questions` and `monjyu watch`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from monjyu_core.errors import ConfigurationError
from monjyu_core.values import Values
from monjyu_query.asking.request import SearchQuestion
from monjyu_query.commands.options import (
    FILE,
    chosen,
    collection_option,
    collection_searcher,
    json_option,
    options_of,
    print_json,
    show,
)

if TYPE_CHECKING:
    from monjyu_core.records.questions import Question, SavedAnswer
    from monjyu_query.search.searcher import Searcher


@click.group()
def questions() -> None:
    """Save questions that each new snapshot must answer before it is published."""


@questions.command("add")
@click.argument("text")
@collection_option
@click.option("--id", "question_id", metavar="ID", help="Id of the question; by default derived from its words.")
@options_of(SearchQuestion, "mode", "budget")
@click.option("--block", is_flag=True, help="Do not publish a snapshot that fails; the default is a warning.")
@click.option("--must-cite", metavar="PAPER_ID", multiple=True, help="A paper that must be cited (repeatable).")
@click.option("--must-not-cite", metavar="PAPER_ID", multiple=True, help="A paper that must not be cited (repeatable).")
@click.option("--must-mention", metavar="WORDS", multiple=True, help="Words that the answer must contain (repeatable).")
@click.option("--must-abstain", is_flag=True, help="The answer must abstain.")
@click.option("--min-papers", type=int, metavar="N", help="Minimum number of cited papers.")
@click.option("--same-answer", is_flag=True, help="The current answer must stay the same: quotes, pages, rectangles.")
@json_option
def add(text: str, collection: str | None, as_json: bool, **options: Any) -> None:
    """Save a question, replacing one with the same id."""
    from monjyu_query.saved.listing import unknown_papers
    from monjyu_query.saved.saving import checked, save

    question = checked(_values(text, **options))
    searcher = collection_searcher(collection)
    save(searcher, [question])
    for error in unknown_papers(searcher.current().snapshot, question):
        click.echo(f"Note: {error}", err=True)
    show(question.model_dump(mode="json", exclude={"baseline"}), as_json, lambda: f"Saved as {question.id}.")


@questions.command("list")
@collection_option
@json_option
def list_questions(collection: str | None, as_json: bool) -> None:
    """List the saved questions with their recorded answers from the published snapshot."""
    from monjyu_core.records.question_list import QUESTIONS
    from monjyu_core.records.recorded_answers import stored_answers
    from monjyu_core.storage.snapshot import read_current

    data, name = chosen(collection)
    folder = data.collection(name)
    current = read_current(folder)
    answers = stored_answers(folder, current) if current else {}
    saved = list(QUESTIONS.read(folder).questions.values())
    if as_json:
        print_json([_described(one, answers.get(one.id)) for one in saved])
        return
    for one in saved:
        click.echo(f"{one.id}  {one.severity:5}  {_state(answers.get(one.id)):8}  {one.text}")


@questions.command("remove")
@click.argument("question_id")
@collection_option
def remove(question_id: str, collection: str | None) -> None:
    """Remove a saved question; recorded answers stay with their snapshots."""
    from monjyu_core.records.question_list import remove_question

    searcher = collection_searcher(collection)
    remove_question(searcher.folder, searcher.settings, question_id)
    click.echo(f"{question_id} was removed.")


@questions.command("import")
@click.argument("file", type=FILE)
@collection_option
@json_option
def import_questions(file: Path, collection: str | None, as_json: bool) -> None:
    """Save the questions of a YAML file, replacing those with the same id."""
    from monjyu_query.saved.saving import read_file, save

    found = read_file(file)
    save(collection_searcher(collection), found)
    show([one.id for one in found], as_json, lambda: f"{len(found)} questions are saved.")


@questions.command("accept")
@click.argument("question_ids", nargs=-1)
@collection_option
def accept(question_ids: tuple[str, ...], collection: str | None) -> None:
    """Accept the next snapshot's answers as the baseline of questions with --same-answer (default: all)."""
    from monjyu_query.saved.saving import accept

    accepted = accept(collection_searcher(collection), list(question_ids))
    named = ", ".join(accepted) or "none"
    click.echo(f"The next snapshot's answers become the baseline of {len(accepted)} questions: {named}.")


@questions.command("run")
@click.argument("question_ids", nargs=-1)
@collection_option
@click.option("--snapshot", "snapshot_id", help="Ask this snapshot instead of the published one.")
@click.option(
    "--anew", is_flag=True, help="Ask questions again that were already answered on a snapshot with the same content."
)
@click.option("--record", is_flag=True, help="Record the answers with the snapshot.")
@json_option
def run(
    question_ids: tuple[str, ...],
    collection: str | None,
    snapshot_id: str | None,
    anew: bool,
    record: bool,
    as_json: bool,
) -> None:
    """Answer the saved questions and check their expectations.

    Exit code 1 if a blocking question fails.
    """
    started = time.perf_counter()
    searcher = collection_searcher(collection, snapshot_id, leaves_traces=False)  # no user asked the questions
    asked = _chosen(searcher, question_ids)
    from monjyu_query.saved.ask_questions import ask_all, record_answers

    answers, reused = ask_all(searcher, asked, _tell, anew=anew)
    snapshot = searcher.current().snapshot.id
    if record:
        record_answers(searcher, snapshot, answers)
    if as_json:
        counted = {"asked": len(answers), "reused": reused, "failed": sum(not one.passed for one in answers)}
        told: Values = {"collection": searcher.collection, "snapshot_id": snapshot} | counted
        told |= {"blocked": sum(one.blocks for one in answers), "seconds": round(time.perf_counter() - started, 3)}
        print_json(told | {"answers": [one.model_dump(mode="json") for one in answers]})
    else:
        _print_answers(answers, reused, snapshot)
    sys.exit(int(any(one.blocks for one in answers)))


def _values(text: str, **options: Any) -> Values:
    expect = {name: options[name] for name in ("must_abstain", "min_papers", "same_answer")}
    expect |= {name: list(options[name]) for name in ("must_not_cite", "must_mention")}
    return {
        "id": options["question_id"],
        "text": text,
        "mode": options["mode"],
        "budget": options["budget"],
        "severity": "block" if options["block"] else "warn",
        "expect": expect | {"must_cite": [{"paper": one} for one in options["must_cite"]]},
    }


def _chosen(searcher: Searcher, question_ids: tuple[str, ...]) -> list[Question]:
    from monjyu_core.records.question_list import QUESTIONS, unknown

    saved = QUESTIONS.read(searcher.folder).questions
    for name in question_ids:
        if name not in saved:
            raise unknown(name)
    return [one for name, one in saved.items() if not question_ids or name in question_ids]


def _tell(done: int, total: int) -> None:
    click.echo(f"{done} of {total} saved questions", err=True)


def _print_answers(answers: list[SavedAnswer], reused: int, snapshot: str) -> None:
    from monjyu_query.answers.render import safe

    for one in answers:
        click.echo(f"{one.question_id}  {_state(one):8}  {safe(one.text)}")
        for failure in one.failures:
            click.echo(f"    {failure.expectation}: {safe(failure.detail)}")
    failed = sum(not one.passed for one in answers)
    click.echo(f"{snapshot}: {len(answers) - failed} of {len(answers)} are as expected; {reused} were answered before.")


def _state(answer: SavedAnswer | None) -> str:
    if answer is None:
        return "-"
    return "holds" if answer.passed else "blocks" if answer.blocks else "warns"


def _described(question: Question, answer: SavedAnswer | None) -> Values:
    """Return the question with `answer`, the published snapshot's, or None if it is not recorded."""
    told = answer and answer.model_dump(mode="json", include={"snapshot_id", "status", "answer", "failures"})
    return question.model_dump(mode="json", exclude={"baseline"}) | {"answer": told}


# `monjyu watch`.
@click.command()
@collection_option
@click.option(
    "--format", "form", type=click.Choice(("markdown", "atom", "json")), default="markdown", show_default=True
)
@click.option(
    "--from", "older", metavar="SNAPSHOT", help="Older snapshot; by default the one before the published one."
)
@click.option("--since", metavar="DATE", help="Instead of --from: the snapshot that was the newest at this time.")
@click.option("--send", is_flag=True, help="Also send the event to the addresses of watch.webhooks.")
def watch(collection: str | None, form: str, older: str | None, since: str | None, send: bool) -> None:
    """Show what changed in the answers to saved questions.

    Each change is shown with its cause: a document, a setting, or the ranking.
    """
    from monjyu_core.settings.settings import load_settings
    from monjyu_query.saved.digest import as_atom, as_markdown
    from monjyu_query.saved.digest import watch as changes_of

    settings = load_settings().watch
    if send and not settings.webhooks:
        raise ConfigurationError("No address is configured.", "Set watch.webhooks in monjyu.yaml.")
    digest = changes_of(*chosen(collection), older, since)
    show(digest, form == "json", lambda: (as_markdown if form == "markdown" else as_atom)(digest).rstrip())
    if send:
        from monjyu_query.saved.digest import send as post

        told = post(digest, settings)
        click.echo(f"Sent to {', '.join(told)}." if told else "Nothing changed, so nothing was sent.", err=True)
