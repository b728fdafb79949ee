"""Apprise in the sandbox: sends one message.

Apprise brings its own networking, with redirects and proxies; the sandbox restricts where it connects.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

from found_footy.notifications.apprise import NATIVE_SCHEMAS, SCHEMAS, names_local_file
from found_footy.runtime.sandbox_child import Reply, SandboxContext

MAX_LOG_LINES = 5


class _LastLogLines(logging.Handler):
    """Keeps the last lines of Apprise's log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines = [*self.lines, record.getMessage()[:500]][-MAX_LOG_LINES:]


def send(context: SandboxContext, request: dict[str, Any]) -> Reply:
    return {**_send(request), "refused": context.guard.refused[:1]}, ()


def _send(request: dict[str, Any]) -> dict[str, Any]:
    schema = request["target"].partition("://")[0].lower()
    if schema not in SCHEMAS | NATIVE_SCHEMAS:
        return {"valid": False, "log": [f"{schema[:20]}:// is not an allowed service"]}
    if names_local_file(request["target"]):
        return {"valid": False, "log": ["a target cannot name local files"]}
    # Imported here, after the limits and the guard are in place.
    apprise: Any = import_module("apprise")
    last_lines = _LastLogLines()
    logging.getLogger("apprise").addHandler(last_lines)
    asset = apprise.AppriseAsset(
        storage_mode=apprise.PersistentStoreMode.MEMORY,
        app_id="Found Footy",
        app_desc="Found Footy",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        http_redirects=False,
    )
    plugin = apprise.Apprise.instantiate(request["target"], asset=asset)
    # Apprise resolves native URLs only here, and an allowed URL may resolve to a different service.
    if plugin is None or SCHEMAS.isdisjoint(plugin.schemas()):
        return {"valid": False, "log": last_lines.lines or ["unknown service"]}
    if not request["send"]:
        return {"valid": True}
    plugin.redirects = False
    plugin.socket_connect_timeout = plugin.socket_read_timeout = float(request["seconds"])
    try:
        sent = plugin.notify(body=request["text"], title=request["title"], body_format=apprise.NotifyFormat.TEXT)
    except (TypeError, ValueError, OSError) as error:
        return {"valid": True, "sent": False, "log": [*last_lines.lines, f"{type(error).__name__}"]}
    return {"valid": True, "sent": bool(sent), "log": last_lines.lines}
