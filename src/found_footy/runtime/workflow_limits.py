"""How long each workflow may run: when it counts as stuck, and when Temporal ends it. Standard library only.

Ending one loses nothing: polls and stages are started again from the state in the database, a search that timed out
by the next poll.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class WorkflowLimit:
    stuck_after: timedelta
    """A run of this age is reported as a finding."""
    timeout: timedelta
    """Execution timeout, over all runs of a workflow that continues as new. Starts that know more use a shorter one."""


_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

WORKFLOW_LIMITS: Mapping[str, WorkflowLimit] = {
    "IngestWorkflow": WorkflowLimit(_HOUR, 6 * _HOUR),
    "MonitorWorkflow": WorkflowLimit(10 * _MINUTE, 12 * _HOUR),
    "FeedWorkflow": WorkflowLimit(10 * _MINUTE, _HOUR),
    "AliasWorkflow": WorkflowLimit(_HOUR, 2 * _HOUR),
    # Its downloads wait for the vision server and the object store.
    "SearchWorkflow": WorkflowLimit(4 * _HOUR, _DAY),
    "DownloadWorkflow": WorkflowLimit(4 * _HOUR, _DAY),
    "ReverifyWorkflow": WorkflowLimit(_HOUR, 6 * _HOUR),
    # Retries until the object store is back; afterwards the match is past retention.
    "UploadWorkflow": WorkflowLimit(6 * _HOUR, 7 * _DAY),
    # Work in rounds; the schedule starts the next run.
    "NotificationWorkflow": WorkflowLimit(90 * _MINUTE, 2 * _HOUR),
    # Retries for up to FOOTY_DELIVERY_HOURS.
    "DeliveryWorkflow": WorkflowLimit(32 * _DAY, 33 * _DAY),
    "LibraryWorkflow": WorkflowLimit(5 * _HOUR, 6 * _HOUR),
    # The stage of a long film, three times, and two days to record its failure.
    "StageWorkflow": WorkflowLimit(3 * _DAY, 7 * _DAY),
    "CanaryWorkflow": WorkflowLimit(15 * _MINUTE, 20 * _MINUTE),
}


def execution_timeout(workflow: type) -> timedelta:
    return WORKFLOW_LIMITS[workflow.__name__].timeout
