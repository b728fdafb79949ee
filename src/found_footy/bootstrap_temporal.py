"""The connection to Temporal, for processes that need no more than that."""

from __future__ import annotations

from datetime import timedelta

from temporalio.client import Client
from temporalio.service import RPCError

from found_footy.config import Settings
from found_footy.domain.errors import EngineError
from found_footy.workflows.contracts import INGEST_SCHEDULE

TRIGGER_SECONDS = 5.0


async def connect_temporal(settings: Settings, *, lazy: bool = False) -> Client:
    """A lazy client connects when it is first used."""
    if settings.temporal_address is None:
        raise EngineError("no Temporal is known; start `footy up`, or set TEMPORAL_ADDRESS")
    key = settings.temporal_api_key
    try:
        return await Client.connect(
            settings.temporal_address,
            namespace=settings.temporal_namespace,
            api_key=key.get_secret_value() if key else None,
            tls=key is not None,
            lazy=lazy,
        )
    except (RPCError, RuntimeError, OSError) as error:
        raise EngineError(f"Temporal at {settings.temporal_address} does not answer: {error}") from error


async def trigger_ingest(client: Client) -> None:
    """Run the daily ingest now; while one runs, one more waits at most. Raises EngineError."""
    try:
        handle = client.get_schedule_handle(INGEST_SCHEDULE)
        await handle.trigger(rpc_timeout=timedelta(seconds=TRIGGER_SECONDS))
    except (RPCError, RuntimeError, OSError) as error:
        raise EngineError(f"could not start the ingest: {error}") from error
