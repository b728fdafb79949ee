"""Embedded engines: real PostgreSQL, Temporal and Valkey servers, started from their packages and kept running."""

from found_footy.ops.data_folder import DataFolder, Runtime
from found_footy.ops.engines.engine import Engine
from found_footy.ops.engines.postgres import EmbeddedPostgres
from found_footy.ops.engines.supervisor import ChildState, ChildStatus, Supervisor
from found_footy.ops.engines.temporal import EmbeddedTemporal
from found_footy.ops.engines.valkey import EmbeddedValkey
from found_footy.ops.engines.worker import WorkerSpec

__all__ = [
    "ChildState",
    "ChildStatus",
    "DataFolder",
    "EmbeddedPostgres",
    "EmbeddedTemporal",
    "EmbeddedValkey",
    "Engine",
    "Runtime",
    "Supervisor",
    "WorkerSpec",
]
