"""`monjyu serve`: serves the application at an address, in one process or several."""

from __future__ import annotations

import multiprocessing
import multiprocessing.process
import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import uvicorn
from fastapi import FastAPI

from monjyu_core.errors import ConfigurationError, StorageError
from monjyu_core.observability import set_up_observability
from monjyu_core.remote.copies import following
from monjyu_core.settings.settings import Settings, load_settings
from monjyu_core.storage.folders import DataFolder, alive, host_id
from monjyu_core.storage.state_store import StateStore
from monjyu_core.values import Values
from monjyu_query.service.access.page_session import announce, new_link, show_link
from monjyu_query.service.access.principals import check_exposure, own_machine
from monjyu_query.service.app import create_app
from monjyu_query.service.server.http_limits import server_config
from monjyu_query.service.server.metrics import FOLDER

BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. It is created before the server, so that port 0 has a number, and a client that reads
    the address can connect immediately. Raises ConfigurationError if the address is not on this machine or the port is
    taken."""
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host.strip("[]"), port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        reason = error.strerror or error
        raise ConfigurationError(
            f"Port {port} on {host} cannot be used: {reason}.", "Choose another --port."
        ) from error
    return listening


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


KEEP_ALIVE_SECONDS = 30
HEALTH_SECONDS = 60
"""Seconds without a response after which a worker is replaced; on a busy machine, loading a model takes a while."""
STOP_SECONDS = 10
"""Seconds from a stop request until running work is abandoned."""


def app() -> FastAPI:
    """Return the application for this process's environment. uvicorn calls this in each worker."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    settings = load_settings()
    set_up_observability(settings)
    return create_app(DataFolder.default(), settings)


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    """End this worker when its parent has ended; otherwise it would occupy the port after `monjyu serve` was killed."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def serve(data: DataFolder, settings: Settings, *, link: bool = True) -> None:
    """Serve until SIGINT or SIGTERM. On the user's own machine, a `link` opens the page as an editor.

    Raises ConfigurationError if the port cannot be used, or if other machines could ask without a key.
    """
    service = settings.service
    store, own = StateStore(data.state), own_machine(service)
    check_exposure(service, store)
    with (
        listen(service.host, service.port) as listening,
        _environment(data, settings),
        following(data, settings),
    ):
        listening.set_inheritable(True)
        address = address_of(listening)
        click.echo(f"Monjyu is at {address} - Ctrl-C stops it.")
        with suppress(StorageError):  # a read-only data folder needs no editor
            announce(store, address if own else None)
            if own and link:
                give_link(store)
        config = server_config(
            "monjyu_query.service.server.serve:app",
            service,
            STOP_SECONDS,
            factory=True,
            workers=service.workers,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_worker_healthcheck=HEALTH_SECONDS,
        )
        server = uvicorn.Server(config)
        for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn sends itself again the signal that stopped it
            signal.signal(number, lambda *_: None)
        if service.workers == 1:
            server.run([listening])
        else:
            from uvicorn.supervisors import Multiprocess

            Multiprocess(config, sockets=[listening]).run()


def give_link(store: StateStore) -> None:
    """Print a link to the page, and open it if there is a browser. It is not logged, because only the user who started
    the service may see it."""
    link = new_link(store)
    opened = show_link(store, link)
    opening = "Your browser opens the page" if opened else "Open the page"
    click.echo(f"{opening} as an editor with this link, which works once within 10 minutes: {link}")


@contextmanager
def _environment(data: DataFolder, settings: Settings) -> Iterator[None]:
    """Set the workers' environment: data folder, address, and a folder of metrics, removed after the block."""
    os.environ["MONJYU_DATA"] = str(data.root)
    os.environ["MONJYU_SERVICE__HOST"] = settings.service.host
    folder = _metrics_folder() if settings.service.workers > 1 else None
    if folder is not None:
        os.environ[FOLDER] = folder
    try:
        yield
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _metrics_folder() -> str:
    """Create a folder named after this process, and remove those of processes that were killed."""
    prefix = f"monjyu-metrics-{host_id()}-"
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        process = path.name.removeprefix(prefix).partition("-")[0]
        if process.isdecimal() and not alive(int(process)):
            shutil.rmtree(path, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-")


def with_options(settings: Settings, host: str | None, port: int | None, workers: int | None) -> Settings:
    """Return the settings with the options of the command line."""
    given: Values = {"host": host, "port": port, "workers": workers}
    chosen = {name: value for name, value in given.items() if value is not None}
    return settings.model_copy(update={"service": settings.service.model_copy(update=chosen)})
