"""A small file that people write about a collection, next to its record: an input, like the papers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from filelock import FileLock
from pydantic import BaseModel, ValidationError

from monjyu_core.errors import StorageError
from monjyu_core.storage.folders import CollectionFolder, write_atomically

_SECONDS = 30

Held = TypeVar("Held", bound=BaseModel)


@dataclass(frozen=True)
class InputFile(Generic[Held]):
    """A JSON file of a collection that people write. `name` is its name in the collection's folder, `model` its
    content, whose fields are dicts; an empty model means no file."""

    name: str
    model: type[Held]

    def path(self, folder: CollectionFolder) -> Path:
        return folder.root / self.name

    def read(self, folder: CollectionFolder) -> Held:
        """Read the file. Raises StorageError if it is damaged: continuing without it would undo people's work."""
        try:
            return self.unpacked(self.path(folder).read_text("utf-8"))
        except FileNotFoundError:
            return self.model()

    def change(self, folder: CollectionFolder, change: Callable[[Held], Held]) -> None:
        """Write the result of `change` if it differs; delete the file if nothing is left."""
        with self._lock(folder):
            before = self.read(folder)
            after = change(before.model_copy(deep=True))
            if not (text := self.packed(after)):
                self.path(folder).unlink(missing_ok=True)
            elif after != before:
                write_atomically(self.path(folder), text.encode())

    def changed(self, text: str, change: Callable[[Held], Held]) -> str:
        """The file's text after `change`."""
        return self.packed(change(self.unpacked(text)))

    def unpacked(self, text: str) -> Held:
        try:
            return self.model.model_validate_json(text) if text else self.model()
        except ValidationError as error:
            raise StorageError(f"{self.name} of the collection is damaged.", "Restore it, or delete it.") from error

    def packed(self, held: Held) -> str:
        """The content as text, sorted, so that equal contents have equal bytes; empty if there is nothing to store."""
        in_order = {name: dict(sorted(entries.items())) for name, entries in held}
        return "" if held == self.model() else held.model_copy(update=in_order).model_dump_json(indent=1)

    @contextmanager
    def _lock(self, folder: CollectionFolder) -> Iterator[None]:
        folder.root.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path(folder).with_suffix(".lock"), timeout=_SECONDS):
            yield
