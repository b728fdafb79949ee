"""Schedule, start and completion times of activities, from Temporal's workflow histories."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client


@dataclass(frozen=True)
class Step:
    name: str
    argument: dict[str, Any]
    wanted: datetime
    begun: datetime
    done: datetime
    worker: str
    """Process and machine that executed the activity."""

    def has(self, **values: Any) -> bool:
        return all(self.argument.get(name) == value for name, value in values.items())


@dataclass(frozen=True)
class History:
    begun: datetime
    steps: tuple[Step, ...]
    """Steps of all runs with one workflow id, in the order they were scheduled."""

    def step(self, name: str, **values: Any) -> Step:
        """Return the last step with this name and these arguments."""
        return next(step for step in reversed(self.steps) if step.name == name and step.has(**values))


async def history_of(client: Client, workflow_id: str) -> History:
    begun: list[datetime] = []
    steps: list[Step] = []
    async for run in client.list_workflows(f'WorkflowId = "{workflow_id}"'):
        handle = client.get_workflow_handle(workflow_id, run_id=run.run_id)
        events = [event async for event in handle.fetch_history_events()]
        begun.append(_time(events[0].event_time))
        by_id = {event.event_id: event for event in events}
        for event in events:
            if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
                completed = event.activity_task_completed_event_attributes
                wanted = by_id[completed.scheduled_event_id]
                order = wanted.activity_task_scheduled_event_attributes
                started = by_id[completed.started_event_id]
                steps.append(
                    Step(
                        order.activity_type.name,
                        json.loads(order.input.payloads[0].data),
                        _time(wanted.event_time),
                        _time(started.event_time),
                        _time(event.event_time),
                        started.activity_task_started_event_attributes.identity,
                    )
                )
    return History(min(begun), tuple(sorted(steps, key=lambda step: step.wanted)))


def _time(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(UTC)
