"""Draws pages in a separate process, so that a hostile PDF can crash or block only that process, or fill its memory."""

import json
import logging
import struct
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

from monjyu_core.errors import StorageError
from monjyu_core.values import Values
from monjyu_query.service.server.error_responses import Busy

LENGTH = struct.Struct(">I")
MOST_WAITING = 32
_log = logging.getLogger(__name__)


class Drawing:
    """Draws pages as PNG, one at a time. The process is started for the first page, and again after it has ended."""

    def __init__(self, seconds: float, memory_mb: int) -> None:
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._lock = threading.Lock()
        self._waiting = threading.BoundedSemaphore(MOST_WAITING)
        self._process: subprocess.Popen[bytes] | None = None

    def draw(
        self,
        path: str,
        number: int,
        width: int,
        boxes: Sequence[Sequence[float]],
        crop: Sequence[float] | None = None,
    ) -> bytes:
        """Draw a page. Raises StorageError if it cannot be drawn, Busy if too many are waiting."""
        if not self._waiting.acquire(blocking=False):
            raise Busy("Too many pages are being drawn.", "Ask again in a few seconds.", {"Retry-After": "2"})
        try:
            with self._lock:
                job = {"path": path, "number": number, "width": width, "boxes": boxes, "crop": crop}
                return self._drawn(job)
        finally:
            self._waiting.release()

    def close(self) -> None:
        with self._lock:
            self._end()

    def _drawn(self, job: Values) -> bytes:
        process = self._started()
        late = threading.Timer(self._seconds, process.kill)
        late.start()
        try:
            _send(_pipe(process.stdin), json.dumps(job).encode())
            answer = _received(_pipe(process.stdout))
        except OSError as error:
            self._end()
            raise StorageError("The page cannot be drawn: it took too long, or too much memory.") from error
        finally:
            late.cancel()
        if not answer.startswith(b"\x89PNG"):
            _log.warning("A page was not drawn: %s", answer[:300].decode(errors="replace"))
            raise StorageError("The page cannot be drawn: the file is damaged.")
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            command = [sys.executable, "-m", "monjyu_query.service.server.draw_page", str(self._memory_mb)]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._process

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # bytes that were not sent cannot be flushed to a process that has ended
                    pipe.close()
        self._process = None


class Images:
    """A cache of the most recently used images: up to `most_bytes`, but at least one image."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._size = 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def get(self, name: str, make: Callable[[], bytes]) -> bytes:
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
        made = make()
        with self._lock:
            if name not in self._kept:
                self._kept[name] = made
                self._size += len(made)
            while self._size > self._most and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1])
        return made


def _send(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(LENGTH.pack(len(message)) + message)
    pipe.flush()


def _received(pipe: IO[bytes]) -> bytes:
    """Return the next message. Raises OSError if the drawing process has ended."""
    head = pipe.read(LENGTH.size)
    size = LENGTH.unpack(head)[0] if len(head) == LENGTH.size else 0
    message = pipe.read(size)
    if not size or len(message) < size:
        raise BrokenPipeError("the drawing process ended")
    return message


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError("no pipe")
    return pipe
