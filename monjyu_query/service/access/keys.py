"""API keys of the form `mj_ID_SECRET`. The SHA-256 of the secret and the permissions are stored, never the key itself.

A secret has 256 random bits, so a slow hash would add nothing but time to every request.
"""

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, Literal

from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.folders import write_atomically
from monjyu_core.storage.ids import check_collection_name
from monjyu_core.storage.state_store import StateStore

Role = Literal["reader", "editor", "admin"]
RANKS: dict[Role, int] = {"reader": 0, "editor": 1, "admin": 2}
"""Each role includes the permissions of those before it: an editor also uploads and corrects papers, an admin may do
everything."""
NAMESPACE = "api_keys"
FRESH_SECONDS = 5.0
"""The maximum delay until a key created or revoked on another machine takes effect; on this one it is immediate."""
CHANGED = "keys-changed"
"""A file next to the store, rewritten whenever a key is created or revoked: checking it costs microseconds."""
_SPAN = re.compile(r"([0-9]{1,9})([mhdw])")
_MINUTES = {"m": 1, "h": 60, "d": 24 * 60, "w": 7 * 24 * 60}
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_KEY = re.compile(r"mj_([0-9a-f]{8})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True)
class KeyRecord:
    """A stored key. `expires_at` is a time in UTC, None = never. The key may see only `collections`, None = all."""

    id: str
    name: str
    role: Role
    created_at: str
    sha256: str
    expires_at: str | None = None
    collections: Sequence[str] | None = None

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and datetime.fromisoformat(self.expires_at) <= datetime.now(UTC)

    @property
    def seen(self) -> frozenset[str] | None:
        return None if self.collections is None else frozenset(self.collections)


def create_key(
    store: StateStore,
    name: str,
    role: Role,
    expires: datetime | None = None,
    collections: Collection[str] | None = None,
) -> tuple[str, KeyRecord]:
    """Create a key and return it with its record, which is all that is stored. Raises ConfigurationError for an invalid
    collection name."""
    secret = secrets.token_urlsafe(32)
    record = KeyRecord(
        id=secrets.token_hex(4),
        name=name,
        role=role,
        created_at=_written(datetime.now(UTC)),
        sha256=hashlib.sha256(secret.encode()).hexdigest(),
        expires_at=_written(expires) if expires else None,
        collections=None if collections is None else sorted({check_collection_name(one) for one in collections}),
    )
    store.put(NAMESPACE, record.id, vars(record))
    _mark_change(store)
    return f"mj_{record.id}_{secret}", record


def expiry(given: str) -> datetime:
    """Return the time that a span from now (`30d`; also m, h, w) or an ISO date or time names. A time without an offset
    is in UTC; a date means its end.

    Raises ConfigurationError for any other text, and for a time in the past.
    """
    now = datetime.now(UTC)
    try:
        span = _SPAN.fullmatch(given)
        if span is not None:
            found = now + timedelta(minutes=int(span[1]) * _MINUTES[span[2]])
        elif _DATE.fullmatch(given):
            found = datetime.fromisoformat(given).replace(tzinfo=UTC) + timedelta(days=1)
        else:
            found = datetime.fromisoformat(given)
            found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        hint = "Use a span such as 30d, 12h or 2w, or a date such as 2030-12-31 (UTC)."
        raise ConfigurationError(f"{given!r} is not a valid expiry time.", hint) from error
    if found <= now:
        raise ConfigurationError(f"{given!r} is in the past.", f"The time is now {_written(now)} in UTC.")
    return found


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def list_keys(store: StateStore) -> list[KeyRecord]:
    found: list[Any] = [store.get(NAMESPACE, key) for key in store.keys(NAMESPACE)]
    return sorted((KeyRecord(**one) for one in found if one), key=lambda record: (record.created_at, record.id))


def revoke_key(store: StateStore, key_id: str) -> KeyRecord:
    """Revoke a key and return its record. Raises ConfigurationError if it does not exist."""
    found = store.get(NAMESPACE, key_id)
    if found is None:
        raise ConfigurationError(f"There is no key {key_id!r}.", "`monjyu keys list` shows the ids of all keys.")
    store.delete(NAMESPACE, key_id)
    _mark_change(store)
    return KeyRecord(**found)


def _mark_change(store: StateStore) -> None:
    write_atomically(store.path.with_name(CHANGED), secrets.token_hex(8).encode())


def _last_change(store: StateStore) -> tuple[int, int]:
    """Return a version of the keys, which differs after every change."""
    try:
        seen = store.path.with_name(CHANGED).stat()
    except OSError:
        return 0, 0
    return seen.st_mtime_ns, seen.st_ino


def looks_like_key(authorization: str | None) -> bool:
    """Whether the header `Authorization` contains a key of Monjyu's form, valid or not."""
    return authorization is not None and _KEY.search(authorization) is not None


class KeyRing:
    """The keys in memory. A look-up reads them again if one was created or revoked, or after `FRESH_SECONDS`."""

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._lock = Lock()
        self._read_at = -FRESH_SECONDS
        self._change = (-1, -1)
        self._records: dict[str, KeyRecord] = {}

    def find(self, key: str) -> KeyRecord | None:
        """Return the record of a key, expired or not, or None if it is not stored."""
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
