"""AT Protocol identities: where an account's data lives, by its DID document. Pure."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

_DID = re.compile(r"did:plc:[a-z2-7]{24}|did:web:[A-Za-z0-9.-]{1,253}", re.ASCII)
_PDS = "#atproto_pds"
_MAX_SERVICES = 20
_MAX_URL_LENGTH = 300


def is_did(text: str) -> bool:
    return _DID.fullmatch(text) is not None


def document_url(did: str, plc_url: str) -> str:
    """Where a DID's document is published."""
    if did.startswith("did:web:"):
        return f"https://{did.removeprefix('did:web:')}/.well-known/did.json"
    return f"{plc_url.rstrip('/')}/{did}"


def pds_endpoint(document: Any, did: str = "") -> str | None:
    """Base URL of the account's PDS, without a slash at its end; None where the document names none.

    With `did`, the document must be about that account.
    """
    if not isinstance(document, dict) or (did and document.get("id") != did):
        return None
    services = document.get("service")
    for service in services[:_MAX_SERVICES] if isinstance(services, list) else ():
        if not isinstance(service, dict) or not str(service.get("id", "")).endswith(_PDS):
            continue
        endpoint = service.get("serviceEndpoint")
        if isinstance(endpoint, str) and len(endpoint) <= _MAX_URL_LENGTH and _is_base_url(endpoint):
            return endpoint.rstrip("/")
    return None


def _is_base_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    plain = not parts.query and not parts.fragment and "@" not in parts.netloc and text.isascii() and text.isprintable()
    return parts.scheme in ("http", "https") and bool(parts.hostname) and plain
