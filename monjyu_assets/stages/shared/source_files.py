"""The files as they are indexed: copies by content, for page images and parsing again."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from monjyu_assets.parsing.bibliography.companions import files_beside, joined, joined_sha256
from monjyu_assets.sources.sources import source_root
from monjyu_assets.work.work import Work
from monjyu_core.errors import MalformedDocument, StorageError
from monjyu_core.storage.folders import temporary_for
from monjyu_core.storage.ids import file_sha256

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


def keep_source(work: Work, source: Path, sha256: str) -> Path:
    """Copy a file to `sources/<sha256>`. The copy is parsed, so the text is what the manifest says.

    A Markdown or LaTeX paper becomes one file with its companions.
    """
    kept = work.folder.sources / sha256
    if kept.is_file():
        return kept
    work.folder.sources.mkdir(parents=True, exist_ok=True)
    temporary = temporary_for(kept)
    try:
        beside = _beside(work, source, sha256)
        if beside:
            temporary.write_bytes(b"".join(joined(source, beside)))
        else:
            shutil.copyfile(source, temporary)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if error.errno in NO_ROOM:
            raise StorageError(f"{kept.parent} cannot be written: {error.strerror}.", "Check free space.") from error
        raise MalformedDocument(f"{source.name} cannot be read: {error.strerror}.", "Check its permissions.") from error
    if file_sha256(temporary) != sha256:
        temporary.unlink()
        raise MalformedDocument(f"{source.name} changed while it was read.", "Run the index again.")
    return temporary.replace(kept)


def _beside(work: Work, source: Path, sha256: str) -> list[Path]:
    """The companions of a paper that belong to this hash: those inside the source that holds the paper."""
    roots = {source_root(Path(name)) for name in work.record.sources}
    choices = [files_beside(source, root) for root in sorted(roots) if source.is_relative_to(root)]
    return next((beside for beside in choices if beside and joined_sha256(source, beside) == sha256), [])
