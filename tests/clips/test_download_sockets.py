"""TLS proves the name although we connect to a number; and the guard of a whole process lets nothing past."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from found_footy.errors import DownloadUnavailable
from found_footy.runtime.addresses import AddressPolicy
from found_footy.runtime.sandbox_child import SocketGuard
from tests.clips.conftest import Open


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """For goals.example, signed by nobody."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    wanted = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=goals.example"]
    command = [openssl, "req", "-x509", *wanted, "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return key, cert


async def test_tls_asks_for_the_name_and_checks_it(opened: Open, target: Path, certificate: tuple[Path, Path]) -> None:
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate[1], certificate[0])
    context.sni_callback = lambda _connection, name, _context: names.append(name)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(DownloadUnavailable, match="certificate"):
            await opened(f"goals.example:{port}", resolve=resolve).fetch(f"https://goals.example:{port}/v", target)
    assert names == ["goals.example"]


@pytest.fixture
def port() -> Iterator[int]:
    """On which nobody listens, nor will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch, port: int) -> SocketGuard:
    """Installed for one test."""
    monkeypatch.setattr(socket, "getaddrinfo", socket.getaddrinfo)
    monkeypatch.setattr(socket.socket, "connect", socket.socket.connect)
    monkeypatch.setattr(socket.socket, "connect_ex", socket.socket.connect_ex)
    made = SocketGuard(AddressPolicy([f"goals.example:{port}", f"127.0.0.1:{port}"]))
    made.install()
    return made


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "localhost", "10.0.0.1", "169.254.169.254", "2130706433"])
def test_a_guarded_process_resolves_no_private_name(guard: SocketGuard, host: str) -> None:
    with pytest.raises(PermissionError):
        socket.getaddrinfo(host, 80)
    with pytest.raises(PermissionError):
        socket.create_connection((host, 80), timeout=1)
    assert guard.refused


@pytest.mark.parametrize(
    ("family", "address"),
    [
        (socket.AF_INET, ("127.0.0.1", 80)),
        (socket.AF_INET, ("localhost", 80)),
        (socket.AF_INET, ("1.1.1.1", 25)),
        (socket.AF_INET6, ("::1", 80)),
        (socket.AF_INET6, ("::ffff:127.0.0.1", 80, 0, 0)),
        (socket.AF_UNIX, "some.sock"),
    ],
)
def test_a_guarded_process_connects_to_no_private_number(
    guard: SocketGuard, family: int, address: tuple[str, int] | str
) -> None:
    with socket.socket(family) as connection:
        with pytest.raises(PermissionError):
            connection.connect(address)
        with pytest.raises(PermissionError):
            connection.connect_ex(address)


def test_a_named_host_is_let_through(guard: SocketGuard, port: int) -> None:
    """Nobody listens there: a refusal by the system is what is hoped for."""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    assert guard.refused == []


def test_another_name_of_a_named_host_is_not(guard: SocketGuard, port: int) -> None:
    with pytest.raises(PermissionError):
        socket.create_connection(("localhost", port), timeout=5)
