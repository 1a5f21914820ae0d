"""Where the memories of reviews lie, and how they are read, changed and forgotten."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from pydantic import ValidationError

from monjyu_core.errors import ConfigurationError, StorageError
from monjyu_core.reviews.review_state import ReviewState
from monjyu_core.storage.folders import DataFolder, remove_folder, write_atomically
from monjyu_core.storage.ids import check_collection_name
from monjyu_core.storage.private import private_file, private_folder

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SECONDS = 30


def check_review_name(name: str) -> str:
    """ConfigurationError for what may be no name of a file."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(f"{name!r} is not a valid name of a review.", "Use up to 64 of a-z, 0-9, - and _.")
    return name


class ReviewStore:
    """The memories of one collection's reviews."""

    def __init__(self, data: DataFolder, collection: str) -> None:
        self._folder = data.state / "reviews" / check_collection_name(collection)

    def path(self, name: str) -> Path:
        return self._folder / f"{check_review_name(name)}.json"

    def protocol(self, name: str) -> Path:
        """Where the protocol is kept that the review was last run or saved with. It holds no words of papers."""
        return self._folder / f"{check_review_name(name)}.yaml"

    def keep_protocol(self, name: str, text: str) -> None:
        with self._locked():
            write_atomically(self.protocol(name), text.encode())
            private_file(self.protocol(name))

    def protocols(self) -> list[str]:
        """Names of the reviews whose protocol is kept."""
        return sorted(path.stem for path in self._folder.glob("[!.]*.yaml"))

    def names(self) -> list[str]:
        return sorted(path.stem for path in self._folder.glob("[!.]*.json"))

    def read(self, name: str) -> ReviewState:
        """Empty where it was never run. StorageError where the file is damaged: people's decisions stand in it."""
        path = self.path(name)
        try:
            return ReviewState.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return ReviewState()
        except ValidationError as error:
            raise StorageError(f"{path} is damaged.", "Restore it, or delete it and screen again.") from error

    def change(self, name: str, change: Callable[[ReviewState], ReviewState]) -> ReviewState:
        """Write what `change` makes of it, where that is anything else: a reader sees the old state or the new."""
        with self._locked():
            before = self.read(name)
            after = change(before)
            if after != before:
                write_atomically(self.path(name), _packed(after))
                private_file(self.path(name))
        return after

    def forget(self, papers: set[str]) -> None:
        """Of purged papers, in every review."""
        self._change_all(lambda held: held.without(papers))

    def settle(self, papers: Mapping[str, str]) -> None:
        """After a publish: name all by the papers that there are, by id with the hashes of their files."""
        self._change_all(lambda held: held.settled(papers))

    def drop(self) -> None:
        """With the collection."""
        if self._folder.is_dir():
            remove_folder(self._folder)

    def _change_all(self, change: Callable[[ReviewState], ReviewState]) -> None:
        for name in self.names():
            self.change(name, change)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        for folder in (self._folder.parents[1], self._folder.parent, self._folder):
            private_folder(folder)
        with FileLock(self._folder / ".lock", timeout=_SECONDS):
            yield


def _packed(state: ReviewState) -> bytes:
    """Papers in order, so that equal states are equal bytes."""
    ordered = {
        "screened": {one: state.screened[one] for one in sorted(state.screened)},
        "overrides": {one: state.overrides[one] for one in sorted(state.overrides)},
    }
    return state.model_copy(update=ordered).model_dump_json(indent=1).encode()
