"""LanceDB, imported without the client of its REST service. Import `lancedb` from here.

LanceDB takes the names of that client's models for its annotations. The package that holds them loads a pydantic
schema for each of a hundred calls as well, half of what importing LanceDB costs. It is put off until somebody asks for
one of them; the models themselves are loaded as ever.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_CLIENT = "lance_namespace_urllib3_client"


class _Later(ModuleType):
    """A package whose own code runs when a name is asked for that it does not have yet; its modules load without."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or self.__spec__ is None or self.__spec__.loader is None:
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def _put_off(name: str) -> None:
    spec = find_spec(name) if name not in sys.modules else None
    if spec is None or spec.submodule_search_locations is None:
        return
    module = _Later(name)
    module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
    module.__path__ = spec.submodule_search_locations
    sys.modules[name] = module


_put_off(_CLIENT)

import lancedb  # noqa: E402

__all__ = ["lancedb"]
