"""The tools of the chaos runner do what they claim: clocks are wrong, steps are noticed, links are cut and slow."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.chaos.process import FOLDER, reach, skewed_now
from tests.support.link import Link


@pytest.fixture
def hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    for name in ("armed", "taken", "reached"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_the_clock_of_a_process_is_wrong_while_its_file_exists(hooks: Path) -> None:
    skew = hooks / f"skew-{os.getpid()}"
    skew.write_text("-60")
    assert timedelta(seconds=50) < datetime.now(UTC) - skewed_now() < timedelta(seconds=61)
    skew.unlink()
    assert datetime.now(UTC) - skewed_now() < timedelta(seconds=10)


def test_a_step_is_noticed_once(hooks: Path) -> None:
    reach("before fetch_clip")
    assert list((hooks / "reached").iterdir()) == [], "nobody waits for it"
    (hooks / "armed" / "before fetch_clip").write_text("go on")
    reach("before fetch_clip")
    reached = hooks / "reached" / "before fetch_clip"
    assert int(reached.read_text()) == os.getpid()
    reached.unlink()
    reach("before fetch_clip")
    assert not reached.exists()


@pytest.fixture
async def link() -> AsyncIterator[Link]:
    """In front of a server that repeats lines."""

    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        writer.close()

    server = await asyncio.start_server(repeat, "127.0.0.1", 0)
    async with server, Link(server.sockets[0].getsockname()[1]) as opened:
        yield opened


@asynccontextmanager
async def connected(link: Link) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", link.port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def test_a_cut_link_drops_connections_and_refuses_new_ones_until_it_is_restored(link: Link) -> None:
    async with connected(link) as (reader, writer):
        writer.write(b"one\n")
        assert await reader.readline() == b"one\n"
        link.cut(silently=False)
        assert await reader.read() == b""
    async with connected(link) as (reader, _):
        assert await reader.read() == b""
    link.restore()
    async with connected(link) as (reader, writer):
        writer.write(b"two\n")
        assert await reader.readline() == b"two\n"


async def test_a_silent_link_delivers_when_it_is_restored(link: Link) -> None:
    async with connected(link) as (reader, writer):
        link.cut(silently=True)
        writer.write(b"one\n")
        answer = asyncio.create_task(reader.readline())
        assert not (await asyncio.wait([answer], timeout=0.2))[0]
        link.restore()
        assert await answer == b"one\n"


async def test_a_slow_link_delays_each_direction(link: Link) -> None:
    async with connected(link) as (reader, writer):
        link.delay = 0.1
        began = time.monotonic()
        writer.write(b"one\n")
        assert await reader.readline() == b"one\n"
        assert time.monotonic() - began >= 0.2
