"""Checks every engine, URL, key and folder, and says what to do about each that fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from found_footy.adapters.storage.postgres.migrate import inspect
from found_footy.adapters.storage.redis import RedisCache
from found_footy.bootstrap import build_knowledge, build_sources, sources_off
from found_footy.bootstrap_feeds import build_feed, declared_feeds
from found_footy.bootstrap_stores import build_objects, objects_folder
from found_footy.bootstrap_temporal import connect_temporal
from found_footy.config import Settings
from found_footy.domain.errors import EngineError, FootyError, SettingsError
from found_footy.ops.data_folder import DataFolder
from found_footy.ops.engines import valkey
from found_footy.ops.engines.binaries import packaged_binaries
from found_footy.ops.engines.temporal import find_binary
from found_footy.ops.locate import with_running_engines
from found_footy.ops.temporal_setup import missing_schedules

MIN_FREE_BYTES = 1024**3
NOT_RUNNING = ("the embedded one is not running", "Start it with `footy up`.")


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    state: Literal["ok", "off", "failed"]
    """`off`: not running, and nothing is wrong with that."""
    said: str
    advice: str = ""


async def examine(settings: Settings) -> list[Finding]:
    findings = [_folder(settings.data_dir), _binaries(settings)]
    try:
        located = with_running_engines(settings)
    except EngineError:
        located = settings
    if located.database_url:
        url = located.database_url.get_secret_value()
        findings.append(await _checked("PostgreSQL", lambda: _postgres(url)))
    else:
        findings.append(Finding("PostgreSQL", "off", *NOT_RUNNING))
    if located.temporal_address:
        findings.append(await _checked("Temporal", lambda: _temporal(located)))
    else:
        findings.append(Finding("Temporal", "off", *NOT_RUNNING))
    if located.redis_url:
        cache = located.redis_url.get_secret_value()
        findings.append(await _checked("Redis", lambda: _closing(RedisCache(cache))))
    else:
        findings.append(Finding("Redis", "off", *NOT_RUNNING))
    findings += await _feeds(settings)
    if settings.object_store_url is None and not objects_folder(settings).exists():
        # Looking must not leave anything behind.
        findings.append(Finding("object store", "off", "a folder that does not exist yet", "`footy up` makes it."))
    else:
        findings.append(await _checked("object store", lambda: _closing(build_objects(settings))))
    findings.append(await _checked("team names", lambda: _closing(build_knowledge(settings))))
    for source in build_sources(settings):
        findings.append(await _checked(f"source {source.name}", partial(_closing, source)))
    for name, lacking in sources_off(settings).items():
        findings.append(Finding(f"source {name}", "off", f"lacks {lacking}"))
    return findings


async def _feeds(settings: Settings) -> list[Finding]:
    try:
        sources = declared_feeds(settings)()
    except SettingsError as error:
        return [Finding("feeds", "failed", str(error), error.hint)]
    findings = []
    for source in sources:
        what = f"feed {source.id}"
        if not source.enabled:
            findings.append(Finding(what, "off", f"switched off in {settings.feeds_file}"))
            continue
        try:
            feed = build_feed(settings, source, None)
        except SettingsError as error:
            findings.append(Finding(what, "off", str(error), error.hint))
            continue
        findings.append(await _checked(what, partial(_closing, feed)))
    if not any(finding.state == "ok" for finding in findings):
        # One of several may be away; none at all means that no goal is seen.
        findings.append(
            Finding("feeds", "failed", "no feed answers", "Set API_FOOTBALL_KEY, or correct what is above.")
        )
    return findings


async def _checked(what: str, check: Callable[[], Awaitable[str]]) -> Finding:
    try:
        return Finding(what, "ok", await check())
    except FootyError as error:
        return Finding(what, "failed", f"{error.kind}: {error}", error.hint)


def _folder(path: Path) -> Finding:
    existing = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        return Finding("data folder", "failed", f"{existing} cannot be written to", "Set FOOTY_DATA_DIR to another.")
    free = shutil.disk_usage(existing).free
    said = f"{path.absolute()}, {free / 1024**3:.0f} GiB free"
    if free < MIN_FREE_BYTES:
        return Finding("data folder", "failed", said, "Make room: the engines need at least 1 GiB.")
    owner = DataFolder(path).read_runtime()
    return Finding("data folder", "ok", said + (f", in use by process {owner.owner_pid}" if owner else ""))


def _binaries(settings: Settings) -> Finding:
    if settings.temporal_address and settings.database_url and settings.redis_url:
        return Finding("embedded engines", "off", "not needed: all URLs are set")
    try:
        said = f"{find_binary()}, {packaged_binaries().postgres}, {valkey.find_binary()}"
        return Finding("embedded engines", "ok", said)
    except EngineError as error:
        return Finding("embedded engines", "failed", str(error), "Run `make setup` again.")


async def _postgres(url: str) -> str:
    version, lacking = await inspect(url)
    if lacking:
        raise EngineError(f"the schema lacks {', '.join(lacking)}; `footy up` applies it")
    return f"PostgreSQL {version}, schema up to date"


async def _temporal(settings: Settings) -> str:
    client = await connect_temporal(settings)
    missing = await missing_schedules(client)
    if missing:
        raise EngineError(f"the schedules {', '.join(sorted(missing))} are missing; `footy up` registers them")
    return f"{settings.temporal_address}, namespace {settings.temporal_namespace}, schedules registered"


class Checked(Protocol):
    async def check(self) -> str: ...

    async def aclose(self) -> None: ...


async def _closing(engine: Checked) -> str:
    try:
        return await engine.check()
    finally:
        await engine.aclose()
