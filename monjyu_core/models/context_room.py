"""How much a call of a role may hold: the context of its model without the longest answer."""

from __future__ import annotations

from monjyu_core.models.factory import role_model
from monjyu_core.models.types import Role
from monjyu_core.settings.settings import Settings

INSTRUCTIONS = 600
"""Tokens that are kept for a prompt's own words where they are not counted."""
SPARE = 0.9
"""Share of the context that is used: tokens are counted by cl100k, and servers count by tokenizers of their own."""


def context_room(settings: Settings, role: Role) -> int:
    """Tokens (cl100k) that the messages of a call may have; `models.NAME.context_tokens` is prompt and answer together.

    At least a quarter of the context, also where `max_tokens` of the role leaves less."""
    context = role_model(settings, role)[1].context_tokens
    longest = getattr(settings.roles, role).max_tokens
    return max(int(SPARE * context) - int(longest), context // 4)


def room_for_sources(settings: Settings, role: Role, most: int) -> int:
    """`most` tokens of sources in one call, or what the context holds beside the instructions where that is less."""
    return min(most, max(context_room(settings, role) - INSTRUCTIONS, INSTRUCTIONS))
