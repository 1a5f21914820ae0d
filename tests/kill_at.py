"""`monjyu` in this process, which is killed just before its N-th change of a file in the data folder.

A kill at a random moment hardly ever meets the steps that take no time, and those are where a crash does its harm: the
renames at the end of a publish, the two files of a rollback. `kill_at.py N COUNT_FILE ARGUMENTS`; a command that comes
to its end (with N = 0 they all do) writes the number of its changes to COUNT_FILE.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir")
WRITING = os.O_WRONLY | os.O_RDWR


class Counter:
    """An audit hook; one of Python cannot be taken off again, so the process is this command's alone."""

    def __init__(self, root: str, kill_at: int, number: int = signal.SIGKILL) -> None:
        """`number` is of the signal that is sent."""
        self.root, self.kill_at, self.number, self.count = root, kill_at, number, 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._counts(event, arguments):
            self.step()

    def step(self) -> None:
        self.count += 1
        if self.count == self.kill_at:
            os.kill(os.getpid(), self.number)

    def _counts(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "open":
            path, _, flags = arguments
            inside = isinstance(path, str) and self.root in path
            return inside and bool((flags or 0) & WRITING)
        if event not in CHANGES:
            return False
        in_a_folder = arguments[-1] != -1  # as shutil.rmtree removes: the path is only a name
        return in_a_folder or self.root in os.fsdecode(arguments[0])


def main() -> None:
    kill_at, count_file, *arguments = sys.argv[1:]
    counter = Counter(os.environ["MONJYU_DATA"], int(kill_at))
    sys.addaudithook(counter)
    sys.argv = ["monjyu", *arguments]
    from monjyu_core.cli import main as monjyu

    try:
        monjyu()
    finally:
        Path(count_file).write_text(str(counter.count))


if __name__ == "__main__":
    main()
