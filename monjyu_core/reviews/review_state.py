"""The memory of a review: what was decided of each paper, on which words, and what people said instead.

`data/state/reviews/<collection>/<review>.json`. It is no part of a snapshot: people's decisions outlast all of them. It
holds quotes, so it follows the papers: the publish after a deletion or a move settles it, and a purge takes the paper
out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel

from monjyu_core.paper import Box, Span

Decision = Literal["include", "exclude", "unsure"]
Human = Literal["include", "exclude"]
Holds = Literal["yes", "no", "unclear"]
Engine = Literal["rule", "search", "model"]


class Quote(BaseModel):
    """Words of the paper as they stand there. `page` (from 1) and `boxes` (PDF points, origin top left) are of the
    first page, `spans` of all; null and empty where the source has no pages."""

    paper_id: str
    sentence_ids: list[str]
    quote: str
    page: int | None = None
    boxes: list[Box] = []
    spans: list[Span] = []


class Verdict(BaseModel):
    """Whether one criterion holds for a paper. `why`: in words, for those who read the decision."""

    criterion: str
    holds: Holds
    why: str
    engine: Engine
    quotes: list[Quote] = []


class Screening(BaseModel):
    """What a run decided of a paper. `criterion` is the reason: the one that excludes it or leaves it unsure, empty
    where it is included. `key` is the hash of what was read of the paper, `criteria` of what was asked."""

    sha256: str
    key: str
    criteria: str
    snapshot_id: str
    decision: Decision
    criterion: str = ""
    verdicts: list[Verdict] = []


class Override(BaseModel):
    """What a person decided, which stands over every run. `key`: what the paper was then."""

    sha256: str
    key: str
    decision: Human
    reason: str
    criterion: str = ""
    by: str
    at: str


class ReviewState(BaseModel):
    """By paper. `snapshot_id` and `criteria`: what the last whole run saw."""

    snapshot_id: str = ""
    criteria: str = ""
    screened: dict[str, Screening] = {}
    overrides: dict[str, Override] = {}

    def without(self, papers: set[str]) -> ReviewState:
        return self.model_copy(
            update={
                "screened": {one: kept for one, kept in self.screened.items() if one not in papers},
                "overrides": {one: kept for one, kept in self.overrides.items() if one not in papers},
            }
        )

    def settled(self, papers: Mapping[str, str]) -> ReviewState:
        """Of these papers alone, which are all of the collection, by id with the hashes of their files. What people
        said of a paper that has moved goes along; what a run said of it names sentences that are gone."""
        moved = {one.sha256: one for paper_id, one in self.overrides.items() if paper_id not in papers}
        overrides = {paper_id: one for paper_id, one in self.overrides.items() if paper_id in papers}
        for paper_id in sorted(papers) if moved else ():
            if paper_id not in overrides and (one := moved.pop(papers[paper_id], None)):
                overrides[paper_id] = one
        overrides = {one: said.model_copy(update={"sha256": papers[one]}) for one, said in overrides.items()}
        screened = {paper_id: one for paper_id, one in self.screened.items() if paper_id in papers}
        return self.model_copy(update={"screened": screened, "overrides": overrides})
