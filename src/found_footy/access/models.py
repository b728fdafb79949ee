"""Tokens and roles. A token is shown once; only its hash is stored."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum

ID_LENGTH = 8
SECRET_BYTES = 32
FAILURE_WINDOW = timedelta(minutes=15)
TOUCH_INTERVAL = timedelta(minutes=1)

_TEXT = re.compile(rf"footy_([a-z0-9]{{{ID_LENGTH}}})_([0-9a-f]{{{2 * SECRET_BYTES}}})")
_ID_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


class Role(IntEnum):
    """Each role includes the permissions of the lower ones."""

    READER = 1
    EDITOR = 2
    OPERATOR = 3

    @classmethod
    def named(cls, name: str) -> Role:
        """Return the role with this name. Raises KeyError."""
        return cls[name.upper()]

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token."""

    id: str
    name: str
    role: Role
    hash: bytes
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    def end_reason(self, now: datetime) -> str | None:
        """Return `revoked` or `expired`, or None while the token is valid."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return None

    def is_due_for_touch(self, now: datetime) -> bool:
        return self.last_used_at is None or now - self.last_used_at >= TOUCH_INTERVAL


def new_token(
    name: str, role: Role, now: datetime, random: bytes, secret: bytes, lasts: timedelta | None = None
) -> tuple[Token, str]:
    """Return the stored token and its text. The id is derived from `random`; `secret` has `SECRET_BYTES`."""
    id_ = token_id(random)
    token = Token(id_, name, role, hash_secret(secret), now, now + lasts if lasts is not None else None)
    return token, token_text(id_, secret)


def token_id(random: bytes) -> str:
    """Return a short public id from at least `ID_LENGTH` random bytes."""
    return "".join(_ID_LETTERS[byte % len(_ID_LETTERS)] for byte in random[:ID_LENGTH])


def token_text(id_: str, secret: bytes) -> str:
    return f"footy_{id_}_{secret.hex()}"


def parse_token(text: str) -> tuple[str, bytes] | None:
    """Return the id and the secret, or None for malformed text."""
    found = _TEXT.fullmatch(text)
    return (found[1], bytes.fromhex(found[2])) if found else None


def hash_secret(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()


def verify_secret(token: Token, secret: bytes) -> bool:
    return hmac.compare_digest(token.hash, hash_secret(secret))


def csrf_token(session_secret: bytes) -> str:
    """Derive the CSRF token from the session cookie without revealing it."""
    return hmac.new(session_secret, b"csrf", hashlib.sha256).hexdigest()


def client_key(address: str | None) -> str:
    """Return the rate limit key: the IPv4 address, or the /64 network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))
    return str(parsed)


def account_key(token_id: str) -> str:
    """Rate limit key of a token, distinct from every address."""
    return f"token {token_id}"


def retry_after_seconds(oldest: datetime, now: datetime) -> int:
    """Seconds until the oldest counted failure expires."""
    return max(1, round((oldest + FAILURE_WINDOW - now).total_seconds()))
