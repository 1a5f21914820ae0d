"""Contradictions between papers: pairs of statements about the same subject, judged by the model of `roles.verify`;
both sides are quoted with page and rectangles, or the pair is omitted."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict

from monjyu_core.errors import QueryError
from monjyu_core.language.packs import Texts
from monjyu_core.models.account import Account
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.event_loop import run
from monjyu_core.models.factory import role_model
from monjyu_core.storage.ids import digest
from monjyu_core.text.language import message_language
from monjyu_core.text.search_text import word_terms
from monjyu_query.answers.answer import Answer, result_of
from monjyu_query.answers.citing import cite
from monjyu_query.answers.verification.model_check import LONGEST_REASON, ModelVerifier, SentenceVerdict, Stated
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.asking.request import Filters
from monjyu_query.asking.result import Citation, Routing, SearchResult, Segment, Status, Usage
from monjyu_query.questions.intents import Intent
from monjyu_query.questions.statements import Said, StatementPair, pairs_among, pairs_of_all, what_papers_say
from monjyu_query.ranking.filters import passing_papers
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.tools import Ask, Tools

# Answers "do papers disagree about …?": both sides of each contradiction, or whether papers were compared.
_TEXTS = Texts("tensions")


def none_found(said: Said, what: str, read: int | None, language: str) -> Answer:
    """The answer without contradictions. `read`: the number of pairs that a model read, 0 if none are similar, None if
    no model read them. It is an abstention if no paper mentions the subject, or if no model read pairs and no statement
    can be quoted; partial if no model read pairs of a subject; otherwise complete."""
    words = _TEXTS[language]
    if what and said.papers < 2:
        name = ("nobody", "one")[said.papers]
    elif read is None:
        name = "unread" if what else "unread_all"
    elif what:
        name = "none" if read else "unlike"
    else:
        name = "anything" if read else "unlike_all"
    pairs = words["pair" if read == 1 else "pairs"].format(read or 0)
    nearly = "" if said.whole else words["nearly"].format(what=what)
    told = [Segment(text=nearly + words[name].format(what=what, n=said.papers, read=pairs))]
    if said.citations:
        told.append(Segment(text=f"\n\n{words['says']}"))
        told += [
            Segment(text=f"\n- {' '.join(citation.quote.split())}", citations=[citation.n])
            for citation in said.citations
        ]
    nothing = not said.papers or (name.startswith("unread") and not said.citations)
    status: Status = "abstained" if nothing else "partial" if name == "unread" else "complete"
    return Answer(told, status, said.citations, verified=bool(said.citations))


MOST_ANSWERED, MOST_SHOWN = 16, 5
"""The number of pairs that the model reads for an answer (two calls) and that are shown; `monjyu tensions` reads
more."""


def tension_answer(ask: Ask, tools: Tools, intent: Intent) -> SearchResult | None:
    """The result if a question asks whether papers disagree: both sides of each pair that the model of `roles.verify`
    finds contradictory; without such pairs or without a model, the number of papers that mention the subject and their
    statements. None for other questions, and if mode, controller or budget is requested."""
    request, index = ask.request, ask.index
    what = intent.text
    if not request.open_ended or len(what) > LONGEST_CONCEPT:
        return None
    language = message_language(request.query)
    if what and word_terms([what])[0]:
        said = what_papers_say(index, tools, what, request.filters, ask.settings)
        pairs = pairs_among(index, said.statements, MOST_ANSWERED)
    else:
        what = ""  # "about it", "about this": about anything
        said = Said(len(passing_papers(index.snapshot.cursor(), request.filters)), [])
        pairs = pairs_of_all(index, request.filters, ask.settings, MOST_ANSWERED) if tools.uses_model("verify") else []
    judged = judge_pairs(tools, ask.account, pairs, language)
    read = None if judged.held else judged.read
    answer = _both_sides(ask, judged.held, what, language) or none_found(said, what, read, language)
    routing = Routing(
        query_type="tensions", reason="it asks where papers disagree, which the model of roles.verify says"
    )
    warnings = [judged.warning] if judged.warning else []
    return result_of(replace(ask, mode="tensions", routing=routing), answer, "extractive", [], warnings=warnings)


def _both_sides(ask: Ask, held: Sequence[tuple[StatementPair, str]], what: str, language: str) -> Answer | None:
    """Both sides of the pairs that the model finds contradictory; None if there are none."""
    shown = [pair for pair, _ in held[:MOST_SHOWN]]
    used = list({side.sentence_id: side for pair in shown for side in (pair.first, pair.second)}.values())
    citations = cite(ask.index.snapshot.cursor(), used) if used else []
    if not shown or len(citations) < len(used):
        return None
    number = {side.sentence_id: citation.n for side, citation in zip(used, citations, strict=True)}
    quotes = {citation.n: " ".join(citation.quote.split()) for citation in citations}
    words = _TEXTS[language]
    segments = [Segment(text=words["about"].format(what=what) if what else words["anything_opposed"])]
    for pair in shown:
        first, second = number[pair.first.sentence_id], number[pair.second.sentence_id]
        segments.append(Segment(text=f"\n- {quotes[first]}", citations=[first]))
        segments.append(Segment(text=f" {words['against']}{quotes[second]}", citations=[second]))
    return Answer(segments, "complete", citations, verified=True)


MOST, LONGEST_CONCEPT = 200, 200
"""The maximum number of pairs returned, and of characters in a concept."""
MOST_PAIRS = 64
"""The maximum number of pairs that the model reads for a list, in eight calls. Replies are cached, so that the same
pairs are not sent twice."""
NO_MODEL = (
    "Contradictions are judged by a model, and none is set: set roles.verify.engine to llm and name one in models "
    "(docs/configure.md)."
)
_MOST_SHARED = 6
"""The maximum number of words that name a pair's subject."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TensionSide(_Model):
    """The statement of one paper: `citation` is the `n` of its quote."""

    paper_id: str
    paper_title: str
    year: int | None
    statement: str
    citation: int


class Tension(_Model):
    """Statements of two papers that contradict each other according to the model `engine`, for this `reason`.
    `concept`: words that both have. `score`: their similarity, 0 to 1."""

    tension_id: str
    concept: str
    score: float
    engine: str
    reason: str
    first: TensionSide
    second: TensionSide


class Tensions(_Model):
    """Contradictory pairs of statements, the most similar first. `built`: whether a model read pairs; `read`: the
    number of pairs that it read; `total`: the number that it finds contradictory. `warnings` are the reasons why pairs
    were not read. Without contradictions, `said` has statements about the concept, one per paper, the nearest first,
    from the `papers` with passages that have all its words or, if `whole` is false, all but one."""

    collection: str
    snapshot_id: str
    level: int
    concept: str | None
    built: bool
    read: int
    total: int
    tensions: list[Tension]
    papers: int
    whole: bool
    said: list[TensionSide]
    citations: list[Citation]
    warnings: list[str]
    usage: Usage


@dataclass(frozen=True)
class Judged:
    """The model's verdicts on pairs. `held`: the contradictory pairs, each with its reason; `read`: the number of pairs
    with a verdict, None if the model was not called or never answered. `warning` is the reason why pairs have no
    verdict; empty if all have one."""

    read: int | None
    held: list[tuple[StatementPair, str]]
    warning: str


def judge_pairs(tools: Tools, account: Account, pairs: Sequence[StatementPair], language: str) -> Judged:
    """The verdicts of the model of `roles.verify` on each pair: the first is the claim, the second its source."""
    if not tools.uses_model("verify"):
        return Judged(None, [], NO_MODEL)
    if not pairs:
        return Judged(0, [], "")
    number = {text: n for n, text in enumerate(dict.fromkeys(pair.second.text for pair in pairs), start=1)}
    stated = [Stated(pair.first.text, ((number[pair.second.text], pair.second.text),)) for pair in pairs]
    papers = sorted({side.passage.paper_id for pair in pairs for side in (pair.first, pair.second)})
    verifier = ModelVerifier(tools.session(account), tools.settings, language, papers)
    verdicts: list[SentenceVerdict | None] = []
    try:
        verdicts = run(verifier.verify(stated))
        unread = verifier.unread and f"Not all pairs were read by the model: {verifier.unread}"
    except ModelCallError as error:
        unread = f"The pairs were not read by the model: {error}"
    said = [(pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=False) if verdict is not None]
    held = [(pair, found.reason[:LONGEST_REASON]) for pair, found in said if found.verdict == "contradicted"]
    return Judged(len(said) or None, held, unread)


def tensions_of(index: OpenIndex, tools: Tools, account: Account, concept: str | None, most: int) -> Tensions:
    """The pairs of statements that the model of `roles.verify` finds contradictory, from passages with all words of a
    concept, or from the findings of all papers; at most `most` (200) are returned. Without such pairs or without a
    model, statements about the concept are returned instead, for comparison.

    Raises QueryError for a concept that is too long or has no words.
    """
    started = time.monotonic()
    _check(concept)
    about = Said(0, []) if concept is None else _about(index, tools, concept)
    judged = Judged(None, [], NO_MODEL)
    if tools.uses_model("verify"):
        pairs = _pairs(index, tools, None if concept is None else about, MOST_PAIRS)
        judged = judge_pairs(tools, account, pairs, message_language(pairs[0].first.text if pairs else ""))
    engine = role_model(tools.settings, "verify")[1].model if judged.held else ""
    most = min(most, MOST)
    tensions, citations = _quoted(index, judged.held[:most], engine)
    said: list[TensionSide] = []
    if not tensions:
        said, citations = _statement_sides(index, about, most)
    usage = Usage(**vars(account.used))
    usage.seconds = round(time.monotonic() - started, 4)
    return Tensions(
        collection=index.snapshot.collection.name,
        snapshot_id=index.snapshot.id,
        level=index.snapshot.manifest.level,
        concept=concept,
        built=judged.read is not None,
        read=judged.read or 0,
        total=len(judged.held),
        tensions=tensions,
        papers=about.papers,
        whole=about.whole,
        said=said,
        citations=citations,
        warnings=[judged.warning] if judged.warning else [],
        usage=usage,
    )


def candidates(
    index: OpenIndex, tools: Tools, concept: str | None = None, most: int = MOST_PAIRS
) -> list[StatementPair]:
    """The pairs for a model to read: statements about a concept, or the findings of all papers."""
    return _pairs(index, tools, None if concept is None else _about(index, tools, concept), most)


def heading(found: Tensions) -> str:
    """A heading above the statements, with the number of papers that mention the concept."""
    words = "all" if found.whole else "all but one"
    have = "paper has a passage" if found.papers == 1 else "papers have a passage"
    return f"{found.papers} {have} with {words} of these words. Compare what they say ({len(found.said)} shown):"


def _about(index: OpenIndex, tools: Tools, concept: str) -> Said:
    return what_papers_say(index, tools, concept, Filters(), tools.settings.search)


def _pairs(index: OpenIndex, tools: Tools, about: Said | None, most: int) -> list[StatementPair]:
    if about is None:
        return pairs_of_all(index, Filters(), tools.settings.search, most)
    return pairs_among(index, about.statements, most)


def _check(concept: str | None) -> None:
    if concept is not None and len(concept) > LONGEST_CONCEPT:
        raise QueryError(f"A concept has at most {LONGEST_CONCEPT} characters.", "Name it in a few words.")
    if concept is not None and not word_terms([concept])[0]:
        raise QueryError("The concept has no words to look for.", "Name it in a few words, or leave it out for all.")


def _quoted(
    index: OpenIndex, held: Sequence[tuple[StatementPair, str]], engine: str
) -> tuple[list[Tension], list[Citation]]:
    """The pairs whose quotes are both found in their papers, and their citations, each quote once."""
    used = {side.sentence_id: side for pair, _ in held for side in (pair.first, pair.second)}
    citations = cite(index.snapshot.cursor(), list(used.values())) if used else []
    number = {citation.sentence_ids[0]: citation.n for citation in citations}
    tensions = []
    for pair, reason in held:
        if pair.first.sentence_id in number and pair.second.sentence_id in number:
            first, second = (_side(index, side, number[side.sentence_id]) for side in (pair.first, pair.second))
            name = digest(pair.first.sentence_id, pair.second.sentence_id, length=20)
            shared = _shared(first.statement, second.statement)
            tensions.append(
                Tension(
                    tension_id=name,
                    concept=shared,
                    score=pair.likeness,
                    engine=engine,
                    reason=reason,
                    first=first,
                    second=second,
                )
            )
    return tensions, citations


def _statement_sides(index: OpenIndex, about: Said, most: int) -> tuple[list[TensionSide], list[Citation]]:
    best: dict[str, PassageSentence] = {}
    for statement in about.statements:
        best.setdefault(statement.passage.paper_id, statement)
    citations = cite(index.snapshot.cursor(), list(best.values())[:most]) if best else []
    by_sentence = {statement.sentence_id: statement for statement in best.values()}
    return [_side(index, by_sentence[one.sentence_ids[0]], one.n) for one in citations], citations


def _shared(first: str, second: str) -> str:
    """Words of the first statement that the second also has, in their order."""
    words = first.split()
    there = set(word_terms([second])[0])
    return " ".join(
        [word.strip(".,;:()") for word, terms in zip(words, word_terms(words), strict=True) if set(terms) & there][
            :_MOST_SHARED
        ]
    )


def _side(index: OpenIndex, sentence: PassageSentence, citation: int) -> TensionSide:
    about = index.about_papers[sentence.passage.paper_id]
    return TensionSide(
        paper_id=sentence.passage.paper_id,
        paper_title=about.title,
        year=about.year,
        statement=" ".join(sentence.text.split()),
        citation=citation,
    )
