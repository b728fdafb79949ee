"""The types of settings: how each is read, and what is refused."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, BeforeValidator, SecretStr
from pydantic_settings import NoDecode

from found_footy.domain.errors import FollowUnknown
from found_footy.domain.fixtures.following import parse_entries

PREFIX = "FOOTY_"


def _split(value: Any) -> Any:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _http_url(text: str) -> str:
    if not re.match(r"https?://[^\s/]", text):
        raise ValueError("a URL that starts with http:// or https://")
    return text


def _postgres_url(url: SecretStr) -> SecretStr:
    """The driver quotes what it cannot read in its messages, and that can be the password: so it is refused here."""
    text = url.get_secret_value()
    if not text:
        return url
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = None
    readable = parts is not None and parts.scheme in ("postgresql", "postgres") and parts.netloc.count("@") <= 1
    if not readable or not text.isprintable() or re.search(r"%(?![0-9A-Fa-f]{2})", text):
        raise ValueError(
            "postgresql://user:password@host:port/database, with the special characters of the password as %xx"
        )
    return url


def _redis_url(url: SecretStr) -> SecretStr:
    if url.get_secret_value() and not re.match(r"(redis|rediss|unix)://\S+$", url.get_secret_value()):
        raise ValueError("redis://:password@host:port/number, or rediss:// for TLS")
    return url


def _key(key: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[!-~]*", key.get_secret_value()):
        raise ValueError("a key of letters, digits and signs of ASCII, without spaces and line ends")
    return key


def _address(text: str) -> str:
    if text and not re.fullmatch(r"[^\s/]+:\d{1,5}", text):
        raise ValueError("host:port, such as 127.0.0.1:7233")
    return text


def _follow_list(entries: tuple[str, ...]) -> tuple[str, ...]:
    try:
        parse_entries(entries)
    except FollowUnknown as error:
        raise ValueError(f"{error}\n{error.hint}") from None
    return entries


Numbers = Annotated[tuple[int, ...], NoDecode, BeforeValidator(_split)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
FollowList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_follow_list)]
SourceName = Literal["fxtwitter", "reddit", "bluesky", "x", "folder"]
ALL_SOURCES: tuple[SourceName, ...] = get_args(SourceName)
Sources = Annotated[tuple[SourceName, ...], NoDecode, BeforeValidator(_split)]
RedditWayName = Literal["oauth", "fragment", "atom"]
RedditWays = Annotated[tuple[RedditWayName, ...], NoDecode, BeforeValidator(_split)]
HttpUrl = Annotated[str, AfterValidator(_http_url)]
PostgresUrl = Annotated[SecretStr, AfterValidator(_postgres_url)]
RedisUrl = Annotated[SecretStr, AfterValidator(_redis_url)]
Key = Annotated[SecretStr, AfterValidator(_key)]
Address = Annotated[str, AfterValidator(_address)]


def _auto(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() == "auto" else value


AutoBool = Annotated[bool | None, BeforeValidator(_auto)]
"""`auto`, true or false; None is automatic."""


def well_known(name: str) -> AliasChoices:
    return AliasChoices(name, PREFIX + name)
