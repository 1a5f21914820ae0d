"""The record of a collection between runs: its sources, language and embedding model, and its overrides."""

from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import BaseModel, ValidationError

from monjyu_core.errors import ConfigurationError, StorageError, did_you_mean
from monjyu_core.settings.settings import EmbeddingModel, ModelName, Settings, load_settings, merge, read_yaml
from monjyu_core.storage.folders import CollectionFolder, DataFolder, write_atomically
from monjyu_core.values import Values

OWNERS = frozenset((
    *("azure", "cache", "libraries", "log", "mcp", "models", "openlineage", "parse", "profile", "prompts", "runs"),
    *("service", "spending", "storage", "telemetry", "traces", "watch", "automation.allow_paid_embeddings"),
    *("automation.git_url", "ocr.memory_mb", "ocr.timeout_seconds", "scholarly.crossref_url", "scholarly.openalex_url"),
    *("scholarly.semantic_scholar_url", "scholarly.openalex_key", "scholarly.semantic_scholar_key"),
))  # fmt: skip
"""Settings and groups that `collection.yaml` may not contain, because it comes with the papers: addresses, keys, files,
money and this machine's protection."""
DEFAULT_LEVEL = 1
"""The level of a new collection unless another is requested."""


class SourceRules(BaseModel):
    """The rules of a source. `salt` separates the ids of its papers from those of other sources, and stays when the
    source moves; a file counts if it matches `include` (empty: all files do) and nothing in `exclude`."""

    salt: str = ""
    include: list[str] = []
    exclude: list[str] = []


class CollectionRecord(BaseModel):
    """The content of `data/index/<collection>/collection.json`. `sources` are absolute paths; `rules` are by source.
    The run that publishes writes it, so a failed run does not change it. `language`, `embedding_model` and
    `embedding_precision` are set when the first chunks are built; a missing precision means that of collections from
    before 8 bits existed. `excluded` are purged papers: they are not indexed again while their files exist. `level` is
    the collection's level. `declared` names the file that declares the collection in a Dagster project, and `settings`
    are those of the declaration: they override all others.
    """

    name: str
    sources: list[str] = []
    rules: dict[str, SourceRules] = {}
    language: str | None = None
    embedding_model: EmbeddingModel | None = None
    embedding_precision: Literal["int8"] | None = None
    excluded: list[str] = []
    level: int = 0
    settings: Values = {}
    declared: str = ""


def load_record(folder: CollectionFolder) -> CollectionRecord | None:
    try:
        return CollectionRecord.model_validate_json(folder.record.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise StorageError(
            f"{folder.record} is damaged.",
            "Restore it from a backup. Deleting it loses the list of purged papers: index the sources again, then "
            "repeat each purge.",
        ) from error


def save_record(folder: CollectionFolder, record: CollectionRecord) -> None:
    write_atomically(folder.record, record.model_dump_json(indent=1).encode())


def record_lock(folder: CollectionFolder) -> FileLock:
    """The lock under which the record is read, changed and written."""
    folder.root.mkdir(parents=True, exist_ok=True)
    return FileLock(folder.root / "record.lock")


def known_record(data: DataFolder, name: str) -> CollectionRecord:
    """The collection's record; a folder `papers/<name>/` without one is a collection that was never indexed."""
    record = load_record(data.collection(name))
    if record is not None:
        return record
    source = data.papers / name
    if not source.is_dir():
        meant = did_you_mean(name, data.collections())
        way = f"Put papers into {source} or run `monjyu index FOLDER -c {name}`."
        raise ConfigurationError(f"Collection {name!r} is not known in {data.root}.", f"{meant} {way}".lstrip())
    return CollectionRecord(name=name, sources=[str(source)], level=DEFAULT_LEVEL)


def collection_yaml(record: CollectionRecord) -> Values:
    """`collection.yaml` of the first source that has one: `level`, `language`, `overrides`."""
    for source in record.sources:
        path = Path(source) / "collection.yaml"
        if path.is_file():
            values = read_yaml(path)
            known = ("level", "language", "overrides")
            unknown = set(values) - set(known)
            if unknown:
                meant = did_you_mean(str(min(unknown, key=str)), known)
                raise ConfigurationError(
                    f"{path} has unknown keys: {', '.join(sorted(map(str, unknown)))}.",
                    meant or f"There are {', '.join(known)}.",
                )
            _check_overrides(path, values.get("overrides") or {})
            return values
    return {}


def _check_overrides(path: Path, overrides: object) -> None:
    if not isinstance(overrides, dict) or not all(isinstance(name, str) for name in overrides):
        raise ConfigurationError(f"`overrides` in {path} is not a mapping of settings.", "See docs/configure.md.")
    for group, values in overrides.items():
        inner = values if isinstance(values, dict) else ()
        names = (group, *(f"{group}.{name}" for name in inner))
        if found := next((one for one in names if one.lower() in OWNERS), None):  # pydantic takes `Models`, too
            raise ConfigurationError(
                f"{path} sets {found}, which a file that comes with papers may not set.", "Set it in monjyu.yaml."
            )


def collection_yaml_text(record: CollectionRecord) -> str | None:
    """The text of the first source's `collection.yaml`; None if no source has one."""
    paths = (Path(source) / "collection.yaml" for source in record.sources)
    return next((path.read_text("utf-8") for path in paths if path.is_file()), None)


def collection_settings(record: CollectionRecord) -> Settings:
    """The settings with which a collection is indexed and searched: its overrides override file and environment, and
    its declaration overrides everything. `auto` as the embedding's model or precision means the record's value, if any.
    """
    settings = _own_settings(record)
    own = settings.embedding
    if own.model == "auto" and record.embedding_model is not None:
        own.model = record.embedding_model
    if own.precision == "auto" and record.embedding_precision is not None:
        own.precision = record.embedding_precision
    return settings


def target_level(record: CollectionRecord) -> int:
    """The level to which the collection is built: the record's, or a higher one requested by `collection.yaml`."""
    asked = collection_yaml(record).get("level", 0)
    if type(asked) is not int or not 0 <= asked <= 4:
        raise ConfigurationError(
            f"`level` in collection.yaml of {record.name} is {asked!r}.", "Set it to 0, 1, 2, 3 or 4."
        )
    return max(record.level, asked)


def wanted_model(record: CollectionRecord) -> ModelName:
    """The model named in the settings, before `auto` is resolved."""
    return _own_settings(record).embedding.model


def _own_settings(record: CollectionRecord) -> Settings:
    return load_settings(merge(collection_yaml(record).get("overrides") or {}, record.settings))
