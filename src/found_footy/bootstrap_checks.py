"""Composition of the live checks: one probe per enabled feed, source and service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from found_footy.activities.canary import CanaryActivities
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.service_checks import PostgresServiceChecks, PostgresUnexpectedAnswers
from found_footy.bootstrap import build_knowledge, build_sources, build_vision, sources_off
from found_footy.bootstrap_feeds import build_feed, declared_feeds, open_feeds
from found_footy.bootstrap_health import build_browser_control
from found_footy.bootstrap_stores import build_objects
from found_footy.config import Settings
from found_footy.config_secrets import build_redactor
from found_footy.domain.errors import SettingsError
from found_footy.domain.operations.service_checks import CheckKind, CheckResult
from found_footy.feed_registry import DeclaredFeed
from found_footy.service_checking import Probe, ServiceChecker

RECHECK_SECONDS = 30.0


class Checkable(Protocol):
    async def check(self) -> str: ...

    async def aclose(self) -> None: ...


def now() -> datetime:
    return datetime.now(UTC)


def build_checker(settings: Settings) -> ServiceChecker:
    return ServiceChecker(now, build_redactor(settings))


def build_unexpected_answers(settings: Settings, database: Database) -> PostgresUnexpectedAnswers:
    return PostgresUnexpectedAnswers(database, build_redactor(settings), now)


async def feeds_declared(settings: Settings) -> Sequence[DeclaredFeed]:
    """With the operator's switches if a cache is known. Raises SettingsError."""
    if settings.redis_url is not None:
        async with open_feeds(settings) as feeds:
            return await feeds.registry.declared()
    declared = []
    for source in declared_feeds(settings)():
        try:
            await build_feed(settings, source, None).aclose()
            lacks = ""
        except SettingsError as error:
            lacks = str(error)
        declared.append(DeclaredFeed(source, source.enabled, None, lacks if source.enabled else ""))
    return declared


def build_probes(settings: Settings, feeds: Sequence[DeclaredFeed]) -> list[Probe]:
    """Of everything that is switched on and has its settings. Nothing is opened before a probe runs."""
    probes = [
        _probe(f"feed {each.source.id}", CheckKind.FEED, partial(build_feed, settings, each.source, None))
        for each in feeds
        if each.on and not each.lacks
    ]
    off = sources_off(settings)
    for name in settings.sources:
        if name not in off:
            probes.append(_probe(f"source {name}", CheckKind.SOURCE, partial(_source, settings, name)))
    probes.append(_probe("team names", CheckKind.SERVICE, partial(build_knowledge, settings)))
    probes.append(_probe("object store", CheckKind.SERVICE, partial(build_objects, settings)))
    if settings.llama_url is not None:
        probes.append(_probe("vision server", CheckKind.SERVICE, partial(build_vision, settings)))
    browser = build_browser_control(settings)
    if browser is not None:
        probes.append(Probe("browser", CheckKind.SERVICE, browser.check))
    return probes


def _probe(name: str, kind: CheckKind, build: Callable[[], Checkable]) -> Probe:
    """The adapter is built for each check, because a check closes it and may run twice."""

    async def check() -> str:
        opened = build()
        try:
            return await opened.check()
        finally:
            await opened.aclose()

    return Probe(name, kind, check)


def _source(settings: Settings, name: str) -> Checkable:
    (source,) = build_sources(settings.model_copy(update={"sources": (name,)}))
    return source


def build_canary(settings: Settings, database: Database) -> CanaryActivities:
    async def check() -> Sequence[CheckResult]:
        probes = build_probes(settings, await feeds_declared(settings))
        return await build_checker(settings).run_patiently(probes, RECHECK_SECONDS)

    return CanaryActivities(check, PostgresServiceChecks(database))
