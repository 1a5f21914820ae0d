"""How changes are told: Markdown and Atom of hostile words, the event to configured addresses only, expectations."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from pydantic import ValidationError

from monjyu_core.errors import ConfigurationError, ExternalAPIError
from monjyu_core.records.questions import SavedAnswer, SavedCitation, SavedSpan, make_question
from monjyu_core.settings.operations import WatchSettings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import reading
from monjyu_query.saved.ask_questions import judge
from monjyu_query.saved.causes import AnswerDiff, Cause, CitationChange
from monjyu_query.saved.digest import Digest, as_atom, as_markdown, send
from monjyu_query.saved.listing import unknown_papers
from monjyu_query.saved.saving import checked, read_file

HOSTILE = "]]> <script>x</script>\x0b\n# A heading [1](http://evil.example)"


def digest(*, changed: bool = True) -> Digest:
    cause = Cause(kind="edited", paper_id="p-1")
    change = CitationChange(
        change="lost", paper_id="p-1", paper_title=HOSTILE, quote=HOSTILE, n=(1, None), page=(3, None), cause=cause
    )
    diff = AnswerDiff(
        question_id="q",
        query=HOSTILE,
        collection="c",
        older="a",
        newer="b",
        same=False,
        status=("complete", "partial"),
        recorded=(True, True),
        citations=[change],
    )
    at = "2026-11-25T00:00:00+00:00"
    found = [diff] if changed else []
    return Digest(collection="c", older="a", newer="b", at=at, questions=1, unchanged=1 - len(found), changed=found)


@contextmanager
def listening(status: int = 204, **headers: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server on the loopback address: its address, and the bodies that it got."""
    got: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/event", got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_event_goes_to_the_configured_addresses_and_only_where_something_changed() -> None:
    with listening() as (address, got):
        settings = WatchSettings(webhooks=[address])
        assert send(digest(changed=False), settings) == [] and got == []
        assert send(digest(), settings) == ["127.0.0.1"]
        assert send(digest(), WatchSettings()) == []
    assert [one["event"] for one in got] == ["answers_changed"]
    assert Digest.model_validate(got[0]) == digest()


def test_a_redirect_is_not_followed() -> None:
    with listening() as (elsewhere, got), listening(307, Location=elsewhere) as (address, first):
        with pytest.raises(ExternalAPIError, match="307"):
            send(digest(), WatchSettings(webhooks=[address]))
        assert len(first) == 1 and got == []


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/x",
        "http://169.254.169.254/",
        "https://user@example.org",
        "file:///etc/passwd",
        "http://localhost.evil/",
    ],
)
def test_other_addresses_are_no_setting(address: str) -> None:
    with pytest.raises(ValidationError):
        WatchSettings(webhooks=[address])


def test_words_of_papers_are_words() -> None:
    feed = fromstring(as_atom(digest()))
    (entry,) = feed.findall("{http://www.w3.org/2005/Atom}entry")
    assert entry.findtext("{http://www.w3.org/2005/Atom}title") == HOSTILE.replace("\x0b", " ")
    (content,) = entry.findall("{http://www.w3.org/2005/Atom}content")
    assert content.get("type") == "text", "a reader shows it as it is"
    lines = as_markdown(digest()).splitlines()
    assert not any(line.startswith("# A heading") for line in lines) and "[1](" not in as_markdown(digest())
    assert "  - because p-1 was edited" in lines


def answer(**more: Any) -> SavedAnswer:
    cited = SavedCitation(
        n=1,
        paper_id="p-1",
        paper_title="T",
        paper_sha256="",
        retracted=False,
        chunk_id="c",
        sentence_ids=["p-1.s1"],
        quote="The budget is\nspent on tests.",
        page=3,
        spans=[SavedSpan(page=3, boxes=[]), SavedSpan(page=4, boxes=[])],
    )
    names = ("question_id", "snapshot_id", "asked", "key", "text", "mode", "severity")
    values = dict.fromkeys(names, "x") | {"status": "complete", "answer": "Spent on Tests. [1]", "citations": [cited]}
    return SavedAnswer.model_validate(values | more)


@pytest.mark.parametrize(
    ("expect", "holds"),
    [
        ({"must_cite": [{"paper": "p-1", "text": "budget is spent", "page": 4}]}, True),
        ({"must_cite": [{"paper": "p-1", "page": 5}]}, False),
        ({"must_cite": [{"paper": "p-2"}]}, False),
        ({"must_not_cite": ["p-1"]}, False),
        ({"must_mention": ["spent on TESTS"]}, True),
        ({"must_mention": ["lease"]}, False),
        ({"must_abstain": True}, False),
        ({"min_papers": 2}, False),
    ],
)
def test_expectations(expect: dict[str, Any], holds: bool) -> None:
    question = make_question(id="q", text="x", expect=expect)
    failures = judge(question, answer())
    assert (failures == []) is holds
    assert holds or [one.expectation for one in failures] == list(expect)
    assert judge(question, answer(error="It failed."))[0].expectation == "answered"


def test_wrong_questions_are_clear_errors(tmp_path: Any) -> None:
    for wrong in (
        {"text": ""},
        {"text": "x", "id": "../x"},
        {"text": "x", "expect": {"most": 1}},
        {"text": "x", "more": 1},
    ):
        with pytest.raises(ConfigurationError, match="A saved question"):
            checked(wrong)
    file = tmp_path / "questions.yaml"
    for text, why in (
        ("a: [", "cannot be read"),
        ("3", "not a list"),
        ("[{id: a, text: x}, {id: a, text: y}]", "twice"),
    ):
        file.write_text(text)
        with pytest.raises(ConfigurationError, match=why):
            read_file(file)


def test_papers_that_the_collection_has_not_are_told(sample_data: Path) -> None:
    places = [{"paper": "score-fusoin"}, {"paper": "score-fusion"}]
    question = checked({"text": "What is fused?", "expect": {"must_cite": places, "must_not_cite": ["nowhere"]}})
    with reading(DataFolder(sample_data).collection("samples")) as snapshot:
        told = [str(error) for error in unknown_papers(snapshot, question)]
    assert [error.split("'")[1] for error in told] == ["score-fusoin", "nowhere"]
    assert "Did you mean score-fusion" in told[0]
