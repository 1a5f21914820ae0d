"""The sources of a collection (folders and files, each with a salt for its ids and patterns for its files), and the
stored analyses of their files."""

import gzip
import json
import os
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.collection import CollectionRecord, SourceRules
from monjyu_core.storage.folders import CollectionFolder, write_atomically
from monjyu_core.values import Values


def source_root(source: Path) -> Path:
    """The root folder of a source: the source itself, or the folder that contains it if it is a file."""
    return source if source.is_dir() or not source.suffix else source.parent


def rules_of(record: CollectionRecord) -> dict[str, SourceRules]:
    """The rules of each source, in order. A source without stored rules has its root as salt, or no salt if the root is
    that of the first source."""
    primary = source_root(Path(record.sources[0])) if record.sources else None
    rules = {}
    for source in record.sources:
        root = source_root(Path(source))
        rules[source] = record.rules.get(source) or SourceRules(salt="" if root == primary else str(root))
    return rules


def chosen(relative: str, rules: SourceRules) -> bool:
    """Whether the rules select a file of a source, by its path within the source."""
    include = not rules.include or any(fits(relative, pattern) for pattern in rules.include)
    return include and not any(fits(relative, pattern) for pattern in rules.exclude)


def fits(relative: str, pattern: str) -> bool:
    """Whether a path matches a pattern. A pattern with a slash is compared with the whole path and with the folders
    above it, any other with the name of the file and of every folder. `*` matches anything including slashes, `?` one
    character, `[…]` one of those in brackets."""
    if "/" in pattern:
        return fnmatchcase(relative, pattern.lstrip("/")) or fnmatchcase(relative, f"{pattern.strip('/')}/*")
    return any(fnmatchcase(part, pattern) for part in PurePosixPath(relative).parts)


def with_source(
    record: CollectionRecord,
    source: Path,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
) -> CollectionRecord:
    """The record with `source` added, unless it already contains it or a folder around it. Sources inside the new one
    are merged into it. Given patterns replace the stored ones. Raises ConfigurationError if patterns are given for a
    file, or for a folder within another source."""
    rules = rules_of(record)
    patterns = {"include": include, "exclude": exclude}
    given = {name: list(value) for name, value in patterns.items() if value is not None}
    around = next((known for known in rules if source != Path(known) and source.is_relative_to(known)), None)
    if around is not None:
        if given:
            raise ConfigurationError(f"{source} is inside the source {around}.", "Set the patterns of that source.")
        return record
    if given and not source.is_dir():
        raise ConfigurationError(f"{source} is a file.", "Patterns select files of a folder.")
    if str(source) not in rules:
        rules = {known: kept for known, kept in rules.items() if not Path(known).is_relative_to(source)}
        rules[str(source)] = SourceRules(salt=_free_salt(rules, source))
    rules[str(source)] = rules[str(source)].model_copy(update=given)
    return _with_rules(record, rules)


def moved_source(record: CollectionRecord, old: str, new: Path) -> CollectionRecord:
    """The record with a source at a new path. Its papers keep their ids."""
    rules = rules_of(record)
    others = [known for known in rules if known != old]
    apart = not any(new.is_relative_to(known) or Path(known).is_relative_to(new) for known in others)
    if str(new) == old or not apart:
        raise ConfigurationError(
            f"{new} is already a source of {record.name}, is inside one, or contains one.", "Nothing was changed."
        )
    return _with_rules(record, {str(new) if known == old else known: kept for known, kept in rules.items()})


def without_source(record: CollectionRecord, source: str) -> CollectionRecord:
    if len(record.sources) == 1:
        raise ConfigurationError(
            f"{source} is the only source of {record.name}.",
            f"`monjyu collections delete {record.name}` deletes the whole index.",
        )
    return _with_rules(record, {known: kept for known, kept in rules_of(record).items() if known != source})


def named_source(record: CollectionRecord, source: str | Path) -> str:
    """The record's source at the path `source`. Raises ConfigurationError, which lists the sources."""
    name = os.path.normpath(Path(source).expanduser().absolute())
    match = next((known for known in record.sources if os.path.normpath(known) == name), None)
    if match is None:
        known = ", ".join(record.sources)
        raise ConfigurationError(f"{name} is not a source of {record.name}.", f"Its sources: {known}.")
    return match


def _with_rules(record: CollectionRecord, rules: dict[str, SourceRules]) -> CollectionRecord:
    return record.model_copy(update={"sources": list(rules), "rules": rules})


def _free_salt(rules: dict[str, SourceRules], source: Path) -> str:
    """The salt of a new source, empty if all others have one. Sources with the same root share a salt, because the
    paths of their files differ."""
    root = source_root(source)
    beside = next((kept.salt for known, kept in rules.items() if source_root(Path(known)) == root), None)
    if beside is not None:
        return beside
    taken, salt = {kept.salt for kept in rules.values()}, ""
    while salt in taken:
        salt = f"{salt}#" if salt else str(root)
    return salt


# Analyses by Document Intelligence are stored by the hash of the analysed file and the requested model.
MODEL = "prebuilt-layout"


def analysed_types(settings: Settings) -> frozenset[str]:
    """The document types that the service reads, always or as a fallback; empty if it is not used."""
    used = "document_intelligence" in (settings.pdf.processor, settings.pdf.fallback)
    return frozenset(settings.azure.document_intelligence.reads if used else ())


class StoredAnalyses:
    """Stores analyses as `analyses/<sha256>.<model>.json.gz` in the collection's folder. Nothing is paid for twice: a
    started operation is recorded (`.pending`) before its result is awaited, and a document that the service refuses is
    recorded as well (`.refused`)."""

    def __init__(self, folder: CollectionFolder, *, formulas: bool = False) -> None:
        self._folder = folder.analyses
        self._asked = f"{MODEL}{'-formulas' if formulas else ''}"

    def found(self, sha256: str) -> Path | None:
        path = self._path(sha256, "json.gz")
        return path if path.is_file() else None

    def keep(self, sha256: str, result: Values) -> Path:
        path = self._path(sha256, "json.gz")
        write_atomically(path, gzip.compress(json.dumps(result, ensure_ascii=False).encode(), mtime=0))
        self._path(sha256, "pending").unlink(missing_ok=True)
        return path

    def pending(self, sha256: str) -> str | None:
        """The id of the operation that was started for a file; None if there is none."""
        path = self._path(sha256, "pending")
        return path.read_text("utf-8").strip() if path.is_file() else None

    def begun(self, sha256: str, operation: str) -> None:
        write_atomically(self._path(sha256, "pending"), operation.encode())

    def given_up(self, sha256: str) -> None:
        """Forget the operation of a file, because the service, which stores it for a day, no longer has it."""
        self._path(sha256, "pending").unlink(missing_ok=True)

    def refused(self, sha256: str) -> str | None:
        """The error code with which the service refused a document; None if it did not."""
        path = self._path(sha256, "refused")
        return path.read_text("utf-8").strip() if path.is_file() else None

    def refuse(self, sha256: str, code: str) -> None:
        write_atomically(self._path(sha256, "refused"), code.encode())
        self.given_up(sha256)

    def _path(self, sha256: str, ending: str) -> Path:
        return self._folder / f"{sha256}.{self._asked}.{ending}"


def forget_other_analyses(folder: CollectionFolder, needed: Collection[str]) -> None:
    """Remove the analyses of all files except those with a hash in `needed`."""
    for path in folder.analyses.glob("[!.]*"):
        if path.name.partition(".")[0] not in needed:
            path.unlink()
