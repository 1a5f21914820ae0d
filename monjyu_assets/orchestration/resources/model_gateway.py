"""Resource `models`: the gateway to models, with a cap for one run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field

from monjyu_assets.orchestration.resources.data_folder import DataFolderResource
from monjyu_assets.work.run_rules import current_cap, spending_of
from monjyu_assets.work.work import Work
from monjyu_core.models.accounting.caps import SpendingCap
from monjyu_core.settings.settings import Settings

if TYPE_CHECKING:
    from monjyu_core.models.calls.gateway import Session


class ModelGateway(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Calls of models as the settings say (`models`, `roles`): from the cache where an equal one was answered, within
    limits and caps, on the ledger. Servers and keys are settings (`MONJYU_MODELS`), never configuration of a run."""

    data: dg.ResourceDependency[DataFolderResource]
    max_cost_usd: float = Field(
        default=0.0, ge=0, description="What this run may spend at most; 0 = as spending.max_cost_usd_per_run says."
    )
    max_calls: int = Field(
        default=0, ge=0, description="Calls this run may make; 0 = as spending.max_calls_per_run says."
    )

    @contextmanager
    def within_caps(self, settings: Settings) -> Iterator[None]:
        """Inside, all calls together keep to this run's caps. A command's own cap (`--max-cost-usd`) stands."""
        if current_cap() is not None or not (self.max_cost_usd or self.max_calls):
            yield
            return
        spending = settings.spending
        cost = self.max_cost_usd or spending.max_cost_usd_per_run
        with spending_of(SpendingCap("run", cost, self.max_calls or spending.max_calls_per_run)):
            yield

    @contextmanager
    def session(self, collection: str, asset: str) -> "Iterator[Session]":
        """Chat calls for an asset of your own, with the collection's settings and charged to the asset's name."""
        work = Work(self.data.folder(), collection)
        with self.within_caps(work.settings):
            try:
                yield work.session(asset)
            finally:
                work.close()
