"""The gate in front of the application identifies the caller and authorises the request before the body is read."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monjyu_core.models.outage import Outage
from monjyu_core.settings.service import ServiceSettings
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_query.search.traces import asked_by
from monjyu_query.service.access.addresses import is_loopback
from monjyu_query.service.access.keys import Role, looks_like_key
from monjyu_query.service.access.page_session import HEADER, Halves, cookie_name
from monjyu_query.service.access.principals import Authority, Principal, require
from monjyu_query.service.server.error_responses import Forbidden, ServiceError, TooLarge, TooMany, send_error

if TYPE_CHECKING:
    from redis.asyncio import Redis


# Rate limits: each caller, known by key or address, has a token bucket that is refilled at a constant rate.
BURST_SECONDS = 10
"""The capacity of a bucket, in seconds of its rate: a caller may send this many seconds' worth of requests at once."""
_MOST_BUCKETS = 10_000
"""The maximum number of buckets. The least recently used bucket is dropped; its caller then starts with a full one."""
_TAKE = """
local now = redis.call('TIME')
now = now[1] + now[2] / 1000000
local rate, size = tonumber(ARGV[1]), tonumber(ARGV[2])
local held = redis.call('HMGET', KEYS[1], 'left', 'then')
local left = math.min(size, (tonumber(held[1]) or size) + (now - (tonumber(held[2]) or now)) * rate)
local taken = left >= 1 and 1 or 0
redis.call('HSET', KEYS[1], 'left', tostring(left - taken), 'then', tostring(now))
redis.call('PEXPIRE', KEYS[1], math.ceil(1000 * size / rate) + 1000)
return tostring(left)
"""
"""Takes a token from the bucket KEYS[1], if it has one, and returns its previous level. The bucket expires once it
would be full again. ARGV: the rate per second, the capacity."""


class Rates:
    """Buckets of one worker, used from its event loop only."""

    def __init__(self, per_minute: int) -> None:
        self.per_second = per_minute / 60
        self.size = max(1.0, self.per_second * BURST_SECONDS)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str) -> None:
        """Count one request. Raises TooMany, with the seconds to wait, if there have been too many."""
        if not self.per_second:
            return
        now = time.monotonic()
        left, then = self._buckets.pop(who, (self.size, now))
        left = min(self.size, left + (now - then) * self.per_second)
        self._buckets[who] = (left - 1 if left >= 1 else left), now
        if len(self._buckets) > _MOST_BUCKETS:
            self._buckets.popitem(last=False)
        self.check(left)

    def check(self, left: float) -> None:
        """Raise TooMany if `left`, the bucket's level before the request, is below one token."""
        if left < 1:
            wait = str(int((1 - left) / self.per_second) + 1)
            raise TooMany("Too many requests.", f"Ask again in {wait} s.", {"Retry-After": wait})


class SharedRates:
    """Buckets on a Redis server that all workers and replicas share. Callers are stored as hashes. Without a server, or
    while it does not answer, each worker uses its own buckets."""

    def __init__(self, per_minute: int, url: str | None) -> None:
        self._own = Rates(per_minute)
        self._url = url
        self._client: Redis | None = None
        self._outage = Outage("Rates are counted by each worker")

    async def take(self, who: str) -> None:
        """Like `Rates.take`, with the counters in Redis if it is configured and reachable."""
        if self._url is None or not self._own.per_second or self._outage.lasts:
            self._own.take(who)
            return
        from redis.exceptions import RedisError

        try:
            left = await self._ask(self._url, "{monjyu}:rate:" + digest(who))
        except (RedisError, OSError) as error:
            self._outage.begin(type(error).__name__)
            self._own.take(who)
            return
        self._own.check(left)

    async def _ask(self, url: str, key: str) -> float:
        from redis.asyncio import Redis

        if self._client is None:
            self._client = Redis.from_url(url, socket_connect_timeout=1, socket_timeout=1)
        return float(await self._client.eval(_TAKE, 1, key, str(self._own.per_second), str(self._own.size)))


def open_rates(settings: Settings) -> SharedRates:
    """Return the rate limits, which are shared if the service caches its results in Redis."""
    url = settings.cache.redis_url if settings.service.cache == "redis" else None
    return SharedRates(settings.service.requests_per_minute, None if url is None else url.get_secret_value())


SESSION = "/page/session"
PUBLIC = ("/", "/health", "/docs", "/openapi.json", "/favicon.ico", SESSION)
"""Paths open to anyone: the page and its files contain no data of papers; a session requires a link."""
PUBLIC_FOLDERS = ("/static/",)
ADMIN = "/admin"
UPLOAD = "/admin/papers"
EDITING = (UPLOAD, "/admin/index", "/admin/samples", "/corrections")
"""Paths for editors: upload papers, index them, correct their fields."""
SAVED = ("/questions", "/reviews")
"""Saved questions and reviews: readers may read them, editors may change them."""
MOST_OF_CHAT = 16 << 20
"""The maximum size of a chat request in bytes. Chat programs send the whole conversation each time, including pictures;
only the last turns are read."""
CHAT = "/v1/"
"""Paths of the chat API. Chat programs always send a key, if only a placeholder; if none is required, an Authorization
header without a key of Monjyu is ignored."""
_HOST = re.compile(r"([\w.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?", re.ASCII)
_SAFE = ("GET", "HEAD", "OPTIONS")


class WrongHost(ServiceError):
    status = 421


class RequestTimeout(ServiceError):
    status = 408


def role_for(path: str, method: str = "GET") -> Role | None:
    """Return the role that a request requires: reader, unless the path is listed above; None for public paths."""
    if path == "/corrections" and method in _SAFE:
        return "reader"
    if path in SAVED or path.startswith(tuple(f"{one}/" for one in SAVED)):
        return "reader" if method in _SAFE else "editor"
    if path in EDITING:
        return "editor"
    if path == ADMIN or path.startswith(f"{ADMIN}/"):
        return "admin"
    return None if path in PUBLIC or path.startswith(PUBLIC_FOLDERS) else "reader"


class Gate:
    """Checks the host, origin, caller, rate and role of a request, and limits the size and time of its body."""

    def __init__(
        self, app: ASGIApp, settings: ServiceSettings, authority: Authority, rates: SharedRates | None = None
    ) -> None:
        self._app = app
        self._settings = settings
        self._authority = authority
        self._rates = rates or SharedRates(settings.requests_per_minute, None)
        self._hosts = {name.lower() for name in [*settings.allowed_hosts, settings.host]}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            await self._admit(scope)
            limited = self._body(scope, receive)
        except Exception as error:
            await send_error(error, scope, receive, send)
            return
        await self._app(scope, limited, send)

    async def _admit(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        self._check_host(headers.get("host", ""))
        if scope["method"] not in _SAFE:
            self._check_origin(headers)
        address = scope["client"][0] if scope.get("client") else "unknown"
        needed = role_for(scope["path"], scope["method"])
        if needed is None:
            await self._rates.take(f"public {address}")
            return
        if self._authority.open:
            await self._rates.take(f"address {address}")
        try:
            principal = await self._principal(headers, scope)
        except ServiceError:
            await self._rates.take(f"failed {address}")
            raise
        scope["state"]["principal"] = principal
        asked_by.set(principal.asker)
        if not self._authority.open:
            await self._rates.take(principal.name)
        require(principal, needed)

    async def _principal(self, headers: Headers, scope: Scope) -> Principal:
        given = headers.get("authorization"), headers.get("x-api-key")
        placeholder = scope["path"].startswith(CHAT) and self._authority.open and not looks_like_key(given[0])
        if given == (None, None) or (placeholder and given[1] is None):
            halves = _halves(headers, scope)
            if halves is None:
                return self._authority.principal()
            return await asyncio.to_thread(self._authority.opened_here, halves)
        # Not in the event loop, because this may read keys from the store, or an issuer's keys from its server.
        return await asyncio.to_thread(self._authority.principal, *given)

    def _check_host(self, given: str) -> None:
        """Raise WrongHost for an unknown host name, so that a page under a name that resolves to this machine (DNS
        rebinding) reaches nothing.

        If a key is required, such a page has none, so any name is accepted unless service.allowed_hosts is set.
        """
        found = _HOST.fullmatch(given)
        if given and found is None:
            raise WrongHost("The Host header contains no host name.", "Send the host of the service's address.")
        if not self._authority.open and not self._settings.allowed_hosts:
            return
        name = found[1].strip("[]").lower() if found else ""
        if "*" not in self._hosts and name not in self._hosts and not is_loopback(name):
            raise WrongHost("This service does not accept that host name.", "Add it to service.allowed_hosts.")

    def _check_origin(self, headers: Headers) -> None:
        """Raise Forbidden for a page of another origin, which may not act through an authorised user's browser."""
        origin = headers.get("origin")
        if origin is None or origin in self._settings.cors_origins:
            return
        if origin.partition("://")[2] != headers.get("host"):
            raise Forbidden("Requests from pages of another origin are not allowed.", "Check service.cors_origins.")

    def _body(self, scope: Scope, receive: Receive) -> Receive:
        """Return `receive` with limits on size and time. Raises TooLarge if the declared size exceeds the limit."""
        uploads = scope["path"] == UPLOAD
        most = self._settings.max_upload_mb << 20 if uploads else self._settings.max_body_kb << 10
        if scope["path"].startswith(CHAT):
            most = max(most, MOST_OF_CHAT)
        seconds = self._settings.upload_seconds if uploads else self._settings.body_seconds
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdecimal() or int(announced) > most:
            raise _too_large(most)
        return _Limited(receive, most, seconds)


class _Limited:
    """Receives a body. Raises TooLarge beyond `most` bytes, RequestTimeout if it does not arrive within `seconds`."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._left = most
        self._most = most
        self._until = asyncio.get_running_loop().time() + seconds
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise RequestTimeout("The body arrived too slowly.", headers={"Connection": "close"}) from None
        self._whole = message["type"] != "http.request" or not message.get("more_body", False)
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _too_large(self._most)
        return message


def _halves(headers: Headers, scope: Scope) -> Halves | None:
    """Return the page session in the request; None if it has none or comes from another machine."""
    page, client = headers.get(HEADER), scope.get("client")
    if page is None or not client or not is_loopback(client[0]):
        return None
    cookie = cookie_parser(headers.get("cookie", "")).get(cookie_name(scope["server"][1]))
    return Halves(cookie, page) if cookie else None


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"The body has more than {most} bytes.", headers={"Connection": "close"})
