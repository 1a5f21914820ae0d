"""The type of values by name that come as they come: a row, an object of JSON, the arguments of a call."""

from __future__ import annotations

from typing import Any, TypeAlias

Values: TypeAlias = dict[str, Any]
"""What each of them is, is checked where it is used."""
