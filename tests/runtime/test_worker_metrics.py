"""Metrics of Temporal's SDK, served by each worker process."""

from __future__ import annotations

import httpx
import pytest

from found_footy.config import Settings
from found_footy.errors import EngineError
from found_footy.runtime.engine import free_port
from found_footy.runtime.system import LIBRARY_METRICS, worker_specs
from found_footy.runtime.temporal import connect_temporal, worker_runtime


async def test_a_worker_serves_the_metrics_of_the_sdk(temporal_settings: dict[str, str]) -> None:
    address = f"127.0.0.1:{free_port()}"
    runtime = worker_runtime(address)
    client = await connect_temporal(Settings(**temporal_settings), runtime=runtime)  # type: ignore[arg-type]
    await client.count_workflows()
    async with httpx.AsyncClient() as http:
        text = (await http.get(f"http://{address}/metrics")).text
    assert 'temporal_request_total{namespace="' in text or "temporal_request_total{" in text
    assert "temporal_request_latency_seconds_bucket{" in text
    with pytest.raises(EngineError, match=f"cannot serve the worker's metrics at {address}"):
        worker_runtime(address)


def test_each_worker_of_a_machine_has_its_own_port() -> None:
    settings = Settings(worker_metrics="127.0.0.1:9464", workers=3, library_workers=2)
    ports = [spec.env["FOOTY_WORKER_METRICS"] for spec in worker_specs(settings)]
    library = 9464 + LIBRARY_METRICS
    assert ports == [f"127.0.0.1:{port}" for port in (9464, 9465, 9466, library, library + 1)]
    assert all("FOOTY_WORKER_METRICS" not in spec.env for spec in worker_specs(Settings()))
