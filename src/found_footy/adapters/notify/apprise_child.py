"""The process in which Apprise works: one message, its own limits, and an end when its parent ends.

Apprise brings its own networking, with redirects and proxies, so it gets a process that connects only where the
address rule lets it. Reads one line of JSON, writes one. The target comes in that line: a command line can be read by
everybody on the machine.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
import threading
from importlib import import_module
from typing import Any, NoReturn

from found_footy.adapters.guarded.addresses import AddressRule
from found_footy.adapters.guarded.sockets import SocketGuard
from found_footy.adapters.notify.schemas import NATIVE, PORTS, SCHEMAS

MEMORY_BYTES = 1024**3
FILE_BYTES = 1024**2
LONGEST_ORDER = 65_536
KEPT_LINES = 5


class _Kept(logging.Handler):
    """What Apprise says, of which the last lines are kept."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines = [*self.lines, record.getMessage()[:500]][-KEPT_LINES:]


def main() -> NoReturn:
    # Whatever a library prints goes elsewhere than the answer.
    out = os.dup(1)
    os.dup2(2, 1)
    order = json.loads(sys.stdin.buffer.readline(LONGEST_ORDER))
    _limit(order)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    guard = SocketGuard(AddressRule(order["private_hosts"], PORTS))
    guard.install()
    answer = {**_work(order), "refused": guard.refused[:1]}
    with os.fdopen(out, "w") as pipe:
        json.dump(answer, pipe)
    os._exit(0)


def _limit(order: dict[str, Any]) -> None:
    seconds = int(order["seconds"]) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES,) * 2)
    if sys.platform == "linux":  # elsewhere it is refused, or does nothing
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_with_parent() -> None:
    os.read(0, 1)
    os._exit(1)


def _work(order: dict[str, Any]) -> dict[str, Any]:
    schema = order["target"].partition("://")[0].lower()
    if schema not in SCHEMAS | NATIVE:
        return {"valid": False, "said": [f"{schema[:20]}:// is not among the services that are used here"]}
    # Not before the limits and the guard hold.
    apprise: Any = import_module("apprise")
    kept = _Kept()
    logging.getLogger("apprise").addHandler(kept)
    asset = apprise.AppriseAsset(
        storage_mode=apprise.PersistentStoreMode.MEMORY,
        app_id="Found Footy",
        app_desc="Found Footy",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        http_redirects=False,
    )
    plugin = apprise.Apprise.instantiate(order["target"], asset=asset)
    # An address in a service's own form is known only now, and one of ours may turn out to be something else.
    if plugin is None or SCHEMAS.isdisjoint(plugin.schemas()):
        return {"valid": False, "said": kept.lines or ["Apprise knows no such service"]}
    if not order["send"]:
        return {"valid": True}
    plugin.redirects = False
    plugin.socket_connect_timeout = plugin.socket_read_timeout = float(order["seconds"])
    try:
        sent = plugin.notify(body=order["text"], title=order["title"], body_format=apprise.NotifyFormat.TEXT)
    except (TypeError, ValueError, OSError) as error:
        return {"valid": True, "sent": False, "said": [*kept.lines, f"{type(error).__name__}"]}
    return {"valid": True, "sent": bool(sent), "said": kept.lines}


if __name__ == "__main__":
    main()
