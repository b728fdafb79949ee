"""Discord, Telegram, ntfy, mail and other services, through Apprise in a sandboxed process."""

from __future__ import annotations

import json
import logging
import re
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from found_footy.errors import BadRequest, DeliveryUnavailable
from found_footy.notifications.models import DeliveryOutcome, OutgoingMessage, SendResult, outcome_of_status
from found_footy.runtime.sandbox import NetworkAccess, Sandbox, SandboxEnd, SandboxError, SandboxLimits, stderr_tail
from found_footy.text import MAX_ERROR_TEXT, clean_text

log = logging.getLogger(__name__)

TARGET = "found_footy.notifications.apprise_process:send"
STARTUP_SECONDS = 10.0
"""Startup allowance: importing Apprise is slow."""
MAX_PROCESSES = 4
"""Each process takes about 60 MB."""
MEMORY_MB = 1024
OPEN_FILES = 256
MAX_BYTES = 16 * 1024 * 1024
"""Total size of its temporary files."""
MIN_SECRET_LENGTH = 4

_STATUS = re.compile(r"\berror=(\d{3})\b")


class AppriseSender:
    def __init__(self, *, seconds: float, private_hosts: Collection[str] = ()) -> None:
        self._seconds = seconds
        self._network = NetworkAccess(tuple(private_hosts), PORTS)
        self._sandbox = Sandbox(max_processes=MAX_PROCESSES)

    async def send(self, message: OutgoingMessage) -> DeliveryOutcome:
        body = json.loads(message.body)
        try:
            reply = await self._run(message.target, send=True, title=body["title"], text=body["text"])
        except TimeoutError:
            return DeliveryOutcome(SendResult.RETRY, f"not sent within {self._seconds:g} s", possibly_delivered=True)
        if reply is None:
            return DeliveryOutcome(SendResult.RETRY, "the Apprise process died", possibly_delivered=True)
        return _outcome(reply, message.target)

    async def check(self, target: str) -> None:
        try:
            reply = await self._run(target, send=False)
        except TimeoutError:
            reply = None
        if reply is None:
            raise DeliveryUnavailable("could not check the target; try again")
        if not reply.get("valid"):
            raise BadRequest(f"invalid target: {_last_log_line(reply.get('log', ()), target)}")

    async def aclose(self) -> None:
        await self._sandbox.aclose()

    async def _run(self, target: str, *, send: bool, title: str = "", text: str = "") -> dict[str, Any] | None:
        request = {"target": target, "send": send, "title": title, "text": text, "seconds": self._seconds}
        with tempfile.TemporaryDirectory(prefix="footy-apprise-") as name:
            folder = Path(name)
            limits = SandboxLimits(
                seconds=self._seconds + STARTUP_SECONDS,
                memory_mb=MEMORY_MB,
                open_files=OPEN_FILES,
                total_bytes=MAX_BYTES,
                processors=1,
                folder=folder,
                network=self._network,
            )
            try:
                return (await self._sandbox.run(TARGET, [request], limits)).header
            except SandboxError as error:
                log.warning(
                    "Apprise failed: %s",
                    error.end,
                    extra={"action": "apprise_failed", "stderr": redact_secrets(stderr_tail(folder), target)},
                )
                if error.end is SandboxEnd.TIMEOUT:
                    raise TimeoutError from None
                return None


def _outcome(reply: dict[str, Any], target: str) -> DeliveryOutcome:
    if reply.get("sent") is True:
        return DeliveryOutcome(SendResult.DELIVERED)
    detail = _last_log_line(reply.get("log", ()), target)
    if reply.get("refused"):
        return DeliveryOutcome(
            SendResult.REFUSED, f"forbidden address: {redact_secrets(str(reply['refused'][0]), target)}"
        )
    if not reply.get("valid"):
        return DeliveryOutcome(SendResult.REFUSED, f"invalid target: {detail}")
    if (status := _STATUS.search(detail)) is not None:
        outcome = outcome_of_status(int(status[1]))
        # A 410 from a service's web server does not mean that the subscription is gone.
        result = SendResult.RETRY if outcome.result is SendResult.RETRY else SendResult.REFUSED
        return DeliveryOutcome(result, detail, possibly_delivered=outcome.possibly_delivered)
    return DeliveryOutcome(SendResult.RETRY, detail, possibly_delivered=True)


def _last_log_line(lines: Sequence[object], target: str) -> str:
    last = next((str(line) for line in reversed(list(lines)) if str(line).strip()), "")
    return redact_secrets(last, target) or "not sent"


def redact_secrets(text: str, target: str) -> str:
    """Remove every part of the target from a text, except its scheme."""
    pieces = [target, *re.split(r"[/?&=:@,%+]+", target.partition("://")[2])]
    for piece in sorted({each for each in pieces if len(each) >= MIN_SECRET_LENGTH}, key=len, reverse=True):
        text = text.replace(piece, "…")
    return clean_text(text, MAX_ERROR_TEXT)


# --- Allowed Apprise services. Standard library only: the sandboxed process imports this too.


SCHEMAS = frozenset(
    {
        *("bark", "barks", "bluesky", "bsky", "chanify", "dingtalk", "discord", "feishu", "flock", "gchat"),
        *("gotify", "gotifys", "guilded", "join", "kook", "lark", "line", "mailgun", "mailto", "mailtos"),
        *("mastodon", "mastodons", "matrix", "matrixs", "mmost", "mmosts", "nctalk", "nctalks", "ntfy", "ntfys"),
        *("pbul", "pover", "prowl", "pushdeer", "pushdeers", "pushy", "revolt", "rocket", "rockets", "ryver"),
        *("sendgrid", "ses", "signal", "signals", "simplepush", "slack", "smtp2go", "sparkpost", "spike"),
        *("synology", "synologys", "tgram", "threema", "toot", "toots", "twilio", "twist", "viber", "vonage"),
        *("webex", "wecombot", "whatsapp", "workflow", "workflows", "wxteams", "zulip"),
    }
)

FILE_PARAMETERS = frozenset({"template", "pgppub", "pgpprv", "attach", "config"})
"""Parameters that Apprise opens as files."""

NATIVE_SCHEMAS = frozenset({"http", "https"})
"""Schemes of native service URLs, accepted if Apprise recognizes the service."""


def names_local_file(target: str) -> bool:
    """Whether a target names a file, which Apprise would read and send."""
    decoded = unquote(unquote(target))
    if re.search(r"\bfile:", decoded, re.IGNORECASE):
        return True
    pairs = parse_qsl(target.partition("?")[2], keep_blank_values=True)
    names = {name.strip().lower().lstrip(":+-") for name, _ in pairs}
    paths = any(re.match(r"\s*(/|~|\.{1,2}/)", unquote(value)) for _, value in pairs)
    return paths or not FILE_PARAMETERS.isdisjoint(names)


PORTS = frozenset({25, 80, 443, 465, 587, 2525, 8008, 8080, 8443, 8448})
"""Ports of web, mail and Matrix."""
