"""One owner at a time for a profile: two Chromiums in one profile lose the login."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from found_footy.domain.errors import AlreadyRunning


@contextmanager
def owned(profile: Path) -> Iterator[None]:
    """Held by the kernel, so that nothing is left of it when the owner is killed."""
    profile.parent.mkdir(parents=True, exist_ok=True)
    with profile.with_name(f"{profile.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(f"another `footy browser` uses the profile {profile}") from None
        yield
