"""Claims with passages that support them, contradict them or do not mention them: what the reader's third head learns.

From openly licensed sets (`--extra`), from sentences of papers that rules change (`bench/citation_set.py`,
`bench/made_details.py`), and from what readers of papers wrote (`bench/data/written_claims.jsonl`). The unseen claims
and their papers (ecology, engineering), nutrition and computing are never read here.
"""

from __future__ import annotations

import csv
import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reader_data import REPOSITORY, Document, WordIndex, detached, rows_of, sentences_of

sys.path.insert(0, str(REPOSITORY / "bench"))

SUPPORTED, CONTRADICTED, NOT_MENTIONED = 0, 1, 2


@dataclass(frozen=True)
class Claim:
    """`evidence` are the numbers of the sentences that decide; empty where they are not known."""

    source: str
    text: str
    sentences: tuple[str, ...]
    label: int
    evidence: frozenset[int] = frozenset()


def fever(extra: Path) -> Iterator[Claim]:
    lines = [(extra / f"fever/{name}.txt").read_text(encoding="utf-8").splitlines() for name in ("input0", "input1", "label")]  # fmt: skip
    for evidence, claim, label in zip(*lines, strict=True):
        sentences = tuple(sentences_of(detached(evidence)))[:6]
        if sentences:
            yield Claim("fever", detached(claim), sentences, SUPPORTED if label == "entailment" else CONTRADICTED)


def fever_symmetric(extra: Path) -> Iterator[Claim]:
    for name in ("dev", "test"):
        for row in rows_of(extra / f"fever_symmetric/{name}.jsonl"):
            sentences = tuple(sentences_of(detached(row["evidence"])))
            if sentences:
                label = SUPPORTED if row["label"] == "SUPPORTS" else CONTRADICTED
                yield Claim("fever_symmetric", detached(row["claim"]), sentences, label)


def snli(extra: Path) -> Iterator[Claim]:
    """0 follows, 1 neutral, 2 contradicts."""
    labels = {"0": SUPPORTED, "1": NOT_MENTIONED, "2": CONTRADICTED}
    for name in ("validation", "test"):
        with (extra / f"snli/{name}.tsv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                if row["label"] in labels and row["premise"]:
                    yield Claim("snli", row["hypothesis"], (row["premise"],), labels[row["label"]])


def breaking_nli(extra: Path) -> Iterator[Claim]:
    """One word changed for an opposite, another number or place, or a synonym (Glockner et al. 2018)."""
    labels = {"entailment": SUPPORTED, "neutral": NOT_MENTIONED, "contradiction": CONTRADICTED}
    for row in rows_of(extra / "breaking_nli/data.jsonl"):
        yield Claim("breaking_nli", row["sentence2"], (row["sentence1"],), labels[row["gold_label"]])


def jnli(extra: Path) -> Iterator[Claim]:
    labels = {"entailment": SUPPORTED, "neutral": NOT_MENTIONED, "contradiction": CONTRADICTED}
    for name in ("valid", "test"):
        for row in rows_of(extra / f"jnli/{name}.jsonl"):
            yield Claim("jnli", row["sentence2"], (row["sentence1"],), labels[row["label"]])


def changed(text: str, chance: random.Random) -> str:
    """The sentence with a figure, a negation, a direction or a verb turned; empty where there is nothing to turn."""
    from citation_set import _negated, _number, _turned
    from made_details import _TURN, _TURNED_VERBS

    ways: list[Callable[[], str]] = [
        lambda: _number(text, chance),
        lambda: _turned(text),
        lambda: _negated(text),
        lambda: _TURN.sub(lambda match: _TURNED_VERBS[match[0]], text, count=1) if _TURN.search(text) else "",
    ]
    chance.shuffle(ways)
    return next((result for way in ways if (result := way()) and result != text), "")


def altered(text: str, chance: random.Random) -> tuple[str, int]:
    """The sentence contradicted, or with a made-up detail (not mentioned), or in other words."""
    from made_details import GROUPS, PLACES, reworded

    kind = chance.random()
    said = (reworded(text) if chance.random() < 0.5 else "") or text
    if kind < 0.45 and (result := changed(said, chance)):
        return result, CONTRADICTED
    if kind < 0.6:
        detail = chance.choice([
            f"in {chance.choice(PLACES['develop'])}", f"among {chance.choice(GROUPS['develop'])}",
            f"in {chance.randrange(13, 98)} % of the cases", f"since {chance.randrange(1950, 2022)}",
        ])  # fmt: skip
        return f"{said.rstrip('.')} {detail}.", NOT_MENTIONED
    return said, SUPPORTED


def scitldr(extra: Path, chance: random.Random) -> Iterator[Claim]:
    """What authors and reviewers say in one sentence of a paper, with its abstract, another's, or turned."""
    rows = [row for name in ("train", "dev", "test") for row in rows_of(extra / f"scitldr/{name}.jsonl")]
    index = WordIndex([row["source"] for row in rows])
    for number, row in enumerate(rows):
        sentences = tuple(row["source"])
        scores = (row.get("rouge_scores") or [0.0])[: len(sentences)]
        best = scores.index(max(scores))
        for text in row["target"][:2]:
            yield Claim("scitldr", text, sentences, SUPPORTED, frozenset([best]))
        text = chance.choice(row["target"])
        if turned := changed(text, chance):
            yield Claim("scitldr", turned, sentences, CONTRADICTED, frozenset([best]))
        others = [place for place, _ in index.best(text, 8) if place != number]
        if others:
            yield Claim("scitldr", text, tuple(rows[chance.choice(others)]["source"]), NOT_MENTIONED)


def papers(name: str, documents: Sequence[Document], chance: random.Random, per_paper: int) -> Iterator[Claim]:
    """Sentences of papers as they are, in other words, turned, or held against another place of the paper or another
    paper."""
    index = WordIndex([document.sentences for document in documents])
    for number, document in enumerate(documents):
        good = [
            place
            for place, text in enumerate(document.sentences)
            if 50 <= len(text) <= 320 and text[0].isupper() and text[-1] == "." and not re.search(r"https?:|\[\d", text)
        ]
        for place in chance.sample(good, min(per_paper, len(good))):
            text = document.sentences[place]
            if chance.random() < 0.3:
                said, label = altered(text, chance)
                away = [(n, s) for n, s in index.best(text, 8) if n != number or abs(s - place) > 10]
                if away:
                    other, start = chance.choice(away)
                    yield Claim(name, said, documents[other].sentences[start : start + 6], NOT_MENTIONED)
                continue
            said, label = altered(text, chance)
            first = max(0, place - chance.randrange(5))
            window = document.sentences[first : first + 6]
            yield Claim(
                name, said, window, label, frozenset([place - first]) if label != NOT_MENTIONED else frozenset()
            )


def conclusions(corpora: Path, chance: random.Random) -> Iterator[Claim]:
    """PubMedQA: a conclusion held against the abstract without it, or another's."""
    answers = {row["doc"]: row["answers"][0] for row in rows_of(corpora / "pubmedqa_dev/queries.jsonl")}
    bodies = []
    for row in rows_of(corpora / "pubmedqa_dev/corpus.jsonl"):
        if answer := answers.get(row["id"]):
            start, end = answer["start"], answer["start"] + len(answer["text"])
            body = sentences_of(row["text"][:start] + row["text"][end:])
            bodies.append((tuple(body[-9:]), sentences_of(answer["text"])))
    index = WordIndex([body for body, _ in bodies])
    for number, (body, said) in enumerate(bodies):
        for text in said[:2]:
            yield Claim("pubmedqa", text, body, SUPPORTED)
            if turned := changed(text, chance):
                yield Claim("pubmedqa", turned, body, CONTRADICTED)
            others = [place for place, _ in index.best(text, 6) if place != number]
            if others:
                yield Claim("pubmedqa", text, bodies[chance.choice(others)][0], NOT_MENTIONED)


def tensions() -> Iterator[Claim]:
    """Pairs of statements of two papers: contradictions, and near misses that do not speak of the same thing."""
    for name in ("education", "medicine"):
        for row in rows_of(REPOSITORY / f"bench/data/tensions/{name}.jsonl"):
            if "kind" in row:
                label = NOT_MENTIONED if row["kind"] == "near_miss" else CONTRADICTED
                one, other = row["a"]["sentence"], row["b"]["sentence"]
                yield Claim("tensions", one, (other,), label, frozenset([0]) if label == CONTRADICTED else frozenset())
                yield Claim("tensions", other, (one,), label, frozenset([0]) if label == CONTRADICTED else frozenset())


VERDICTS = {"supported": SUPPORTED, "contradicted": CONTRADICTED, "not_found": NOT_MENTIONED, "partly": NOT_MENTIONED}


def written(texts: dict[str, dict[str, Document]], without: Sequence[str]) -> Iterator[Claim]:
    """What people wrote about papers, with the passage of the paper that shares most words. `texts` by collection and
    the beginning of the paper's id."""
    for row in rows_of(REPOSITORY / "bench/data/written_claims.jsonl"):
        document = texts.get(row["collection"], {}).get(row["paper"])
        if document is None or row["collection"] in without or row["verdict"] == "partly":
            continue
        index = WordIndex([document.sentences])
        for _, start in index.best(row["sentence"], 1):
            yield Claim("written", row["sentence"], document.sentences[start : start + 6], VERDICTS[row["verdict"]])


def load_claims(
    model: str, corpora: Path, extra: Path, without: Sequence[str], covid: Sequence[Document], seed: int
) -> list[Claim]:
    """All claims but those of collections that are left out, by name; `covid` are the papers of covidqa_dev."""
    chance = random.Random(f"claims {seed}")
    found: list[Claim] = []
    makers: dict[str, Callable[[], Iterator[Claim]]] = {
        "fever": lambda: fever(extra),
        "fever_symmetric": lambda: fever_symmetric(extra),
        "snli": lambda: snli(extra),
        "breaking_nli": lambda: breaking_nli(extra),
        "scitldr": lambda: scitldr(extra, chance),
        "pubmedqa": lambda: conclusions(corpora, chance),
        "covidqa": lambda: papers("covidqa", covid, chance, 25),
        "tensions": tensions,
    }
    if model == "multilingual":
        makers["jnli"] = lambda: jnli(extra)
    texts = {"covid": {document.group: document for document in covid}}
    texts["abstracts"] = {
        row["id"]: Document("", tuple(sentences_of(row["text"])), row["id"])
        for row in rows_of(corpora / "pubmedqa_dev/corpus.jsonl")
    }
    same = {"covidqa": "covid", "pubmedqa": "abstracts"}
    makers["written"] = lambda: written(texts, [same.get(name, name) for name in without])
    for name, make in makers.items():
        if name not in without:
            try:
                found += make()
            except FileNotFoundError:
                print(f"{name}: not there, left out")
    return found


SHARES = {
    "snli": 0.24, "fever": 0.24, "scitldr": 0.14, "fever_symmetric": 0.05, "breaking_nli": 0.06, "jnli": 0.12,
    "pubmedqa": 0.08, "covidqa": 0.08, "tensions": 0.03, "written": 0.1,
}  # fmt: skip
"""How often a claim is drawn from a source; those of papers are few and count more."""
SHORT = ("fever", "fever_symmetric", "snli", "breaking_nli", "jnli")
"""Sources whose texts are single sentences, and not passages."""


class ClaimSampler:
    """Draws claims, by source and, within it, by label, supported and contradicted ones alike often."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._by_label: dict[str, dict[int, list[Claim]]] = {}
        for claim in claims:
            self._by_label.setdefault(claim.source, {}).setdefault(claim.label, []).append(claim)
        self._sources = sorted(self._by_label)

    def draw(self, chance: random.Random) -> Claim:
        """Half of the claims with little text get sentences of others around their evidence, or instead of it."""
        name = chance.choices(self._sources, [SHARES[source] for source in self._sources])[0]
        labels = self._by_label[name]
        claim = chance.choice(labels[chance.choice([label for label in labels if len(labels[label]) > 100 or len(labels) < 3 or name not in SHORT])])  # fmt: skip
        kind = chance.random()
        if name not in SHORT or kind >= 0.5:
            return claim
        other = self._near(claim, labels, chance)
        if kind < 0.1:
            return Claim(name, claim.text, other.sentences, NOT_MENTIONED)
        before = other.sentences if chance.random() < 0.5 else ()
        sentences = (*before, *claim.sentences, *(() if before else other.sentences))
        evidence = frozenset(range(len(before), len(before) + len(claim.sentences)))
        return Claim(
            name, claim.text, sentences, claim.label, evidence if claim.label != NOT_MENTIONED else frozenset()
        )

    def _near(self, claim: Claim, labels: dict[int, list[Claim]], chance: random.Random) -> Claim:
        """Of some others of the source the one whose text shares most words with the claim, and is not its own."""
        own = set(claim.text.lower().split())
        all_claims = labels[chance.choice(list(labels))]
        others = [
            one for one in chance.sample(all_claims, min(100, len(all_claims))) if one.sentences != claim.sentences
        ]
        return max(others, key=lambda one: len(own & set(" ".join(one.sentences).lower().split())), default=claim)
