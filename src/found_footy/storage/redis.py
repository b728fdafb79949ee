"""Redis client with error translation, and validation of stored JSON."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, NoReturn, TypeAlias, TypeVar
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
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

from found_footy.errors import CacheFull, CacheUnavailable, SettingsError
from found_footy.text import MAX_ERROR_TEXT

_NO_PASSWORD_CODE = "NOAUTH"


def load_script(package: str | None, name: str) -> str:
    """Read the Lua script `{name}.lua`, from the folder of the module that runs it. Redis runs it atomically."""
    return (files(package or "") / f"{name}.lua").read_text(encoding="utf-8")


def server_address(url: str) -> str:
    """Return the server's address without credentials, for messages."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2] or parts.path
    return f"{parts.scheme}://{place}"


def secrets_of(url: str) -> tuple[str, ...]:
    """Return the password, plain and percent-encoded, to remove from messages."""
    written = urlsplit(url).password
    return tuple({written, unquote(written)}) if written else ()


def translate_failure(failure: Exception, place: str, secrets: tuple[str, ...]) -> CacheUnavailable:
    """Translate a failure. Most messages are replaced, because the client's messages can contain arguments."""
    error = CacheFull if isinstance(failure, OutOfMemoryError) else CacheUnavailable
    return error(f"{place} {_describe(failure, secrets)}")


def _describe(failure: Exception, secrets: tuple[str, ...]) -> str:
    match failure:
        case BusyLoadingError():
            return "is still loading its data"
        case AuthenticationError() | AuthorizationError() | NoPermissionError():
            return "rejects the user or the password"
        case TimeoutError():
            return "did not respond in time"
        case ConnectionError() | OSError():
            if _NO_PASSWORD_CODE in str(failure):
                return "requires a password"
            return "cannot be reached, or closed the connection"
        case OutOfMemoryError():
            return "is full: it rejects writes until memory is free"
        case ReadOnlyError():
            return "is a read-only replica"
        case RedisError() if _NO_PASSWORD_CODE in str(failure):
            return "requires a password"
        case _:
            return f"returned an error: {_short(str(failure), secrets)}"


def _short(text: str, secrets: tuple[str, ...]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return " ".join(text.split())[:MAX_ERROR_TEXT]


PREFIX = "footy:"
CHUNK = 250
"""Commands per pipeline. Larger ones delay other clients, smaller ones cost round trips."""

FULL_SHARE = 0.97
"""Share of the memory limit above which Redis rejects large writes, and soon all writes."""

Word: TypeAlias = str | int | float | bytes
Command: TypeAlias = Sequence[Word]
T = TypeVar("T")


class RedisCache:
    """A connection pool for one server, connected on first use.

    All keys start with `prefix`, so that two systems can share a server. All methods raise CacheUnavailable if the
    server does not respond or rejects the command; the next command reconnects.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = PREFIX,
        connections: int = 16,
        connect_seconds: float = 2.0,
        answer_seconds: float = 5.0,
    ) -> None:
        self._prefix = prefix
        try:
            self._place, self._secrets = server_address(url), secrets_of(url)
            pool = BlockingConnectionPool.from_url(
                _without_protocol(url),
                # RESP2, which every server supports with the same reply types.
                protocol=2,
                max_connections=connections,
                timeout=answer_seconds,
                socket_connect_timeout=connect_seconds,
                socket_timeout=answer_seconds,
                socket_keepalive=True,
                # After a server restart, pooled connections are dead; the retry opens a new one.
                retry=Retry(ExponentialBackoff(cap=0.2, base=0.02), 2, supported_errors=(ConnectionError,)),
            )
        except ValueError:  # its text can quote the password
            raise SettingsError("REDIS_URL is invalid; percent-encode special characters of the password") from None
        self._client = Redis.from_pool(pool)

    def key(self, pattern: str, name: str | int | None = None) -> str:
        return f"{self._prefix}{pattern}" if name is None else f"{self._prefix}{pattern}:{name}"

    def keys(self, pattern: str, names: Sequence[str]) -> list[str]:
        return [self.key(pattern, name) for name in names]

    async def run(self, *command: Word) -> Any:
        with self._translated():
            return await self._client.execute_command(*command)  # type: ignore[no-untyped-call]

    async def run_all(self, commands: Sequence[Command], *, atomic: bool = False) -> list[Any]:
        """Run commands in few round trips. `atomic` runs them in one transaction, at most 250."""
        answers: list[Any] = []
        with self._translated():
            for chunk in [commands] if atomic else chunks(commands):
                async with self._client.pipeline(transaction=atomic) as pipeline:
                    for command in chunk:
                        pipeline.execute_command(*command)
                    answers += await pipeline.execute()
        return answers

    async def run_script(self, script: str, keys: Sequence[str], arguments: Sequence[Word]) -> Any:
        return await self.run("EVAL", script, len(keys), *keys, *arguments)

    async def values(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of string keys; None for missing ones."""
        answers: list[bytes | None] = []
        for chunk in chunks(keys):
            answers += await self.run("MGET", *chunk)
        return answers

    async def members(self, key: str) -> list[str]:
        """Return the members of a set, sorted."""
        return sorted(_text(member) for member in await self.run("SMEMBERS", key))

    async def hashes(self, keys: Sequence[str]) -> list[Mapping[str, str]]:
        found = await self.run_all([("HGETALL", key) for key in keys])
        return [{_text(field): _text(value) for field, value in one.items()} for one in found]

    async def seconds_since_epoch(self) -> float:
        """Return the time of the server's clock, which all workers share."""
        seconds, microseconds = await self.run("TIME")
        return int(seconds) + int(microseconds) / 1_000_000

    async def check(self) -> str:
        """Verify that the server responds, accepts the password and accepts writes; return a description."""
        answers = await self.run_all([self._probe(), ("INFO", "server")])
        info = answers[1] if isinstance(answers[1], dict) else {}
        product = str(info.get("server_name", "redis")).capitalize()
        version = info.get("valkey_version") or info.get("redis_version") or "(unknown version)"
        return f"{product} {version} at {self._place}"

    async def check_writable(self) -> tuple[int, int]:
        """Return used memory and its limit (0 if unlimited), in bytes.

        Raises CacheFull if writes are rejected or soon will be, even while reads still work.
        """
        _, info = await self.run_all([self._probe(), ("INFO", "memory")])
        used, limit = int(info.get("used_memory", 0)), int(info.get("maxmemory", 0))
        if limit and info.get("maxmemory_policy") == "noeviction" and used > FULL_SHARE * limit:
            raise CacheFull(f"{self._place} is full: it uses {used >> 20} of {limit >> 20} MB")
        return used, limit

    def _probe(self) -> Command:
        return ("SET", self.key("probe"), "1", "PX", 1000)

    async def aclose(self) -> None:
        await self._client.aclose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate errors, and re-raise a cancellation that redis-py has swallowed.

        redis-py sends commands with `asyncio.wait_for`, which before Python 3.12 drops a cancellation that arrives
        together with the result. Otherwise, a timeout around the call would be lost, and a loop around it would never
        end.
        """
        task = asyncio.current_task()
        cancellations = task.cancelling() if task else 0
        try:
            yield
        except (RedisError, OSError) as failure:
            if task and task.cancelling() > cancellations:
                raise asyncio.CancelledError from None
            # Without the cause, whose text a traceback in the log would include.
            raise translate_failure(failure, self._place, self._secrets) from None
        if task and task.cancelling() > cancellations:
            raise asyncio.CancelledError


def _without_protocol(url: str) -> str:
    """Remove URL parameters that would override the protocol version."""
    parts = urlsplit(url)
    options = [(name, value) for name, value in parse_qsl(parts.query) if name != "protocol"]
    return parts._replace(query=urlencode(options)).geturl()


def chunks(items: Sequence[T], size: int = CHUNK) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _text(value: bytes) -> str:
    return value.decode(errors="replace")


# --- Stored JSON, validated because other versions and programs may have written it.


log = logging.getLogger(__name__)


Fields = Mapping[str, Any]


class InvalidValue(ValueError):
    """A stored value of an unexpected form."""


def dump(fields: Fields) -> str:
    """Serialize as ASCII: names can contain lone surrogates, which UTF-8 cannot encode."""
    return json.dumps(fields, allow_nan=False, separators=(",", ":"))


def load(text: bytes | str) -> Fields:
    try:
        fields = json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidValue("not JSON") from error
    if not isinstance(fields, dict):
        raise InvalidValue("not an object")
    return fields


def readable(key: str, text: bytes | str | None, read: Callable[[Fields], T]) -> T | None:
    """Parse a stored value; None if it is missing or invalid."""
    if text is None:
        return None
    try:
        return read(load(text))
    except InvalidValue as error:
        log.warning("dropped %s from the cache: %s", key, error, extra={"action": "cache_value_dropped", "key": key})
        return None


def string(fields: Fields, name: str) -> str:
    return _typed(fields, name, str)


def optional_string(fields: Fields, name: str) -> str | None:
    return None if fields.get(name) is None else string(fields, name)


def boolean(fields: Fields, name: str) -> bool:
    return _typed(fields, name, bool)


def integer(fields: Fields, name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**63:
        raise InvalidValue(f"{name} is not an integer")
    return value


def number(fields: Fields, name: str) -> float:
    value = fields.get(name)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise InvalidValue(f"{name} is not a number")
    try:
        found = float(value)
    except OverflowError as error:
        raise InvalidValue(f"{name} is too large") from error
    if not math.isfinite(found):
        raise InvalidValue(f"{name} is too large")
    return found


def optional_number(fields: Fields, name: str) -> float | None:
    return None if fields.get(name) is None else number(fields, name)


def timestamp(fields: Fields, name: str) -> datetime:
    """Read a time stored as seconds since 1970 (UTC)."""
    try:
        return datetime.fromtimestamp(number(fields, name), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidValue(f"{name} is not a timestamp") from error


def optional_timestamp(fields: Fields, name: str) -> datetime | None:
    return None if fields.get(name) is None else timestamp(fields, name)


def mapping(fields: Fields, name: str) -> Mapping[str, Any]:
    return _typed(fields, name, dict)


def strings(fields: Fields, name: str) -> tuple[str, ...]:
    values: Sequence[Any] = _typed(fields, name, list)
    if not all(isinstance(value, str) for value in values):
        raise InvalidValue(f"{name} contains a value that is not a string")
    return tuple(values)


def one_of(fields: Fields, name: str, kinds: Callable[[Any], T]) -> T:
    """Read a member of an enumeration."""
    try:
        return kinds(fields.get(name))
    except ValueError as error:
        raise InvalidValue(f"{name} has an unknown value") from error


def _typed(fields: Fields, name: str, kind: type[T]) -> T:
    value = fields.get(name)
    if not isinstance(value, kind):
        raise InvalidValue(f"{name} is not a {kind.__name__}")
    return value


def _reject_constant(constant: str) -> NoReturn:
    raise InvalidValue(f"{constant} is not JSON")
