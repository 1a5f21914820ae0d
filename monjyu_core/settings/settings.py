"""Typed settings: `monjyu.yaml` over defaults, environment (`MONJYU_…`) over both, a collection's overrides over all.

Every setting's metadata names the assets whose results it changes (`Changes`) or the reason why it changes none
(`NoResult`), so that reuse keys are complete by construction, which a test checks.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from monjyu_core.errors import ConfigurationError, did_you_mean
from monjyu_core.settings.azure import AzureSettings, check_no_keys
from monjyu_core.settings.levels import GraphSettings as GraphSettings
from monjyu_core.settings.levels import LevelSettings as LevelSettings
from monjyu_core.settings.marks import QUERY_TIME, Group, Mark
from monjyu_core.settings.marks import Changes as Changes
from monjyu_core.settings.marks import Limit as Limit
from monjyu_core.settings.marks import NoResult as NoResult
from monjyu_core.settings.models import (
    CacheSettings,
    ModelSettings,
    PromptSettings,
    RolesSettings,
    SpendingSettings,
)
from monjyu_core.settings.names import leaves as leaves
from monjyu_core.settings.names import problems, sentence, stray_variables
from monjyu_core.settings.operations import (
    AutomationSettings,
    LogSettings,
    OpenLineageSettings,
    RunSettings,
    StorageSettings,
    TelemetrySettings,
    TraceSettings,
    WatchSettings,
)
from monjyu_core.settings.origins import expanded, ollama_address, usual_variables
from monjyu_core.settings.papers import CheckSettings as CheckSettings
from monjyu_core.settings.papers import ChunkSettings as ChunkSettings
from monjyu_core.settings.papers import ChunkStrategy as ChunkStrategy
from monjyu_core.settings.papers import CitationSettings as CitationSettings
from monjyu_core.settings.papers import LibrarySettings, ScholarlySettings
from monjyu_core.settings.papers import OcrSettings as OcrSettings
from monjyu_core.settings.papers import ParserSettings as ParserSettings
from monjyu_core.settings.papers import ParseSettings as ParseSettings
from monjyu_core.settings.papers import PdfProcessor as PdfProcessor
from monjyu_core.settings.papers import PdfSettings as PdfSettings
from monjyu_core.settings.search import AnswerSettings as AnswerSettings
from monjyu_core.settings.search import LazySettings as LazySettings
from monjyu_core.settings.search import SearchSettings as SearchSettings
from monjyu_core.settings.service import McpSettings, ServiceSettings
from monjyu_core.user_files.bounded_reading import MEBIBYTE, FileRefused, parse_yaml, read_text
from monjyu_core.values import Values

# The values of profiles. The file's values override them, its `profiles:` both, and the environment all.
PROFILES = ("local", "azure")
_BY_MODEL = ("expand", "claims", "extract", "report", "answer")
BUILT_IN: dict[str, Values] = {
    "azure": {
        "models": {"default": {"provider": "azure", "model": "gpt-4o-mini", "context_tokens": 128_000}},
        "roles": {role: {"engine": "llm", "model": "default"} for role in _BY_MODEL},
    }
}
"""`azure`: one deployment of Azure OpenAI refines questions, draws claims, writes answers, finds entities and writes
reports. Relevance tests (`assess`) and embeddings stay on this machine: the first take dozens of calls per question,
the second would embed every collection again. `local` sets nothing, because it is the defaults."""
_WITH_ENDPOINT: dict[str, Values] = {
    "document_intelligence": {"pdf": {"fallback": "document_intelligence"}},
    "search": {"search": {"backend": "azure_search"}},
}


def built_in(profile: str, values: Values) -> Values:
    """The values of a profile, which the file's `values` override. `azure` also enables each service whose endpoint is
    set, and takes the deployment from the address of Azure OpenAI."""
    if profile != "azure":
        return {}
    chosen, given = dict(BUILT_IN[profile]), values.get("azure")
    endpoint = os.environ.get("MONJYU_AZURE__OPENAI_ENDPOINT") or (
        given.get("openai_endpoint") if isinstance(given, dict) else ""
    )
    if deployment := re.search(r"/openai/deployments/([^/?]+)", str(endpoint)):
        default = BUILT_IN[profile]["models"]["default"] | {"model": deployment[1]}
        chosen["models"] = {"default": default}
    for service, settings in _WITH_ENDPOINT.items():
        own = given.get(service) if isinstance(given, dict) else None
        of_file = own.get("endpoint") if isinstance(own, dict) else None
        if os.environ.get(f"MONJYU_AZURE__{service.upper()}__ENDPOINT") or of_file:
            chosen |= settings
    return chosen


EmbeddingModel = Literal["all-MiniLM-L6-v2", "multilingual-e5-small"]
ModelName = Literal["auto"] | EmbeddingModel
_OF_FIELD = re.compile(r'field "(\w+)"')


class EmbeddingSettings(Group):
    model: Annotated[ModelName, Changes("chunks", "chunk_embeddings")] = Field(
        "auto",
        description="auto = by the papers' languages at the first indexing: all-MiniLM-L6-v2 for English, otherwise "
        "multilingual-e5-small",
    )
    precision: Annotated[Literal["auto", "f32", "bf16", "int8"], Changes("chunk_embeddings")] = Field(
        "auto",
        description="auto = int8 for new collections with all-MiniLM-L6-v2 on a processor with VNNI; otherwise bf16 "
        "if the processor has bf16 matrix units, or f32",
    )
    threads: Annotated[int, NoResult("speed only")] = Field(0, ge=0, description="0 = all cores")
    remote: Annotated[str | None, Changes("chunks", "chunk_embeddings")] = Field(
        None, description="a name under `models`: embed with that model on its server, with the limits of roles.embed"
    )
    batch_size: Annotated[int, NoResult("how many texts a request has")] = Field(
        32,
        ge=1,
        le=2048,
        description="texts per request to `remote`: more are faster with a GPU, fewer avoid time-outs without one; "
        "some servers refuse more than 16 or 100",
    )


class PublishSettings(Group):
    keep_snapshots: Annotated[int, NoResult("retention only")] = Field(5, ge=1)
    delete_share: Annotated[float, NoResult("a guard before a run, not a result")] = Field(0.2, ge=0, le=1)
    delete_papers: Annotated[int, NoResult("a guard before a run, not a result")] = Field(5, ge=0)


class Settings(BaseSettings):
    """All settings of one data folder. `load_settings` reads file and environment."""

    model_config = SettingsConfigDict(env_prefix="MONJYU_", env_nested_delimiter="__", extra="forbid")

    profile: Annotated[Literal["local", "azure"], NoResult("only picks other settings")] = Field(
        "local",
        description="azure = the roles use a model of Azure OpenAI, and Azure services with an endpoint are used "
        "(docs/azure.md)",
    )
    parse: ParseSettings = ParseSettings()
    pdf: PdfSettings = PdfSettings()
    ocr: OcrSettings = OcrSettings()
    chunking: ChunkSettings = ChunkSettings()
    citations: CitationSettings = CitationSettings()
    scholarly: ScholarlySettings = ScholarlySettings()
    libraries: LibrarySettings = LibrarySettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    graph: GraphSettings = GraphSettings()
    levels: LevelSettings = LevelSettings()
    search: SearchSettings = SearchSettings()
    answer: AnswerSettings = AnswerSettings()
    models: Annotated[dict[str, ModelSettings], QUERY_TIME] = {}
    roles: RolesSettings = RolesSettings()
    spending: SpendingSettings = SpendingSettings()
    cache: CacheSettings = CacheSettings()
    prompts: PromptSettings = PromptSettings()
    publish: PublishSettings = PublishSettings()
    checks: CheckSettings = CheckSettings()
    automation: AutomationSettings = AutomationSettings()
    runs: RunSettings = RunSettings()
    storage: StorageSettings = StorageSettings()
    traces: TraceSettings = TraceSettings()
    log: LogSettings = LogSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    openlineage: OpenLineageSettings = OpenLineageSettings()
    watch: WatchSettings = WatchSettings()
    service: ServiceSettings = ServiceSettings()
    mcp: McpSettings = McpSettings()
    azure: AzureSettings = AzureSettings()

    @model_validator(mode="after")
    def _ollama_host(self) -> Settings:
        """Set the address of Ollama models without one to OLLAMA_HOST."""
        address = ollama_address()
        lacking = {n: m for n, m in self.models.items() if m.provider == "ollama" and not m.base_url and address}
        if lacking:
            found = {name: model.model_copy(update={"base_url": address}) for name, model in lacking.items()}
            self.models = {**self.models, **found}
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _FileSource(settings_cls)


def parser_settings(settings: Settings) -> ParserSettings:
    """The settings that a parser process needs."""
    return ParserSettings(**settings.parse.model_dump(), pdf=settings.pdf, ocr=settings.ocr)


class _FileSource(PydanticBaseSettingsSource):
    """The settings of `monjyu.yaml`: top-level ones, overridden by those of the chosen profile (`profiles:`)."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> Values:
        merged: Values = {}
        for values in layers().values():
            merged = merge(merged, values)
        found: Values = expanded(merged, config_file())
        return found


def layers() -> dict[str, Values]:
    """Settings below the MONJYU_… variables, by source, the weakest first: the chosen profile's built-in values, the
    variables of Azure, the file, and the profile in it."""
    path = config_file()
    values = read_yaml(path) if path else {}
    check_no_keys(values, path)
    profiles = checked_profiles(values.pop("profiles", None) or {}, path)
    chosen = os.environ.get("MONJYU_PROFILE") or values.get("profile", "local")
    own = profiles.get(chosen, {}) | {"profile": chosen}
    usual = usual_variables(chosen)
    return {
        f"profile {chosen}": built_in(chosen, merge(merge(usual, values), own)),
        "variables of Azure": usual,
        str(path): values,
        f"{path}, profiles.{chosen}": own,
    }


def checked_profiles(profiles: object, path: Path | None) -> dict[str, Values]:
    """The profiles of a file. Raises ConfigurationError if one has an unknown name or is not a mapping of settings."""
    if not isinstance(profiles, dict) or not all(isinstance(one, dict | None) for one in profiles.values()):
        raise ConfigurationError(
            f"`profiles` in {path} must be a mapping of names to settings.", "See docs/configure.md."
        )
    for name in profiles:
        if name not in PROFILES:
            meant = did_you_mean(str(name), PROFILES) or f"There are {' and '.join(PROFILES)}."
            raise ConfigurationError(f"`profiles` in {path} has {name!r}, which is not a profile.", meant)
    return {name: values or {} for name, values in profiles.items()}


def read_yaml(path: Path) -> Values:
    """The mapping in a YAML file. Raises ConfigurationError if it contains anything else."""
    import yaml

    try:
        values = parse_yaml(read_text(path, MEBIBYTE))
    except (yaml.YAMLError, ValueError, FileRefused) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}", "Correct or remove it.") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigurationError(f"{path} is not a mapping of settings.", "See `monjyu config init`.")
    return values


def merge(base: Values, over: Values) -> Values:
    """`over` on top of `base`, mappings merged key by key."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


_chosen_folder: ContextVar[Path | None] = ContextVar("data folder", default=None)


def data_folder() -> Path:
    """The data folder: that of `settings_of_folder`, otherwise `MONJYU_DATA`, otherwise `./data`; always absolute."""
    return _chosen_folder.get() or Path(os.environ.get("MONJYU_DATA") or "data").expanduser().absolute()


@contextmanager
def settings_of_folder(root: Path) -> Iterator[None]:
    """A context in which settings are loaded from the data folder `root` instead of that in `MONJYU_DATA`."""
    token = _chosen_folder.set(root)
    try:
        yield
    finally:
        _chosen_folder.reset(token)


def config_file() -> Path | None:
    """The settings file: `MONJYU_CONFIG`, else `monjyu.yaml` in the data folder, else next to it; or None."""
    named = os.environ.get("MONJYU_CONFIG")
    if named:
        if not Path(named).is_file():
            raise ConfigurationError(
                f"MONJYU_CONFIG names {named}, which is not a file.", "Unset it or correct the path."
            )
        return Path(named)
    folder = data_folder()
    return next((path for path in (folder / "monjyu.yaml", folder.parent / "monjyu.yaml") if path.is_file()), None)


def load_settings(overrides: Values | None = None) -> Settings:
    """Settings from file and environment, with a collection's `overrides` over both."""
    strays = stray_variables(Settings)
    if strays:
        raise _wrong(strays)
    try:
        return Settings(**(overrides or {}))
    except ValidationError as error:
        raise _wrong(problems(error, Settings), overrides) from error
    except SettingsError as error:
        # A MONJYU_… variable of a mapping is not JSON. The error's text contains no value.
        field = _OF_FIELD.search(str(error))
        raise _wrong([f"MONJYU_{field[1].upper()} must be JSON" if field else str(error)]) from error


def _wrong(complaints: list[str], overrides: Values | None = None) -> ConfigurationError:
    places = [str(path) for path in [config_file()] if path] + ["the MONJYU_… variables"]
    places += ["`overrides` in collection.yaml"] if overrides else []
    return ConfigurationError(f"Settings are wrong: {sentence(complaints)}", f"Look at {' and at '.join(places)}.")


@cache
def settings_of(asset: str, kind: Mark = Changes) -> tuple[str, ...]:
    """Dotted names of the settings that change an asset's rows (or, for `Limit`, what it can finish)."""
    return tuple(
        name
        for name, field in leaves(Settings)
        if any(isinstance(mark, kind) and asset in mark.assets for mark in field.metadata)
    )


def settings_key(settings: Settings, asset: str, kind: Mark = Changes) -> str:
    """Hash of the settings that change an asset's rows (16 hex digits)."""
    values = {name: setting(settings, name) for name in settings_of(asset, kind)}  # type: ignore[arg-type]  # a class is hashable
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()[:16]


def setting(settings: Settings, dotted: str) -> object:
    """The value of a setting by its dotted name."""
    value: object = settings
    for part in dotted.split("."):
        value = getattr(value, part)
    return value
