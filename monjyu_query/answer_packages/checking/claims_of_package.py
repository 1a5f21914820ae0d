"""What a package says, as far as it is checked. A stranger wrote it: everything has a type and a limit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

Name = Annotated[str, Field(max_length=300)]
Words = Annotated[str, Field(max_length=100_000)]
_MOST = 2000


class SentenceClaim(BaseModel):
    sentence_id: Name
    text: Words
    text_sha256: Name


class CitationClaim(BaseModel):
    """A citation as the evidence has it."""

    n: int
    paper_id: Name
    quote: Words
    quote_sha256: Name
    sentences: Annotated[list[SentenceClaim], Field(max_length=_MOST)]


class EvidenceClaim(BaseModel):
    citations: Annotated[list[CitationClaim], Field(max_length=_MOST)]


class AnswerCitation(BaseModel):
    n: int
    paper_id: Name
    quote: Words


class AnswerClaim(BaseModel):
    citations: Annotated[list[AnswerCitation], Field(max_length=_MOST)]
    answer_engine: Name
    model: Name | None = None


class SnapshotClaim(BaseModel):
    snapshot_id: Name
    collection: Name
    manifest_sha256: Name


class QuestionClaim(BaseModel):
    request: dict[str, Any]
    settings: dict[str, dict[str, Any]]


class Claims(BaseModel):
    answer: AnswerClaim
    evidence: EvidenceClaim
    snapshot: SnapshotClaim
    question: QuestionClaim


def read_claims(files: Mapping[str, bytes]) -> Claims:
    """ValueError (of which pydantic's and JSON's errors are kinds), KeyError or RecursionError where they are not to be
    understood."""
    names = ("answer", "evidence", "snapshot", "question")
    return Claims.model_validate({name: json.loads(files[f"{name}.json"]) for name in names})
