"""A bug report in one file: version, platform, settings without secrets, findings and unexpected responses.

Everything in it is redacted and bounded, because people attach it to public issues.
"""

from __future__ import annotations

import getpass
import json
import platform
import re
import socket
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from found_footy.config import Settings, environment_names
from found_footy.errors import SettingsError
from found_footy.operations.doctor import Examination
from found_footy.operations.models import UnexpectedAnswer
from found_footy.runtime.redaction import Redactor
from found_footy.secrets import PERSONAL, secret_values
from found_footy.version import current_build

MAX_REPORT_BYTES = 1024 * 1024
MAX_BODY_CHARS = 64 * 1024
PACKAGES = ("temporalio", "psycopg", "httpx", "pydantic", "yt-dlp", "av", "onnxruntime", "playwright")


def write_report(settings: Settings, examination: Examination, path: Path) -> Path:
    """Write Markdown, or JSON if the name ends in `.json`. Raises SettingsError if the file cannot be written."""
    document = report_document(settings, examination)
    text = json.dumps(document, ensure_ascii=False, indent=2) if path.suffix == ".json" else to_markdown(document)
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"cannot write the report to {path}: {error.strerror}") from error
    return path


def report_document(settings: Settings, examination: Examination) -> dict[str, Any]:
    """Build the report with the newest responses that fit into MAX_REPORT_BYTES; `answers_left_out` counts the rest."""
    redactor = Redactor([*secret_values(settings), *_identity()])
    document: dict[str, Any] = {
        "version": str(current_build()),
        "created_at": examination.at.isoformat(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _installed(name) for name in PACKAGES},
        "settings": _settings(settings),
        "findings": [finding.to_json() for finding in examination.findings],
    }
    document = redactor.value(document)
    answers: list[dict[str, Any]] = []
    size = len(json.dumps(document, ensure_ascii=False).encode())
    for kept in examination.kept:
        answer = redactor.value(_answer(kept))
        size += len(json.dumps(answer, ensure_ascii=False, indent=2).encode())
        if size > MAX_REPORT_BYTES:
            break
        answers.append(answer)
    return document | {"answers": answers, "answers_left_out": len(examination.kept) - len(answers)}


def _identity() -> list[str]:
    """Return the names of this machine and its user, which paths and messages contain."""
    names = [str(Path.home()), socket.gethostname()]
    with suppress(KeyError, OSError):  # a container's user may have no name
        names.append(getpass.getuser())
    # Common account names are also common words.
    return [name for name in names if len(name) > 3 and name not in ("root", "/root", "localhost", "user")]


def _settings(settings: Settings) -> dict[str, str]:
    """Return settings that differ from the default. Secrets and personal values are only shown as set."""
    shown = {}
    for name, variable in environment_names().items():
        value, default = getattr(settings, name), type(settings).model_fields[name].default
        if value == default:
            continue
        is_private = isinstance(value, SecretStr) or PERSONAL.search(name)
        shown[variable] = "(set)" if is_private else str(value)
    return shown


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _answer(kept: UnexpectedAnswer) -> dict[str, Any]:
    return {
        "name": kept.name,
        "at": kept.at.isoformat(),
        "error_class": kept.error_class,
        "message": kept.message,
        "request": kept.request,
        "status": kept.status,
        "headers": dict(kept.headers),
        "body": kept.body[:MAX_BODY_CHARS],
    }


def to_markdown(document: dict[str, Any]) -> str:
    lines = [
        "# found-footy bug report",
        "",
        "Secrets, e-mail addresses and accounts are masked as `***`. Read this report before you send it.",
        "",
        f"- version: {document['version']}, Python {document['python']}, {document['platform']}",
        f"- created: {document['created_at']}",
        f"- packages: {', '.join(f'{name} {number}' for name, number in document['packages'].items())}",
        "",
        "## Settings that differ from the defaults",
        "",
        *(f"- `{name}` = {_code(value)}" for name, value in document["settings"].items()),
        "",
        "## Findings",
        "",
    ]
    for finding in document["findings"]:
        lines.append(f"- **{finding['state']}** {finding['what']}: {_line(finding['said'])}")
        lines += [f"    - asked: {_code(line)}" for line in finding.get("asked", ())]
        for name in ("response", "error_class", "since", "last_ok_at", "checked_at"):
            if finding.get(name):
                lines.append(f"    - {name}: {_line(str(finding[name]))}")
    lines += ["", "## Unexpected responses", ""]
    for answer in document["answers"]:
        lines += [f"### {answer['name']}: {answer['error_class']} at {answer['at']}", "", _line(answer["message"]), ""]
        lines += [f"- asked: {_code(answer['request'])}", f"- status: {answer['status']}"]
        lines += [f"- {name}: {_code(value)}" for name, value in answer["headers"].items()]
        lines += ["", *_fenced(answer["body"]), ""]
    if not document["answers"]:
        lines.append("No responses are stored.")
    if document["answers_left_out"]:
        lines.append(f"{document['answers_left_out']} older responses are omitted.")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _code(text: str) -> str:
    return f"`{_line(text).replace('`', '´')}`"


def _fenced(body: str) -> list[str]:
    """Return the body in a fence longer than any in it, so that its content cannot break out."""
    longest = max((len(found) for found in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence, body, fence]
