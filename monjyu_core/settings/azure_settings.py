"""Settings of Azure: where its models are and how Monjyu signs in. Nothing is asked until an endpoint is set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr

from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.setting_marks import Group, NoResult

_WHERE = NoResult("where a service is, not what it answers")
_SECRET = NoResult("a secret")

AzureCredential = Literal["auto", "identity", "key"]


class AzureSettings(Group):
    credential: Annotated[AzureCredential, _SECRET] = Field(
        "auto",
        description="auto = the key where one is set, else the default chain of azure-identity, with the extra `azure` "
        "(environment, workload identity, managed identity, Azure CLI); the others ask for one way alone",
    )
    keys_in_file: Annotated[bool, _SECRET] = Field(
        False, description="whether keys of Azure may stand in this file; else they are read from the environment only"
    )
    openai_endpoint: Annotated[str | None, _WHERE] = None
    openai_api_key: Annotated[SecretStr | None, _SECRET] = None


def check_no_keys(values: dict[str, Any], path: Path | None) -> None:
    """ConfigurationError where the key of Azure stands in the file and `azure.keys_in_file` does not ask for it."""
    profiles = values.get("profiles")
    sections = [values, *(profiles.values() if isinstance(profiles, dict) else ())]
    for azure in (one.get("azure") for one in sections if isinstance(one, dict)):
        if isinstance(azure, dict) and azure.get("openai_api_key") and azure.get("keys_in_file") is not True:
            raise ConfigurationError(
                f"{path} holds azure.openai_api_key, a secret.",
                "Set MONJYU_AZURE__OPENAI_API_KEY in the environment, or azure.keys_in_file: true where the file is "
                "kept as a secret.",
            )
