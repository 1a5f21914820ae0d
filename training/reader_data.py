"""The questions and claims from which the reader learns: sources, windows of sentences, and negatives.

A source is a list of documents (paragraphs, sections, papers), each a list of sentences, and of questions whose
answering sentences are known. Texts are read from `../shared/corpora` and from a folder of openly licensed data sets
(`--extra`); `SOURCES` in `training/README.md` names each with its licence. A source that is missing is skipped.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from math import log
from pathlib import Path

import numpy as np

from monjyu_core.text.sentences import split_sentences

REPOSITORY = Path(__file__).parent.parent
_WORD = re.compile(r"[^\W_]+(?:[.-][^\W_]+)*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class Document:
    """`group` names the article or paper that it is a part of."""

    title: str
    sentences: tuple[str, ...]
    group: str


@dataclass(frozen=True)
class Question:
    """`gold` are the answering sentences of its document; empty where only the document is known to answer. `answers`
    are texts that a negative passage must not contain. Nothing answers where `near` is set: then `gold` are the
    sentences that look most as if they did."""

    text: str
    document: int
    gold: frozenset[int]
    answers: tuple[str, ...] = ()
    near: bool = False


@dataclass
class Source:
    name: str
    documents: list[Document]
    questions: list[Question]
    share: float = 1.0
    """How often a question is drawn, relative to others."""

    @cached_property
    def index(self) -> WordIndex:
        return WordIndex([document.sentences for document in self.documents])

    @cached_property
    def by_group(self) -> dict[str, list[int]]:
        groups = defaultdict(list)
        for number, document in enumerate(self.documents):
            groups[document.group].append(number)
        return dict(groups)

    @cached_property
    def names(self) -> list[str]:
        """Words of the questions that can take the place of another: capitalised, with digits, or rare."""
        count = Counter(word for question in self.questions for word in names_of(question.text))
        return sorted(word for word, times in count.items() if times <= max(3, len(self.questions) // 200))


def words(text: str) -> list[str]:
    if _CJK.search(text):
        runs = re.findall(r"[\u3040-\u30ff\u3400-\u9fff々ー]+|[A-Za-z0-9]+", text)
        return [run[i : i + 2] if not run.isascii() else run.lower() for run in runs
                for i in range(max(1, len(run) - 1) if not run.isascii() else 1)]  # fmt: skip
    return _WORD.findall(text)


def names_of(text: str) -> set[str]:
    """Words that another can take the place of; in Japanese and Chinese runs of one script."""
    if _CJK.search(text):
        return set(re.findall(r"[\u30a1-\u30ffー]{2,9}|[\u4e00-\u9fff]{2,6}|[A-Za-z]{2,}|\d+", text))
    return {word for word in _WORD.findall(text) if len(word) > 2}


def terms(text: str) -> list[str]:
    """Words in small letters without the commonest endings."""
    return [
        re.sub(r"(?:ies|es|s|ing|ed|ly)$", "", word.lower()) if len(word) > 4 else word.lower() for word in words(text)
    ]


class WordIndex:
    """BM25 over (document, sentence) windows of a few sentences: which windows look like a question."""

    STRIDE, WIDTH = 4, 6

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self.windows = [
            (number, start)
            for number, sentences in enumerate(documents)
            for start in range(0, max(1, len(sentences) - 2), self.STRIDE)
        ]
        postings: dict[str, tuple[array[int], array[int]]] = defaultdict(lambda: (array("i"), array("i")))
        cache: dict[tuple[int, int], list[str]] = {}
        lengths = np.zeros(len(self.windows))
        for row, (number, start) in enumerate(self.windows):
            found: list[str] = []
            for place in range(start, min(start + self.WIDTH, len(documents[number]))):
                key = (number, place)
                if key not in cache:
                    cache[key] = terms(documents[number][place])
                found += cache[key]
            lengths[row] = len(found)
            for term, count in Counter(found).items():
                postings[term][0].append(row)
                postings[term][1].append(count)
        self._postings = dict(postings)
        self._lengths = lengths / max(lengths.mean(), 1)
        total = len(self.windows)
        self.idf = {term: log(1 + total / len(rows)) for term, (rows, _) in postings.items()}

    def best(self, text: str, most: int) -> list[tuple[int, int]]:
        """The windows (document, first sentence) that share most with the text."""
        scores = np.zeros(len(self.windows))
        for term in set(terms(text)):
            if (found := self._postings.get(term)) and len(found[0]) <= len(self.windows) / 3:
                place, count = np.frombuffer(found[0], np.int32), np.frombuffer(found[1], np.int32)
                scores[place] += self.idf[term] * count / (count + 0.9 * (0.6 + 0.4 * self._lengths[place]))
        order = np.argsort(-scores, kind="stable")[:most]
        return [self.windows[row] for row in order if scores[row] > 0]


def sentences_of(text: str, language: str = "en") -> list[str]:
    found = (" ".join(text[start:end].split()) for start, end in split_sentences(text, language))
    return [sentence for sentence in found if sentence]


def split_with_spans(text: str, spans: Iterable[tuple[int, int]], language: str = "en") -> tuple[list[str], set[int]]:
    """Sentences, and those of them that hold half of a span or lie in one by eight tenths."""
    offsets = [(start, end) for start, end in split_sentences(text, language) if text[start:end].strip()]
    gold = set()
    for begin, stop in spans:
        for number, (start, end) in enumerate(offsets):
            shared = min(stop, end) - max(begin, start)
            if shared > 0 and (shared >= 0.5 * (stop - begin) or shared >= 0.8 * (end - start)):
                gold.add(number)
    return [" ".join(text[start:end].split()) for start, end in offsets], gold


def rows_of(path: Path) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


# --- questions ---------------------------------------------------------------------------------------------------


def selqa(corpora: Path, _: Path) -> Source:
    documents, questions = [], []
    for row in rows_of(corpora / "selqa/questions.jsonl"):
        documents.append(Document(f"{row['article']} > {row['section']}", tuple(row["sentences"]), row["article"]))
        questions.append(Question(row["text"], len(documents) - 1, frozenset(row["answers"])))
    return Source("selqa", documents, questions)


def detached(text: str) -> str:
    """Text of tokens with the spaces before punctuation removed."""
    text = re.sub(r" ([.,;:?!)\]%])", r"\1", text).replace("`` ", '"').replace(" ''", '"').replace(" 's", "'s")
    text = re.sub(r"-LRB-\s*", "(", re.sub(r"\s*-RRB-", ")", text))
    return re.sub(r"-LSB-\s*", "[", re.sub(r"\s*-RSB-", "]", text)).replace("( ", "(").replace(" - ", "-")


def qed(corpora: Path, _: Path) -> Source:
    documents, questions = [], []
    for row in rows_of(corpora / "qed_dev/questions.jsonl"):
        sentences = tuple(detached(sentence) for sentence in row["sentences"])
        documents.append(Document(row["article"], sentences, row["article"]))
        questions.append(
            Question(row["text"], len(documents) - 1, frozenset(row["answers"]), tuple(map(detached, row["spans"])))
        )
    return Source("qed", documents, questions)


def papers(corpora: Path, folder: str, name: str, share: float) -> Source:
    documents, questions = [], []
    spans = defaultdict(list)
    for row in rows_of(corpora / folder / "queries.jsonl"):
        spans[row["doc"]].append(row)
    for paper in rows_of(corpora / folder / "corpus.jsonl"):
        text = paper["text"]
        offsets = [(a["start"], a["start"] + len(a["text"])) for row in spans[paper["id"]] for a in row["answers"]]
        sentences, _ = split_with_spans(text, [])
        documents.append(Document(paper.get("title", ""), tuple(sentences), paper["id"]))
        del offsets
        for row in spans[paper["id"]]:
            own = [(a["start"], a["start"] + len(a["text"].rstrip())) for a in row["answers"]]
            gold = split_with_spans(text, own)[1]
            if gold:
                questions.append(Question(row["text"], len(documents) - 1, frozenset(gold)))
    return Source(name, documents, questions, share)


def asked(name: str, part: str, share: float) -> Callable[[Path, Path], Source]:
    """Questions in other words than their papers'. `reader_questions.jsonl` names sentences by digests, because the
    papers' texts are not in the repository."""

    def load(_: Path, extra: Path) -> Source:
        documents, questions = [], []
        texts = {row["title"]: row["sentences"] for row in rows_of(extra / "asked_papers/papers.jsonl")}
        for row in rows_of(REPOSITORY / "training/reader_questions.jsonl"):
            if (sentences := texts.get(row["title"])) and row.get(part):
                documents.append(Document(row["title"], tuple(sentences), row["title"]))
                digests = [hashlib.sha256(sentence.encode()).hexdigest()[:10] for sentence in sentences]
                for one in row[part]:
                    named = {*one.get("gold", ()), *one.get("closest", ())}
                    places = frozenset(place for place, digest in enumerate(digests) if digest in named)
                    if places:
                        questions.append(Question(one["text"], len(documents) - 1, places, near="closest" in one))
        return Source(name, documents, questions, share)

    return load


def covidqa(corpora: Path, _: Path) -> Source:
    return papers(corpora, "covidqa_dev", "covidqa", 3.0)


def pubmedqa(corpora: Path, _: Path) -> Source:
    return papers(corpora, "pubmedqa_dev", "pubmedqa", 2.0)


def medquad(corpora: Path, _: Path) -> Source:
    """Only that the answer as a whole answers is known."""
    documents, questions = [], []
    for row in rows_of(corpora / "medquad/questions.jsonl"):
        sentences = sentences_of(row["answer"])[:14]
        if sentences:
            documents.append(Document(row["focus"], tuple(sentences), row["focus"]))
            questions.append(Question(row["text"], len(documents) - 1, frozenset()))
    return Source("medquad", documents, questions, 0.5)


def squad_like(name: str, files: Sequence[Path], language: str, share: float, every: int = 1) -> Source:
    """Paragraphs with questions whose answers are spans, in the format of SQuAD 1.1."""
    documents, questions = [], []
    for path in files:
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                text = paragraph["context"]
                group = f"{path.stem}:{article.get('title', text[:60])}"
                sentences, _ = split_with_spans(text, [], language)
                documents.append(Document(article.get("title", "").replace("_", " "), tuple(sentences), group))
                for qa in paragraph["qas"]:
                    answers = {(a["answer_start"], a["text"]) for a in qa["answers"]}
                    gold = split_with_spans(text, [(s, s + len(t)) for s, t in answers], language)[1]
                    if gold:
                        texts = tuple(sorted({t for _, t in answers}))
                        questions.append(Question(qa["question"], len(documents) - 1, frozenset(gold), texts))
    return Source(name, documents, questions[::every], share)


def new_wiki(_: Path, extra: Path) -> Source:
    return squad_like("new_wiki", [extra / "squadshifts/new_wiki.json"], "en", 0.7)


def xquad(language: str) -> Callable[[Path, Path], Source]:
    return lambda _, extra: squad_like(f"xquad_{language}", [extra / f"xquad/{language}.json"], language, 1.0)


def jaquad(_: Path, extra: Path) -> Source:
    files = sorted((extra / "jaquad").glob("*.json"))
    if not files:
        raise FileNotFoundError("jaquad")
    return squad_like("jaquad", files, "ja", 1.0)


def jsquad(corpora: Path, _: Path) -> Source:
    documents, questions, places = [], [], {}
    for row in rows_of(corpora / "jsquad/corpus.jsonl"):
        places[row["id"]] = len(documents)
        documents.append(Document(row["title"], tuple(sentences_of(row["text"], "ja")), row["title"]))
    relevant = dict(line.split("\t")[:2] for line in (corpora / "jsquad/qrels.tsv").read_text().splitlines()[1:])
    for row in rows_of(corpora / "jsquad/queries.jsonl"):
        document = places[relevant[row["id"]]]
        answers = tuple("".join(answer.split()) for answer in row["answers"])
        gold = {
            number
            for number, sentence in enumerate(documents[document].sentences)
            if any(answer in "".join(sentence.split()) for answer in answers)
        }
        if gold:
            questions.append(Question(row["text"], document, frozenset(gold), tuple(row["answers"])))
    return Source("jsquad", documents, questions, 1.0)


def ja_wiki(corpora: Path, _: Path) -> Source:
    """Articles whose paragraphs are told apart by blank lines; the first is the title."""
    documents, questions, starts = [], [], {}
    for path in sorted((corpora / "ja_wiki").glob("*.txt")):
        title, *paragraphs = [p.strip() for p in path.read_text(encoding="utf-8").split("\n\n") if p.strip()]
        split = [sentences_of(p, "ja") for p in paragraphs]
        starts[path.name] = len(documents), [0, *accumulate(map(len, split))]
        documents.append(Document(title, tuple(sentence for part in split for sentence in part), path.name))
    for row in rows_of(corpora / "ja_wiki/qa.jsonl"):
        document, ends = starts[row["doc"]]
        answers = tuple("".join(answer.split()) for answer in row["answers"])
        own = range(*ends[row["paragraph"] : row["paragraph"] + 2])
        sentences = documents[document].sentences
        gold = {n for n in own if any(answer in "".join(sentences[n].split()) for answer in answers)}
        if gold:
            questions.append(Question(row["question"], document, frozenset(gold), tuple(row["answers"])))
    return Source("ja_wiki", documents, questions, 1.0)


def boolq(_: Path, extra: Path) -> Source:
    """Questions of yes or no to a passage: only that the passage answers is known."""
    documents, questions = [], []
    with (extra / "boolq/validation.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            title, _, text = row["passage"].partition(" -- ")
            sentences = sentences_of(text or title)
            if sentences and row.get("question"):
                documents.append(Document(title, tuple(sentences), title))
                questions.append(Question(row["question"], len(documents) - 1, frozenset()))
    return Source("boolq", documents, questions, 0.6)


def bioasq(_: Path, extra: Path) -> Source:
    """Experts' questions with sentences of abstracts that answer, beside sentences that answer others alike."""
    asked = {one["id"]: one for path in sorted((extra / "bioasq").glob("*.json"))
             for one in json.loads(path.read_text(encoding="utf-8"))["questions"] if one.get("snippets")}  # fmt: skip
    if not asked:
        raise FileNotFoundError("bioasq")
    said: list[tuple[str, str, tuple[str, ...]]] = []
    for key, one in sorted(asked.items()):
        by_paper: dict[str, dict[str, int]] = defaultdict(dict)
        for snippet in one["snippets"]:
            found = sentences_of(snippet["text"])
            place = snippet["offsetInBeginSection"] if snippet["beginSection"] == "abstract" else -1
            for number, sentence in enumerate(found):
                by_paper[snippet["document"]].setdefault(sentence, place * 100 + number)
        for paper, sentences in by_paper.items():
            said.append((key, paper, tuple(sorted(sentences, key=sentences.__getitem__))))
    index = WordIndex([sentences for _, _, sentences in said])
    documents, questions = [], []
    for key, one in sorted(asked.items()):
        chance = random.Random(key)
        own = {number for number, (owner, _, _) in enumerate(said) if owner == key}
        answers = {sentence for number in own for sentence in said[number][2]}
        papers = {said[number][1] for number in own}
        near = [number for number, _ in dict.fromkeys(index.best(one["body"], 60)) if said[number][1] not in papers]
        others = [s for number in dict.fromkeys(near) for s in said[number][2] if s not in answers][:40]
        for number in chance.sample(sorted(own), min(3, len(own))):
            parts = [said[number][2]]
            while others and sum(map(len, parts)) < 9 and chance.random() < 0.9:
                start = min(int(chance.expovariate(1 / 8)), len(others) - 1)
                parts.insert(chance.randrange(len(parts) + 1), tuple(others[start : start + chance.randint(1, 3)]))
            sentences = tuple(dict.fromkeys(sentence for part in parts for sentence in part))
            gold = frozenset(n for n, sentence in enumerate(sentences) if sentence in answers)
            documents.append(Document("", sentences, key))
            questions.append(Question(one["body"], len(documents) - 1, gold, tuple(sorted(answers))))
    return Source("bioasq", documents, questions)


def scitldr(_: Path, extra: Path) -> Source:
    """A paper's title asks for the sentence of its abstract that one-sentence summaries of it share most words with."""
    documents, questions = [], []
    for name in ("train", "dev", "test"):
        for row in rows_of(extra / f"scitldr/{name}.jsonl"):
            gold = {number for number, label in enumerate(row["source_labels"][: len(row["source"])]) if label}
            if gold and row.get("title"):
                documents.append(Document("", tuple(row["source"]), row["paper_id"]))
                questions.append(Question(row["title"], len(documents) - 1, frozenset(gold)))
    return Source("scitldr", documents, questions, 0.6)


def tldr(_: Path, extra: Path) -> Source:
    """A summary in one sentence asks for the abstract of its paper: what a text is about, not which sentence."""
    documents, questions = [], []
    for name in ("train", "dev", "test"):
        for row in rows_of(extra / f"scitldr/{name}.jsonl"):
            documents.append(Document(row.get("title", ""), tuple(row["source"]), row["paper_id"]))
            questions += [Question(text, len(documents) - 1, frozenset()) for text in row["target"][:2]]
    return Source("tldr", documents, questions, 0.5)


_HEADING = re.compile(r"^[A-Z][A-Z0-9 .,:/&'()-]*:(?= ?$)", re.MULTILINE)
_ASIDE = re.compile(r"COMPETING|HISTORY|SUPP|ABBREV|REGISTR|AUTHOR|FUND|ETHIC|STATUS|ACKNOW|CONSENT")
_FREE = re.compile(r"creativecommons\.org/licenses/by/|creative commons attribution license")
_BOUND = re.compile(r"by-n|by-sa|non-?\s?commercial|commercial use")


@dataclass(frozen=True)
class Trial:
    """A paper of Evidence Inference: sentences, where each stands in the text, and its heading."""

    title: str
    sentences: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    headings: tuple[str, ...]

    def part(self, pattern: str) -> list[int]:
        """The sentences under headings with this pattern."""
        found = re.compile(pattern)
        return [number for number, heading in enumerate(self.headings) if found.search(heading)]


@cache
def trials(extra: Path) -> dict[str, Trial]:
    """By PubMed Central id the papers that are under CC BY."""
    folder = extra / "evidence_inference"
    found = {}
    for path in sorted((folder / "xml_files").glob("*.nxml")):
        permissions = path.read_text(encoding="utf-8", errors="replace").lower()
        permissions = permissions.partition("<permissions>")[2].partition("</permissions>")[0]
        if _FREE.search(permissions) and not _BOUND.search(permissions):
            text = (folder / f"txt_files/{path.stem}.txt").read_text(encoding="utf-8")
            found[path.stem.removeprefix("PMC")] = trial(text)
    if not found:
        raise FileNotFoundError("evidence_inference")
    return found


def trial(text: str) -> Trial:
    title, sentences, offsets, headings = "", [], [], []
    marks = [*_HEADING.finditer(text)]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, stop in zip(marks, ends, strict=False):
        heading, first = mark[0].rstrip(":"), mark.end()
        part = re.sub(r'id="\w+">', lambda found: " " * len(found[0]), text[first:stop])
        if heading == "TITLE":
            title = " ".join(part.split())
        elif not _ASIDE.search(heading):
            for start, end in split_sentences(part, "en"):
                if sentence := " ".join(part[start:end].split()):
                    sentences.append(sentence)
                    offsets.append((first + start, first + end))
                    headings.append(heading)
    return Trial(title, tuple(sentences), tuple(offsets), tuple(headings))


@dataclass(frozen=True)
class Comparison:
    """What a trial found: `effect` is 1 where the outcome was higher with the intervention, -1 lower, 0 as high.
    `evidence` are the sentences that say it."""

    paper: str
    outcome: str
    intervention: str
    comparator: str
    effect: int
    evidence: frozenset[int]


def comparisons(extra: Path) -> list[Comparison]:
    """Of the papers annotated for Evidence Inference 2.0, those on which the annotators agree."""
    papers, folder = trials(extra), extra / "evidence_inference"
    said: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (folder / "v2_annotations.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["PMCID"] in papers and row["Valid Label"] == "True":
                said[row["PromptID"]].append(row)
    found = []
    with (folder / "prompts_merged.csv").open(encoding="utf-8", newline="") as file:
        for prompt in csv.DictReader(file):
            rows = said[prompt["PromptID"]]
            spans = [
                (int(row["Evidence Start"]), int(row["Evidence End"]))
                for row in rows
                if row["Evidence Start"].isdigit()
            ]
            if len({row["Label Code"] for row in rows}) != 1 or not spans:
                continue
            evidence = frozenset(
                number
                for number, (start, end) in enumerate(papers[rows[0]["PMCID"]].offsets)
                if any(
                    min(stop, end) - max(begin, start) >= 0.5 * min(end - start, stop - begin) for begin, stop in spans
                )
            )
            if evidence:
                parts = (
                    " ".join(prompt[part].split()).rstrip(".") for part in ("Outcome", "Intervention", "Comparator")
                )
                found.append(Comparison(rows[0]["PMCID"], *parts, int(rows[0]["Label Code"]), evidence))
    return found


_ASKS = (
    "What is the effect of {i} on {o} compared with {c}?", "How does {o} differ between {i} and {c}?",
    "Does {i} change {o} compared to {c}?", "Is {o} affected by {i}?",
)  # fmt: skip


def trial_questions(_: Path, extra: Path) -> Source:
    found = comparisons(extra)
    names = sorted({one.paper for one in found})
    papers = [trials(extra)[name] for name in names]
    documents = [Document(paper.title, paper.sentences, name) for name, paper in zip(names, papers, strict=True)]
    questions = []
    for number, one in enumerate(found):
        text = _ASKS[number % len(_ASKS)].format(o=one.outcome, i=one.intervention, c=one.comparator)
        questions.append(Question(text, names.index(one.paper), one.evidence))
    return Source("trials", documents, questions, 2.5)


def trial_titles(_: Path, extra: Path) -> Source:
    """A paper's title asks for its abstract."""
    documents, questions = [], []
    for name, paper in trials(extra).items():
        abstract = tuple(paper.sentences[number] for number in paper.part("^ABSTRACT"))
        if paper.title and len(abstract) > 2:
            documents.append(Document("", abstract, name))
            questions.append(Question(paper.title, len(documents) - 1, frozenset()))
    return Source("titles", documents, questions, 0.7)


ENGLISH: dict[str, Callable[[Path, Path], Source]] = {
    "selqa": selqa, "qed": qed, "covidqa": covidqa, "pubmedqa": pubmedqa, "medquad": medquad, "new_wiki": new_wiki,
    "bioasq": bioasq, "xquad_en": xquad("en"), "boolq": boolq, "scitldr": scitldr,
    "tldr": tldr, "trials": trial_questions, "titles": trial_titles,
    "asked": asked("asked", "questions", 1.0), "near": asked("near", "near", 0.6),
}  # fmt: skip
JAPANESE: dict[str, Callable[[Path, Path], Source]] = {
    "jsquad": jsquad, "ja_wiki": ja_wiki, "jaquad": jaquad, "asked_ja": asked("asked_ja", "ja", 1.0),
    "near_ja": asked("near_ja", "near_ja", 0.6),
}  # fmt: skip
OTHERS = {f"xquad_{code}": xquad(code) for code in ("de", "es", "ru", "zh", "tr", "vi", "el", "ro")}


def load_sources(names: Iterable[str], corpora: Path, extra: Path) -> list[Source]:
    known = ENGLISH | JAPANESE | OTHERS
    found = []
    for name in names:
        try:
            found.append(known[name](corpora, extra))
        except FileNotFoundError:
            print(f"{name}: not there, left out")
    return found


# --- examples ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """A passage as the reader gets it. `labels`: 1 answers, 0 does not, -1 not known; `answered` likewise. The `header`
    is read, not scored."""

    header: str
    sentences: tuple[str, ...]
    labels: tuple[int, ...]
    answered: int


@dataclass(frozen=True)
class Example:
    """A question with passages, of which the first answers it unless the question was altered."""

    source: str
    question: str
    passages: tuple[Read, ...]


Length = Callable[[str], int]


@dataclass
class Sampler:
    """Draws examples. `length` counts the pieces of a sentence; `room` is what a passage may have of them."""

    sources: Sequence[Source]
    length: Length
    passages: int = 3
    altered: float = 0.15
    headers: float = 0.5
    rooms: tuple[tuple[int, float], ...] = ((70, 0.2), (130, 0.35), (205, 0.45))
    hard: int = 12

    def order(self, chance: random.Random) -> list[tuple[int, int]]:
        """(source, question) of one pass over the data, in random order; a share of 1.5 takes half of them twice."""
        found = []
        for number, source in enumerate(self.sources):
            for question in range(len(source.questions)):
                times = int(source.share) + (chance.random() < source.share % 1)
                found += [(number, question)] * times
        chance.shuffle(found)
        return found

    def room(self, chance: random.Random) -> int:
        return chance.choices([room for room, _ in self.rooms], [share for _, share in self.rooms])[0]

    def draw(self, place: tuple[int, int], room: int, chance: random.Random) -> Example:
        source = self.sources[place[0]]
        question = source.questions[place[1]]
        headed = chance.random() < self.headers
        gold = self._around(source, question, room, headed, chance)
        others = self._negatives(source, place[1], room, headed, chance)
        altered = 0 if question.near else self.altered
        if chance.random() < altered and (text := self._altered(source, question, gold, chance)):
            nothing = Read(gold.header, gold.sentences, (0,) * len(gold.labels), 0)
            return Example(source.name, text, (nothing, *others))
        return Example(source.name, question.text, (gold, *others))

    def _around(self, source: Source, question: Question, room: int, headed: bool, chance: random.Random) -> Read:
        """A window that holds an answering sentence, at any place in it."""
        document = source.documents[question.document]
        if not question.gold:
            first, stop = self._grow(document, 0, room, chance, after=1.0)
            labels = (-1,) * (stop - first)
        else:
            middle = chance.choice(sorted(question.gold))
            first, stop = self._grow(document, middle, room, chance)
            labels = tuple(int(number in question.gold and not question.near) for number in range(first, stop))
        answered = int(not question.near)
        return Read(document.title if headed else "", document.sentences[first:stop], labels, answered)

    def _grow(
        self, document: Document, middle: int, room: int, chance: random.Random, after: float | None = None
    ) -> tuple[int, int]:
        first, stop = middle, middle + 1
        left = room - self.length(document.sentences[middle])
        share = chance.random() if after is None else after
        while left > 0 and (first > 0 or stop < len(document.sentences)):
            forward = stop < len(document.sentences) and (first == 0 or chance.random() < share)
            cost = self.length(document.sentences[stop if forward else first - 1])
            if cost > left:
                break
            left -= cost
            first, stop = (first, stop + 1) if forward else (first - 1, stop)
        return first, stop

    def _negatives(self, source: Source, number: int, room: int, headed: bool, chance: random.Random) -> list[Read]:
        """Windows without the answer: the best-ranked of the source, those of the same article or paper among them."""
        question = source.questions[number]
        ranked = [
            place for place in source.index.best(question.text, 40) if self._may_be_negative(source, question, place)
        ]
        document = source.documents[question.document]
        same = [place for place in ranked if source.documents[place[0]].group == document.group]
        if not same:  # A question in another language than its paper shares no words with it.
            own = [place for place in source.index.windows if source.documents[place[0]].group == document.group]
            chance.shuffle(own)
            same = [place for place in own if self._may_be_negative(source, question, place)]
        other = [place for place in ranked if source.documents[place[0]].group != document.group]
        found: list[Read] = []
        while len(found) < self.passages - 1:
            kind = chance.random()
            if kind < 0.4 and same:
                place = same[min(int(chance.expovariate(1 / 3)), len(same) - 1)]
            elif kind < 0.9 and other:
                place = other[min(int(chance.expovariate(1 / self.hard)), len(other) - 1)]
            else:
                place = source.index.windows[chance.randrange(len(source.index.windows))]
            if read := self._without(source, question, place, room, headed, chance):
                found.append(read)
        return found

    def _may_be_negative(self, source: Source, question: Question, place: tuple[int, int]) -> bool:
        number, start = place
        if number != question.document:
            return True
        return bool(question.gold) and not question.gold & set(range(start, start + WordIndex.WIDTH))

    def _without(
        self, source: Source, question: Question, place: tuple[int, int], room: int, headed: bool, chance: random.Random
    ) -> Read | None:
        document = source.documents[place[0]]
        middle = min(place[1] + chance.randrange(4), len(document.sentences) - 1)
        first, stop = self._grow(document, middle, room, chance)
        if place[0] == question.document:
            if not question.gold:
                return None
            # The window grows until it meets the answer.
            before = [gold for gold in question.gold if gold < middle]
            behind = [gold for gold in question.gold if gold > middle]
            if middle in question.gold:
                return None
            first, stop = max([first, *(gold + 1 for gold in before)]), min([stop, *behind])
        sentences = document.sentences[first:stop]
        text = " ".join(sentences)
        if not sentences or (place[0] != question.document and any(a in text for a in question.answers if len(a) > 3)):
            return None
        return Read(document.title if headed else "", sentences, (0,) * len(sentences), 0)

    def _altered(self, source: Source, question: Question, gold: Read, chance: random.Random) -> str:
        """The question with a name, number or rare word that its passage has exchanged for one that it has not."""
        text = " ".join((gold.header, *gold.sentences)).casefold()
        own = [word for word in names_of(question.text) if word.casefold() in text]
        idf = source.index.idf
        own = sorted(own, key=lambda word: (-max((idf.get(term, 0.0) for term in terms(word)), default=0.0), word))[:2]
        if not own:
            return ""
        word = chance.choice(own)
        alike = [
            name
            for name in chance.sample(source.names, min(60, len(source.names)))
            if _kind(name) == _kind(word)
            and name.casefold() not in text
            and name.casefold() not in question.text.casefold()
        ]
        return question.text.replace(word, chance.choice(alike), 1) if alike else ""


def _kind(word: str) -> tuple[bool, bool, bool, bool]:
    return word[0].isupper(), any(c.isdigit() for c in word), word.isupper(), "\u30a0" < word[0] < "\u3100"
