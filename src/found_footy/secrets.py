"""Values of the settings that must not leave this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from found_footy.config import Settings
from found_footy.runtime.redaction import Redactor

PERSONAL = re.compile(r"handle|contact|account|user|login|client_id")
"""Names of settings that identify the operator without being secret."""


def build_redactor(settings: Settings) -> Redactor:
    return Redactor(secret_values(settings))


def secret_values(settings: Settings) -> Iterator[str]:
    """Yield the secrets and the operator's account names."""
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            secret = value.get_secret_value()
            yield secret
            parts = urlsplit(secret) if "://" in secret else None
            if parts is not None and parts.password:
                yield from (parts.password, unquote(parts.password))
        elif isinstance(value, str) and PERSONAL.search(name) and value != field.default:
            yield value
