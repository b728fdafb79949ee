"""The connection to the cache, and the few ways in which everything here speaks to it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError, RedisError

from found_footy.adapters.storage.redis.failures import secrets_of, unavailable, where
from found_footy.adapters.storage.redis.scripts import script
from found_footy.domain.errors import SettingsError

PREFIX = "footy:"
CHUNK = 250
"""Commands that are sent in one go. Larger goes keep others waiting, smaller ones cost round trips."""

Word: TypeAlias = str | int | float | bytes
Command: TypeAlias = Sequence[Word]
T = TypeVar("T")


class RedisCache:
    """A pool of connections to one server. Nothing is opened before the first command.

    All keys begin with `prefix`, so that two systems can share a server. Each method raises CacheUnavailable where the
    server does not answer or refuses; connections that broke are opened again with the next command.
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
            self._place, self._secrets = where(url), secrets_of(url)
            pool = BlockingConnectionPool.from_url(
                _without_protocol(url),
                # The older protocol is spoken by every server, and its answers have one shape in all of them.
                protocol=2,
                max_connections=connections,
                timeout=answer_seconds,
                socket_connect_timeout=connect_seconds,
                socket_timeout=answer_seconds,
                socket_keepalive=True,
                # A server that was restarted leaves dead connections behind: the second try opens a new one.
                retry=Retry(ExponentialBackoff(cap=0.2, base=0.02), 2, supported_errors=(ConnectionError,)),
            )
        except ValueError:  # its text can quote the password
            raise SettingsError(
                "REDIS_URL cannot be read; special characters of the password are written as %xx"
            ) from None
        self._client = Redis.from_pool(pool)

    def key(self, pattern: str, name: str | int | None = None) -> str:
        return f"{self._prefix}{pattern}" if name is None else f"{self._prefix}{pattern}:{name}"

    def keys(self, pattern: str, names: Sequence[str]) -> list[str]:
        return [self.key(pattern, name) for name in names]

    async def run(self, *command: Word) -> Any:
        with self._translated():
            return await self._client.execute_command(*command)  # type: ignore[no-untyped-call]

    async def run_all(self, commands: Sequence[Command], *, together: bool = False) -> list[Any]:
        """In few round trips. `together`: nobody sees some of them done and others not (at most 250)."""
        answers: list[Any] = []
        with self._translated():
            for chunk in [commands] if together else chunks(commands):
                async with self._client.pipeline(transaction=together) as pipeline:
                    for command in chunk:
                        pipeline.execute_command(*command)
                    answers += await pipeline.execute()
        return answers

    async def run_script(self, name: str, keys: Sequence[str], arguments: Sequence[Word]) -> Any:
        return await self.run("EVAL", script(name), len(keys), *keys, *arguments)

    async def run_scripts(self, name: str, calls: Sequence[tuple[Sequence[str], Sequence[Word]]]) -> list[Any]:
        """The same script again and again; its text goes over the wire once in each chunk."""
        answers: list[Any] = []
        sha = hashlib.sha1(script(name).encode(), usedforsecurity=False).hexdigest()
        with self._translated():
            for chunk in chunks(calls):
                async with self._client.pipeline(transaction=False) as pipeline:
                    pipeline.execute_command("SCRIPT LOAD", script(name))
                    for keys, arguments in chunk:
                        pipeline.execute_command("EVALSHA", sha, len(keys), *keys, *arguments)
                    answers += (await pipeline.execute())[1:]
        return answers

    async def values(self, keys: Sequence[str]) -> list[bytes | None]:
        """Of keys that hold a text; None where there is none."""
        answers: list[bytes | None] = []
        for chunk in chunks(keys):
            answers += await self.run("MGET", *chunk)
        return answers

    async def members(self, key: str) -> list[str]:
        """Of a set, sorted."""
        return sorted(_text(member) for member in await self.run("SMEMBERS", key))

    async def hashes(self, keys: Sequence[str]) -> list[Mapping[str, str]]:
        found = await self.run_all([("HGETALL", key) for key in keys])
        return [{_text(field): _text(value) for field, value in one.items()} for one in found]

    async def seconds_since_epoch(self) -> float:
        """By the server's clock, which all workers share."""
        seconds, microseconds = await self.run("TIME")
        return int(seconds) + int(microseconds) / 1_000_000

    async def check(self) -> str:
        """One cheap call that proves that it answers, takes the password and can be written to."""
        probe = self.key("probe")
        answers = await self.run_all([("SET", probe, "1", "PX", 1000), ("INFO", "server")])
        info = answers[1] if isinstance(answers[1], dict) else {}
        product = str(info.get("server_name", "redis")).capitalize()
        version = info.get("valkey_version") or info.get("redis_version") or "of unknown version"
        return f"{product} {version} at {self._place}"

    async def aclose(self) -> None:
        await self._client.aclose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (RedisError, OSError) as failure:
            # Without the cause: a traceback in a log would show its text as it is.
            raise unavailable(failure, self._place, self._secrets) from None


def _without_protocol(url: str) -> str:
    """What a URL says goes before what we say; of the protocol we have to be sure."""
    parts = urlsplit(url)
    options = [(name, value) for name, value in parse_qsl(parts.query) if name != "protocol"]
    return parts._replace(query=urlencode(options)).geturl()


def chunks(whole: Sequence[T], size: int = CHUNK) -> list[Sequence[T]]:
    return [whole[start : start + size] for start in range(0, len(whole), size)]


def _text(value: bytes) -> str:
    return value.decode(errors="replace")
