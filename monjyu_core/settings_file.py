"""The settings file that `monjyu config init` writes: all settings at their defaults, commented out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from monjyu_core.settings import Settings

HEAD = """\
# Settings of Monjyu. Uncomment what you want to change. Environment variables win over this file:
# MONJYU_CHUNKING__SIZE_TOKENS=150. Secrets belong into the environment, not here.
# `profiles:` holds settings that apply only with `profile: azure` or MONJYU_PROFILE=azure.
"""


def template() -> str:
    """YAML text that changes nothing until lines are uncommented."""
    return "\n".join([HEAD, *_lines(Settings, "")]) + "\n"


def _lines(group: type[BaseModel], indent: str) -> Iterator[str]:
    for name, field in group.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield f"# {indent}{name}:"
            yield from _lines(inner, f"{indent}  ")
        elif not _secret(field):
            yield _line(indent + name, field)


def _line(name: str, field: FieldInfo) -> str:
    what = f"  # {field.description}" if field.description else ""
    return f"# {name}: {_value(field.default)}{what}"


def _value(default: Any) -> str:
    return json.dumps(default)


def _secret(field: FieldInfo) -> bool:
    return SecretStr.__name__ in str(field.annotation)
