"""Recognises addresses of this machine, and sends requests to configured servers."""

import ipaddress
import urllib.request


def is_loopback(host: str) -> bool:
    """Whether a host name or IP address refers only to this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Return None, so that a redirect raises HTTPError: a server must not send the request to another host."""


def answer_of(request: urllib.request.Request | str, seconds: float, most: int) -> bytes:
    """Return the first `most` bytes of the server's reply. Raises OSError if it redirects, fails or does not reply."""
    with urllib.request.build_opener(_NoRedirects).open(request, timeout=seconds) as response:
        content: bytes = response.read(most)
        return content
