"""Models that tests compile for another number of threads than all others go with them: each is 100 to 250 MB."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from monjyu_core.embedding import load


@pytest.fixture(autouse=True, scope="module")
def _models_go_with_their_tests() -> Iterator[None]:
    yield
    threads = int(os.environ["MONJYU_EMBEDDING__THREADS"])
    of_their_own = [key for key in load._models if isinstance(key, tuple) and key[-1] != threads]
    for key in of_their_own:
        del load._models[key]
    if of_their_own:
        gc.collect()  # an engine and what brings it its batches hold each other
