"""Collections that a Dagster project declares (`CorpusComponent`): what the declaration says stands over the record.

Loading definitions only tells this process of them and writes nothing. Whatever works on such a collection then takes
its record as the declaration wants it, and the run that publishes writes that, as it does for `monjyu index`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from monjyu_assets.sources.records import rules_of, with_source
from monjyu_core.storage.collection import CollectionRecord, SourceRules, known_record, load_record
from monjyu_core.storage.folders import CollectionFolder, DataFolder


@dataclass(frozen=True)
class Declaration:
    """A collection as it is declared. `place` names the file that says so; `include` and `exclude` choose among the
    files of all its folders; `library` is a Zotero library whose works are brought into the collection before each run.
    """

    name: str
    sources: tuple[Path, ...]
    level: int = 0
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""
    library: Path | None = None


_declared: dict[CollectionFolder, Declaration] = {}


def declare(data: DataFolder, declaration: Declaration) -> None:
    """From now on this process takes the collection as declared. A later declaration of it stands for the earlier."""
    _declared[data.collection(declaration.name)] = declaration


def declaration_of(folder: CollectionFolder) -> Declaration | None:
    return _declared.get(folder)


def declared_names(data: DataFolder) -> list[str]:
    return sorted(folder.name for folder in _declared if folder.root.parent == data.index)


def record_of(data: DataFolder, name: str) -> CollectionRecord:
    """The collection's record as its declaration wants it; without one `known_record`."""
    folder = data.collection(name)
    if folder not in _declared:
        return known_record(data, name)
    return as_declared(folder, load_record(folder) or CollectionRecord(name=name))


def as_declared(folder: CollectionFolder, record: CollectionRecord) -> CollectionRecord:
    """The record with what the declaration says of sources, patterns, settings and level; itself where there is none.

    Sources that the declaration does not name go. A level above the declared one stays: `monjyu downgrade` drops what
    models may have been paid for, a file that is edited does not.
    """
    declaration = _declared.get(folder)
    if declaration is None:
        return record
    return _with_sources(record, declaration).model_copy(
        update={
            "level": max(record.level, declaration.level),
            "settings": dict(declaration.settings),
            "declared": declaration.place,
        }
    )


def _with_sources(record: CollectionRecord, declaration: Declaration) -> CollectionRecord:
    """What goes, goes first: a folder that is declared at another place is then the first source again, and its papers
    keep their ids."""
    named = list(map(str, declaration.sources))
    kept = {source: rules for source, rules in rules_of(record).items() if source in named}
    record = record.model_copy(update={"sources": list(kept), "rules": kept})
    for source in declaration.sources:
        record = with_source(record, source)
    patterns = {"include": list(declaration.include), "exclude": list(declaration.exclude)}
    rules = {source: _chosen(source, held, patterns) for source, held in rules_of(record).items()}
    return record.model_copy(update={"sources": list(rules), "rules": rules})


def _chosen(source: str, rules: SourceRules, patterns: Mapping[str, list[str]]) -> SourceRules:
    """Patterns choose among the files of a folder; a file that is named is meant."""
    return rules if Path(source).suffix and not Path(source).is_dir() else rules.model_copy(update=patterns)
