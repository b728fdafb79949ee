"""Logging in through a web page, where there is no display."""

from __future__ import annotations

import asyncio
import os
import struct
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio

from found_footy.browser import remote_login
from found_footy.browser.remote_login import (
    BINARY,
    CLOSE,
    COOKIE,
    MAX_FRAME_BYTES,
    PING,
    PONG,
    VncPage,
    frame,
    read_frame,
    remote_display,
    require_remote_display,
    write_authority,
)
from found_footy.errors import EngineError, SettingsError
from found_footy.runtime.data_folder import DataFolder
from tests.browser.test_browser_command import footy

pytestmark = pytest.mark.asyncio(loop_scope="package")

KEY, ACCEPT = "dGhlIHNhbXBsZSBub25jZQ==", b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""From RFC 6455."""


@pytest.fixture
def novnc(tmp_path: Path) -> Path:
    folder = tmp_path / "novnc"
    folder.mkdir()
    (folder / "vnc.html").write_text("<title>noVNC</title>")
    (tmp_path / "secret.txt").write_text("not for visitors")
    return folder


@pytest_asyncio.fixture(loop_scope="package")
async def page(tmp_path: Path, novnc: Path) -> AsyncIterator[tuple[VncPage, str]]:
    """A page whose VNC server returns what it receives, in capitals."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1000):
            writer.write(data.upper())
        writer.close()

    socket = tmp_path / "vnc"
    async with await asyncio.start_unix_server(echo, socket):
        page = VncPage(socket, novnc, "127.0.0.1", 0)
        async with page.serving() as url:
            yield page, url


async def test_the_page_answers_only_with_its_token(page: tuple[VncPage, str]) -> None:
    served, url = page
    base = url.partition("/?")[0]
    async with httpx.AsyncClient(base_url=base) as client:
        for path in ("/", "/?token=", "/?token=another", "/vnc.html", "/vnc.html?token=" + served.token, "/websockify"):
            assert (await client.get(path)).status_code == 403, path
        assert (await client.get("/vnc.html", headers={"Cookie": f"{COOKIE}=another"})).status_code == 403
        opened = await client.get(url)
        assert (opened.status_code, urlsplit(opened.headers["location"]).path) == (303, "/vnc.html")
        assert served.token not in opened.headers["location"], "the history keeps no token"
        assert {"HttpOnly", "SameSite=Strict"} <= set(opened.headers["set-cookie"].split("; "))
        viewer = await client.get(opened.headers["location"])
        assert (viewer.status_code, viewer.headers["content-type"]) == (200, "text/html")
        assert (await client.get("/none.js")).status_code == 404
        assert (await client.post("/vnc.html")).status_code == 400


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "//etc/passwd", "/./../secret.txt"])
async def test_only_files_of_novnc_are_served(page: tuple[VncPage, str], path: str) -> None:
    served, url = page
    reader, writer = await connect(url, f"GET {path} HTTP/1.1", Cookie=f"{COOKIE}={served.token}")
    assert (await reader.read()).startswith(b"HTTP/1.1 404 ")
    writer.close()


async def connect(url: str, first: str, **headers: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    lines = [
        first,
        f"Host: {address.netloc}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    return reader, writer


async def open_websocket(
    page: tuple[VncPage, str], **headers: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    served, url = page
    upgrade = {"Cookie": f"{COOKIE}={served.token}", "Upgrade": "websocket", "Sec_WebSocket_Key": KEY}
    return await connect(url, "GET /websockify HTTP/1.1", **(upgrade | headers))


def masked(payload: bytes, opcode: int = BINARY) -> bytes:
    mask = b"\x01\x02\x03\x04"
    body = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
    return bytes([0x80 | opcode]) + size + mask + body


async def received(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """An unmasked frame."""
    first, size = await reader.readexactly(2)
    if size == 126:
        (size,) = struct.unpack(">H", await reader.readexactly(2))
    return first & 0x0F, await reader.readexactly(size)


async def test_the_websocket_carries_the_display(page: tuple[VncPage, str]) -> None:
    reader, writer = await open_websocket(page, Sec_WebSocket_Protocol="binary")
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 ")
    assert ACCEPT in head
    assert b"Sec-WebSocket-Protocol: binary" in head
    writer.write(masked(b"rfb 003.008"))
    assert await received(reader) == (BINARY, b"RFB 003.008")
    writer.write(masked(b"x" * 500))
    assert await received(reader) == (BINARY, b"X" * 500)
    writer.write(masked(b"still there?", PING))
    assert await received(reader) == (PONG, b"still there?")
    writer.write(masked(struct.pack(">H", 1000), CLOSE))
    assert await received(reader) == (CLOSE, struct.pack(">H", 1000))
    assert await reader.read() == b""
    writer.close()


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Upgrade": "h2c"}, {"Sec_WebSocket_Key": ""}],
)
async def test_other_sites_cannot_open_the_websocket(page: tuple[VncPage, str], headers: dict[str, str]) -> None:
    reader, writer = await open_websocket(page, **headers)
    assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    writer.close()


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536])
async def test_frames_of_all_sizes_are_built(size: int) -> None:
    built = frame(b"x" * size)
    assert built[0] == 0x82
    assert len(built) - size == (2 if size < 126 else 4 if size < 65_536 else 10)


@pytest.mark.parametrize("sent", [b"\x82\x01x", b"\x82\xff" + struct.pack(">Q", MAX_FRAME_BYTES + 1)])
async def test_unmasked_and_huge_frames_end_the_connection(sent: bytes) -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(sent)
    with pytest.raises(OSError, match="frame"):
        await read_frame(reader)


async def test_missing_programs_are_listed_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(remote_login, "NOVNC_FOLDERS", (tmp_path / "none",))
    with pytest.raises(SettingsError, match=r"Xvfb, x11vnc, noVNC.*apt install xvfb x11vnc novnc"):
        require_remote_display()
    ended = await footy(tmp_path, "login", PATH=str(tmp_path))
    assert ended.code == 2
    assert "Xvfb, x11vnc" in ended.err


async def test_the_display_is_private_and_ends_with_the_block(
    tmp_path: Path, novnc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With programs that behave as Xvfb and x11vnc do when they start."""
    programs = tmp_path / "bin"
    programs.mkdir()
    scripts = {
        "Xvfb": "print(77, flush=True)",
        "x11vnc": "import socket; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[sys.argv.index('-unixsock') + 1])",
    }
    for name, script in scripts.items():
        lines = f"#!{sys.executable} -I\nimport sys, time\n{script}\ntime.sleep(600)\n"
        (programs / name).write_text(lines)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(remote_login, "NOVNC_FOLDERS", (novnc,))
    monkeypatch.setenv("DISPLAY", "")
    monkeypatch.setenv("XAUTHORITY", "")
    data = DataFolder(tmp_path / "data")
    async with remote_display(data, "127.0.0.1", 0) as url:
        assert "token=" in url
        assert os.environ["DISPLAY"] == ":77"
        authority = Path(os.environ["XAUTHORITY"])
        assert [path.stat().st_mode & 0o077 for path in (authority, authority.parent)] == [0, 0]
        assert len(list(data.run.glob("login-*.pid"))) == 2
    assert not authority.exists()  # noqa: ASYNC240
    assert list(data.run.glob("login-*.pid")) == []

    (programs / "Xvfb").write_text("#!/bin/sh\necho no screen >&2; exit 1\n")
    with pytest.raises(EngineError, match="no screen"):
        async with remote_display(data, "127.0.0.1", 0):
            pass


async def test_an_authority_file_has_a_cookie_for_every_display(tmp_path: Path) -> None:
    write_authority(tmp_path / "a")
    write_authority(tmp_path / "b")
    first, second = (tmp_path / "a").read_bytes(), (tmp_path / "b").read_bytes()
    assert first[:6] == b"\xff\xff\0\0\0\0"
    assert b"MIT-MAGIC-COOKIE-1" in first
    assert len(first) == 6 + 2 + 18 + 2 + 16
    assert first != second
