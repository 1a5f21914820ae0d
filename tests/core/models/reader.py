"""A model server's answers to the prompts of searches, by shared words: what a fake model needs to play all its roles.

fake.default = reader.read          # a function of the request
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.core.models.fake_server import Reply, Request, say

_STARTS = {
    "You rate which reports": "rate",
    "You collect the points": "map",
    "You sort questions": "route",
    "You prepare the search": "expand",
    "You rate how relevant": "assess",
    "You extract claims": "extract",
    "You judge": "sufficient",
}
_SOURCE = re.compile(r"<source (\d+) \w+>\n(.*?)\n</source", re.DOTALL)
_STOP = {
    word[:6] for word in ("what", "which", "does", "about", "their", "these", "those", "papers", "said", "with", "from")
}
NEAR = 0.34
"""Share of the question's words from which a text is relevant."""


def role_of(request: Request) -> str:
    """rate, map, route, expand, assess, extract, sufficient or answer."""
    text = request.body["messages"][0]["content"]
    return next((name for start, name in _STARTS.items() if text.startswith(start)), "answer")


def sources_of(request: Request) -> list[tuple[int, str]]:
    return [(int(number), text) for number, text in _SOURCE.findall(request.prompt)]


def read(request: Request) -> Reply:
    return say(answer_to(role_of(request), request))


def answer_to(role: str, request: Request) -> str:
    asked = words(request.prompt.rsplit("Question:", 1)[-1])
    sources = sources_of(request)
    near = [(n, text, share(asked, text)) for n, text in sources if share(asked, text) >= NEAR]
    found: Any = {
        "rate": lambda: {"ratings": [{"report": n, "score": round(10 * part, 1)} for n, _, part in near]},
        "map": lambda: {"points": [_point(n, text, part, asked) for n, text, part in near]},
        "route": lambda: {"query_type": "exploration", "reason": "a fake model says so"},
        "expand": lambda: _expanded(request),
        "assess": lambda: {"scores": _scores(request, asked)},
        "extract": lambda: {"claims": [_claim(n, text, asked) for n, text in sources]},
        "sufficient": lambda: {"sufficient": False},
    }.get(role)
    if found is not None:
        return json.dumps(found())
    best = [(n, best_sentence(text, asked)) for n, text in sources[:3]]
    return " ".join(f"{text.rstrip('.')} [{n}]." for n, text in best) or "NO ANSWER"


def words(text: str) -> set[str]:
    return {word[:6] for word in re.findall(r"\w{4,}", text.lower())} - _STOP


def share(asked: set[str], text: str) -> float:
    return len(asked & words(text)) / len(asked) if asked else 0.0


def best_sentence(text: str, asked: set[str]) -> str:
    return max(re.split(r"(?<=[.!?])\s+", text), key=lambda sentence: share(asked, sentence))


def _point(n: int, text: str, part: float, asked: set[str]) -> dict[str, Any]:
    findings = re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE)
    number, said = max(findings, key=lambda one: share(asked, one[1]), default=("1", text))
    return {"point": best_sentence(said, asked), "score": round(100 * part), "report": n, "findings": [int(number)]}


def _scores(request: Request, asked: set[str]) -> list[dict[str, Any]]:
    lines = re.findall(r"^(\d+)\. (.*)$", request.prompt, re.MULTILINE)
    return [{"sentence": int(n), "score": 8} for n, text in lines if share(asked, text) >= NEAR]


def _claim(n: int, text: str, asked: set[str]) -> dict[str, Any]:
    quote = best_sentence(text, asked)
    return {"statement": quote, "source": n, "quote": quote, "score": 8}


def _expanded(request: Request) -> dict[str, Any]:
    question = " ".join(request.prompt.rsplit("Question:", 1)[-1].split())
    return {"subqueries": [question, f"{question} results", f"{question} methods"], "expanded_query": question}
