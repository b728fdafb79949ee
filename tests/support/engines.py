"""One set of engines for all test processes, owned by the process that runs pytest.

Embedded engines end with the process that started them, and an xdist worker may end before the others. So a process of
its own, `python -m tests.support.engines FOLDER`, starts each engine at the first request and destroys all of them when
its standard input is closed.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import NAMESPACE, SEARCH_ATTRIBUTE, EmbeddedTemporal
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.storage.migrations import migrate
from tests.support.seaweed import SeaweedServer

SOCKET = "engines.sock"
VALKEY_DATABASES = 16


class EngineHost:
    """The process with the engines, as seen by the process that runs pytest."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="footy-tests-"))
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(self.folder)],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is pytest's; the engines stay until it has torn down its fixtures
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError("the process for the engines did not start")

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def request_engine(folder: Path, name: str) -> Any:
    """Address of an engine (`postgres`, `valkey-0`, `temporal`, `seaweed`), which is started where it does not run."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(folder / SOCKET))
        with connection.makefile("rw") as lines:
            lines.write(f"{name}\n")
            lines.flush()
            answer = json.loads(lines.readline())
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["address"]


@contextmanager
def only_process(path: Path) -> Iterator[None]:
    """Waits until no other process is in here."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


async def client_in_namespace(address: str, namespace: str) -> Client:
    """A client in a namespace, which is registered where it does not exist."""
    if namespace == NAMESPACE:
        return await Client.connect(address)
    client = await Client.connect(address, namespace=namespace)
    attributes = {SEARCH_ATTRIBUTE: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD}
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=namespace, workflow_execution_retention_period=Duration(seconds=86400))
    )
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(namespace=namespace, search_attributes=attributes)
    )
    async with asyncio.timeout(60):
        while True:
            try:
                await client.count_workflows(f"{SEARCH_ATTRIBUTE} = 'none'")
                return client
            except RPCError:
                await asyncio.sleep(0.1)


class _Engines:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._addresses: dict[str, Any] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._running: list[Any] = []
        self._locked = ExitStack()

    async def address(self, name: str) -> Any:
        async with self._locks.setdefault(name, asyncio.Lock()):
            if name not in self._addresses:
                self._addresses[name] = await self._start(name)
            return self._addresses[name]

    async def _start(self, name: str) -> Any:
        kind, _, number = name.partition("-")
        if kind == "seaweed":
            server = SeaweedServer(self._folder / "seaweed")
            self._running.append(server)
            await asyncio.to_thread(server.start)
            return server.to_json()
        data = DataFolder(self._folder / (kind + number))
        self._locked.enter_context(data.lock())
        if kind == "postgres":
            # What is in it lasts as long as the tests: it need not survive a power cut.
            durability = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
            postgres = EmbeddedPostgres(data, settings={**durability, "max_connections": "400"})
            self._running.append(postgres)
            await postgres.start()
            await migrate(postgres.url)
            return postgres.url
        if kind == "temporal":
            temporal = EmbeddedTemporal(data)
            self._running.append(temporal)
            await temporal.start()
            return temporal.address
        valkey = EmbeddedValkey(data)
        self._running.append(valkey)
        await valkey.start()
        return valkey.url

    async def destroy(self) -> None:
        for engine in self._running:
            if isinstance(engine, SeaweedServer):
                engine.kill()
            else:
                await engine.destroy()
        self._locked.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = (await reader.readline()).decode().strip()
        try:
            answer = {"address": await self.address(name)}
        except Exception as error:  # noqa: BLE001 - whatever it is, the test that asked shows it
            answer = {"error": f"{name}: {error!r}"}
        writer.write(json.dumps(answer).encode() + b"\n")
        await writer.drain()
        writer.close()


async def _serve(folder: Path) -> None:
    engines = _Engines(folder)
    server = await asyncio.start_unix_server(engines.answer, folder / SOCKET)
    closed = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), closed.set)
    os.write(sys.stdout.fileno(), b"ready\n")
    await closed.wait()
    server.close()
    await engines.destroy()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
