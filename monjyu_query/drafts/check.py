"""Checks a draft against the collection: each citation is resolved, each claim compared with the cited paper."""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from monjyu_core.errors import QueryError
from monjyu_core.models.account import Account
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.models.calls.event_loop import run
from monjyu_core.text.language import message_language
from monjyu_query.answers.citing import cite
from monjyu_query.answers.verification.exact_facts import Facts, Words, normal
from monjyu_query.answers.verification.model_check import LONGEST_REASON, ModelVerifier, Stated
from monjyu_query.asking.passages import PassageSentence, load_passages, sentences_by_chunk
from monjyu_query.asking.request import Filters
from monjyu_query.asking.result import Citation, Usage
from monjyu_query.drafts.checked import WORST_FIRST, CheckedCitation, CheckedDraft, CheckedSentence, Verdict
from monjyu_query.drafts.cited_works import works_of_bib
from monjyu_query.drafts.read_draft import Cited, CitingSentence, Draft, Format, read_draft
from monjyu_query.drafts.resolving import Library, Resolved
from monjyu_query.papers.labels import paper_labels
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.query_embedding import nearness
from monjyu_query.ranking.ranker import best_rows, rank
from monjyu_query.ranking.tools import Tools
from monjyu_query.search.searcher import Searcher

# The evidence of a cited paper for a claim: its passages by hybrid search, their sentences by the reader, or by
# meaning and shared words.
NEAREST_PASSAGES = 5
"""Passages of the paper whose sentences are compared."""
LEAST_CHARACTERS = 20
PAPERS_KEPT = 50
_SENTENCES = "SELECT text FROM sentences WHERE paper_id = ? ORDER BY section_ord, ord"


@dataclass(frozen=True)
class Found:
    """A sentence of the paper. `near` is its nearness in meaning to the claim (0 to 1), or `shared` without vectors;
    `shared` is the share of the claim's words in it."""

    sentence: PassageSentence
    near: float
    shared: float

    @property
    def score(self) -> float:
        return round((self.near + self.shared) / 2, 4)


class Evidence:
    """Finds the sentences of a snapshot's papers that are evidence for a claim."""

    def __init__(self, index: OpenIndex, tools: Tools) -> None:
        self.index = index
        self._tools = tools
        self._papers: dict[str, Facts] = {}

    def find(self, claim: str, paper_id: str) -> list[Found]:
        """The sentences of the paper's passages nearest to the claim, by the reader's probability that they answer the
        claim as a question, or by nearness and shared words if there is no reader."""
        corpus = self.index.corpus
        filters = Filters(paper_ids=[paper_id])
        settings = self._tools.settings.search.model_copy(update={"retracted": "mark"})  # it is cited
        ranking = rank(self.index, self._tools.embedder, claim, "hybrid", filters, settings)
        rows = best_rows(ranking.scores, corpus.paper, NEAREST_PASSAGES)
        chunks = [corpus.chunk_ids[row] for row in rows]
        cursor = self.index.snapshot.cursor_of([paper_id])
        passages = load_passages(cursor, chunks, [float(ranking.scores[row]) for row in rows])
        groups = [group for group in sentences_by_chunk(cursor, passages).values() if group]
        readings = self._tools.readings.of(claim, [("", [one.text for one in group]) for group in groups]) or []
        chances: dict[str, float] = {}
        for group, reading in zip(groups, readings, strict=False):
            for one, chance in zip(group, reading.sentence_scores, strict=True):
                chances[one.sentence_id] = max(chances.get(one.sentence_id, 0.0), float(chance))
        found = {one.sentence_id: one for group in groups for one in group if len(one.text) >= LEAST_CHARACTERS}
        return sorted(
            self._compared(claim, list(found.values())),
            key=lambda one: (-chances.get(one.sentence.sentence_id, 0.0), -one.score, one.sentence.sentence_id),
        )

    def facts(self, paper_id: str, about: str) -> Facts:
        """The facts of the whole paper and its names; the most recent papers are cached."""
        if paper_id not in self._papers:
            if len(self._papers) >= PAPERS_KEPT:
                del self._papers[next(iter(self._papers))]
            rows = self.index.snapshot.cursor_of([paper_id]).execute(_SENTENCES, [paper_id]).fetchall()
            self._papers[paper_id] = Facts(" ".join((about, *(text for (text,) in rows))))
        return self._papers[paper_id]

    def _compared(self, claim: str, sentences: list[PassageSentence]) -> list[Found]:
        own = {term for _, term in Words(normal(claim)).content}
        shares = [
            len(own & {term for _, term in Words(normal(one.text)).content}) / len(own) if own else 0.0
            for one in sentences
        ]
        near = self._near(claim, sentences) or shares
        return [Found(one, n, share) for one, n, share in zip(sentences, near, shares, strict=True)]

    def _near(self, claim: str, sentences: list[PassageSentence]) -> list[float] | None:
        """The nearness of each sentence; None if the model does not read the claim's script, or is paid per text."""
        manifest = self.index.snapshot.manifest
        similar = self._tools.embedder.similarities_to(claim, manifest)([one.text for one in sentences])
        return None if similar is None else [nearness(float(value), self.index.scale) for value in similar]


# Only the model of `roles.verify` judges claims; it sees the passages that were found for them.
@dataclass(frozen=True)
class Read:
    """A check in progress with the sentences of the paper that the model sees."""

    check: CheckedCitation
    text: str


def ask_model(tools: Tools, account: Account, read: Sequence[Read]) -> str:
    """Ask the model for verdicts, a few claims per call; return why some are not judged, empty if all are."""
    if not tools.uses_model("verify") or not read:
        return ""
    session = tools.session(account)
    papers = sorted({one.check.paper_id for one in read if one.check.paper_id})
    language = message_language(read[0].check.claim)
    verifier = ModelVerifier(session, tools.settings, language, papers)
    stated = [Stated(one.check.claim, ((number, one.text),)) for number, one in enumerate(read, start=1)]
    try:
        verdicts = run(verifier.verify(stated))
    except ModelCallError as error:
        return f"Not all citations were checked by the model: {error}"
    for one, verdict in zip(read, verdicts, strict=True):
        if verdict is not None:
            one.check.verdict, one.check.method = verdict.verdict, "model"
            lost = one.check.reasons if verdict.verdict != "supported" else []
            one.check.reasons = [*lost, *filter(None, [verdict.reason[:LONGEST_REASON]])]
    return f"Not all citations were checked by the model: {verifier.unread}" if verifier.unread else ""


MOST_SENTENCES = 2_000
"""The maximum number of citing sentences in one draft."""
MOST_SECONDS = 300.0
PASSAGES, WIDER = 3, 6
"""The number of sentences of the paper that are listed for a citation, and that a model is shown."""


@dataclass
class _Check:
    """The check of one draft until the time `until` (monotonic). `citations` is the list of passages of the result,
    `read` are the checks for the model."""

    index: OpenIndex
    evidence: Evidence
    library: Library
    draft: Draft
    until: float
    cancel: threading.Event
    citations: list[Citation] = field(default_factory=list)
    read: list[Read] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.cancel.is_set() or time.monotonic() > self.until

    def sentence(self, sentence: CitingSentence) -> list[CheckedCitation]:
        found = []
        for cited in sentence.cited:
            for wanted in cited.mark.wanted:
                resolved = self.library.resolve(wanted, self.draft.works)
                if resolved.paper_id is None and wanted.doubtful and not self.draft.works.listed:
                    continue
                found.append(self.citation(sentence, cited, resolved))
        return found

    def citation(self, sentence: CitingSentence, cited: Cited, resolved: Resolved) -> CheckedCitation:
        check = CheckedCitation(
            cited=cited.mark.text,
            claim=cited.claim,
            verdict="not_in_collection" if resolved.known else "not_resolved",
            work=resolved.work,
            found_by=resolved.how,
            reasons=[resolved.why] if resolved.why else [],
        )
        if resolved.paper_id is not None:
            check.paper_id = resolved.paper_id
            check.paper_title = self.index.about_papers[resolved.paper_id].title
            check.verdict = "not_checked"
            if not self.over:
                self.judge(check, sentence)
        return check

    def judge(self, check: CheckedCitation, sentence: CitingSentence) -> None:
        """Search the paper for the claim; if the claim has fewer than three words, with the previous sentence."""
        paper_id = check.paper_id or ""
        if len(check.claim.split()) < 3:
            check.claim = f"{sentence.before} {check.claim}".strip()
        found = self.evidence.find(check.claim, paper_id) if check.claim.strip(" .,;:") else []
        if not found:
            check.verdict, check.reasons = (
                "not_found",
                ["the paper has no text to compare, or the sentence says nothing"],
            )
            return
        lost = self.evidence.facts(paper_id, self.about(paper_id)).lacks(check.claim)
        check.verdict, check.score, check.method = "not_judged", found[0].score, "words"
        check.reasons = [f"nowhere in the paper: {', '.join(lost)}"] if lost else []
        check.citations = self.cited(found[:PASSAGES])
        self.read.append(Read(check, "\n".join(one.sentence.text for one in found[:WIDER])))

    def about(self, paper_id: str) -> str:
        if paper_id not in self.labels:
            self.labels |= paper_labels(self.index, [paper_id])
        return f"{self.labels.get(paper_id, '')} {self.index.about_papers[paper_id].title}"

    def cited(self, found: list[Found]) -> list[int]:
        """The numbers of the passages in the draft's list, to which new ones are added."""
        near = {one.sentence.sentence_id: one.score for one in found}
        numbers = []
        for citation in cite(self.index.snapshot.cursor(), [one.sentence for one in found]):
            same = next((one for one in self.citations if one.sentence_ids == citation.sentence_ids), None)
            if same is None:
                same = citation.model_copy(
                    update={"n": len(self.citations) + 1, "relevance": near.get(citation.sentence_ids[0])}
                )
                self.citations.append(same)
            numbers.append(same.n)
        return numbers


def check_citations(
    searcher: Searcher,
    content: str | bytes,
    kind: Format,
    bibliography: str = "",
    *,
    seconds: float = MOST_SECONDS,
    cancel: threading.Event | None = None,
) -> CheckedDraft:
    """Check every citation of a draft against what the cited paper says.

    `content` is text, or the bytes of a file; `bibliography` the text of a .bib file or CSL JSON. Nothing that the
    draft names is opened. After `seconds` the rest is `not_checked` and the status `partial`. Raises QueryError for a
    draft that is too large or cannot be read.
    """
    started = time.monotonic()
    draft = read_draft(content, kind)
    if bibliography:
        draft.works.by_key |= works_of_bib(bibliography)
    if len(draft.sentences) > MOST_SENTENCES:
        raise QueryError(
            f"More than {MOST_SENTENCES:,} sentences of the draft have citations.", "Check it chapter by chapter."
        )
    index = searcher.current()
    account = searcher.account(index)
    evidence = Evidence(index, searcher.tools)
    check = _Check(index, evidence, Library(index), draft, started + seconds, cancel or threading.Event())
    with charged_to(account):
        checked = [(sentence, check.sentence(sentence)) for sentence in draft.sentences]
    failed = ask_model(searcher.tools, account, check.read)
    usage = Usage(**vars(account.used))
    usage.seconds = round(time.monotonic() - started, 4)
    counts = Counter(one.verdict for _, checks in checked for one in checks)
    return CheckedDraft(
        format=kind,
        collection=searcher.collection,
        snapshot_id=index.snapshot.id,
        status="partial" if counts["not_checked"] else "complete",
        counts={verdict: counts[verdict] for verdict in WORST_FIRST},
        sentences=[_sentence(sentence, checks) for sentence, checks in checked if checks],
        citations=check.citations,
        warnings=[*_warnings(draft, counts, bibliography), *([failed] if failed else [])],
        usage=usage,
    )


def _sentence(sentence: CitingSentence, checks: list[CheckedCitation]) -> CheckedSentence:
    worst = min((one.verdict for one in checks), key=WORST_FIRST.index)
    return CheckedSentence(number=sentence.number, text=sentence.text, verdict=worst, checks=checks)


def _warnings(draft: Draft, counts: Counter[Verdict], bibliography: str) -> list[str]:
    found = list(draft.warnings)
    if not draft.sentences:
        found.append("No sentence of the draft has a citation in a known form.")
    keyed = any(wanted.key for one in draft.sentences for cited in one.cited for wanted in cited.mark.wanted)
    if keyed and counts["not_resolved"] and not bibliography:
        found.append("The draft cites keys: pass its .bib file.")
    if counts["not_judged"]:
        found.append("No model judged what the papers say (roles.verify): read the passages.")
    if counts["not_checked"]:
        found.append(f"{counts['not_checked']} citations were not checked: the time limit was reached.")
    return found
