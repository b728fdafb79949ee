"""Structured logs: one JSON object per line, or coloured text for people (LOG_FORMAT=pretty).

Callers use the standard library: `log.info("goal found", extra={"action": "goal_found", "event_id": …})`.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

_STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
MIN_SECRET_LENGTH = 6
"""A shorter value would also match ordinary words."""
_NOISE = {"temporal_workflow", "temporal_activity", "__temporal_openai_agents"}

_KEY_NAMES = r"(?:x-apisports-key|api[_-]?(?:football[_-]?)?key|authorization|passwo?r?d)"
_SECRETS = re.compile(
    # The password of a URL, up to the last @ before a slash, space or quote; it may contain an @ itself.
    r"(?i)(?P<user>://[^/\s:@]*:)[^/\s\"'<>]*(?P<at>@)"
    # A value after its name, in the syntax of headers, queries, keyword strings, JSON and Python.
    rf"|(?P<name>{_KEY_NAMES}(?:[\"']?\s*[:=]\s*|[\"'],\s*)(?:b(?=[\"']))?)"
    r"(?:\"[^\"]*\"|'[^']*'|(?:(?:bearer|basic)\s+)?[^\s\"'&,;)}\]]+)"
    # Our tokens, other bearer tokens, and the secret parts of signed URLs and webhook URLs.
    r"|(?P<token>footy_[a-z0-9]{8}_)[0-9a-f]{16,64}"
    r"|(?P<scheme>\bbearer\s+)[a-z0-9._~+/=-]{16,}"
    r"|(?P<query>[?&](?:x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)|awsaccesskeyid"
    r"|key-pair-id|policy|sig|signature|token|access_token|secret|client_secret|code|auth)=)[^\s\"'&#)}\]]+"
    r"|(?P<cookie>\b(?:set-)?cookie:\s*)[^\r\n\"'<>{}]+"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that end a line, start a terminal sequence or reverse the text after them."""
_SECRET_FIELD = re.compile(rf"(?i){_KEY_NAMES}")

_COLOURS = {"DEBUG": "\x1b[2m", "INFO": "\x1b[32m", "WARNING": "\x1b[33m", "ERROR": "\x1b[31m", "CRITICAL": "\x1b[31m"}


def hide_secrets(text: str) -> str:
    """Mask passwords in URLs, values of secret keys, tokens and signatures."""
    return _SECRETS.sub(_mask, _values.sub("***", text))


_values = re.compile(r"(?!)")
"""Matches the secrets of the settings; nothing before `hide_values`."""


def hide_values(values: Iterable[str]) -> None:
    """Mask these texts in all further log lines of this process."""
    global _values
    known = sorted((each for each in values if len(each) >= MIN_SECRET_LENGTH), key=len, reverse=True)
    _values = re.compile("|".join(map(re.escape, known)) or r"(?!)")


def _mask(found: re.Match[str]) -> str:
    kept = next((found[name] for name in ("user", "name", "token", "scheme", "query", "cookie") if found[name]), "")
    return f"{kept}***{found['at'] or ''}"


def _escape(text: str) -> str:
    """Escape control characters, so that text cannot start a new line or change the terminal."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


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
        return _escape(json.dumps(_without_secrets(fields), ensure_ascii=False))


class PrettyFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = _without_secrets(fields_of(record))
        ts, level, module, action, msg = (fields.pop(k) for k in ("ts", "level", "module", "action", "msg"))
        ids = " ".join(f"{key}={_escape(str(value))}" for key, value in fields.items())
        module, action, msg = _escape(str(module)), _escape(str(action)), _escape(str(msg))
        colour = _COLOURS.get(level, "")
        line = f"{ts[11:23]} {colour}{level:<7}\x1b[0m {module} \x1b[1m{action}\x1b[0m {msg} \x1b[2m{ids}\x1b[0m"
        if record.exc_info:
            # Indented, so that an error message cannot imitate a log line.
            trace = hide_secrets(self.formatException(record.exc_info)).split("\n")
            line += "".join(f"\n    {_escape(each)}" for each in trace)
        return line


def configure(log_format: str, level: str, stream: TextIO | None = None) -> None:
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(PrettyFormatter() if log_format == "pretty" else JsonFormatter())
    handler.setLevel(level)  # some libraries set the level of their own loggers
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # These libraries log one line per request.
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
