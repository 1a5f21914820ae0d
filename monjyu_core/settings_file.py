"""The settings file that `monjyu config init` writes: all settings at their defaults, commented out."""

from __future__ import annotations

import json
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
    lines = [HEAD]
    for name, field in Settings.model_fields.items():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, BaseModel):
            lines.append(f"# {name}:")
            lines += [_line(f"  {key}", inner) for key, inner in group.model_fields.items() if not _secret(inner)]
        else:
            lines.append(_line(name, field))
    return "\n".join(lines) + "\n"


def _line(name: str, field: FieldInfo) -> str:
    what = f"  # {field.description}" if field.description else ""
    return f"# {name}: {_value(field.default)}{what}"


def _value(default: Any) -> str:
    return json.dumps(default)


def _secret(field: FieldInfo) -> bool:
    return SecretStr.__name__ in str(field.annotation)
