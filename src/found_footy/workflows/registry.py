"""Every workflow that a worker runs."""

from __future__ import annotations

from found_footy.workflows.ingest import IngestWorkflow
from found_footy.workflows.monitor import MonitorWorkflow
from found_footy.workflows.search import SearchWorkflow

WORKFLOWS = (IngestWorkflow, MonitorWorkflow, SearchWorkflow)
