"""Limits that Dagster keeps in its instance, not in dagster.yaml: how many runs may call models in parallel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monjyu_assets.publishing.closed_set import FAILURES
from monjyu_core.settings.settings import Settings

if TYPE_CHECKING:
    from dagster import DagsterInstance


def model_pools(settings: Settings) -> list[str]:
    """The pools of assets that may call a model: each asset has one with its name."""
    return [*(["chunk_embeddings"] if settings.embedding.remote else []), *FAILURES]


def set_limits(instance: DagsterInstance, settings: Settings) -> dict[str, int]:
    """Set the limit of every pool, free the slots of ended runs, and return the limits of all pools."""
    storage = instance.event_log_storage
    for pool in model_pools(settings):
        storage.set_concurrency_slots(pool, settings.runs.runs_calling_models)
    return {pool.name: pool.limit for pool in storage.get_pool_limits()}
