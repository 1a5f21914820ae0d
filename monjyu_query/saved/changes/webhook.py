"""Sending the event to addresses that the settings name, and to no others: no redirect is followed."""

from __future__ import annotations

from urllib.parse import urlsplit

from monjyu_core.errors import ExternalAPIError
from monjyu_core.settings.operations_settings import WatchSettings
from monjyu_query.saved.changes.digest import Digest


def send(digest: Digest, settings: WatchSettings) -> list[str]:
    """POST the digest as JSON to each of `watch.webhooks`; gives the hosts that took it, none where nothing changed.

    ExternalAPIError where one of them cannot be reached or refuses, after the others were asked.
    """
    import httpx2

    if not digest.changed:
        return []
    told, failed = [], []
    body = digest.model_dump_json().encode()
    headers = {"Content-Type": "application/json", "User-Agent": "monjyu"}
    with httpx2.Client(timeout=settings.timeout_seconds, follow_redirects=False, trust_env=False) as client:
        for address in settings.webhooks:
            host = urlsplit(address).hostname or ""
            try:
                client.post(address, content=body, headers=headers).raise_for_status()
                told.append(host)
            except httpx2.HTTPStatusError as error:
                failed.append(f"{host} answered {error.response.status_code}")
            except httpx2.HTTPError as error:
                failed.append(f"{host}: {type(error).__name__}")
    if failed:
        raise ExternalAPIError(f"The event was not accepted: {'; '.join(failed)}.", "See watch.webhooks.")
    return told
