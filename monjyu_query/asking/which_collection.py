"""Which collection is meant: the one named, or the only one there is."""

from __future__ import annotations

import shlex

from monjyu_core.errors import ConfigurationError, QueryError
from monjyu_core.remote.following import follow_now
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.wording import among


def require_collection(data: DataFolder, name: str) -> CollectionFolder:
    """The folder of a collection that has been indexed; ConfigurationError with the known ones where it has not."""
    folder = data.collection(name)
    if folder.record.is_file():
        return folder
    if (data.papers / name).is_dir():
        raise QueryError(
            f"Collection {name!r} has papers but no index.",
            f"Run `monjyu index {shlex.quote(str(data.papers / name))}`.",
        )
    known = data.collections()
    hint = among(name, known) if known else "There are none yet: run `monjyu index FOLDER`."
    raise ConfigurationError(f"Collection {name!r} is not known in {data.root}.", hint)


def chosen_collection(data: DataFolder, name: str | None, way: str = "with -c") -> str:
    """The name given, else that of the only collection; ConfigurationError where there is none or more than one.

    `way`: how one is named where this is asked.
    """
    follow_now(data)
    if name is not None:
        return require_collection(data, name).name
    known = data.collections()
    if len(known) == 1:
        return known[0]
    if known:
        hint = f"Name one {way}: {', '.join(known)}."
        raise ConfigurationError(f"{data.root} holds {len(known)} collections.", hint)
    raise ConfigurationError(f"{data.root} has no collections.", "Start with `monjyu index FOLDER`.")
