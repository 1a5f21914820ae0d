"""Reports changes in the answers to the saved questions: as Markdown, as an Atom feed, and as an event in JSON."""

from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, SubElement, tostring

from pydantic import BaseModel

from monjyu_core.errors import ExternalAPIError, QueryError
from monjyu_core.records.question_list import QUESTIONS
from monjyu_core.settings.operations import WatchSettings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.manifest import read_manifest
from monjyu_query.answers.render import quotable
from monjyu_query.citations.export import xml_text
from monjyu_query.saved.causes import AnswerDiff, Cause, CitationChange
from monjyu_query.saved.compared_snapshots import Journey, snapshots_between

_ATOM = "http://www.w3.org/2005/Atom"
_LONGEST_QUOTE = 300


class Digest(BaseModel):
    """The changes of a collection's answers from one snapshot to another. `changed` are the changed answers,
    `unchanged` is the number of the others; `at` is the time of the newer snapshot (ISO, UTC)."""

    event: Literal["answers_changed"] = "answers_changed"
    collection: str
    older: str
    newer: str
    at: str
    questions: int
    unchanged: int
    changed: list[AnswerDiff]


def watch(
    data: DataFolder,
    collection: str,
    older: str | None = None,
    newer: str | None = None,
    since: str | None = None,
) -> Digest:
    """Compare two snapshots' answers to all saved questions. Raises QueryError without questions or a pair."""
    folder = data.collection(collection)
    questions = list(QUESTIONS.read(folder).questions.values())
    if not questions:
        raise QueryError(f"{collection} has no saved questions.", "`monjyu questions add` saves one.")
    before, after = snapshots_between(folder, older, newer, since)
    diffs = Journey(data, collection, before, after).diffs(questions)
    changed = [one for one in diffs if not one.same]
    return Digest(
        collection=collection,
        older=before,
        newer=after,
        at=read_manifest(folder, after).created_at,
        questions=len(diffs),
        unchanged=len(diffs) - len(changed),
        changed=changed,
    )


def as_markdown(digest: Digest) -> str:
    head = f"# What changed in the answers of {digest.collection}\n\n{digest.older} → {digest.newer}: "
    counted = f"{len(digest.changed)} of {digest.questions} answers changed.\n"
    return "\n".join([head + counted, *(diff_markdown(one) for one in digest.changed)])


def diff_markdown(diff: AnswerDiff) -> str:
    """Return the changes of one answer in Markdown: citations and sentences, each with its cause."""
    return "\n".join([f"## {_plain(diff.query)}\n", *_lines(diff), ""])


def _lines(diff: AnswerDiff) -> Iterator[str]:
    if diff.same:
        yield "Nothing changed."
    if diff.status[0] != diff.status[1]:
        yield f"- the answer is {_plain(diff.status[1])}; before, it was {_plain(diff.status[0])}"
    for one in diff.citations:
        yield f"- **{one.change}**{_where(one)}: “{_short(one.quote)}” ({_plain(one.paper_title or one.paper_id)})"
        yield f"  - because {because(one.cause)}"
    told = {one.quote for one in diff.citations}
    for sentence in diff.sentences:
        if not any(quote in sentence.text for quote in told):
            yield f"- **{sentence.change}**: {_short(sentence.text)}"
            yield from (f"  - because {because(cause)}" for cause in sentence.causes)


def because(cause: Cause) -> str:
    """Describe a cause in words that end a sentence."""
    paper, more = _plain(cause.paper_id or "the document"), f" ({_plain(cause.detail)})" if cause.detail else ""
    words = {
        "settings": f"settings changed: {_plain(cause.detail)}",
        "reparsed": f"{paper} was parsed again{more}",
        "unreadable": f"{paper} can no longer be read",
        "renamed": f"a file was renamed: {_plain(cause.detail)}",
    }
    if cause.kind == "ranking":
        others = ", ".join(map(_plain, cause.documents))
        return f"other documents moved it: {others}" if others else f"its rank changed{more}"
    return words.get(cause.kind, f"{paper} was {cause.kind}{more}")


def as_atom(digest: Digest) -> str:
    """Return an Atom feed with an entry for each changed answer. Its ids do not depend on the time of writing."""
    feed = Element("feed", {"xmlns": _ATOM})
    _add(feed, "title", f"Answers of {digest.collection}")
    _add(feed, "id", f"urn:monjyu:answers:{digest.collection}")
    _add(feed, "updated", digest.at)
    _add(SubElement(feed, "author"), "name", "Monjyu")
    for one in digest.changed:
        entry = SubElement(feed, "entry")
        _add(entry, "title", one.query)
        _add(entry, "id", f"urn:monjyu:answers:{digest.collection}:{one.older}:{one.newer}:{one.question_id or ''}")
        _add(entry, "updated", digest.at)
        _add(entry, "summary", f"{len(one.citations)} citations changed.")
        _add(entry, "content", "\n".join(_lines(one)), type="text")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(feed, encoding="unicode") + "\n"


def _add(parent: Element, name: str, text: str, **attributes: str) -> None:
    SubElement(parent, name, attributes).text = xml_text(text)


def _where(one: CitationChange) -> str:
    what = f" ({', '.join(one.what)})" if one.what else ""
    before, after = one.page
    if before is not None and after is not None and before != after:
        return f"{what} from page {before} to {after}"
    page = after if after is not None else before
    return f"{what}, page {page}" if page is not None else what


def _short(text: str) -> str:
    plain = _plain(text)
    return plain if len(plain) <= _LONGEST_QUOTE else f"{plain[:_LONGEST_QUOTE]} …"


def _plain(text: str) -> str:
    """Return a text on one line, with Markdown escaped."""
    return " ".join(quotable(text).split())


# The event is sent only to the addresses in the settings: redirects are not followed.
def send(digest: Digest, settings: WatchSettings) -> list[str]:
    """POST the digest as JSON to each of `watch.webhooks`; return the hosts that accepted it, or an empty list if
    nothing changed. After trying all addresses, raises ExternalAPIError if one could not be reached or refused.
    """
    import httpx2

    if not digest.changed:
        return []
    told, failed = [], []
    body = digest.model_dump_json().encode()
    headers = {"Content-Type": "application/json", "User-Agent": "monjyu"}
    with httpx2.Client(timeout=settings.timeout_seconds, follow_redirects=False, trust_env=False) as client:
        for address in settings.webhooks:
            host = urlsplit(address).hostname or ""
            try:
                client.post(address, content=body, headers=headers).raise_for_status()
                told.append(host)
            except httpx2.HTTPStatusError as error:
                failed.append(f"{host} answered {error.response.status_code}")
            except httpx2.HTTPError as error:
                failed.append(f"{host}: {type(error).__name__}")
    if failed:
        raise ExternalAPIError(f"The event was not accepted: {'; '.join(failed)}.", "Check watch.webhooks.")
    return told
