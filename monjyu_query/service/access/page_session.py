"""Sessions of the page on the user's own machine. A link opens the page once as an editor, and starts a session of that
browser. A session has two halves. Scripts cannot read the cookie, but browsers send it to every port of the machine.
The session therefore also requires the page's half, which only the page's origin can read and no other page can send.
"""

import hashlib
import hmac
import os
import secrets
import sys
import time
import webbrowser
from contextlib import suppress
from dataclasses import dataclass

from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.state_store import StateStore, private_file

LINK_SECONDS = 10 * 60
SESSION_SECONDS = 7 * 24 * 3600
HEADER = "X-Monjyu-Page"
"""The header in which the page sends its half."""
_LINKS, _SESSIONS, _ADDRESS = "page_links", "page_sessions", "page_address"
_MOST = 100
_OPENER = "open-page.html"


@dataclass(frozen=True)
class Halves:
    """The two halves of a session: `cookie` for the browser, `page` for the page's scripts."""

    cookie: str
    page: str


def cookie_name(port: int) -> str:
    """Return the cookie's name. It contains the port, because a machine's ports share their cookies."""
    return f"monjyu-{port}"


def announce(store: StateStore, address: str | None) -> None:
    """Store the address of the page, `http://HOST:PORT`, or None if it offers no links."""
    if address is None:
        store.delete(_ADDRESS)
    else:
        store.put(_ADDRESS, "url", address)


def page_address(store: StateStore) -> str:
    """Return the address of this machine's page. Raises ConfigurationError if no page offers links."""
    address = store.get(_ADDRESS, "url")
    if address is None:
        raise ConfigurationError(
            "No page running here offers a link.",
            "Start one with `monjyu up` on a loopback address. A service that other machines can reach requires keys "
            "(`monjyu keys create`).",
        )
    return str(address)


def new_link(store: StateStore) -> str:
    """Return an address that makes one browser an editor, within `LINK_SECONDS`. The token is in the fragment, which
    browsers never send. Raises ConfigurationError if no page on this machine offers links."""
    address = page_address(store)
    token = secrets.token_urlsafe(32)
    store.put(_LINKS, _hash(token), time.time() + LINK_SECONDS)
    store.keep_newest(_LINKS, _MOST, time.time() - LINK_SECONDS)
    return f"{address}/#/open/{token}"


def exchange(store: StateStore, token: str) -> Halves | None:
    """Start a session for a link's token, which is valid once. Returns None for an unknown, used or expired token."""
    until = store.take(_LINKS, _hash(token))
    if until is None or until < time.time():
        return None
    halves = Halves(secrets.token_urlsafe(32), secrets.token_urlsafe(32))
    store.put(_SESSIONS, _hash(halves.cookie), {"page": _hash(halves.page), "until": time.time() + SESSION_SECONDS})
    store.keep_newest(_SESSIONS, _MOST, time.time() - SESSION_SECONDS)
    store.path.with_name(_OPENER).unlink(missing_ok=True)
    return halves


def is_valid(store: StateStore, halves: Halves) -> bool:
    found = store.get(_SESSIONS, _hash(halves.cookie))
    return found is not None and time.time() < found["until"] and hmac.compare_digest(found["page"], _hash(halves.page))


def end_sessions(store: StateStore) -> None:
    """End all sessions and invalidate all unused links."""
    for namespace in (_LINKS, _SESSIONS):
        store.delete(namespace)


def show_link(store: StateStore, link: str) -> bool:
    """Open the link in a browser if this is a terminal on a desktop; return whether that was attempted.

    The browser opens a private file that redirects to the link, because every user of the machine can read command
    lines.
    """
    desktop = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not (desktop and sys.stdout.isatty()):
        return False
    path = store.path.with_name(_OPENER)
    private_file(path)
    path.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={link}">', "utf-8")
    with suppress(webbrowser.Error):
        return webbrowser.open(path.absolute().as_uri())
    return False


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
