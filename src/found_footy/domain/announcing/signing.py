"""How a webhook's receiver knows that a message is ours: `Footy-Signature: t=…,v1=…`."""

from __future__ import annotations

import hashlib
import hmac
import secrets


def new_secret() -> str:
    return f"footy_{secrets.token_urlsafe(32)}"


def signature(secret: str, at: int, body: bytes) -> str:
    """`at` is in seconds since 1970. It is signed, too, so that nobody can send an old message again later."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"
