"""Models that tests compile for another number of threads than all others go with them: each is 100 to 250 MB."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest

from monjyu_core.embedding import load
from monjyu_core.reader.load_reader import _readers


@pytest.fixture(autouse=True, scope="module")
def _models_go_with_their_tests() -> Iterator[None]:
    yield
    threads = int(os.environ["MONJYU_EMBEDDING__THREADS"])
    of_their_own: list[tuple[dict[Any, Any], Any]] = [
        (models, key) for models in (load._embedders, _readers) for key in models if key[-1] != threads
    ]
    for models, key in of_their_own:
        del models[key]
    if of_their_own:
        gc.collect()  # an engine and what brings it its batches hold each other
