"""Removes secrets and personal data from text that leaves this machine: stored responses and bug reports.

Masks known values from the settings, and whatever matches patterns of tokens, cookies and e-mail addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

MASK = "***"
MIN_SECRET_LENGTH = 4
"""A shorter value would also match ordinary words."""

_NAMES = (
    r"authorization|auth[_-]?token|access[_-]?(?:token|key|jwt)|refresh[_-]?(?:token|jwt)|(?:client[_-]?)?secret|"
    r"x-apisports-key|api[_-]?(?:football[_-]?)?key|key|token|passwo?r?d|passwd|csrf(?:[_-]?token)?|ct0|"
    r"session(?:[_-]?(?:id|token))?|jwt|sig(?:nature)?|signing[_-]?key|refresh|x-csrf-token|guest[_-]?token"
)
_FORMS = re.compile(
    # user:password@ in a URL
    r"(?i)(?P<user>://)[^/\s:@\"'<>]*:[^/\s\"'<>]*@"
    # The whole cookie list, because any part of it may be a session.
    r"|(?P<cookie>\b(?:set-)?cookie[\"']?\s*[:=]\s*)(?:\"[^\"]*\"|'[^']*'|[^\r\n\"'<>{}]*)"
    # A name and its value, in the syntax of headers, queries, JSON and Python.
    rf"|(?P<name>(?<![a-z0-9])(?:[a-z0-9]+[_-])?(?:{_NAMES})[\"']?\s*[:=]\s*)"
    r"(?:\"[^\"]*\"|'[^']*'|(?:(?:bearer|basic|token)\s+)?[^\s\"'&,;)}\]<>]+)"
    r"|(?P<scheme>\b(?:bearer|basic)\s+)[a-z0-9._~+/=-]{8,}"
    # JSON web tokens, and e-mail addresses. Repetitions are bounded because the text is untrusted.
    r"|(?P<jwt>\beyJ[a-z0-9_-]{8,4000}\.[a-z0-9_-]{1,8000}(?:\.[a-z0-9_-]{0,2000})?)"
    r"|(?P<email>\b[a-z0-9._%+-]{1,64}(?:@|%40)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,5}\.[a-z]{2,24}\b)"
)


class Redactor:
    """Masks `secrets` wherever they occur, plain and percent-encoded, longer ones first."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {form for secret in secrets for form in (secret, quote(secret), quote(secret, safe=""))}
        ordered = sorted((form for form in known if len(form) >= MIN_SECRET_LENGTH), key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, ordered)), re.IGNORECASE) if ordered else None

    def text(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MASK, text)
        return _FORMS.sub(_mask, text)

    def value(self, value: Any) -> Any:
        """Redact every text inside a JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {str(name): self.value(part) for name, part in value.items()}
        return [self.value(part) for part in value] if isinstance(value, list | tuple) else value


def _mask(found: re.Match[str]) -> str:
    kept = found["user"] or found["cookie"] or found["name"] or found["scheme"] or ""
    return f"{kept}{MASK}" + ("@" if found["user"] else "")
