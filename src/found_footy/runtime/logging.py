"""Structured logs: one JSON object per line, or coloured text for people (LOG_FORMAT=pretty).

Callers use the standard library: `log.info("goal seen", extra={"action": "goal_seen", "event_id": …})`.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

_STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_NOISE = {"temporal_workflow", "temporal_activity", "__temporal_openai_agents"}

_KEY_NAMES = r"(?:x-apisports-key|api[_-]?(?:football[_-]?)?key|authorization|passwo?r?d)"
_SECRETS = re.compile(
    # The password of a URL, up to the last @ before a slash, space or quote; it may contain an @ itself.
    r"(?i)(?P<user>://[^/\s:@]*:)[^/\s\"'<>]*(?P<at>@)"
    # A value after its name, in the syntax of headers, queries, keyword strings, JSON and Python.
    rf"|(?P<name>{_KEY_NAMES}(?:[\"']?\s*[:=]\s*|[\"'],\s*)(?:b(?=[\"']))?)"
    r"(?:\"[^\"]*\"|'[^']*'|(?:(?:bearer|basic)\s+)?[^\s\"'&,;)}\]]+)"
)
_SECRET_FIELD = re.compile(rf"(?i){_KEY_NAMES}")

_COLOURS = {"DEBUG": "\x1b[2m", "INFO": "\x1b[32m", "WARNING": "\x1b[33m", "ERROR": "\x1b[31m", "CRITICAL": "\x1b[31m"}


def hide_secrets(text: str) -> str:
    """Mask passwords in URLs and values of secret keys."""
    return _SECRETS.sub(lambda m: f"{m['user']}***{m['at']}" if m["user"] else f"{m['name']}***", text)


def _without_secrets(value: Any, name: str = "") -> Any:
    """Mask each text separately: masking finished JSON could remove quotes."""
    if _SECRET_FIELD.search(name):
        return "***"
    if isinstance(value, Mapping):
        return {str(key): _without_secrets(part, str(key)) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_without_secrets(part) for part in value]
    return value if isinstance(value, bool | int | float | None) else hide_secrets(str(value))


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    extra = {k: v for k, v in vars(record).items() if k not in _STANDARD and k not in _NOISE and v is not None}
    return {
        "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "module": record.name.removeprefix("found_footy."),
        "action": extra.pop("action", record.funcName),
        "msg": record.getMessage(),
        **extra,
    }


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = fields_of(record)
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return json.dumps(_without_secrets(fields), ensure_ascii=False)


class PrettyFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = _without_secrets(fields_of(record))
        ts, level, module, action, msg = (fields.pop(k) for k in ("ts", "level", "module", "action", "msg"))
        ids = " ".join(f"{key}={value}" for key, value in fields.items())
        colour = _COLOURS.get(level, "")
        line = f"{ts[11:23]} {colour}{level:<7}\x1b[0m {module} \x1b[1m{action}\x1b[0m {msg} \x1b[2m{ids}\x1b[0m"
        if record.exc_info:
            line += "\n" + hide_secrets(self.formatException(record.exc_info))
        return line


def configure(log_format: str, level: str, stream: TextIO | None = None) -> None:
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(PrettyFormatter() if log_format == "pretty" else JsonFormatter())
    handler.setLevel(level)  # some libraries set the level of their loggers
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # These libraries log one line per request.
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
