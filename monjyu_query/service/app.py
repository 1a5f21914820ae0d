"""The application: `create_app(data, settings)`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from monjyu_core.folders import DataFolder
from monjyu_core.settings import Settings
from monjyu_query.service import collection_routes, errors, health_routes, search_routes
from monjyu_query.service.state import Service

DESCRIPTION = """Questions to collections of academic papers. Every answer is made of sentences that stand in the papers.

Errors are `{"error": {"type", "message", "request_id"}}`."""

TOPICS = (health_routes, collection_routes, search_routes)
"""Modules with a `router`, one a topic, in the order in which the documentation shows them."""


def create_app(data: DataFolder, settings: Settings) -> FastAPI:
    """The service of one data folder. `app.state.service` is what its requests share."""
    service = Service(data, settings)
    app = FastAPI(
        title="Monjyu",
        version=version("monjyu"),
        description=DESCRIPTION,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.service = service
    errors.add_handlers(app)
    for routes in TOPICS:
        app.include_router(routes.router)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.service.close()
