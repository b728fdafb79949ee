"""At most FOOTY_VISION_CALLS vision checks run at once over all workers, also when one is killed or Redis is down."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import aclosing

import pytest

from found_footy.clips import activities
from found_footy.config import Settings
from found_footy.errors import CacheUnavailable
from found_footy.storage.redis import RedisCache

LIMIT = 2
CALLS = 12

WORKER = """
import asyncio, sys
from found_footy.clips import activities
from found_footy.config import Settings
from found_footy.storage.redis import RedisCache

activities.VISION_LEASE_SECONDS = 1.0
port, redis_url, prefix = int(sys.argv[1]), sys.argv[2], sys.argv[3]

async def main():
    cache = RedisCache(redis_url, prefix=prefix)
    permit = await activities.vision_permit(Settings(vision_calls=2), cache)
    while True:
        async with permit():
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            done = await reader.read()
            writer.close()
        if not done:
            return

asyncio.run(main())
"""


class FakeVisionServer:
    """Holds each call for a moment, counts those that are open, and tells callers when to stop."""

    def __init__(self) -> None:
        self.calls = self.open = self.most = 0
        self.busy = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls += 1
        self.open += 1
        self.most = max(self.most, self.open)
        if self.open == LIMIT:
            self.busy.set()
        try:
            await asyncio.wait_for(reader.read(), 0.1)  # ends early if the caller was killed
        except TimeoutError:
            finished = self.calls >= CALLS and self.busy.is_set()
            writer.write(b"" if finished else b"more")
        finally:
            self.open -= 1
            writer.close()


async def test_three_workers_never_exceed_the_limit_although_one_is_killed(
    valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fake = FakeVisionServer()
    server = await asyncio.start_server(fake.answer, "127.0.0.1", 0)
    port = str(server.sockets[0].getsockname()[1])
    prefix = tmp_path_factory.mktemp("vision").name
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    workers = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, port, valkey_url, prefix, env=environment)
        for _ in range(3)
    ]
    async with server:
        async with asyncio.timeout(60):
            await fake.busy.wait()
            workers[0].send_signal(signal.SIGKILL)
            codes = await asyncio.gather(*(worker.wait() for worker in workers))
    assert codes == [-signal.SIGKILL, 0, 0]
    assert fake.calls >= CALLS
    assert fake.most == LIMIT


async def test_without_redis_no_check_runs() -> None:
    async with aclosing(RedisCache("redis://127.0.0.1:9")) as cache:
        permit = await activities.vision_permit(Settings(vision_calls=LIMIT), cache)
        with pytest.raises(CacheUnavailable):
            async with permit():
                pytest.fail("a vision check ran without a permit")
