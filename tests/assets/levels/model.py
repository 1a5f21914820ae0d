"""A fake model for levels 2 to 4: it answers each kind of question by what stands in it."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

from tests.core.models import fake_server as server
from tests.core.models.fake_server import FakeModels, Reply, Request

STARTS = {"You find the entities": "entities", "You extract what": "claims", "You write a report": "report"}
_LINE = re.compile(r"^(\d+)\. (.+)$", re.M)
_WORD = re.compile(r"\b[a-z]{5,}\b")


def settings(fake: FakeModels, **more: str) -> dict[str, str]:
    """Environment of a collection whose levels 2 to 4 the fake model makes."""
    prices = json.dumps({"fake-model-1": {"prompt": 1.0, "completion": 2.0}})
    return fake.environment("EXTRACT", "REPORT", **{"SPENDING__PRICES": prices} | more)


def kind(request: Request) -> str:
    text = request.body["messages"][0]["content"]
    return next((name for start, name in STARTS.items() if text.startswith(start)), "other")


def sentences(request: Request) -> dict[int, str]:
    return {int(number): text for number, text in _LINE.findall(request.body["messages"][0]["content"])}


def good(request: Request) -> Reply:
    makers = {"entities": _entities, "claims": _claims, "report": _report}
    return server.say(json.dumps(makers[kind(request)](sentences(request))))


def _entities(lines: dict[int, str]) -> dict[str, Any]:
    found: dict[str, list[int]] = {}
    for number, text in lines.items():
        for word in _WORD.findall(text):
            found.setdefault(word, []).append(number)
    entities = [
        {"name": word, "type": "concept", "description": "as said", "sentences": at} for word, at in found.items()
    ]
    names = list(found)
    links = [
        {"source": one, "target": other, "type": "helps", "description": "", "sentences": found[one], "strength": 5}
        for one, other in pairwise(names)
    ]
    return {"entities": entities, "relationships": links}


def _claims(lines: dict[int, str]) -> dict[str, Any]:
    said = [
        {"subject": "it", "statement": f"It holds that {text}", "quote": text, "kind": "result", "confidence": 0.8}
        for text in list(lines.values())[:2]
    ]
    return {"claims": said}


def _report(lines: dict[int, str]) -> dict[str, Any]:
    finding = {"summary": lines[1], "explanation": "", "sentences": [1]}
    return {"title": "Helpers", "summary": "A group.", "rating": 5, "rating_reason": "So.", "findings": [finding]}
