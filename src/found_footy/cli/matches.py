"""`footy ingest`, `fixtures`, `fixture`, `goal` and `clips`: fetch fixtures, and show matches, goals and clips."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from found_footy.cli.common import (
    AsJson,
    check_choice,
    err,
    out,
    parse_date,
    print_json,
    run,
    settings_with_logs,
    with_database,
)
from found_footy.config import load_settings
from found_footy.runtime.data_folder import with_running_engines

if TYPE_CHECKING:
    from found_footy.fixtures.store import FixtureStore
    from found_footy.storage.postgres import Database

T = TypeVar("T")


def ingest(
    day: Annotated[str | None, typer.Option("--date", help="First day to fetch, YYYY-MM-DD; default: today.")] = None,
    fixture: Annotated[list[int] | None, typer.Option(help="Fetch only this fixture; repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fetch fixtures now instead of waiting for the daily ingest."""
    if day and fixture:
        raise typer.BadParameter("specify either a date or fixtures, not both", param_hint="--date")
    parse_date(day)
    settings = with_running_engines(settings_with_logs("ERROR"))

    from dataclasses import replace

    from found_footy.fixtures.ingest import ingest_input, ingest_now

    order = replace(ingest_input(settings), fixture_ids=fixture or [], day=day)
    with err.status("fetching fixtures …"):
        result = run(lambda: ingest_now(settings, order))
    parts = dict(result.days) if result.fixtures is None else {"fixtures": result.fixtures}
    if as_json:
        print_json({name: vars(part) for name, part in parts.items()} | {"deleted": result.deleted})
        return
    for name, part in parts.items():
        rejected = f", {part.rejected} rejected" if part.rejected else ""
        unknown = f", unknown to the feed: {part.unknown}" if part.unknown else ""
        out.print(f"{name}: {part.found} found, {part.tracked} tracked, {part.added} new{rejected}{unknown}")


def fixtures(
    day: Annotated[str | None, typer.Option("--date", help="Only matches of this day (UTC), YYYY-MM-DD.")] = None,
    stage: Annotated[str | None, typer.Option(help="Only staging, active or completed.")] = None,
    as_json: AsJson = False,
) -> None:
    """List fixtures with their goals."""
    from found_footy.fixtures.models import FixtureStage

    check_choice(stage, FixtureStage, "--stage")
    kickoff_day = parse_date(day)
    documents = _read(lambda store: store.fixtures(stage=stage, day=kickoff_day))
    if as_json:
        print_json(documents)
    elif documents:
        from found_footy.cli.match_view import fixtures_view

        out.print(fixtures_view(documents, load_settings().debounce_polls))
    else:
        out.print("no fixtures; `footy ingest` fetches some")


def fixture(
    fixture_id: Annotated[int, typer.Argument(help="Fixture id, from `footy fixtures`.")], as_json: AsJson = False
) -> None:
    """Show one fixture with its goals."""
    document = _read(lambda store: store.fixture(fixture_id))
    if as_json:
        print_json(document)
    else:
        from found_footy.cli.match_view import fixture_view

        out.print(fixture_view(document, load_settings().debounce_polls))


def goal(
    event_id: Annotated[str, typer.Argument(help="Event id, from `footy fixture`.")], as_json: AsJson = False
) -> None:
    """Explain one goal: its state, the searches, the posts found, and why each was accepted or rejected."""
    document = _read(lambda store: store.event(event_id))
    if as_json:
        print_json(document)
    else:
        from found_footy.cli.match_view import goal_view

        settings = load_settings()
        out.print(goal_view(document, settings.debounce_polls, settings.search_attempts))


def clips(
    fixture: Annotated[int | None, typer.Option(help="Only clips of this fixture.")] = None,
    goal: Annotated[str | None, typer.Option(help="Only clips of this goal, by event id.")] = None,
    verified: Annotated[bool, typer.Option("--verified", help="Only clips verified by their match clock.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of clips.")] = 200,
    as_json: AsJson = False,
) -> None:
    """List published clips by goal, best first."""

    async def query(database: Database) -> list[dict[str, Any]]:
        from found_footy.clips.store import ClipStore

        return await ClipStore(database).clips(fixture=fixture, event=goal, verified=verified, limit=limit)

    documents = with_database(query)
    if as_json:
        print_json(documents)
    elif documents:
        from found_footy.cli.match_view import clips_view

        out.print(clips_view(documents))
    else:
        out.print("no clips; `footy goal EVENT_ID` explains why a goal has none")


def _read(query: Callable[[FixtureStore], Coroutine[Any, Any, T]]) -> T:
    async def body(database: Database) -> T:
        from found_footy.fixtures.store import FixtureStore

        return await query(FixtureStore(database))

    return with_database(body)
