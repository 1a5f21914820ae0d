"""Settings of Azure: where its services are and how Monjyu signs in. Nothing is sent until an endpoint is set."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.marks import Changes, Group, NoResult
from monjyu_core.settings.origins import is_reference
from monjyu_core.values import Values

_WHERE = NoResult("the address of a service, not its answers")
_SECRET = NoResult("a secret")

_PACE = NoResult("the rate of requests to a service, not its answers")

AzureCredential = Literal["auto", "identity", "key"]
AnalysedType = Literal["pdf", "docx", "pptx", "image"]
_SECRETS = ("api_key", "openai_api_key", "connection_string")


class AzureServiceSettings(Group):
    """One Azure resource."""

    endpoint: Annotated[str | None, _WHERE] = Field(None, description="the resource's address, https://...")
    api_key: Annotated[SecretStr | None, _SECRET] = None
    timeout_seconds: Annotated[float, _PACE] = Field(60.0, gt=0, description="per call")
    retries: Annotated[int, _PACE] = Field(
        3, ge=0, le=10, description="retries of temporary failures, with growing delays"
    )


class DocumentIntelligenceSettings(AzureServiceSettings):
    """Azure AI Document Intelligence, for `pdf.processor` and `pdf.fallback`."""

    reads: Annotated[list[AnalysedType], Changes("parsed_papers")] = Field(
        ["pdf"],
        min_length=1,
        description="file types that it reads if pdf.processor or pdf.fallback selects it; with image, pictures in a "
        "source become papers",
    )
    formulas: Annotated[bool, Changes("parsed_papers")] = Field(
        False, description="formulas as LaTeX, an add-on paid in addition to the pages"
    )
    concurrency: Annotated[int, _PACE] = Field(4, ge=1, le=32, description="concurrent documents")
    wait_seconds: Annotated[float, _PACE] = Field(600.0, gt=0, description="time limit of one document")
    price_per_1000_pages: Annotated[float, _PACE] = Field(10.0, ge=0, description="US dollars, for ledger and caps")
    formula_price_per_1000_pages: Annotated[float, _PACE] = Field(6.0, ge=0, description="US dollars, with formulas")
    max_pages_per_run: Annotated[int, _PACE] = Field(
        0, ge=0, description="a document that would exceed it waits for the next run; 0 = no limit"
    )


class AzureSearchSettings(AzureServiceSettings):
    """Azure AI Search, for `search.backend: azure_search`."""

    index_prefix: Annotated[str, _WHERE] = Field(
        "monjyu", pattern=r"^[a-z][a-z0-9-]{0,30}$", description="prefix of indexes and aliases"
    )
    batch: Annotated[int, _PACE] = Field(500, ge=1, le=1000, description="chunks per upload")
    exhaustive: Annotated[bool, NoResult("read at query time")] = Field(
        False, description="exact nearest vectors instead of HNSW: slower, but complete"
    )
    semantic: Annotated[bool, NoResult("read at query time")] = Field(
        False, description="the semantic ranker orders the best 50 of a hybrid search; paid per query"
    )
    keep_indexes: Annotated[int, _PACE] = Field(
        2, ge=1, description="indexes per collection kept for rollback; the tier limits their number"
    )


class AzureStorageSettings(Group):
    """The storage account of `storage.uri: az://…`."""

    account: Annotated[str | None, _WHERE] = None
    api_key: Annotated[SecretStr | None, _SECRET] = None
    connection_string: Annotated[SecretStr | None, _SECRET] = Field(
        None, description="names the account, its key and where it is, such as Azurite's"
    )


class AzureSettings(Group):
    credential: Annotated[AzureCredential, _SECRET] = Field(
        "auto",
        description="auto = the key if set, otherwise azure-identity's default chain (environment, workload identity, "
        "managed identity, Azure CLI; extra `azure`); key or identity = only that one",
    )
    keys_in_file: Annotated[bool, _SECRET] = Field(
        False, description="allow keys of Azure in this file; otherwise only the environment is read"
    )
    openai_endpoint: Annotated[str | None, _WHERE] = None
    openai_api_key: Annotated[SecretStr | None, _SECRET] = None
    openai_api_version: Annotated[str | None, _WHERE] = Field(
        None, description="default for models without their own; by default the newest stable version needed"
    )
    document_intelligence: DocumentIntelligenceSettings = DocumentIntelligenceSettings()
    search: AzureSearchSettings = AzureSearchSettings()
    storage: AzureStorageSettings = AzureStorageSettings()


def check_no_keys(values: Values, path: Path | None) -> None:
    """Raise ConfigurationError if the file contains an Azure key and `azure.keys_in_file` does not allow it."""
    profiles = values.get("profiles")
    sections = [values, *(profiles.values() if isinstance(profiles, dict) else ())]
    for azure in (one.get("azure") for one in sections if isinstance(one, dict)):
        if not isinstance(azure, dict) or azure.get("keys_in_file") is True:
            continue
        found = next((name for name in _names_within(azure) if name.rpartition(".")[2] in _SECRETS), None)
        if found:
            variable = f"MONJYU_AZURE__{found.upper().replace('.', '__')}"
            raise ConfigurationError(
                f"{path} contains azure.{found}, a secret.",
                f"Set {variable} in the environment, or write ${{NAME}} for a variable of another name, or set "
                "azure.keys_in_file: true where the file is kept as a secret.",
            )


def _names_within(values: Values, prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _names_within(value, f"{prefix}{name}.")
        elif value and not is_reference(value):
            yield f"{prefix}{name}"
