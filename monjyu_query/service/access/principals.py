"""Identifies callers: by an API key or an issuer's token, as the page's editor, or as anonymous on this machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from monjyu_core.errors import ConfigurationError, ExternalAPIError
from monjyu_core.settings.service import OidcSettings, ServiceSettings
from monjyu_core.storage.state_store import StateStore
from monjyu_query.service.access.addresses import answer_of, is_loopback
from monjyu_query.service.access.keys import RANKS, KeyRing, Role, list_keys
from monjyu_query.service.access.page_session import Halves, is_valid
from monjyu_query.service.server.error_responses import Forbidden, Unauthorized

if TYPE_CHECKING:
    from jwt import PyJWKClient


# Bearer tokens of an OpenID Connect issuer: first signature, issuer, audience and times are checked, then the roles.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Asymmetric signatures only, so that the service has no secret with which a token could be signed."""
LEEWAY_SECONDS = 30
_FETCH_SECONDS = 5
_LONGEST = 16_384
_MOST_BYTES = 1 << 20
_ODD = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""Exceptions that the JWT library raises for unexpected values."""


@dataclass(frozen=True)
class Bearer:
    """The user of a valid token, who may see only `collections` (None = all)."""

    subject: str
    role: Role
    collections: frozenset[str] | None


class TokenReader:
    """Reads tokens of one issuer, whose keys are fetched with the first token and cached. Thread-safe."""

    def __init__(self, settings: OidcSettings) -> None:
        """Raises ConfigurationError if the audience is missing or an address is neither TLS nor on this machine."""
        if not settings.audience:
            raise ConfigurationError(
                "service.oidc.issuer needs service.oidc.audience.", "Set it to the audience of your tokens."
            )
        self._settings = settings
        self._issuer = str(settings.issuer)
        _check_address(self._issuer)
        self._lock = Lock()
        self._keys: PyJWKClient | None = None

    def read(self, token: str) -> Bearer:
        """Return the bearer of a token. Raises Unauthorized for an invalid token, Forbidden for a token without a role
        here, ExternalAPIError if the issuer's keys cannot be read."""
        import jwt

        if len(token) > _LONGEST:
            raise Unauthorized("The token is too long.")
        try:
            key = self._client().get_signing_key_from_jwt(token)
            claims = jwt.decode(
                token,
                key.key,
                algorithms=ALGORITHMS,
                audience=self._settings.audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWKClientConnectionError as error:
            raise ExternalAPIError("The issuer's keys cannot be read.", "Try again later.") from error
        except jwt.PyJWTError as error:
            raise _invalid(str(error)) from error
        except _ODD as error:  # values of types that the library does not expect
            raise _invalid("a claim has the wrong type") from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not subject:
            raise _invalid("the subject is not a string")
        return Bearer(subject, *self._may(_roles(claims.get(self._settings.roles_claim))))

    def _may(self, roles: set[str]) -> tuple[Role, frozenset[str] | None]:
        """Return the highest of the given roles, and the collections that it may see (None = all). Raises Forbidden if
        the settings name none of the roles."""
        known = self._settings
        if known.admin_role and known.admin_role in roles:
            return "admin", None
        if known.editor_role and known.editor_role in roles:
            return "editor", None
        if known.reader_role in roles or (known.reader_role is None and not known.collection_roles):
            return "reader", None
        given = [known.collection_roles[role] for role in roles.intersection(known.collection_roles)]
        if not given:
            raise Forbidden("The token has no role here.", "Ask the operator of this service for one.")
        return "reader", frozenset().union(*given)

    def _client(self) -> PyJWKClient:
        with self._lock:
            if self._keys is None:
                from jwt import PyJWKClient

                self._keys = PyJWKClient(self._address(), cache_keys=True, lifespan=600, timeout=_FETCH_SECONDS)
            return self._keys

    def _address(self) -> str:
        """Return the address of the issuer's keys, from the settings or else from the issuer's configuration."""
        if self._settings.jwks_url:
            _check_address(self._settings.jwks_url)
            return self._settings.jwks_url
        where = self._issuer.rstrip("/") + "/.well-known/openid-configuration"
        try:
            found = json.loads(answer_of(where, _FETCH_SECONDS, _MOST_BYTES))
            address = str(found["jwks_uri"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ExternalAPIError("The issuer's configuration cannot be read.", "Try again later.") from error
        _check_address(address)
        return address


def _roles(claim: object) -> set[str]:
    """Return the roles in a claim: a string with spaces between them, or a list of strings; none for other values."""
    if isinstance(claim, str):
        return set(claim.split())
    return {role for role in claim if isinstance(role, str)} if isinstance(claim, list) else set()


def _invalid(why: str) -> Unauthorized:
    return Unauthorized(f"The token is not valid: {why}.", headers=CHALLENGE)


def _check_address(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise ConfigurationError(f"{address} is not an https address.", "Check service.oidc.")


CHALLENGE = {"WWW-Authenticate": "Bearer"}
KEEPERS: dict[Role, str] = {"reader": "A reader's", "editor": "An editor's", "admin": "An administrator's"}


@dataclass(frozen=True)
class Principal:
    """An identified caller, who may see only `collections` (None = all). `name` is the caller's name in the audit log:
    `key:ID`, `user:SUBJECT`, `page` or `local`."""

    name: str
    role: Role
    collections: frozenset[str] | None = None

    @property
    def asker(self) -> str | None:
        """The caller's name in traces; None for a caller on this machine without a key."""
        return self.name if self.keyed else None

    @property
    def keyed(self) -> bool:
        return self not in (LOCAL, PAGE)


LOCAL = Principal("local", "reader")
PAGE = Principal("page", "editor")
"""The user who opened the page with a link on the service's own machine."""


class Authority:
    """Identifies the caller of a request. `open`: requests without a key may read."""

    def __init__(self, settings: ServiceSettings, store: StateStore) -> None:
        self.open = own_machine(settings)
        self._store = store
        self._keys = KeyRing(store)
        self._tokens = TokenReader(settings.oidc) if settings.oidc.issuer else None

    def opened_here(self, halves: Halves) -> Principal:
        """Return the page's editor if the session is valid and links are offered, else the caller without a key."""
        return PAGE if self.open and is_valid(self._store, halves) else self.principal()

    def principal(self, authorization: str | None = None, api_key: str | None = None) -> Principal:
        """Return the caller of a request with the header `Authorization: Bearer ...` or `X-API-Key`. Raises
        Unauthorized for an invalid or expired key, and for a missing one unless requests without a key may read."""
        given = api_key or _bearer(authorization)
        if given is None:
            if self.open:
                return LOCAL
            raise Unauthorized("A key is needed.", "Send `Authorization: Bearer KEY`.", CHALLENGE)
        record = self._keys.find(given)
        if record is not None:
            if record.expired:
                raise Unauthorized(f"The key expired at {record.expires_at}.", "Ask for a new one.", CHALLENGE)
            return Principal(f"key:{record.id}", record.role, record.seen)
        if self._tokens is not None and given.count(".") == 2:
            bearer = self._tokens.read(given)
            return Principal(f"user:{bearer.subject}", bearer.role, bearer.collections)
        raise Unauthorized("The key is not valid.", "It may have been revoked.", CHALLENGE)


def require(principal: Principal, role: Role) -> None:
    """Raise an error if the caller's role is too low: Unauthorized for a caller without a key, otherwise Forbidden."""
    if RANKS[principal.role] >= RANKS[role]:
        return
    whose, how = KEEPERS[role], f"`monjyu keys create --role {role}` creates one."
    if principal is LOCAL:
        link = "Or open the page by the link of `monjyu keys link`." if role == "editor" else ""
        raise Unauthorized(f"{whose} key is needed.", f"{how} {link}".rstrip(), CHALLENGE)
    named = whose[0].lower() + whose[1:]
    raise Forbidden(f"This needs {named} key.", how)


def own_machine(settings: ServiceSettings) -> bool:
    """Whether only this machine can reach the service, and reads need no key, so that links to its page are offered."""
    return not (settings.require_key or settings.allowed_hosts or not is_loopback(settings.host))


def check_exposure(settings: ServiceSettings, store: StateStore) -> None:
    """Raise ConfigurationError if the service would answer other machines without authentication."""
    if is_loopback(settings.host) or settings.oidc.issuer or list_keys(store):
        return
    raise ConfigurationError(
        f"{settings.host} can be reached from other machines, and there is no key.",
        "Create one with `monjyu keys create`, or set service.oidc.",
    )


def _bearer(authorization: str | None) -> str | None:
    if not authorization:
        return None
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() != "bearer" or not value.strip():
        raise Unauthorized("The Authorization header does not have the form `Bearer KEY`.", headers=CHALLENGE)
    return value.strip()
