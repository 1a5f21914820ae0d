"""Libraries that import others for what is not needed here, imported as if those were not installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Inside, importing these modules raises ImportError, also where they are imported already."""
    modules = cast("dict[str, Any]", sys.modules)
    before = {name: modules.get(name) for name in names}
    modules.update(dict.fromkeys(names))
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del modules[name]
            else:
                modules[name] = module
