"""Errors of ours in runs: their words come first on the page of a run, not behind frames of Dagster's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from monjyu_assets.orchestration.reporting.metadata_types import Metadata
from monjyu_core.errors import MonjyuError


@contextmanager
def causes_first() -> Iterator[None]:
    """Inside, an error that is meant for people becomes Dagster's Failure with the error's words as description.

    The error stays its `__cause__`. Nothing is tried again: an error that names its cause stays until somebody acts.
    """
    try:
        yield
    except MonjyuError as error:
        metadata: Metadata = {"what_to_do": error.hint} if error.hint else {}
        raise dg.Failure(str(error), metadata=metadata, allow_retries=False) from error
