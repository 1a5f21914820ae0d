"""The socket that a server listens on."""

from __future__ import annotations

import socket

from monjyu_core.errors import ConfigurationError

BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. It is made before the server, so that port 0 has a number and who reads the address may
    connect at once. ConfigurationError where the address is none of this machine or the port is taken."""
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
