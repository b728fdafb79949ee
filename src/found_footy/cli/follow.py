"""`footy follow`: show and change which competitions and teams are followed."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from found_footy.cli.common import AsJson, err, located_settings, out, print_json, with_database
from found_footy.config import Settings
from found_footy.errors import EngineError
from found_footy.runtime.clock import utc_now
from found_footy.runtime.data_folder import with_running_engines

if TYPE_CHECKING:
    from found_footy.fixtures.follow_list import FollowBook, FollowState
    from found_footy.fixtures.following import FollowEntry
    from found_footy.storage.postgres import Database

T = TypeVar("T")

follow = typer.Typer(
    name="follow",
    help="Show and change which competitions and teams are followed. Default command: list.",
    invoke_without_command=True,
)

FollowNamesArgument = Annotated[
    list[str], typer.Argument(help="Competitions, teams or presets: 'Premier League', 'Real Madrid', top5.")
]


@follow.callback()
def default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_followed()


@follow.command(name="list")
def list_followed(
    known: Annotated[bool, typer.Option("--known", help="List all names that can be followed.")] = False,
    as_json: AsJson = False,
) -> None:
    """List what is followed, and the requests it costs per feed."""
    if known:
        _show_known(as_json)
        return
    settings = located_settings("database_url")
    _show(_with_book(settings, lambda book: _state(settings, book)), as_json)


@follow.command()
def add(names: FollowNamesArgument, as_json: AsJson = False) -> None:
    """Follow competitions, teams or presets, and fetch their matches."""
    settings = located_settings("database_url")

    async def change(book: FollowBook) -> tuple[tuple[FollowEntry, ...], bool, FollowState]:
        entries = await book.add(names, "cli", _now())
        return entries, await _ingest(settings), await _state(settings, book)

    entries, ingest, state = _with_book(settings, change)
    if as_json:
        _print_json(state, ingest=ingest)
        return
    out.print(f"following {', '.join(entry.name for entry in entries)}", markup=False, soft_wrap=True)
    if ingest:
        err.print("fetching their matches now", style="dim")
    else:
        err.print("the next ingest fetches their matches; run `footy ingest` to fetch them now", style="dim")


@follow.command()
def remove(names: FollowNamesArgument, as_json: AsJson = False) -> None:
    """Stop following competitions, teams or presets. Matches already listed are followed to the end."""
    settings = located_settings("database_url")

    async def change(book: FollowBook) -> tuple[tuple[FollowEntry, ...], FollowState]:
        entries = await book.remove(names, "cli", _now())
        return entries, await _state(settings, book)

    entries, state = _with_book(settings, change)
    if as_json:
        _print_json(state)
        return
    out.print(f"no longer following {', '.join(entry.name for entry in entries)}", markup=False, soft_wrap=True)


@follow.command()
def reset(as_json: AsJson = False) -> None:
    """Discard all changes: only the setting FOOTY_FOLLOW applies."""
    settings = located_settings("database_url")

    async def change(book: FollowBook) -> tuple[int, FollowState]:
        dropped = await book.reset()
        return dropped, await _state(settings, book)

    dropped, state = _with_book(settings, change)
    if as_json:
        _print_json(state)
        return
    out.print(f"{dropped} changes discarded; following {state.summary}", markup=False, soft_wrap=True)


def _show(state: FollowState, as_json: bool) -> None:
    if as_json:
        _print_json(state)
        return
    out.print(f"following {state.summary}", markup=False, soft_wrap=True)
    for region, names in _by_region(state).items():
        out.print(f"  {region}: {', '.join(names)}", markup=False, soft_wrap=True, highlight=False)
    if state.following.teams:
        teams = ", ".join(team.name for team in state.following.teams)
        out.print(f"  Teams: {teams}", markup=False, soft_wrap=True, highlight=False)
    if state.changes:
        out.print(
            f"{len(state.changes)} changes to the setting {', '.join(state.entries)}; `footy follow reset` "
            f"discards them",
            markup=False,
            soft_wrap=True,
        )
    for each in state.estimates:
        limit = "no limit stated" if each.limit is None else f"limit {each.limit:,} a day"
        style = "yellow" if each.exceeds else None
        line = f"{each.feed}: about {each.requests:,} requests on a full matchday, {limit}"
        out.print(line, markup=False, soft_wrap=True, style=style, highlight=False)
    if state.next_match:
        match = state.next_match
        line = f"next match: {match.home} - {match.away}, {match.kickoff:%Y-%m-%d %H:%M} UTC"
        out.print(line, markup=False, soft_wrap=True, highlight=False)


def _by_region(state: FollowState) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if not state.following.everything:
        for each in state.following.followed_competitions:
            found.setdefault(each.region, []).append(each.name)
    return found


def _show_known(as_json: bool) -> None:
    from found_footy.fixtures.competitions import COMPETITIONS, PRESET_LABELS, REGIONS, TOP_TEAMS

    if as_json:
        print_json(
            {
                "presets": dict(PRESET_LABELS),
                "competitions": [
                    {"slug": each.slug, "name": each.name, "region": each.region, "aliases": list(each.aliases)}
                    for each in COMPETITIONS
                ],
                "teams": [team.name for team in TOP_TEAMS],
            }
        )
        return
    out.print(f"Presets: {', '.join(PRESET_LABELS)}", markup=False, soft_wrap=True, highlight=False)
    for region in REGIONS:
        names = ", ".join(each.name for each in COMPETITIONS if each.region == region)
        out.print(f"{region}: {names}", markup=False, soft_wrap=True, highlight=False)
    teams = ", ".join(team.name for team in TOP_TEAMS)
    out.print(f"Teams: {teams}; national teams by country, others by name", markup=False, soft_wrap=True)


def _print_json(state: FollowState, **more: Any) -> None:
    from found_footy.fixtures.follow_list import follow_document

    document = follow_document(state)
    changes = [{**change, "at": change["at"].isoformat()} for change in document["changes"]]
    match = document["next_match"]
    if match is not None:
        match = {**match, "kickoff": match["kickoff"].isoformat()}
    print_json({**document, "changes": changes, "next_match": match, **more})


async def _state(settings: Settings, book: FollowBook) -> FollowState:
    from found_footy.feeds.registry import declared_feeds, polling_plan
    from found_footy.fixtures.follow_list import feed_costs

    adapters = {
        source.id: source.adapter
        for source in declared_feeds(settings)()
        if source.enabled and (source.adapter != "api_football" or settings.api_football_key is not None)
    }
    return await book.state(feed_costs(adapters), polling_plan(settings), _now())


async def _ingest(settings: Settings) -> bool:
    """Start an ingest. Return False if that failed; the change is saved anyway."""
    from found_footy.fixtures.ingest import trigger_ingest
    from found_footy.runtime.temporal import connect_temporal

    try:
        running = settings if settings.temporal_address else with_running_engines(settings)
        await trigger_ingest(await connect_temporal(running))
    except EngineError as error:
        err.print(str(error), style="dim", markup=False, soft_wrap=True)
        return False
    return True


def _with_book(settings: Settings, use: Callable[[FollowBook], Coroutine[Any, Any, T]]) -> T:
    async def body(database: Database) -> T:
        from found_footy.fixtures.follow_list import FollowBook, FollowStore

        return await use(FollowBook(settings.follow, FollowStore(database)))

    return with_database(body, settings)


def _now() -> datetime:
    return utc_now()
