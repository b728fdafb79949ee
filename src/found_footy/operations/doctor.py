"""Checks an installation: folders, engines and settings directly, external services live or by their last result.

Every failed finding has a hint that leads to a working state.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

from found_footy.clips.ytdlp_state import MAX_YTDLP_AGE, UPDATE_COMMANDS, YtdlpState, ytdlp_state
from found_footy.config import Settings
from found_footy.discovery.registry import is_contact_missing, missing_settings
from found_footy.errors import EngineError, FootyError, SettingsError, StoreUnavailable
from found_footy.feeds.registry import DeclaredFeed, feeds_declared
from found_footy.operations.check_store import PostgresServiceChecks, build_unexpected_answers
from found_footy.operations.models import CheckResult, ServiceCheck, UnexpectedAnswer
from found_footy.operations.service_checks import Probe, build_checker, build_probes
from found_footy.runtime import embedded_valkey as valkey
from found_footy.runtime.clock import utc_now
from found_footy.runtime.confinement import Available, available
from found_footy.runtime.data_folder import DataFolder, with_running_engines
from found_footy.runtime.embedded_temporal import find_binary
from found_footy.runtime.postgres_install import packaged_binaries
from found_footy.runtime.schedules import ALL_SCHEDULES, missing_schedules
from found_footy.runtime.temporal import connect_temporal
from found_footy.storage.connections import connections_allowed, connections_needed, workers_that_fit
from found_footy.storage.migrations import inspect
from found_footy.storage.postgres import Database, redacted_url, translate_errors
from found_footy.storage.redis import RedisCache
from found_footy.storage.stores import objects_folder
from found_footy.text import format_duration

State = Literal["ok", "unknown", "off", "warning", "failed"]

GIB = 1024**3
MIN_FREE_BYTES = GIB
LOW_FREE_BYTES = 5 * GIB
ENGINE_SECONDS = 15.0
NOT_RUNNING = ("the embedded server is not running", "Start it with `footy up`.")
CHECK_LIVE = "Run `footy doctor --live` to try it."
KEYLESS_ADAPTERS = frozenset({"espn", "crex", "recording"})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    what: str
    state: State
    """`off`: not in use. `warning`: works with limitations. `unknown`: never checked."""
    summary: str
    advice: str = ""
    result: CheckResult | None = None
    """Result of a live check in this run."""
    check: ServiceCheck | None = None
    """History of live checks, if the database has one."""

    @property
    def ok(self) -> bool:
        return self.state == "ok"

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {"what": self.what, "state": self.state, "said": self.summary, "advice": self.advice}
        if self.result is not None:
            document |= {
                "asked": self.result.asked.splitlines(),
                "response": self.result.response,
                "error_class": self.result.error_class,
                "seconds": self.result.seconds,
                "checked_at": self.result.checked_at.isoformat(),
            }
        if self.check is not None:
            document |= {
                "asked": self.check.asked.splitlines(),
                "since": self.check.since.isoformat(),
                "last_ok_at": self.check.last_ok_at.isoformat() if self.check.last_ok_at else None,
                "checked_at": self.check.checked_at.isoformat(),
                "error_class": self.check.error_class,
            }
        return document

    def details(self, now: datetime) -> list[str]:
        """Lines below the finding: requests, response, and how long the state has lasted."""
        lines = []
        if self.result is not None:
            lines += [f"asked: {line}" for line in self.result.asked.splitlines()]
            if self.result.response:
                lines.append(f"answer: {self.result.response}")
        if self.check is not None:
            lines.append(self.check.history(now))
        return lines


@dataclass
class Progress:
    """Checks that are still running; `changed` is called on every change."""

    changed: Callable[[str], None] = lambda words: None
    waiting: list[str] = field(default_factory=list)
    total: int = 0

    def begin(self, names: Sequence[str]) -> None:
        self.waiting, self.total = list(names), len(names)
        self._show()

    def done(self, name: str) -> None:
        self.waiting = [each for each in self.waiting if each != name]
        self._show()

    def _show(self) -> None:
        done = self.total - len(self.waiting)
        self.changed(
            f"checking {done}/{self.total} · waiting for {', '.join(self.waiting[:4])}" if self.waiting else ""
        )


@dataclass(frozen=True, slots=True)
class Examination:
    findings: tuple[Diagnosis, ...]
    at: datetime
    kept: tuple[UnexpectedAnswer, ...] = ()
    """Unexpected responses, newest first, if requested."""

    @property
    def failed(self) -> bool:
        return any(finding.state == "failed" for finding in self.findings)


async def examine(
    settings: Settings, *, live: bool = False, with_answers: bool = False, progress: Progress | None = None
) -> Examination:
    """Check the installation. `live` sends requests to every enabled service; otherwise their last results are shown.

    Read-only, except that live results are stored if the database is available, and that the live check of the object
    store writes and deletes a small object.
    """
    try:
        located = with_running_engines(settings)
    except EngineError:
        located = settings
    postgres, temporal, redis = await asyncio.gather(_postgres(located), _temporal(located), _redis(located))
    reachable = located if redis.state == "ok" else located.model_copy(update={"redis_url": None})
    findings = [data_folder_finding(settings.data_dir), _binaries(settings), postgres, temporal, redis]
    if postgres.ok and located.database_url is not None:
        findings.append(await _connections(located, located.database_url.get_secret_value()))
    findings += _installation(settings)
    try:
        feeds = await feeds_declared(reachable)
    except SettingsError as error:
        feeds = []
        findings.append(Diagnosis("feeds", "failed", str(error), error.hint))
    probes = [probe for probe in build_probes(reachable, feeds) if not _is_not_created(probe, settings)]
    if postgres.state != "ok" or located.database_url is None:
        outside = await _outside(reachable, probes, live, None, progress or Progress())
        kept: Sequence[UnexpectedAnswer] = ()
    else:
        database = Database(located.database_url.get_secret_value(), max_size=2)
        await database.open()
        try:
            store = PostgresServiceChecks(database)
            outside = await _outside(reachable, probes, live, store, progress or Progress())
            kept = await build_unexpected_answers(settings, database).kept() if with_answers else ()
        finally:
            await database.close()
    findings += _feeds(settings, feeds, outside, live=live)
    findings += [finding for name, finding in outside.items() if not name.startswith("feed ")]
    if not any(probe.name == "object store" for probe in probes):
        summary = f"{objects_folder(settings)} does not exist yet"
        findings.append(Diagnosis("object store", "off", summary, "`footy up` creates it."))
    findings += [
        Diagnosis(f"source {name}", "off", f"needs {lacking}") for name, lacking in missing_settings(settings).items()
    ]
    return Examination(tuple(findings), utc_now(), tuple(kept))


async def _outside(
    settings: Settings, probes: Sequence[Probe], live: bool, store: PostgresServiceChecks | None, progress: Progress
) -> dict[str, Diagnosis]:
    """Return a finding per probe, by name."""
    if not live:
        known = {check.name: check for check in await store.checks()} if store else {}
        return {probe.name: _stored_finding(probe, known.get(probe.name)) for probe in probes}
    progress.begin([probe.name for probe in probes])
    results = await build_checker(settings).run(probes, lambda result: progress.done(result.name))
    known = {}
    if store is not None:
        await store.save(results)
        known = {check.name: check for check in await store.checks()}
    return {result.name: _live_finding(result, known.get(result.name)) for result in results}


def _live_finding(result: CheckResult, check: ServiceCheck | None) -> Diagnosis:
    advice = "" if result.ok else result.hint
    return Diagnosis(result.name, "ok" if result.ok else "failed", result.summary, advice, result, check)


def _stored_finding(probe: Probe, check: ServiceCheck | None) -> Diagnosis:
    if check is None:
        return Diagnosis(probe.name, "unknown", "enabled, never checked", CHECK_LIVE)
    age = format_duration(utc_now() - check.checked_at)
    summary = f"{check.answer} ({age} ago)"
    if check.ok:
        return Diagnosis(probe.name, "ok", summary, check=check)
    return Diagnosis(probe.name, "failed", summary, f"{check.hint} {CHECK_LIVE}".strip(), check=check)


def _is_not_created(probe: Probe, settings: Settings) -> bool:
    """Whether `footy up` has yet to create the object store, which a check must not do."""
    return probe.name == "object store" and settings.object_store_url is None and not objects_folder(settings).exists()


def _feeds(
    settings: Settings, feeds: Sequence[DeclaredFeed], outside: Mapping[str, Diagnosis], *, live: bool
) -> list[Diagnosis]:
    findings = []
    for each in feeds:
        name = f"feed {each.source.id}"
        if name in outside:
            findings.append(outside[name])
        elif each.is_on:
            advice = f"Set it in .env, or disable the feed with `footy feeds off {each.source.id}`."
            findings.append(Diagnosis(name, "off", each.missing, advice))
        else:
            by = "by `footy feeds off`" if each.switched is False else f"in {settings.feeds_file}"
            findings.append(Diagnosis(name, "off", f"disabled {by}", f"Enable it: `footy feeds on {each.source.id}`."))
    usable = [each for each in feeds if f"feed {each.source.id}" in outside]
    names = ", ".join(each.source.id for each in usable)
    if feeds and not usable:
        advice = "Set FOOTY_FEED=espn, which needs no key, or set API_FOOTBALL_KEY."
        findings.append(Diagnosis("feeds", "failed", "no feed is enabled and configured", advice))
    elif live and usable and not any(outside[f"feed {each.source.id}"].ok for each in usable):
        advice = "Follow the hints above, or enable another feed; `footy feeds list` shows them all."
        findings.append(Diagnosis("feeds", "failed", "no feed responds, so no goals will be detected", advice))
    elif usable and all(each.source.adapter in KEYLESS_ADAPTERS for each in usable):
        summary = f"only feeds without a key are enabled ({names}); they may be slower, and can change without notice"
        advice = "Set API_FOOTBALL_KEY to add a second feed; a free key covers 100 requests a day."
        findings.append(Diagnosis("feeds", "warning", summary, advice))
    elif usable:
        findings.append(Diagnosis("feeds", "ok", f"on: {names}"))
    return findings


# --- Machine.


def data_folder_finding(path: Path) -> Diagnosis:
    existing = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        advice = "Set FOOTY_DATA_DIR to a folder that you may write to."
        return Diagnosis("data folder", "failed", f"{existing} is not writable", advice)
    free = shutil.disk_usage(existing).free
    summary = f"{path.absolute()}, {free / GIB:.0f} GiB free"
    if free < MIN_FREE_BYTES:
        return Diagnosis("data folder", "failed", summary, "Free some space, or set FOOTY_DATA_DIR; 1 GiB is required.")
    owner = DataFolder(path).read_runtime()
    summary += f", in use by process {owner.owner_pid}" if owner else ""
    if free < LOW_FREE_BYTES:
        advice = "Free some space, lower FOOTY_RETENTION_DAYS, or set FOOTY_DATA_DIR to a larger disk."
        return Diagnosis("data folder", "warning", summary, advice)
    return Diagnosis("data folder", "ok", summary)


def _binaries(settings: Settings) -> Diagnosis:
    if settings.temporal_address and settings.database_url and settings.redis_url:
        return Diagnosis("embedded engines", "off", "not needed: all URLs are set")
    try:
        summary = f"{find_binary()}, {packaged_binaries().postgres}, {valkey.find_binary()}"
        return Diagnosis("embedded engines", "ok", summary)
    except EngineError as error:
        return Diagnosis("embedded engines", "failed", str(error), "Reinstall them: `make clean setup`.")


def _installation(settings: Settings) -> list[Diagnosis]:
    findings = [confinement_finding(available()), *ytdlp_findings(ytdlp_state(), utc_now().date())]
    if is_contact_missing(settings):
        summary = "Wikimedia throttles clients without contact information"
        advice = "Set FOOTY_WIKIDATA_CONTACT to your e-mail address or web page."
        return [*findings, Diagnosis("Wikidata contact", "warning", summary, advice)]
    return [*findings, Diagnosis("Wikidata contact", "ok", "set")]


def confinement_finding(kernel: Available) -> Diagnosis:
    """Check the mechanisms that isolate decoders, yt-dlp and Chromium from this user's files and processes."""
    has = [f"Landlock {kernel.landlock}"] if kernel.landlock else []
    has += ["seccomp"] if kernel.seccomp else []
    has += [f"user {kernel.user}"] if kernel.user else []
    lacking = ["Landlock"] if not kernel.landlock else []
    lacking += ["seccomp"] if not kernel.seccomp else []
    if not lacking:
        return Diagnosis("confinement", "ok", ", ".join(has))
    summary = f"this kernel or the container's profile does not provide {' and '.join(lacking)}"
    advice = (
        "A compromised decoder could read this user's files. Run workers in a container, or on Linux 5.13 or newer."
    )
    return Diagnosis("confinement", "warning", summary, advice)


def ytdlp_findings(state: YtdlpState, today: date) -> list[Diagnosis]:
    """Check the age of yt-dlp, because sites change within weeks, and the JavaScript runtime that YouTube requires."""
    age = state.age(today)
    summary = f"version {state.version}" + ("" if age is None else f", {age.days} days old")
    if age is not None and age > MAX_YTDLP_AGE:
        release = Diagnosis("yt-dlp", "warning", summary, f"Update it: {UPDATE_COMMANDS}, then restart the workers.")
    else:
        release = Diagnosis("yt-dlp", "ok", summary)
    if state.js_runtimes and state.has_ejs:
        runtimes = ", ".join(f"{each.name} ({each.path})" for each in state.js_runtimes)
        return [release, Diagnosis("JavaScript runtime", "ok", runtimes)]
    lacking = "yt-dlp-ejs" if state.js_runtimes else "a JavaScript runtime (deno, or node 22 or newer)"
    advice = f"Install it: `{state.install_runtime}`."
    return [release, Diagnosis("JavaScript runtime", "warning", f"YouTube links fail without {lacking}", advice)]


# --- Engines.


async def _bounded(what: str, check: Callable[[], Awaitable[str]], advice: str) -> Diagnosis:
    try:
        async with asyncio.timeout(ENGINE_SECONDS):
            return Diagnosis(what, "ok", await check())
    except FootyError as error:
        return Diagnosis(what, "failed", f"{error.kind}: {error}", advice)
    except TimeoutError:
        return Diagnosis(what, "failed", f"no response within {ENGINE_SECONDS:g} s", advice)


async def _postgres(settings: Settings) -> Diagnosis:
    if settings.database_url is None:
        return Diagnosis("PostgreSQL", "off", *NOT_RUNNING)
    url = settings.database_url.get_secret_value()

    async def check() -> str:
        version, schema = await inspect(url)
        schema.check()
        return f"PostgreSQL {version}, schema up to date"

    advice = "Start `footy up`, which also applies the schema, or correct DATABASE_URL."
    return await _bounded("PostgreSQL", check, advice)


async def _connections(settings: Settings, url: str) -> Diagnosis:
    try:
        with translate_errors(redacted_url(url)):
            return connections_finding(settings, await connections_allowed(url))
    except StoreUnavailable as error:
        return Diagnosis("database connections", "failed", f"{error.kind}: {error}", "Run `footy doctor` again.")


def connections_finding(settings: Settings, allowed: int) -> Diagnosis:
    """Whether PostgreSQL has room for the workers of these settings, the scaler's included."""
    live = max(settings.workers, settings.workers_most) if settings.scaler else settings.workers
    scaled = max(settings.library_workers, settings.library_workers_most)
    workers = live + (scaled if settings.scaler else settings.library_workers)
    pool = settings.database_connections
    room = workers_that_fit(allowed, pool)
    summary = f"{allowed} allowed: room for {room} workers with FOOTY_DATABASE_CONNECTIONS={pool}"
    if workers <= room:
        return Diagnosis("database connections", "ok", summary)
    needed = connections_needed(workers, pool)
    advice = f"{workers} workers need {needed}: raise PostgreSQL's max_connections, or use a pooler such as PgBouncer."
    return Diagnosis("database connections", "warning", summary, advice)


async def _temporal(settings: Settings) -> Diagnosis:
    if settings.temporal_address is None:
        return Diagnosis("Temporal", "off", *NOT_RUNNING)

    async def check() -> str:
        missing = await missing_schedules(await connect_temporal(settings), ALL_SCHEDULES)
        if missing:
            raise EngineError(f"the schedules {', '.join(sorted(missing))} are missing")
        return f"{settings.temporal_address}, namespace {settings.temporal_namespace}, schedules registered"

    advice = "Start `footy up`, which also registers the schedules, or correct TEMPORAL_ADDRESS."
    return await _bounded("Temporal", check, advice)


async def _redis(settings: Settings) -> Diagnosis:
    if settings.redis_url is None:
        return Diagnosis("Redis", "off", *NOT_RUNNING)
    cache = RedisCache(settings.redis_url.get_secret_value())
    try:
        return await _bounded("Redis", cache.check, "Start `footy up`, or correct REDIS_URL.")
    finally:
        await cache.aclose()
