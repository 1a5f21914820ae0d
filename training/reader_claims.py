"""Claims with passages that support them, contradict them or do not mention them: what the reader's third head learns.

From openly licensed sets (`--extra`), from sentences of papers that rules change (`bench/citation_set.py`,
`bench/made_details.py`), and from what readers of papers wrote (`bench/data/written_claims.jsonl`, and
`tests/data/knowledge/check_dev.jsonl`). The unseen claims and their papers (ecology, engineering), nutrition and
computing are never read here.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from reader_data import (
    REPOSITORY,
    Document,
    WordIndex,
    comparisons,
    detached,
    rows_of,
    sentences_of,
    terms,
    trials,
)

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
    lines = [
        (extra / f"fever/{name}.txt").read_text(encoding="utf-8").splitlines() for name in ("input0", "input1", "label")
    ]
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


def counterfactual_nli(extra: Path) -> Iterator[Claim]:
    """Pairs of SNLI with a premise or hypothesis revised so that the label becomes another (Kaushik et al. 2020)."""
    labels = {"entailment": SUPPORTED, "neutral": NOT_MENTIONED, "contradiction": CONTRADICTED}
    for name in ("train", "dev", "test"):
        with (extra / f"counterfactual_nli/{name}.tsv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield Claim("counterfactual_nli", row["sentence2"], (row["sentence1"],), labels[row["gold_label"]])


def fool_me_twice(extra: Path) -> Iterator[Claim]:
    """What players of a game wrote to mislead, with sentences of the article (Eisenschlos et al. 2021)."""
    for name in ("dev", "test"):
        for row in rows_of(extra / f"fool_me_twice/{name}.jsonl"):
            gold = [one["text"] for one in row["gold_evidence"] if one["text"]]
            others = [one["text"] for one in row["retrieved_evidence"] if one["text"] and one["text"] not in gold]
            if gold:
                label = SUPPORTED if row["label"] == "SUPPORTS" else CONTRADICTED
                yield Claim("fool_me_twice", row["text"], (*gold, *others[:3]), label, frozenset(range(len(gold))))
            if len(others) > 3:
                yield Claim("fool_me_twice", row["text"], tuple(others[:5]), NOT_MENTIONED)


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
        lambda: exchanged(text, chance),
        lambda: _TURN.sub(lambda match: _TURNED_VERBS[match[0]], text, count=1) if _TURN.search(text) else "",
    ]
    chance.shuffle(ways)
    return next((result for way in ways if (result := way()) and result != text), "")


_FIGURE = re.compile(r"(?<![\w.,/-])\d+(?:\.\d+)?(?![\w/-]|\.\d)")
_NAME = re.compile(r"(?<=[a-z,] )(?:[A-Z][\w-]{2,}|[A-Z]{2,}[\w-]*)")


def exchanged(text: str, chance: random.Random) -> str:
    """The sentence with two of its figures, or two of its names, in each other's place; empty if it has not two."""
    for pattern in chance.sample((_FIGURE, _NAME), 2):
        found = [*pattern.finditer(text)]
        for one, other in pairwise(found):
            if one[0] != other[0]:
                return f"{text[: one.start()]}{other[0]}{text[one.end() : other.start()]}{one[0]}{text[other.end() :]}"
    return ""


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


_FOUND = {
    1: ("{i} increased {o} compared with {c}.", "{O} was higher with {i} than with {c}.",
        "{O} rose more under {i} than under {c}.", "Compared with {c}, {i} led to greater {o}."),
    -1: ("{i} reduced {o} compared with {c}.", "{O} was lower with {i} than with {c}.",
         "{O} fell more under {i} than under {c}.", "Compared with {c}, {i} led to less {o}."),
    0: ("{i} did not change {o} compared with {c}.", "{O} did not differ between {i} and {c}.",
        "{O} was about the same with {i} as with {c}.", "Compared with {c}, {i} made no difference to {o}."),
}  # fmt: skip


def effects(extra: Path, chance: random.Random) -> Iterator[Claim]:
    """What a trial found of an outcome, and the other two things that it could have found, with the place of the paper
    that says it, with its methods, and with another paper."""
    papers = trials(extra)
    found = comparisons(extra)
    abstracts = {one.paper: papers[one.paper].part("^ABSTRACT") for one in found}
    names = [name for name, numbers in abstracts.items() if numbers]
    index = WordIndex([[papers[name].sentences[number] for number in abstracts[name]] for name in names])
    for one in found:
        paper = papers[one.paper]
        said = {
            effect: chance.choice(texts).format(
                o=one.outcome, O=one.outcome[:1].upper() + one.outcome[1:], i=one.intervention, c=one.comparator
            )
            for effect, texts in _FOUND.items()
        }
        for effect, text in said.items():
            middle = chance.choice(sorted(one.evidence))
            first = max(0, middle - chance.randrange(4))
            places = range(first, min(first + 5, len(paper.sentences)))
            sentences = tuple(paper.sentences[place] for place in places)
            evidence = frozenset(place - first for place in places if place in one.evidence)
            yield Claim("effects", text, sentences, SUPPORTED if effect == one.effect else CONTRADICTED, evidence)
        text = said[chance.choice((-1, 0, 1))]
        methods = [
            n
            for n in paper.part("METHOD|INTRODUCTION|BACKGROUND")
            if not one.evidence & {n, n + 1, n + 2, n + 3, n + 4}
        ]
        if methods and chance.random() < 0.5:
            first = chance.choice(methods)
            yield Claim("effects", text, paper.sentences[first : first + 5], NOT_MENTIONED)
        for place, _ in index.best(text, 4)[:2]:
            if names[place] != one.paper:
                numbers = abstracts[names[place]]
                yield Claim(
                    "effects", text, tuple(papers[names[place]].sentences[n] for n in numbers[-6:]), NOT_MENTIONED
                )


def findings(extra: Path, chance: random.Random, per_paper: int) -> Iterator[Claim]:
    """What abstracts of trials say, or turned, with the place of the body that says it in other words."""
    papers = [*trials(extra).values()]
    abstracts = [paper.part("^ABSTRACT") for paper in papers]
    index = WordIndex([[paper.sentences[n] for n in numbers] for paper, numbers in zip(papers, abstracts, strict=True)])
    for paper, numbers in zip(papers, abstracts, strict=True):
        body = [n for n in paper.part("^BODY") if len(paper.sentences[n]) > 30]
        told = [n for n in numbers if 50 <= len(paper.sentences[n]) <= 320 and paper.sentences[n][-1] == "."]
        told = [n for n in told if re.search("RESULT|CONCL|FINDING", paper.headings[n])] or told[len(told) // 2 :]
        words = {n: set(terms(paper.sentences[n])) for n in body}
        for number in chance.sample(told, min(per_paper, len(told))):
            text = paper.sentences[number]
            own = set(terms(text))
            most = max(body, key=lambda n: (sum(index.idf.get(t, 9) for t in own & words[n]), -n), default=None)
            if most is None:
                continue
            first = max(body[0], most - chance.randrange(4))
            window = paper.sentences[first : first + 5]
            near = own & set().union(*(words.get(n, set()) for n in (most - 1, most, most + 1)))
            share = sum(index.idf.get(t, 9) for t in near) / max(1, sum(index.idf.get(t, 9) for t in own))
            if share >= 0.6 and text != paper.sentences[most]:
                said, label = altered(text, chance)
                evidence = frozenset([most - first]) if label != NOT_MENTIONED else frozenset[int]()
                yield Claim("findings", said, window, label, evidence)
            elif share < 0.3:
                yield Claim("findings", text, window, NOT_MENTIONED)
            others = [place for place, _ in index.best(text, 6) if papers[place] is not paper]
            if others and chance.random() < 0.3:
                other = papers[others[0]]
                yield Claim(
                    "findings",
                    altered(text, chance)[0],
                    tuple(other.sentences[n] for n in abstracts[others[0]][-6:]),
                    NOT_MENTIONED,
                )


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


def paper_of(texts: dict[str, Document], name: str) -> Document | None:
    """By the id of the paper, or what it begins with."""
    return texts.get(name) or next((text for key, text in texts.items() if key.startswith(f"{name}-")), None)


def written(texts: dict[str, dict[str, Document]], without: Sequence[str]) -> Iterator[Claim]:
    """What people wrote about papers, with the passage of the paper that shares most words. `texts` by collection and
    the beginning of the paper's id."""
    for row in rows_of(REPOSITORY / "bench/data/written_claims.jsonl"):
        document = paper_of(texts.get(row["collection"], {}), row["paper"])
        if document is None or row["collection"] in without or row["verdict"] == "partly":
            continue
        index = WordIndex([document.sentences])
        for place, (_, start) in enumerate(index.best(row["sentence"], 3)):
            if place == 0 or row["verdict"] == "not_found":
                yield Claim("written", row["sentence"], document.sentences[start : start + 6], VERDICTS[row["verdict"]])


CHECKED = {
    "number": CONTRADICTED,
    "swap": CONTRADICTED,
    "direction": CONTRADICTED,
    "negation": CONTRADICTED,
    "attribution": CONTRADICTED,
    "overclaim": NOT_MENTIONED,
    "merge": NOT_MENTIONED,
    "invented": NOT_MENTIONED,
}


def checked(name: str, texts: dict[str, dict[str, Document]]) -> Iterator[Claim]:
    """Sentences that a model could have written from sentences of papers, faithful and false."""
    of_hash = {
        hashlib.sha256(sentence.encode()).hexdigest()[:16]: sentence
        for papers in texts.values()
        for document in papers.values()
        for sentence in document.sentences
    }
    for row in rows_of(REPOSITORY / f"tests/data/knowledge/{name}.jsonl"):
        sources = [of_hash.get(one) for source in row["sources"] for one in source["sentences"]]
        if all(sources) and row["kind"] != "gap":
            label = SUPPORTED if row["supported"] else CHECKED[row["kind"]]
            yield Claim("checked", row["text"], tuple(one for one in sources if one), label)


def read_papers(work: Path) -> dict[str, dict[str, Document]]:
    """By collection and id the papers that `reader.py papers` wrote."""
    return {
        path.stem.removeprefix("papers-"): {
            name: Document(paper["title"], tuple(paper["sentences"]), name)
            for name, paper in json.loads(path.read_text(encoding="utf-8")).items()
        }
        for path in sorted(work.glob("papers-*.json"))
    }


def load_claims(
    model: str, corpora: Path, extra: Path, work: Path, without: Sequence[str], covid: Sequence[Document], seed: int
) -> list[Claim]:
    """All claims but those of collections that are left out, by name; `covid` are the papers of covidqa_dev."""
    chance = random.Random(f"claims {seed}")
    found: list[Claim] = []
    makers: dict[str, Callable[[], Iterator[Claim]]] = {
        "fever": lambda: fever(extra),
        "fever_symmetric": lambda: fever_symmetric(extra),
        "snli": lambda: snli(extra),
        "breaking_nli": lambda: breaking_nli(extra),
        "counterfactual_nli": lambda: counterfactual_nli(extra),
        "fool_me_twice": lambda: fool_me_twice(extra),
        "effects": lambda: effects(extra, chance),
        "findings": lambda: findings(extra, chance, 5),
        "scitldr": lambda: scitldr(extra, chance),
        "pubmedqa": lambda: conclusions(corpora, chance),
        "covidqa": lambda: papers("covidqa", covid, chance, 25),
        "tensions": tensions,
    }
    if model == "multilingual":
        makers["jnli"] = lambda: jnli(extra)
    texts = read_papers(work)
    bodies = [paper for papers_of in texts.values() for paper in papers_of.values()]
    makers["bodies"] = lambda: papers("bodies", bodies, chance, 60)
    makers["checked"] = lambda: checked("check_dev", texts)
    texts["covid"] = {document.group: document for document in covid}
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
    "snli": 0.16, "counterfactual_nli": 0.12, "fever": 0.16, "fever_symmetric": 0.05, "fool_me_twice": 0.05,
    "breaking_nli": 0.03, "jnli": 0.12, "scitldr": 0.06, "effects": 0.1, "findings": 0.16, "pubmedqa": 0.05,
    "covidqa": 0.05, "bodies": 0.04, "tensions": 0.02, "written": 0.06, "checked": 0.05,
}  # fmt: skip
"""How often a claim is drawn from a source; those of papers are few and count more."""
SHORT = ("fever", "fever_symmetric", "snli", "breaking_nli", "counterfactual_nli", "jnli")
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
        claim = chance.choice(
            labels[
                chance.choice(
                    [label for label in labels if len(labels[label]) > 100 or len(labels) < 3 or name not in SHORT]
                )
            ]
        )
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
