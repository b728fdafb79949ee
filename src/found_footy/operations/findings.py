"""Assess a measurement of the system: every problem as a finding with advice, and the grades."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from found_footy.feeds.poll_state import is_paused
from found_footy.feeds.scheduling import PollPace, poll_pace
from found_footy.operations.feed_health import missing_answers, unanswered_matches
from found_footy.operations.models import (
    NO_USABLE_FEED,
    UNKNOWN,
    WORKING_GRADES,
    DatabaseFacts,
    FeedDeclaration,
    FeedUse,
    FieldConflict,
    Finding,
    HealthGrade,
    HealthLimits,
    HealthReport,
    LiveMatch,
    Measurement,
    OpenGoal,
    ScheduleState,
    SystemGrade,
    TemporalState,
)
from found_footy.text import format_duration

BACKLOG_AGE = timedelta(seconds=60)
WORKER_TIMEOUT = timedelta(seconds=90)
"""An idle worker polls at least once a minute."""
NEEDED_KINDS = frozenset({"network", "media"})
LIBRARY_KINDS = frozenset({"library", "library-films"})
DISK_LOW, DISK_FULL = 0.10, 0.03
CACHE_NEARLY_FULL = 0.9
OPTIONAL_ENGINES = frozenset({"browser"})
"""Engines whose failure only degrades the system."""

ENGINE_NAMES = {
    "database": "PostgreSQL",
    "temporal": "Temporal",
    "cache": "Redis",
    "browser": "The browser service",
    "object store": "The object store",
}
_ENGINE_ADVICE = {
    "database": "Check that `footy up` is running or that DATABASE_URL is correct, and run `footy doctor`.",
    "temporal": "Check that `footy up` is running or that TEMPORAL_ADDRESS is correct. Goals wait until Temporal "
    "is back.",
    "cache": "Check that `footy up` is running or that REDIS_URL is correct. The cache is rebuilt automatically.",
    "browser": "Check that `footy browser` is running or that BROWSER_URL is correct. X and some feeds need it.",
    "object store": "Check FOOTY_OBJECT_STORE_URL and its keys; `footy doctor` tries them.",
}


def engine_findings(measured: Measurement) -> Iterator[Finding]:
    for engine in measured.engines:
        if engine.state == "failed":
            name = ENGINE_NAMES.get(engine.name, engine.name)
            what = f"{name} is unreachable: {engine.summary}" if engine.summary else f"{name} is unreachable"
            kind = "engine_" + engine.name.replace(" ", "_")
            grade = SystemGrade.DEGRADED if engine.name in OPTIONAL_ENGINES else SystemGrade.FAILED
            yield Finding(kind, grade, what, None, _ENGINE_ADVICE.get(engine.name, ""), "engines")
    if measured.recorded is not None and measured.recorded.schema_problems:
        what = f"The database schema is missing {', '.join(measured.recorded.schema_problems)}"
        yield Finding("schema", SystemGrade.FAILED, what, None, "`footy up` applies the migrations.", "engines")
    memory = measured.cached.memory if measured.cached else None
    if memory is not None and memory.share >= CACHE_NEARLY_FULL:
        what = f"Redis uses {memory.used >> 20} of {memory.limit >> 20} MB"
        advice = "At the limit it evicts the oldest cached data. Raise maxmemory, or follow fewer matches."
        yield Finding("cache_memory", SystemGrade.DEGRADED, what, None, advice, "engines")


def worker_findings(measured: Measurement) -> Iterator[Finding]:
    temporal = measured.temporal
    if temporal is None:
        return
    unserved: dict[str, datetime | None] = {}
    for queue in temporal.queues:
        latest = max((worker.seen_at for worker in queue.workers), default=None)
        if latest is None or measured.at - latest > WORKER_TIMEOUT:
            unserved[queue.kind] = latest
    if "workflow" in unserved or "activity" in unserved:
        what = f"No worker is polling task queue {temporal.name}"
        latest = unserved.get("workflow") or unserved.get("activity")
        yield Finding("no_worker", SystemGrade.FAILED, what, latest, "Start `footy up` or `footy worker`.", "engines")
    else:
        yield from _unserved_kinds(temporal, unserved)
        yield from _backlog_findings(measured.at, temporal, unserved)
    yield from _version_findings(measured.at, temporal)
    yield from _schedule_findings(temporal)


def _version_findings(at: datetime, temporal: TemporalState) -> Iterator[Finding]:
    """Workers of two versions are normal during an upgrade, and a forgotten machine otherwise."""
    seen = [worker for queue in temporal.queues for worker in queue.workers if at - worker.seen_at <= WORKER_TIMEOUT]
    versions = sorted({worker.version for worker in seen if worker.version is not None})
    if len(versions) > 1:
        what = f"Workers run different versions: {', '.join(versions)}"
        advice = "Upgrade and restart the older ones."
        yield Finding("worker_versions", SystemGrade.DEGRADED, what, None, advice, "engines")


def _unserved_kinds(temporal: TemporalState, unserved: Mapping[str, datetime | None]) -> Iterator[Finding]:
    for queue in temporal.queues:
        # Without waiting tasks, only kinds that every goal needs are reported.
        if queue.kind in unserved and (queue.backlog or queue.kind in NEEDED_KINDS):
            kind = "library" if queue.kind in LIBRARY_KINDS else queue.kind
            grade = SystemGrade.FAILED if queue.kind in NEEDED_KINDS else SystemGrade.DEGRADED
            what = f"No worker serves {queue.kind} tasks; {queue.backlog} waiting"
            advice = f"Start one: `footy worker --queues {kind}`."
            yield Finding(f"no_worker_{queue.kind}", grade, what, unserved[queue.kind], advice, "engines")


def _backlog_findings(at: datetime, temporal: TemporalState, unserved: Container[str]) -> Iterator[Finding]:
    for queue in temporal.queues:
        if queue.kind in unserved or queue.kind in LIBRARY_KINDS:
            continue  # films may wait for hours
        if queue.backlog and queue.backlog_age > BACKLOG_AGE:
            tasks = "task waits" if queue.backlog == 1 else "tasks wait"
            age = format_duration(queue.backlog_age)
            what = f"{queue.backlog} {queue.kind} {tasks} in {temporal.name}, the first for {age}"
            advice = "There are too few workers, or they hang: start more with `footy worker`, and check the logs."
            # After a burst of goals, media tasks wait for CPU time.
            grade = SystemGrade.DEGRADED if queue.kind == "media" else SystemGrade.FAILED
            yield Finding("backlog", grade, what, at - queue.backlog_age, advice, "engines", subject=queue.kind)


def _schedule_findings(temporal: TemporalState) -> Iterator[Finding]:
    if not any(is_poll_schedule(schedule) for schedule in temporal.schedules):
        what = "The schedule that polls the matches is missing"
        yield Finding("schedule_missing", SystemGrade.FAILED, what, None, "`footy up` registers it.", "engines")
    for schedule in temporal.schedules:
        if schedule.paused:
            what = f"The schedule {schedule.id} is paused" + (f": {schedule.note}" if schedule.note else "")
            advice = f"Unpause it: `temporal schedule toggle --unpause --schedule-id {schedule.id}`."
            kind, grade = (
                ("polls_paused", SystemGrade.FAILED)
                if is_poll_schedule(schedule)
                else ("schedule_paused", SystemGrade.DEGRADED)
            )
            yield Finding(kind, grade, what, schedule.last_run, advice, "engines", subject=schedule.id)


def is_poll_schedule(schedule: ScheduleState) -> bool:
    return schedule.id.startswith("monitor")


def disk_findings(measured: Measurement) -> Iterator[Finding]:
    disk = measured.disk
    if disk is None or disk.share_free >= DISK_LOW:
        return
    grade = SystemGrade.FAILED if disk.share_free < DISK_FULL else SystemGrade.DEGRADED
    what = f"The disk is nearly full: {disk.free / 1e9:.1f} of {disk.size / 1e9:.0f} GB free"
    yield Finding("disk", grade, what, None, "Free space, or shorten FOOTY_RETENTION_DAYS.", "engines")


def volume_findings(measured: Measurement) -> Iterator[Finding]:
    for volume in measured.volumes:
        if volume.free < volume.floor:
            free, floor = volume.free / 1e9, volume.floor / 1e9
            what = f"The {volume.name} volume has {free:.1f} GB free, less than {floor:.1f} GB; new work is rejected"
            advice = "Free space, shorten the retention, or lower FOOTY_FREE_SPACE_MB. Waiting work then continues."
            yield Finding("volume", SystemGrade.FAILED, what, None, advice, "engines", subject=volume.name)


# --- Score feeds: disabled, failing, paused, out of quota. Failed only if no feed is left.


MATCHES_PER_REQUEST = 20
INACTIVE_AFTER = timedelta(hours=1)
"""If the declared feeds are unknown, a feed without a request for this long is ignored."""
QUOTA_ADVICE = "The quota resets at 00:00 UTC. Use a larger plan or a longer poll interval."


def feed_findings(measured: Measurement, limits: HealthLimits) -> Iterator[Finding]:
    yield from _declaration_findings(measured.declared)
    used = feeds_in_use(measured)
    failing = [feed for feed in used if feed.error]
    for feed in failing:
        grade = SystemGrade.FAILED if len(failing) == len(used) else SystemGrade.DEGRADED
        advice = "`footy doctor --live` shows the feed's response and what to do."
        if grade is SystemGrade.DEGRADED:
            advice = f"The other feeds still work. {advice}"
        what = f"{feed.feed} fails: {feed.error}"
        yield Finding("feed", grade, what, feed.answered_at, advice, "feeds", subject=feed.feed)
    if (reason := no_data(measured)) and not failing and any(each.usable for each in measured.declared or ()):
        advice = "`footy ingest` requests the feeds now; `footy doctor --live` shows each response."
        yield Finding("feeds_silent", SystemGrade.FAILED, reason[0].upper() + reason[1:], None, advice, "feeds")
    yield from _quota_findings(measured, used, limits)
    yield from _pause_findings(measured, {feed.feed for feed in failing})


def no_data(measured: Measurement) -> str:
    """Return why the feeds' grade is meaningless; empty if it is valid, or if this cannot be determined."""
    if measured.recorded is None or measured.declared is None:
        return ""
    if not any(each.usable for each in measured.declared):
        return NO_USABLE_FEED
    return missing_answers(feeds_in_use(measured), measured.at, following=bool(measured.recorded.matches))


def feeds_in_use(measured: Measurement) -> tuple[FeedUse, ...]:
    """Enabled and configured feeds; if the declared feeds are unknown, those requested recently."""
    feeds = measured.recorded.feeds if measured.recorded else ()
    if measured.declared is not None:
        usable_ids = {each.feed for each in measured.declared if each.usable}
        return tuple(feed for feed in feeds if feed.feed in usable_ids)
    return tuple(feed for feed in feeds if measured.at - feed.asked_at <= INACTIVE_AFTER)


def _declaration_findings(declared: Sequence[FeedDeclaration] | None) -> Iterator[Finding]:
    if declared is None:
        return
    usable = [each for each in declared if each.usable]
    if not usable and not any(each.on for each in declared):
        what = "All score feeds are disabled"
        yield Finding(
            "feeds_off", SystemGrade.FAILED, what, None, "Enable one below, or with `footy feeds on`.", "feeds"
        )
        return
    for each in declared:
        if each.on and each.lacks:
            grade = SystemGrade.DEGRADED if usable else SystemGrade.FAILED
            what = f"{each.feed} is not configured"
            yield Finding("feed_lacks", grade, what, None, each.lacks, "feeds", subject=each.feed)
        elif not each.on and each.switched is False and each.enabled:
            advice = f"An operator disabled it. `footy feeds auto {each.feed}` reverts that."
            what = f"{each.feed} is disabled"
            yield Finding("feed_off", SystemGrade.DEGRADED, what, None, advice, "feeds", subject=each.feed)


def _quota_findings(measured: Measurement, used: Sequence[FeedUse], limits: HealthLimits) -> Iterator[Finding]:
    paces = {feed.feed: _pace(measured, feed, limits) for feed in used}
    ended = [feed for feed, allowed in paces.items() if allowed.slowed and allowed.interval is None]
    for feed in ended:
        grade = SystemGrade.FAILED if len(ended) == len(paces) else SystemGrade.DEGRADED
        what = f"{feed} is not polled: {paces[feed].reason}"
        yield Finding("quota_used", grade, what, None, QUOTA_ADVICE, "feeds", subject=feed)
    for feed, allowed in paces.items():
        if allowed.slowed and allowed.interval is not None and allowed.interval > limits.poll:
            what = f"{feed} is polled only every {format_duration(allowed.interval)}: {allowed.reason}"
            yield Finding("quota_low", SystemGrade.DEGRADED, what, None, QUOTA_ADVICE, "feeds", subject=feed)


def _pause_findings(measured: Measurement, reported: set[str]) -> Iterator[Finding]:
    """One finding per feed, except for feeds already reported as failing."""
    records = measured.cached.records if measured.cached else ()
    paused = [each for each in records if is_paused(each, measured.at) and each.feed not in reported]
    for feed, number in sorted(Counter(each.feed for each in paused).items()):
        paused_matches = [each for each in paused if each.feed == feed]
        error = next((f": {each.error}" for each in paused_matches if each.error), "")
        what = f"{number} match{'es' if number > 1 else ''} paused at {feed}{error}"
        since = min((each.updated_at for each in paused_matches if each.updated_at), default=None)
        advice = "Each is retried after its pause; the match's other feeds still work."
        yield Finding("feed_paused", SystemGrade.DEGRADED, what, since, advice, "paused", subject=feed)


def poll_interval(measured: Measurement, limits: HealthLimits) -> PollPace:
    """Return the pace of the feed with the shortest poll interval."""
    paces = [_pace(measured, feed, limits) for feed in feeds_in_use(measured)]
    if not paces:
        return PollPace(limits.poll, slowed=False)
    return min(paces, key=lambda allowed: (allowed.slowed, allowed.interval or timedelta.max))


def _pace(measured: Measurement, feed: FeedUse, limits: HealthLimits) -> PollPace:
    """Return the pace in force; if the feed was not polled lately, an estimate."""
    if measured.cached is not None and (in_force := measured.cached.paces.get(feed.feed)):
        return in_force
    matches = len(measured.recorded.matches) if measured.recorded else 0
    return poll_pace(feed.quota, measured.at, limits.poll, max(1, math.ceil(matches / MATCHES_PER_REQUEST)))


# --- Matches that are not polled, stuck searches, failing sources and deliveries.


MIN_LATE_MATCHES = 2
LATE_SHARE = 0.25
"""Share of live matches that are late, two at least, or all, at which the system has failed."""
POLLS_MISSED = 3
"""Poll intervals without a poll after which a match counts as not polled."""
MIN_POLL_LIMIT = timedelta(seconds=10)
SOURCE_FAILURES = 3
DELIVERY_LIMIT = timedelta(minutes=10)
MAX_OUTBOX_LAG = 1000
MAX_GOALS = 5
"""Maximum goals listed per problem; the others are counted."""


def poll_limit(measured: Measurement, limits: HealthLimits, match: LiveMatch | None = None) -> timedelta:
    """Maximum age of the last poll of a live match: of this one, if its planned interval is known."""
    planned = measured.cached.intervals.get(match.fixture_id) if measured.cached and match else None
    interval = planned or poll_interval(measured, limits).interval or limits.poll
    return max(MIN_POLL_LIMIT, POLLS_MISSED * max(limits.poll, interval))


def unanswered_live_matches(measured: Measurement) -> list[LiveMatch]:
    """Return the live matches without an answering feed, longest first."""
    if measured.recorded is None or measured.cached is None:
        return []
    usable = None if measured.declared is None else {each.feed for each in measured.declared if each.usable}
    listings = {
        match.fixture_id: [(each.feed, each.feed_id) for each in match.listings] for match in measured.recorded.matches
    }
    found = unanswered_matches(listings, measured.cached.records, usable)
    return sorted(
        (match for match in measured.recorded.matches if match.fixture_id in found), key=lambda each: each.since
    )


def poll_findings(measured: Measurement, limits: HealthLimits) -> Iterator[Finding]:
    assert measured.recorded is not None
    silent = unanswered_live_matches(measured)
    yield from _unanswered_findings(silent, measured.at)
    answered = [match for match in measured.recorded.matches if match not in silent]
    late = [match for match in answered if measured.at - match.since > poll_limit(measured, limits, match)]
    yield from _refusal_findings([match for match in answered if match.error_kind and match not in late])
    if not late:
        return
    # A single match does not make the system fail.
    total = max(measured.recorded.matches_total, len(measured.recorded.matches))
    many = len(late) >= MIN_LATE_MATCHES and len(late) >= LATE_SHARE * total
    grade = SystemGrade.FAILED if many or len(late) == total else SystemGrade.DEGRADED
    oldest = min(match.since for match in late)
    if len(late) == 1:
        what = f"{late[0].home} – {late[0].away} is not polled{_reason(late[0])}"
    else:
        what = f"{len(late)} of {total} live matches are not polled{_reason(late[0])}"
    advice = "Search the workers' log for `poll_failed` and `monitor`."
    yield Finding("polls", grade, what, oldest, advice, "matches")


def _unanswered_findings(matches: Sequence[LiveMatch], now: datetime) -> Iterator[Finding]:
    for match in matches[:MAX_GOALS]:
        what = f"No feed answers for {match.home} – {match.away}, last updated {format_duration(now - match.since)} ago"
        advice = "The feeds no longer list it, or those that do are disabled. Polling retries, and finally stops."
        yield Finding(
            "match_unanswered", SystemGrade.DEGRADED, what, match.since, advice, "matches", None, match.fixture_id
        )
    if len(matches) > MAX_GOALS:
        what = f"The same applies to {len(matches) - MAX_GOALS} more matches"
        since = matches[MAX_GOALS].since
        yield Finding("match_unanswered", SystemGrade.DEGRADED, what, since, "", "matches", subject="others")


def _refusal_findings(matches: Sequence[LiveMatch]) -> Iterator[Finding]:
    if matches:
        more = f", and {len(matches) - 1} more" if len(matches) > 1 else ""
        what = f"The last poll of {matches[0].home} – {matches[0].away}{more} failed{_reason(matches[0])}"
        advice = "The next poll retries. If it persists, search the workers' log for `poll_failed`."
        yield Finding(
            "poll_refused", SystemGrade.DEGRADED, what, min(each.since for each in matches), advice, "matches"
        )


def _reason(match: LiveMatch) -> str:
    return f": {match.error_kind}: {match.error_message}" if match.error_kind else ""


def goal_findings(goals: Sequence[OpenGoal], now: datetime, limits: HealthLimits) -> Iterator[Finding]:
    late_start = max(MIN_POLL_LIMIT, POLLS_MISSED * limits.poll)
    yield from _findings_per_goal(
        [
            goal
            for goal in goals
            if goal.stable_at is not None and not goal.search_started and now - goal.stable_at > late_start
        ],
        "goal_not_begun",
        SystemGrade.FAILED,
        lambda goal: f"The search for {_goal_name(goal)} has not started",
        "The next poll starts it. If not, search the workers' log for `search`.",
    )
    yield from _findings_per_goal(
        [goal for goal in goals if goal.search_started and now - goal.last_activity > limits.search_silence],
        "goal_silent",
        SystemGrade.FAILED,
        lambda goal: f"No search activity for {_goal_name(goal)} since {goal.last_activity:%H:%M}",
        "The next poll restarts it. Temporal's UI shows where the workflow hangs.",
    )
    yield from _findings_per_goal(
        [goal for goal in goals if goal.unanswered >= SOURCE_FAILURES],
        "goal_unanswered",
        SystemGrade.DEGRADED,
        lambda goal: f"No source answered the last {goal.unanswered} searches for {_goal_name(goal)}",
        "See the sources below for their errors.",
    )


def _findings_per_goal(
    goals: Sequence[OpenGoal], kind: str, grade: SystemGrade, describe: Callable[[OpenGoal], str], advice: str
) -> Iterator[Finding]:
    for goal in goals[:MAX_GOALS]:
        since = goal.last_activity
        yield Finding(kind, grade, describe(goal), since, advice, "goals", goal.event_id, goal.fixture_id)
    if len(goals) > MAX_GOALS:
        more = len(goals) - MAX_GOALS
        since = min(goal.last_activity for goal in goals[MAX_GOALS:])
        what = f"The same applies to {more} more goals"
        yield Finding(kind, grade, what, since, advice, "goals", subject="others")


def _goal_name(goal: OpenGoal) -> str:
    unknown = "the goal" if goal.innings is None else "the wicket"
    return f"{goal.player or unknown} {goal.moment} ({goal.home} – {goal.away})"


def source_findings(recorded: DatabaseFacts) -> Iterator[Finding]:
    used = recorded.sources
    failing = [each for each in used if each.consecutive_failures >= SOURCE_FAILURES]
    all_fail = bool(used) and len(failing) == len(used)
    for each in failing:
        error = f": {each.error_kind}: {each.error_message}" if each.error_kind else ""
        what = f"{each.source} failed {each.consecutive_failures} times in a row{error}"
        grade = SystemGrade.FAILED if all_fail else SystemGrade.DEGRADED
        advice = source_advice(each.error_kind)
        yield Finding("source", grade, what, each.failing_since, advice, "sources", subject=each.source)


def browser_findings(measured: Measurement) -> Iterator[Finding]:
    seen = measured.browser
    if seen is None or not seen.canary_error:
        return
    message = f": {seen.canary_message}" if seen.canary_message else ""
    if seen.canary_error == "SourceChanged":
        kind, what = "x_changed", f"X has changed its page{message}"
    else:
        kind, what = "x_canary", f"The test search of X fails with {seen.canary_error}{message}"
    yield Finding(kind, SystemGrade.DEGRADED, what, seen.canary_since, source_advice(seen.canary_error), "sources")


def source_advice(error_kind: str | None) -> str:
    return {
        "SourceLoggedOut": "Log in again: `footy browser login` for X, a new app password for Bluesky.",
        "SourceBlocked": "Set FOOTY_REDDIT_CLIENT_ID and _SECRET, or remove reddit from FOOTY_SOURCES.",
        "SourceRateLimited": "Temporary. Use fewer sources or a longer FOOTY_SEARCH_SECONDS.",
        "SourceChanged": "The source changed its pages: update Found Footy.",
    }.get(error_kind or "", "`footy doctor --live` checks each source.")


def delivery_findings(recorded: DatabaseFacts, now: datetime) -> Iterator[Finding]:
    sent = recorded.deliveries
    if sent.dead:
        problem = "message could not be delivered" if sent.dead == 1 else "messages could not be delivered"
        advice = "Correct the subscription's address and resend its dead letters, or delete it."
        yield Finding(
            "dead_letters", SystemGrade.DEGRADED, f"{sent.dead} {problem}", sent.dead_since, advice, "deliveries"
        )
    if sent.overdue_since is not None and now - sent.overdue_since > DELIVERY_LIMIT:
        subject = "message is" if sent.waiting == 1 else "messages are"
        what = f"{sent.waiting} {subject} overdue for delivery"
        advice = "Check the receivers: each subscription lists its attempts."
        yield Finding("deliveries_late", SystemGrade.DEGRADED, what, sent.overdue_since, advice, "deliveries")


def outbox_findings(measured: Measurement, recorded: DatabaseFacts) -> Iterator[Finding]:
    if measured.outbox_read is not None and recorded.outbox_position - measured.outbox_read > MAX_OUTBOX_LAG:
        what = f"Live updates are {recorded.outbox_position - measured.outbox_read} messages behind"
        yield Finding(
            "news_behind", SystemGrade.DEGRADED, what, None, "Restart `footy web`; no message is lost.", "engines"
        )


def failed_workflow_findings(measured: Measurement) -> Iterator[Finding]:
    failed = measured.temporal.failed if measured.temporal else 0
    if failed:
        what = f"{failed} workflow{'s' if failed > 1 else ''} failed in the last hour"
        advice = "Temporal's UI shows why; unfinished goals are searched for again automatically."
        yield Finding("workflows_failed", SystemGrade.DEGRADED, what, None, advice, "engines")


def stuck_workflow_findings(measured: Measurement) -> Iterator[Finding]:
    stuck = measured.temporal.stuck if measured.temporal else ()
    for each in stuck:
        what = f"{each.type} {each.id} has been running for {format_duration(measured.at - each.since)}"
        advice = "Temporal's UI shows what it waits for. Terminate it if it hangs: unfinished work starts again."
        yield Finding("workflow_stuck", SystemGrade.DEGRADED, what, each.since, advice, "engines", subject=each.id)


# --- Frozen clocks: the match is in play and its feeds respond, but its clock does not move.


RUNNING_STATUSES = frozenset({"1H", "2H", "ET", "LIVE"})
"""Statuses with a running clock; breaks and shoot-outs have none."""
HALF_ENDS = frozenset({45, 90, 105, 120})
FROZEN_AFTER = timedelta(minutes=5)
FROZEN_AFTER_AT_END = timedelta(minutes=20)
"""Many feeds stop the clock at the end of a half and do not report stoppage time."""
FROZEN_AFTER_CRICKET = timedelta(minutes=15)
"""Cricket pauses for injuries, reviews and showers without a separate status."""


def is_clock_frozen(match: LiveMatch) -> bool:
    """Return whether the clock stood still until the last poll; a match may be polled rarely."""
    if match.status not in RUNNING_STATUSES or match.elapsed is None or match.clock_moved_at is None:
        return False
    limit = (
        FROZEN_AFTER_CRICKET
        if match.sport == "cricket"
        else FROZEN_AFTER_AT_END
        if match.elapsed in HALF_ENDS
        else FROZEN_AFTER
    )
    return match.since - match.clock_moved_at > limit


def frozen_clocks(recorded: DatabaseFacts, now: datetime) -> list[LiveMatch]:
    """Return matches with a frozen clock, longest first."""
    found = [match for match in recorded.matches if is_clock_frozen(match)]
    return sorted(found, key=lambda match: (match.clock_moved_at or now, match.fixture_id))


def clock_findings(measured: Measurement, recorded: DatabaseFacts, limits: HealthLimits) -> Iterator[Finding]:
    """Report frozen clocks, except of matches that are not polled, which have their own finding."""
    silent = unanswered_live_matches(measured)
    found = [
        match
        for match in frozen_clocks(recorded, measured.at)
        if match not in silent and measured.at - match.since <= poll_limit(measured, limits, match)
    ]
    if not found:
        return
    first = found[0]
    more = f", and of {len(found) - 1} more," if len(found) > 1 else ""
    since = first.clock_moved_at or measured.at
    what = (
        f"The match clock of {first.home} – {first.away}{more} has not moved for {format_duration(measured.at - since)}"
    )
    advice = "Its feeds respond with unchanged data. Play may be interrupted; if a feed is stuck, disable it."
    yield Finding("clock_stands", SystemGrade.DEGRADED, what, since, advice, "matches", None, first.fixture_id)


# --- Watchdog's grade, conflicts between feeds, uncertain pairings.


MIN_CONFLICT_DURATION = timedelta(minutes=2)
"""Minimum duration of a reported conflict. A slower feed differs for a poll or two."""
CONFLICT_TIMEOUT = timedelta(minutes=1)
"""A conflict not seen for this long, or three polls if longer, is over."""

_GRADES = {
    HealthGrade.FAILING: (SystemGrade.FAILED, "health_failing", "The feeds are failing"),
    HealthGrade.DEGRADED: (SystemGrade.DEGRADED, "health_degraded", "Match data is getting old"),
    HealthGrade.RECOVERING: (
        SystemGrade.DEGRADED,
        "health_recovering",
        "The feeds were restarted and have not responded yet",
    ),
}
_ADVICE = {
    HealthGrade.FAILING: "The watchdog restarts poller and browser automatically; see the recoveries below.",
    HealthGrade.DEGRADED: "Often temporary. See below which feed is slow, paused or failing.",
    HealthGrade.RECOVERING: "This ends with the first response of any feed.",
}


def health_findings(measured: Measurement, limits: HealthLimits) -> Iterator[Finding]:
    """Report the watchdog's grade, or that the watchdog is not running."""
    if measured.health is None and measured.cached is None:
        return  # both engines are reported as unreachable
    summary = measured.judged(limits.state_age)
    if summary is None:
        what = "The watchdog is not running: feed health is unknown"
        advice = "`footy up` starts the watchdog; run `footy watchdog` to start it alone."
        since = measured.summary.generated_at if measured.summary else None
        yield Finding("no_judgement", SystemGrade.DEGRADED, what, since, advice, "health")
    elif summary.grade in _GRADES:
        grade, kind, what = _GRADES[summary.grade]
        reasons = "; ".join(summary.reasons)
        text = f"{what}: {reasons}" if reasons else what
        yield Finding(kind, grade, text, summary.since, _ADVICE[summary.grade], "health")


def is_persistent(dispute: FieldConflict, measured: Measurement, limits: HealthLimits) -> bool:
    is_current = measured.at - dispute.last_at <= max(CONFLICT_TIMEOUT, 3 * limits.poll)
    return is_current and dispute.last_at - dispute.first_at >= MIN_CONFLICT_DURATION


def conflict_findings(measured: Measurement, recorded: DatabaseFacts, limits: HealthLimits) -> Iterator[Finding]:
    """Report conflicts without their values, which may reveal a score that the reader hides."""
    found = [each for each in recorded.disputes if is_persistent(each, measured, limits)]
    if not found:
        return
    first = min(found, key=lambda each: each.first_at)
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    feeds = " and ".join(sorted(first.reported)) or "Feeds"
    what = f"{feeds} disagree on the {first.field} of {first.home} – {first.away}{more}"
    advice = f"{first.chosen} is used. If it is wrong, disable it or change the precedence of the feeds."
    yield Finding("dispute", SystemGrade.DEGRADED, what, first.first_at, advice, "feeds", None, first.fixture_id)


def pairing_findings(recorded: DatabaseFacts) -> Iterator[Finding]:
    if recorded.doubts:
        number = len(recorded.doubts)
        what = "1 uncertain match pairing" if number == 1 else f"{number} uncertain match pairings"
        since = min(each.first_seen for each in recorded.doubts)
        advice = "Confirm or reject below; until then only one feed follows the match."
        yield Finding("pairings", SystemGrade.DEGRADED, what, since, advice, "pairings")


# --- Report.


NO_POLLS = {
    "engine_temporal",
    "engine_cache",
    "no_worker",
    "polls_paused",
    "schedule_missing",
    "feed",
    "feeds_off",
    "feed_lacks",
    "quota_used",
}
NO_WORK = {"engine_temporal", "no_worker"}


def assess(measured: Measurement, limits: HealthLimits) -> HealthReport:
    """Assess a measurement. A consequence of a reported cause is not reported again."""
    causes = [
        *engine_findings(measured),
        *worker_findings(measured),
        *feed_findings(measured, limits),
        *disk_findings(measured),
    ]
    causes += volume_findings(measured)
    # A failing feed is not a cause while another one works.
    kinds = {finding.kind for finding in causes if finding.grade is SystemGrade.FAILED}
    found = list(causes)
    health = list(health_findings(measured, limits))
    if kinds & NO_POLLS:
        health = [finding for finding in health if finding.kind == "no_judgement"]
    found += health
    if measured.recorded is not None:
        if not kinds & NO_POLLS and not any(finding.kind == "health_failing" for finding in health):
            found += poll_findings(measured, limits)
            found += clock_findings(measured, measured.recorded, limits)
        if not kinds & NO_WORK:
            found += goal_findings(measured.recorded.goals, measured.at, limits)
        found += conflict_findings(measured, measured.recorded, limits)
        found += pairing_findings(measured.recorded)
        found += source_findings(measured.recorded)
        found += delivery_findings(measured.recorded, measured.at)
        found += outbox_findings(measured, measured.recorded)
    found += browser_findings(measured)
    found += failed_workflow_findings(measured)
    found += stuck_workflow_findings(measured)
    findings = tuple(sorted(found, key=lambda finding: finding.grade is not SystemGrade.FAILED))
    return HealthReport(measured, limits, findings, feeds_grade(measured, limits), no_data(measured))


def feeds_grade(measured: Measurement, limits: HealthLimits) -> str:
    """Return the watchdog's grade; failing if feeds are requested and none responds, whatever the watchdog last saw.

    Unknown if the last check is too old, and before any feed was requested.
    """
    state = measured.judged(limits.state_age)
    if state is None:
        return UNKNOWN
    if state.grade in WORKING_GRADES and (reason := no_data(measured)):
        return str(HealthGrade.FAILING) if reason == NO_USABLE_FEED or feeds_in_use(measured) else UNKNOWN
    return str(state.grade)
