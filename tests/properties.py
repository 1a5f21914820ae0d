"""Hypothesis for the tests: `make test` tries 25 examples of a property, `make slow` as many as the test asks for."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, Phase, assume, example, given, settings
from hypothesis import strategies as st

__all__ = ["HealthCheck", "Phase", "assume", "example", "examples", "given", "sequences", "st"]

FEW = 25
ALL_EXAMPLES = os.environ.get("MONJYU_ALL_EXAMPLES") == "1"
SEQUENCES = int(os.environ.get("MONJYU_EXAMPLES", "0"))


def examples(number: int, **more: Any) -> settings:
    """Settings for at most `number` examples, without a deadline: it would judge the machine."""
    return settings(max_examples=number if ALL_EXAMPLES else min(number, FEW), deadline=None, **more)


def sequences(number: int, **more: Any) -> settings:
    """Settings for `number` sequences of changes, the same each time. MONJYU_EXAMPLES=N tries N random ones and
    shortens one that fails."""
    phases = [Phase.explicit, Phase.generate, *([Phase.shrink] if SEQUENCES else [])]
    return settings(
        max_examples=SEQUENCES or number,
        derandomize=not SEQUENCES,
        phases=phases,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
        **more,
    )


settings.register_profile("monjyu", examples(100))
settings.load_profile("monjyu")
