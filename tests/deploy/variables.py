"""Environments of deployments, held against the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from monjyu_core.settings.settings import Settings, load_settings


def settings_under(environment: Mapping[str, str]) -> Settings:
    """The settings that a program has with these variables alone. ConfigurationError where one names no setting."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("MONJYU_")]:
            patch.delenv(name)
        for name, value in environment.items():
            if name.startswith("MONJYU_"):
                patch.setenv(name, value)
        return load_settings()
