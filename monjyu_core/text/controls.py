"""Characters that steer what shows a text, instead of being text: control characters and those that set the direction
of what follows (Unicode's property Bidi_Control). A title may hold them to hide, or to fake, what stands next to it."""

from __future__ import annotations

import re
from typing import Any

DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""For character classes of patterns."""
_CONTROL = re.compile(f"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f{DIRECTIONS}]")


def has_controls(text: str) -> bool:
    """Line ends and tabs are not counted."""
    return _CONTROL.search(text) is not None


def without_controls(text: str) -> str:
    """The text without them; line ends and tabs stay."""
    return _CONTROL.sub("", text)


def blanked(text: str) -> str:
    """The text with a space for each of them, so that places in it stay what they are."""
    return _CONTROL.sub(" ", text)


def escaped_in_json(text: str) -> str:
    """JSON text with them as `\\uXXXX`, which means the same: JSON allows most of them inside strings as they are."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain_values(value: Any) -> Any:
    """A JSON value whose texts are `blanked`."""
    if isinstance(value, str):
        return blanked(value)
    if isinstance(value, dict):
        return {name: plain_values(one) for name, one in value.items()}
    return [plain_values(one) for one in value] if isinstance(value, list) else value


class PlainTexts:
    """Base of frozen dataclasses whose texts come from services and files of others: they are `blanked`."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, str):
                object.__setattr__(self, name, blanked(value))
            elif isinstance(value, tuple):
                object.__setattr__(self, name, tuple(blanked(one) if isinstance(one, str) else one for one in value))
