"""How many can listen at once: each is an open file, and a process may have only so many."""

from __future__ import annotations

import logging
import resource

log = logging.getLogger(__name__)

FOR_OTHERS = 512
"""Files for all the rest: other requests, the database, clips that are sent."""


def room_for(listeners: int) -> int:
    """As many of them as this process may have files for, after it has asked for more where they are few."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = listeners + FOR_OTHERS
    if allowed != resource.RLIM_INFINITY and allowed < wanted:
        allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
    room = listeners if allowed == resource.RLIM_INFINITY else max(1, min(listeners, allowed - FOR_OTHERS))
    if room < listeners:
        said = f"room for {room} listeners instead of {listeners}: this process may open {allowed} files"
        log.warning(said, extra={"action": "few_files"})
    return room
