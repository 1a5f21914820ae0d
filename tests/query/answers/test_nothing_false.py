"""What answers say of the collection is true: asked are 200 questions by others that the collections answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from monjyu_core.language.packs import LANGUAGES
from monjyu_core.storage.folders import DataFolder
from monjyu_core.text.unicode_words import compact, folded, words
from monjyu_query.answers.outcome import NOTES
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.search.searcher import Searcher
from tests.conftest import CORPORA, call_monjyu, needs_corpora
from tests.prepared import prepared

QUESTIONS, PAPERS = 100, 120
"""Of each set; the papers of the first questions and some more."""
READ = 4
"""The step in which questions are asked with the reader, too: what is said of the collection does not come from it."""
SETS = ("pubmedqa_dev", "jsquad")
TEMPLATES = [
    (kind, re.compile(re.escape(text.strip()).replace(r"\{\}", "(.+?)")))
    for of in map(NOTES.__getitem__, LANGUAGES)
    for kind, text in of.items()
]
LONG = 5
"""Letters from which a word is looked for in other words, too."""
NAMED = re.compile("“([^”]+)”|「([^」]+)」")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def asked_of(name: str) -> tuple[list[str], dict[str, str]]:
    """Questions with the texts of the papers that they are asked of."""
    folder = CORPORA / name
    papers = {
        one["id"]: f"{one.get('title', '')}\n{one['text']}" for one in islice(lines(folder / "corpus.jsonl"), PAPERS)
    }
    relevant = {}
    if (folder / "qrels.tsv").exists():
        rows = (line.split("\t") for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:])
        relevant = {row[0]: row[1] for row in rows}
    answered = (q["text"] for q in lines(folder / "queries.jsonl") if relevant.get(q["id"], q.get("doc")) in papers)
    return list(islice(answered, QUESTIONS)), papers


def build(data: Path) -> None:
    for name in SETS:
        part = data / f"{name}.jsonl"
        data.mkdir(exist_ok=True)
        part.write_text("".join(line for line in islice((CORPORA / name / "corpus.jsonl").open(), PAPERS)), "utf-8")
        done = call_monjyu(data, "index", part, "-c", name, "--level", "0", "--json")
        assert done.returncode == 0, done.stderr


def has(text: str, word: str) -> bool:
    """Whether a text has a word in some spelling; a long one also as a part of another."""
    bare = compact(word)
    return bare in (compact(text) if len(bare) >= LONG else words(folded(text)))


def said_of_collection(result: SearchResult) -> list[str]:
    """What an answer says without a source."""
    return [segment.text.strip() for segment in result.segments if not segment.citations]


@needs_corpora
@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(("reader", "step"), [("off", 1), ("auto", READ)])
def test_nothing_false_is_said_of_the_collection(name: str, reader: str, step: int) -> None:
    data = prepared("answerable", build)
    searcher = Searcher(DataFolder(data), name, instead={"search": {"reader": reader}})
    questions, papers = asked_of(name)
    assert len(questions) == QUESTIONS
    questions = questions[::step]
    everything = "\n".join(papers.values())
    abstained = 0
    for query in questions:
        result = searcher.search(make_request(query=query, collection=name, mode="hybrid"))
        abstained += result.status == "abstained"
        quoted = "\n".join(f"{one.paper_title} {one.quote}" for one in result.citations)
        for text in said_of_collection(result):
            kinds = {kind for kind, template in TEMPLATES if template.search(text)}
            named = [one or other for one, other in NAMED.findall(text)]
            assert kinds or not named, f"{query}: {text}"
            within = everything if "absent" in kinds else quoted
            assert not [word for word in named if has(within, word)], f"{query}: {text}"
    assert abstained <= 0.1 * len(questions)
