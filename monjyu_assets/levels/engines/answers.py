"""The shapes of models' answers. Anything beyond them is cut off or dropped."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, Field

from monjyu_assets.levels.entities.findings import Stance
from monjyu_assets.levels.entities.lexicon import RELATIONS, TYPES

Type = Literal["researcher", "organization", "method", "model", "dataset", "metric", "task", "concept", "tool", "paper"]
Kind = Literal["result", "method", "limitation", "background", "future_work", "definition"]
KINDS = ("result", "method", "limitation", "background", "future_work", "definition")


def _one_of(known: tuple[str, ...], other: str) -> BeforeValidator:
    def read(value: Any) -> Any:
        word = "_".join(str(value).strip().casefold().split())
        return word if word in known else other

    return BeforeValidator(read)


def _clamped(most: float) -> BeforeValidator:
    """Clamp a number to the scale: a model that says 11 of 10 means very much."""

    def read(value: Any) -> Any:
        return min(most, max(0.0, value)) if isinstance(value, int | float) else value

    return BeforeValidator(read)


OfTen = Annotated[float, Field(ge=0, le=10), _clamped(10.0)]
OfOne = Annotated[float, Field(ge=0, le=1), _clamped(1.0)]


class ModelEntity(BaseModel):
    name: str
    type: Annotated[Type, _one_of(TYPES, "concept")]
    description: str = ""
    sentences: list[int] = []


class ModelRelationship(BaseModel):
    source: str
    target: str
    type: Annotated[str, _one_of(RELATIONS, "associated_with")]
    stance: Annotated[Stance, _one_of(get_args(Stance), "stated")] = "stated"
    description: str = ""
    sentences: list[int]
    strength: OfTen = 5.0


class ModelEntities(BaseModel):
    entities: list[ModelEntity]
    relationships: list[ModelRelationship] = []


class ModelClaim(BaseModel):
    subject: str = ""
    statement: str = Field(min_length=1)
    quote: str
    kind: Annotated[Kind, _one_of(KINDS, "background")]
    confidence: OfOne


class ModelClaims(BaseModel):
    claims: list[ModelClaim]


class ModelFinding(BaseModel):
    summary: str
    explanation: str = ""
    sentences: list[int]


class ModelReport(BaseModel):
    title: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    rating: OfTen
    rating_reason: str = ""
    findings: list[ModelFinding]


def plain(text: str, most: int) -> str:
    """The text as one line, cut to `most` characters."""
    return " ".join(text.split())[:most]
