"""Time limits of each workflow: when it counts as stuck, and when Temporal ends it. Standard library only.

A timeout loses nothing: polls and stages resume from the state in the database, and the next poll restarts a search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class WorkflowLimit:
    stuck_after: timedelta
    """Age at which a run is reported as a finding."""
    timeout: timedelta
    """Execution timeout, including runs after continue-as-new. Callers may set a shorter one."""


_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

WORKFLOW_LIMITS: Mapping[str, WorkflowLimit] = {
    "IngestWorkflow": WorkflowLimit(_HOUR, 6 * _HOUR),
    "MonitorWorkflow": WorkflowLimit(10 * _MINUTE, 12 * _HOUR),
    "FeedWorkflow": WorkflowLimit(10 * _MINUTE, _HOUR),
    "AliasWorkflow": WorkflowLimit(_HOUR, 2 * _HOUR),
    # Downloads wait for the vision server and the object store.
    "SearchWorkflow": WorkflowLimit(4 * _HOUR, _DAY),
    "DownloadWorkflow": WorkflowLimit(4 * _HOUR, _DAY),
    "ReverifyWorkflow": WorkflowLimit(_HOUR, 6 * _HOUR),
    # Retries until the object store is back; afterwards the match is past retention.
    "UploadWorkflow": WorkflowLimit(6 * _HOUR, 7 * _DAY),
    # Runs many rounds; the schedule starts the next run.
    "NotificationWorkflow": WorkflowLimit(90 * _MINUTE, 2 * _HOUR),
    # Retries for up to FOOTY_DELIVERY_HOURS.
    "DeliveryWorkflow": WorkflowLimit(32 * _DAY, 33 * _DAY),
    "LibraryWorkflow": WorkflowLimit(5 * _HOUR, 6 * _HOUR),
    # Three attempts at a long film, and two days to record the failure.
    "StageWorkflow": WorkflowLimit(3 * _DAY, 7 * _DAY),
    "CanaryWorkflow": WorkflowLimit(15 * _MINUTE, 20 * _MINUTE),
}


def execution_timeout(workflow: type) -> timedelta:
    return WORKFLOW_LIMITS[workflow.__name__].timeout
