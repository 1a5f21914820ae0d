"""Who holds a claim on a key of the cache: a name that tells its host and process."""

from __future__ import annotations

import os
import uuid

from monjyu_core.storage.folders import alive, host_id


def new_owner() -> str:
    """A name for one call of this process; another process of this host can tell whether it still runs."""
    return f"{host_id()}-{os.getpid()}-{uuid.uuid4().hex[:12]}"


def owner_is_dead(owner: str) -> bool:
    """Whether the owner was a process of this host that no longer runs; of other hosts nothing is known."""
    host, process, _ = owner.split("-", 2)
    return host == host_id() and not alive(int(process))
