"""The kinds of questions that are generated."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["fact", "relation", "community", "citation", "unanswerable"]
KINDS: tuple[Kind, ...] = get_args(Kind)
