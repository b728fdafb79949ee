"""A display in a web page (noVNC), for logging in on a machine without a display.

Xvfb is the display, x11vnc sends it to a Unix socket in a private folder, and `VncPage` serves noVNC and bridges its
WebSocket to the socket. Only the page listens on a port, and it requires its token.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import mimetypes
import os
import secrets
import shutil
import struct
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from found_footy.errors import EngineError, SettingsError
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.process import Command, ManagedProcess

log = logging.getLogger(__name__)

PROGRAMS = ("Xvfb", "x11vnc")
NOVNC_FOLDERS = tuple(map(Path, ("/usr/share/novnc", "/usr/share/webapps/novnc", "/usr/share/noVNC", "/opt/novnc")))
SCREEN = "1280x900x24"
START_SECONDS = 20.0

COOKIE = "footy_login"
VIEWER = "/vnc.html?autoconnect=1&resize=scale&path=websockify"
WEBSOCKET_PATH = "/websockify"
WEBSOCKET_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
MAX_HEAD_BYTES = 16_384
HEAD_SECONDS = 10.0
MAX_FRAME_BYTES = 1 << 20
CHUNK_BYTES = 1 << 15
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def novnc_folder() -> Path | None:
    return next((folder for folder in NOVNC_FOLDERS if (folder / "vnc.html").is_file()), None)


def require_remote_display() -> Path:
    """Return the folder of noVNC. Raises SettingsError, which names what is missing."""
    folder = novnc_folder()
    missing = [name for name in PROGRAMS if shutil.which(name) is None] + ([] if folder else ["noVNC"])
    if missing or folder is None:
        raise SettingsError(
            "there is no display (DISPLAY and WAYLAND_DISPLAY are not set), and to log in through a web page this "
            f"machine needs {', '.join(missing)}. Install them (on Debian `apt install xvfb x11vnc novnc`), use "
            "`ssh -X`, or log in on a machine with a desktop and copy `browser/cookies.json` of its data folder"
        )
    return folder


@asynccontextmanager
async def remote_display(data: DataFolder, host: str, port: int) -> AsyncIterator[str]:
    """Run a display, set DISPLAY and XAUTHORITY of this process to it, and yield the URL of its page."""
    static = require_remote_display()
    data.create()
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": os.environ.get("HOME", "/")}
    async with AsyncExitStack() as stack:
        private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="footy-login-")))
        authority, socket = private / "authority", private / "vnc"
        write_authority(authority)
        xvfb = ManagedProcess("login-display", data)
        stack.push_async_callback(xvfb.stop)
        screen = ["-screen", "0", SCREEN, "-nolisten", "tcp", "-displayfd", "1"]
        xvfb.start(Command([_find_program("Xvfb"), *screen, "-auth", authority], environment))
        display = f":{await _display_number(xvfb)}"
        vnc = ManagedProcess("login-vnc", data)
        stack.push_async_callback(vnc.stop)
        source = [_find_program("x11vnc"), "-display", display, "-auth", str(authority)]
        options = ["-rfbport", "0", "-forever", "-shared", "-nopw", "-quiet"]
        vnc.start(Command([*source, "-unixsock", str(socket), *options], environment))
        await _wait_for_path(socket, vnc)
        os.environ.update(DISPLAY=display, XAUTHORITY=str(authority))
        page = VncPage(socket, static, host, port)
        yield await stack.enter_async_context(page.serving())


def write_authority(path: Path) -> None:
    """Write an X authority file with a random cookie, so that other users cannot open the display."""
    name, cookie = b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(16)
    record = struct.pack(">HHH", 0xFFFF, 0, 0) + struct.pack(">H", len(name)) + name + struct.pack(">H", 16) + cookie
    path.touch(mode=0o600)
    path.write_bytes(record)


def _find_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise SettingsError(f"{name} was not found")
    return found


async def _display_number(xvfb: ManagedProcess) -> int:
    """Xvfb prints the number when it is ready."""
    async with _starting(xvfb):
        while True:
            numbers = [line for line in xvfb.log_tail().splitlines() if line.strip().isdecimal()]
            if numbers:
                return int(numbers[-1])
            await _poll_again(xvfb)


async def _wait_for_path(path: Path, process: ManagedProcess) -> None:
    async with _starting(process):
        while not os.path.exists(path):  # noqa: ASYNC240
            await _poll_again(process)


async def _poll_again(process: ManagedProcess) -> None:
    if process.pid is None:
        raise EngineError(f"{process.name} did not start: {process.log_tail(3)}")
    await asyncio.sleep(0.05)


@asynccontextmanager
async def _starting(process: ManagedProcess) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(START_SECONDS):
            yield
    except TimeoutError:
        raise EngineError(f"{process.name} was not ready after {START_SECONDS:g} s: {process.log_tail(3)}") from None


# --- The page: files of noVNC and a bridge from its WebSocket to the VNC socket.


@dataclass(frozen=True, slots=True)
class PageRequest:
    target: str
    headers: Mapping[str, str]

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.target).query).get("token", [""])[0]

    @property
    def cookie(self) -> str:
        try:
            morsel = SimpleCookie(self.headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return ""
        return morsel.value if morsel else ""

    @property
    def is_same_origin(self) -> bool:
        return urlsplit(self.headers.get("origin", "")).netloc in ("", self.headers.get("host", ""))


class VncPage:
    """Each connection carries one request, so that a proxy cannot mix visitors with and without the token."""

    def __init__(self, socket: Path, static: Path, host: str, port: int) -> None:
        self._socket = socket
        self._static = static.resolve()
        self._host, self._port = host, port
        self.token = secrets.token_urlsafe(24)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Yield the URL with the token."""
        try:
            server = await asyncio.start_server(self._serve, self._host, self._port)
        except OSError as error:
            raise EngineError(f"cannot serve the login page at port {self._port}: {error.strerror}") from error
        async with server:
            port = server.sockets[0].getsockname()[1]
            yield f"http://{self._host}:{port}/?token={self.token}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            request = parse_head(head)
            if request is None or len(head) > MAX_HEAD_BYTES:
                await _respond(writer, 400)
            elif request.path == "/" and self._is_valid_token(request.token):
                cookie = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                await _respond(writer, 303, headers={"Location": VIEWER, "Set-Cookie": cookie})
            elif not self._is_valid_token(request.cookie):
                await _respond(writer, 403, b"Open the URL that `footy browser login` has printed.\n", "text/plain")
            elif request.path == WEBSOCKET_PATH:
                await self._bridge(request, reader, writer)
            else:
                await self._serve_file(request.path, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the visitor has disconnected, or does not send HTTP
        finally:
            writer.close()

    def _is_valid_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    async def _serve_file(self, path: str, writer: asyncio.StreamWriter) -> None:
        file = (self._static / path.lstrip("/")).resolve()
        if not file.is_relative_to(self._static) or not file.is_file():
            await _respond(writer, 404)
            return
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        await _respond(writer, 200, await asyncio.to_thread(file.read_bytes), kind)

    async def _bridge(self, request: PageRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        key = request.headers.get("sec-websocket-key", "")
        if request.headers.get("upgrade", "").lower() != "websocket" or not key or not request.is_same_origin:
            await _respond(writer, 400)
            return
        accept = base64.b64encode(hashlib.sha1(key.encode() + WEBSOCKET_GUID).digest()).decode()
        headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accept}
        if "binary" in request.headers.get("sec-websocket-protocol", ""):
            headers["Sec-WebSocket-Protocol"] = "binary"
        vnc_reader, vnc_writer = await asyncio.open_unix_connection(self._socket)
        try:
            lines = ["HTTP/1.1 101 Switching Protocols", *(f"{name}: {value}" for name, value in headers.items())]
            writer.write("\r\n".join([*lines, "", ""]).encode())
            tasks = [
                asyncio.create_task(_frames_to_socket(reader, writer, vnc_writer)),
                asyncio.create_task(_socket_to_frames(vnc_reader, writer)),
            ]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            vnc_writer.close()


def parse_head(head: bytes) -> PageRequest | None:
    """Return None for anything but a GET."""
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or parts[0] != "GET" or not parts[1].startswith("/"):
        return None
    pairs = (line.partition(":") for line in lines if ":" in line)
    return PageRequest(parts[1], {name.strip().lower(): value.strip() for name, _, value in pairs})


async def _respond(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes = b"",
    kind: str = "text/plain",
    headers: Mapping[str, str] | None = None,
) -> None:
    lines = {
        "Content-Type": kind,
        "Content-Length": str(len(body)),
        "Connection": "close",
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        **(headers or {}),
    }
    head = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in lines.items())]
    writer.write("\r\n".join([*head, "", ""]).encode() + body)
    await writer.drain()


def frame(payload: bytes, opcode: int = BINARY) -> bytes:
    """An unmasked, final frame."""
    if len(payload) < 126:
        return bytes([0x80 | opcode, len(payload)]) + payload
    if len(payload) < 1 << 16:
        return bytes([0x80 | opcode, 126]) + struct.pack(">H", len(payload)) + payload
    return bytes([0x80 | opcode, 127]) + struct.pack(">Q", len(payload)) + payload


async def read_frame(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Return opcode and payload. Raises OSError for a frame that no browser sends."""
    first, second = await reader.readexactly(2)
    size = second & 0x7F
    if size == 126:
        (size,) = struct.unpack(">H", await reader.readexactly(2))
    elif size == 127:
        (size,) = struct.unpack(">Q", await reader.readexactly(8))
    if size > MAX_FRAME_BYTES or not second & 0x80:
        raise OSError("frame too large or not masked")
    mask = await reader.readexactly(4)
    payload = await reader.readexactly(size)
    return first & 0x0F, bytes(byte ^ mask[index & 3] for index, byte in enumerate(payload))


async def _frames_to_socket(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, socket: asyncio.StreamWriter
) -> None:
    while True:
        opcode, payload = await read_frame(reader)
        if opcode == CLOSE:
            writer.write(frame(payload[:2], CLOSE))
            with suppress(OSError):
                await writer.drain()
            return
        if opcode == PING:
            writer.write(frame(payload, PONG))
        elif opcode != PONG:
            socket.write(payload)
            await socket.drain()


async def _socket_to_frames(socket: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await socket.read(CHUNK_BYTES):
        writer.write(frame(chunk))
        await writer.drain()
