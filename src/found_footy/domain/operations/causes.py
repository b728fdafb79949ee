"""Engines that do not answer, work that nobody takes, a disk that fills."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from found_footy.domain.operations.findings import Finding, Grade, spoken
from found_footy.domain.operations.measured import Measured, ScheduleState, TemporalState

BACKLOG_AGE = timedelta(seconds=60)
WORKER_SILENCE = timedelta(seconds=90)
"""A worker that waits for work asks anew after a minute at the latest."""
DISK_LOW, DISK_FULL = 0.10, 0.03
SPARE = frozenset({"browser"})
"""Engines without which most goes on."""

_ENGINE_ADVICE = {
    "database": "Is `footy up` running, or DATABASE_URL right? `footy doctor` tells.",
    "temporal": "Is `footy up` running, or TEMPORAL_ADDRESS right? Goals wait until it answers; none is lost.",
    "cache": "Is `footy up` running, or REDIS_URL right? Nothing is lost with it; it fills again by itself.",
    "browser": "Is `footy browser` running, or BROWSER_URL right? X and the feeds that need pages wait for it.",
    "object store": "Check FOOTY_OBJECT_STORE_URL and its keys; `footy doctor` tries them.",
}


def engines(measured: Measured) -> Iterator[Finding]:
    for engine in measured.engines:
        if engine.state == "failed":
            name = engine.name[0].upper() + engine.name[1:]
            what = f"{name} does not answer: {engine.said}" if engine.said else f"{name} does not answer"
            kind = "engine_" + engine.name.replace(" ", "_")
            grade = Grade.DEGRADED if engine.name in SPARE else Grade.FAILED
            yield Finding(kind, grade, what, None, _ENGINE_ADVICE.get(engine.name, ""), "engines")
    if measured.recorded is not None and measured.recorded.lacking:
        what = f"The database lacks {', '.join(measured.recorded.lacking)}"
        yield Finding("schema", Grade.FAILED, what, None, "`footy up` brings it up to date.", "engines")


def workers(measured: Measured) -> Iterator[Finding]:
    temporal = measured.temporal
    if temporal is None:
        return
    for queue in temporal.queues:
        latest = max((worker.seen_at for worker in queue.workers), default=None)
        if latest is None or measured.at - latest > WORKER_SILENCE:
            what = f"No worker takes work from {temporal.name}"
            yield Finding("no_worker", Grade.FAILED, what, latest, "Start `footy up` or `footy worker`.", "engines")
            break
    else:
        yield from _backlog(measured.at, temporal)
    yield from _schedules(temporal)


def _backlog(at: datetime, temporal: TemporalState) -> Iterator[Finding]:
    for queue in temporal.queues:
        if queue.backlog and queue.backlog_age > BACKLOG_AGE:
            tasks = "task waits" if queue.backlog == 1 else "tasks wait"
            what = f"{queue.backlog} {queue.kind} {tasks} in {temporal.name}, the first for {spoken(queue.backlog_age)}"
            advice = "The workers are too few or hang: start more with `footy worker`, and look at their logs."
            yield Finding("backlog", Grade.FAILED, what, at - queue.backlog_age, advice, "engines")


def _schedules(temporal: TemporalState) -> Iterator[Finding]:
    if not any(polls_by(schedule) for schedule in temporal.schedules):
        what = "No schedule polls the matches"
        yield Finding("schedule_missing", Grade.FAILED, what, None, "`footy up` registers it.", "engines")
    for schedule in temporal.schedules:
        if schedule.paused:
            what = f"The schedule {schedule.id} is paused" + (f": {schedule.note}" if schedule.note else "")
            advice = f"Unpause it: `temporal schedule toggle --unpause --schedule-id {schedule.id}`."
            kind, grade = ("polls_paused", Grade.FAILED) if polls_by(schedule) else ("schedule_paused", Grade.DEGRADED)
            yield Finding(kind, grade, what, schedule.last_run, advice, "engines")


def polls_by(schedule: ScheduleState) -> bool:
    return schedule.id.startswith("monitor")


def disk_findings(measured: Measured) -> Iterator[Finding]:
    disk = measured.disk
    if disk is None or disk.share_free >= DISK_LOW:
        return
    grade = Grade.FAILED if disk.share_free < DISK_FULL else Grade.DEGRADED
    what = f"The disk is nearly full: {disk.free / 1e9:.1f} of {disk.size / 1e9:.0f} GB are free"
    yield Finding("disk", grade, what, None, "Make room, or shorten FOOTY_RETENTION_DAYS.", "engines")
