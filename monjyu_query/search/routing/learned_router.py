"""Classifies a question by logistic regression on its wording and, if available, its vector.

`training/router.py` learns the weights from `training/router_questions.jsonl`, and reports their quality.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import regex
from numpy.typing import NDArray
from pydantic import BaseModel

from monjyu_core.errors import ConfigurationError
from monjyu_core.models.account import Account
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.event_loop import run
from monjyu_core.models.prompts import load_prompt
from monjyu_core.models.types import Message
from monjyu_core.text.language import message_language
from monjyu_core.text.quotes import without_foreign
from monjyu_core.text.unicode_words import LETTERS
from monjyu_query.ranking.scripts import LATIN_MODELS
from monjyu_query.ranking.tools import Tools
from monjyu_query.search.routing.question_kinds import QUERY_TYPES, Kind, QueryType, fitting, kind_of

# Classifies a question with the language model of the role `expand`, which prepares searches.
_LONGEST_REASON = 200


class KindAnswer(BaseModel):
    query_type: QueryType
    reason: str


def asked_kind(tools: Tools, query: str, account: Account, own: Callable[[], Kind]) -> Kind:
    """The model's classification; if it fails, that of `own`, with the model's error in the reason."""
    prompt = load_prompt("route", message_language(query), tools.settings.prompts.folder)
    session = tools.session(account)
    messages = [Message("user", prompt.render(question=query))]
    try:
        found = run(session.structured("expand", messages, prompt.hash, KindAnswer))
    except ModelCallError as error:
        kind = own()
        return replace(kind, reason=f"{kind.reason} (the model gave no kind: {error.message})")
    return Kind(found.query_type, f"the model says: {without_foreign(found.reason, query)[:_LONGEST_REASON]}")


# Features of a question's wording for its kind: n-grams of words or characters, and the matching patterns.
LONGEST = 1000
"""The number of characters of a question that are read, half from its beginning and half from its end, which reveal
its kind. Most questions are shorter."""
_WORD = regex.compile(rf"{LETTERS}(?:[’'][a-z]+)?|\d+|[?？,、;:–-]")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LATIN = re.compile(r"[a-z0-9]+")
_ENDING = 4
"""The number of final letters of a long word that are a feature (plurals, comparatives, derived nouns)."""


def grams(query: str) -> list[str]:
    """Sorted distinct n-grams: of one to three words with beginning and end as words, or of one to four characters for
    Japanese questions, in which a name in Latin letters is one letter."""
    text = unicodedata.normalize("NFKC", _read(query)).casefold().strip()
    if _WIDE.search(text):
        whole = f"^{_LATIN.sub('a', text).rstrip('。. ')}$"
        found = {f"J:{whole[at : at + n]}" for n in range(1, 5) for at in range(len(whole) - n + 1)}
        return sorted(found | {f"J#{min(len(whole) // 8, 6)}"})
    words = ["^", *_WORD.findall(text), "$"]
    found = {f"E:{' '.join(words[at : at + n])}" for n in (1, 2, 3) for at in range(len(words) - n + 1)}
    found |= {f"E:{one} _ {other}" for one, other in zip(words, words[2:], strict=False)}
    found |= {f"E-{word[-_ENDING:]}" for word in words if len(word) > _ENDING + 1}
    return sorted(found | {f"E#{min(len(words) // 4, 6)}"})


def cues(query: str) -> list[float]:
    """The features of a question other than its n-grams, 1 or 0 each: the matching patterns, the kind that the patterns
    choose, a question mark at the end, and a constant 1 for the bias."""
    text = _read(query)
    chosen = kind_of(text).name
    asked = text.rstrip().endswith(("?", "？"))
    return [*map(float, fitting(text)), *(float(kind == chosen) for kind in QUERY_TYPES), float(asked), 1.0]


def unspaced(query: str) -> bool:
    return bool(_WIDE.search(query))


def _read(query: str) -> str:
    return query if len(query) <= LONGEST else f"{query[: LONGEST // 2]} {query[-LONGEST // 2 :]}"


WEIGHTS = Path(__file__).with_name("router_weights.npz")
WEIGHTS_SHA256 = "d83d8b4217f4f2889f1472e3b2ac53ce0b580beead6be882568d4b16cb682b0d"
WORDS = "words"
"""The head that needs no vector."""
Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Head:
    """One regression: weights of n-grams (v, k), of cues (c, k) and of the vector (d, k), k being the kinds."""

    grams: Vector
    cues: Vector
    vector: Vector


@dataclass(frozen=True)
class LearnedRouter:
    """Classifies questions by learned weights. `places` maps an n-gram to its row in the weights of each head; heads
    are by the model of their vectors."""

    places: dict[str, int]
    heads: dict[str, Head]

    def models(self) -> list[str]:
        """Models whose vectors improve the result."""
        return [name for name in self.heads if name != WORDS]

    def kind(self, query: str, vector: Vector | None = None, model: str = "") -> Kind:
        """The most likely kind, with its probability. `vector` (d,) is the question's by `model`, one of `models()`."""
        useful = vector is not None and not (model in LATIN_MODELS and unspaced(query))
        head = self.heads[model if useful and model in self.heads else WORDS]
        known = [gram for gram in grams(query) if gram in self.places]
        rows = head.grams[[self.places[gram] for gram in known]] / np.float32(np.sqrt(max(len(known), 1)))
        scores = rows.sum(axis=0) + np.array(cues(query), np.float32) @ head.cues
        if vector is not None and len(head.vector):
            scores = scores + vector @ head.vector
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        first, second = np.argsort(-chances, kind="stable")[:2]
        kind = QUERY_TYPES[first]
        return Kind(kind, _reason(query, kind), round(float(chances[first]), 4), QUERY_TYPES[second])


def _reason(query: str, kind: QueryType) -> str:
    """The reason of the patterns, if they choose the same kind: in a sum of hundreds of weights no word decides."""
    said = kind_of(query)
    return said.reason if said.name == kind else "its wording as a whole"


@cache
def learned_router() -> LearnedRouter:
    """The weights of this package, read once. Raises ConfigurationError if the file is missing or damaged."""
    hint = "Install Monjyu again, or set search.router to patterns."
    try:
        data = WEIGHTS.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"The router's weights {WEIGHTS} cannot be read: {error}.", hint) from error
    if hashlib.sha256(data).hexdigest() != WEIGHTS_SHA256:
        damage = "the hash of the file differs from the expected one"
        raise ConfigurationError(f"The router's weights {WEIGHTS} are damaged: {damage}.", hint)
    return read_router(data)


def read_router(data: bytes) -> LearnedRouter:
    """The router with the weights in a file that `training/router.py` wrote."""
    with np.load(BytesIO(data), allow_pickle=False) as held:
        words = held["grams"].tobytes().decode().split("\n")
        heads = {
            name: Head(*(held[f"{name}|{part}"].astype(np.float32) for part in ("grams", "cues", "vector")))
            for name in held["heads"].tobytes().decode().split("\n")
        }
    return LearnedRouter({gram: place for place, gram in enumerate(words)}, heads)
