"""API keys: `mj_ID_SECRET`. Kept are the SHA-256 of the secret, a role and a name, never the key itself.

A secret has 256 random bits, so a slow hash would add nothing but time to every request.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Literal

from monjyu_core.errors import ConfigurationError
from monjyu_core.folders import write_atomically
from monjyu_core.state import StateStore

Role = Literal["reader", "admin"]
NAMESPACE = "api_keys"
FRESH_SECONDS = 5.0
"""A key made or revoked on another machine counts after this time at the latest; on this one at once."""
CHANGED = "keys-changed"
"""A file beside the store, written anew whenever a key is made or revoked: looking at it costs microseconds."""
_KEY = re.compile(r"mj_([0-9a-f]{8})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True)
class KeyRecord:
    id: str
    name: str
    role: Role
    created_at: str
    sha256: str


def create_key(store: StateStore, name: str, role: Role) -> tuple[str, KeyRecord]:
    """A new key, which is shown once, and what is kept of it."""
    secret = secrets.token_urlsafe(32)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    record = KeyRecord(secrets.token_hex(4), name, role, created, hashlib.sha256(secret.encode()).hexdigest())
    store.put(NAMESPACE, record.id, vars(record))
    _tell(store)
    return f"mj_{record.id}_{secret}", record


def list_keys(store: StateStore) -> list[KeyRecord]:
    found: list[Any] = [store.get(NAMESPACE, key) for key in store.keys(NAMESPACE)]
    return sorted((KeyRecord(**one) for one in found if one), key=lambda record: (record.created_at, record.id))


def revoke_key(store: StateStore, key_id: str) -> KeyRecord:
    """ConfigurationError where there is no such key."""
    found = store.get(NAMESPACE, key_id)
    if found is None:
        raise ConfigurationError(f"There is no key {key_id!r}.", "`monjyu keys list` shows their ids.")
    store.delete(NAMESPACE, key_id)
    _tell(store)
    return KeyRecord(**found)


def _tell(store: StateStore) -> None:
    write_atomically(store.path.with_name(CHANGED), secrets.token_hex(8).encode())


def _last_change(store: StateStore) -> tuple[int, int]:
    """Another value after each change."""
    try:
        seen = store.path.with_name(CHANGED).stat()
    except OSError:
        return 0, 0
    return seen.st_mtime_ns, seen.st_ino


def looks_like_key(authorization: str | None) -> bool:
    """Whether the header `Authorization` holds a key of ours, valid or not."""
    return authorization is not None and _KEY.search(authorization) is not None


class KeyRing:
    """The keys in memory, read again when one was made or revoked, or when they are older than `FRESH_SECONDS`."""

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._lock = Lock()
        self._read_at = -FRESH_SECONDS
        self._change = (-1, -1)
        self._records: dict[str, KeyRecord] = {}

    def find(self, key: str) -> KeyRecord | None:
        """The record of a whole key; None where it is none of ours."""
        match = _KEY.fullmatch(key)
        if match is None:
            return None
        record = self._current().get(match[1])
        given = hashlib.sha256(match[2].encode()).hexdigest()
        return record if record is not None and hmac.compare_digest(given, record.sha256) else None

    def _current(self) -> dict[str, KeyRecord]:
        with self._lock:
            change = _last_change(self._store)
            if change != self._change or time.monotonic() - self._read_at >= FRESH_SECONDS:
                self._change = change
                self._records = {record.id: record for record in list_keys(self._store)}
                self._read_at = time.monotonic()
            return self._records
