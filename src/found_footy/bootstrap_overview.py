"""Composition of the overview that `footy up`, `footy init` and the matchday page show."""

from __future__ import annotations

from datetime import datetime

from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.follows import PostgresFollows
from found_footy.bootstrap import sources_off
from found_footy.bootstrap_checks import feeds_declared
from found_footy.config import Settings
from found_footy.config_types import ALL_SOURCES
from found_footy.domain.errors import SettingsError
from found_footy.domain.fixtures.following import describe_following, following_of
from found_footy.setup_overview import SetupOverview, SwitchState


async def setup_overview(settings: Settings, database: Database | None, now: datetime) -> SetupOverview:
    """Without a database, as the settings say; with one, with the changes made at run time. Raises StoreUnavailable."""
    follows = None if database is None else PostgresFollows(database)
    changes = () if follows is None else await follows.changes()
    return SetupOverview(
        following=describe_following(following_of(settings.follow, changes)),
        feeds=await _feeds(settings),
        sources=source_states(settings),
        next_match=None if follows is None else await follows.next_kickoff(now),
    )


async def _feeds(settings: Settings) -> tuple[SwitchState, ...]:
    try:
        declared = await feeds_declared(settings)
    except SettingsError as error:
        return (SwitchState("feeds", False, str(error)),)
    return tuple(
        SwitchState(each.source.id, each.on and not each.lacks, each.lacks if each.on else "switched off")
        for each in declared
    )


def source_states(settings: Settings) -> tuple[SwitchState, ...]:
    lacking = sources_off(settings)
    return tuple(
        SwitchState(name, True)
        if name in settings.sources and name not in lacking
        else SwitchState(name, False, f"needs {lacking[name]}" if name in lacking else "not in FOOTY_SOURCES")
        for name in ALL_SOURCES
    )
