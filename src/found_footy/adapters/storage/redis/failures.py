"""What the client of the Redis protocol raises, as our own error. Its texts can quote what they were given."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ConnectionError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    TimeoutError,
)

from found_footy.domain.errors import CacheUnavailable

_CHARACTERS = 200
_NO_PASSWORD = "NOAUTH"


def where(url: str) -> str:
    """The place of the server, without user and password, for messages."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2] or parts.path
    return f"{parts.scheme}://{place}"


def secrets_of(url: str) -> tuple[str, ...]:
    """What a message may never contain: the password as it is, and as the URL writes it."""
    written = urlsplit(url).password
    return tuple({written, unquote(written)}) if written else ()


def unavailable(failure: Exception, place: str, secrets: tuple[str, ...]) -> CacheUnavailable:
    return CacheUnavailable(f"{place} {_words(failure, secrets)}")


def _words(failure: Exception, secrets: tuple[str, ...]) -> str:
    match failure:
        case BusyLoadingError():
            return "is still reading its data"
        case AuthenticationError() | AuthorizationError() | NoPermissionError():
            return "refuses the user or the password"
        case TimeoutError():
            return "did not answer in time"
        case ConnectionError() | OSError():
            if _NO_PASSWORD in str(failure):
                return "wants a password"
            return "cannot be reached, or broke the connection off"
        case OutOfMemoryError():
            return "has no memory left"
        case ReadOnlyError():
            return "is a copy that can only be read"
        case RedisError() if _NO_PASSWORD in str(failure):
            return "wants a password"
        case _:
            return f"answered: {_short(str(failure), secrets)}"


def _short(text: str, secrets: tuple[str, ...]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return " ".join(text.split())[:_CHARACTERS]
