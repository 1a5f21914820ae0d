"""What the models of lazy search are asked to reply: the shapes of their JSON."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

Score = Annotated[float, Field(ge=0, le=10)]


class Subqueries(BaseModel):
    subqueries: list[str] = Field(min_length=1)
    expanded_query: str


class ReasonedSubqueries(Subqueries):
    reasoning: str = ""


class SentenceScore(BaseModel):
    sentence: int = Field(ge=1)
    score: Score


class SentenceScores(BaseModel):
    scores: list[SentenceScore]


class ReasonedScore(SentenceScore):
    reason: str = ""


class ReasonedScores(BaseModel):
    scores: list[ReasonedScore]


class ModelClaim(BaseModel):
    statement: str = Field(min_length=1)
    source: int
    quote: str
    score: Score


class ModelClaims(BaseModel):
    claims: list[ModelClaim]


class Sufficient(BaseModel):
    sufficient: bool
