"""`footy feeds`: which score feeds there are, switching them while everything runs, and matches that may be one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from found_footy.command import AsJson, located, run
from found_footy.config import Settings
from found_footy.console import out, print_json
from found_footy.domain.errors import EngineError, NotFound

if TYPE_CHECKING:
    from found_footy.adapters.storage.postgres.listings import PostgresListings
    from found_footy.bootstrap_feeds import Feeds
    from found_footy.feed_registry import DeclaredFeed

T = TypeVar("T")

feeds = typer.Typer(
    name="feeds",
    help="Show and switch the score feeds, and settle which matches are one: without a command, list the feeds.",
    invoke_without_command=True,
)

FeedId = Annotated[str, typer.Argument(help="As `footy feeds list` shows it.")]
MatchId = Annotated[int, typer.Argument(help="The match's number at that feed.")]
FixtureId = Annotated[int, typer.Argument(help="The number of our match.")]


@feeds.callback()
def default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_feeds()


@feeds.command(name="list")
def list_feeds(as_json: AsJson = False) -> None:
    """List the declared feeds, the most trusted first, and whether each is asked."""
    settings = located("redis_url")

    async def body() -> list[DeclaredFeed]:
        async with _opened(settings) as opened:
            return await opened.registry.declared()

    _show(run(body), as_json)


@feeds.command()
def on(feed: FeedId, as_json: AsJson = False) -> None:
    """Ask this feed from the next poll on, whatever the file says."""
    _switch(feed, True, as_json)


@feeds.command()
def off(feed: FeedId, as_json: AsJson = False) -> None:
    """Ask this feed no more, from the next poll on, whatever the file says."""
    _switch(feed, False, as_json)


@feeds.command()
def auto(feed: FeedId, as_json: AsJson = False) -> None:
    """Take the switch back: the file decides again."""
    _switch(feed, None, as_json)


@feeds.command()
def pairings(as_json: AsJson = False) -> None:
    """List matches of two feeds that may be the same, and are not taken for it until somebody says so."""
    from found_footy.ops.pairings_view import pairings_page

    async def look(listings: PostgresListings) -> list[dict[str, Any]]:
        return await listings.doubtful()

    found = _asked(look)
    if as_json:
        print_json(found)
    elif found:
        out.print(pairings_page(found))
    else:
        out.print("no pairing is in doubt")


@feeds.command()
def same(feed: FeedId, feed_id: MatchId, fixture_id: FixtureId) -> None:
    """Say that a match of a feed is that one of ours: the feed joins it at once."""
    _decide(feed, feed_id, fixture_id, same=True)
    out.print(f"match {feed_id} of {feed} is fixture {fixture_id}", markup=False)


@feeds.command()
def different(feed: FeedId, feed_id: MatchId, fixture_id: FixtureId) -> None:
    """Say that it is not: it becomes a match of its own with the next ingest."""
    _decide(feed, feed_id, fixture_id, same=False)
    out.print(f"match {feed_id} of {feed} is not fixture {fixture_id}", markup=False)


def _switch(feed: str, state: bool | None, as_json: bool) -> None:
    from found_footy.adapters.storage.redis import RedisSwitches

    settings = located("redis_url")

    async def body() -> list[DeclaredFeed]:
        async with _opened(settings) as opened:
            declared = {each.source.id for each in await opened.registry.declared()}
            if feed not in declared:
                raise NotFound(f"there is no feed {feed[:40]!r}; declared are {', '.join(sorted(declared))}")
            await RedisSwitches(opened.cache).switch(feed, state)
            return await opened.registry.declared()

    _show([each for each in run(body) if each.source.id == feed], as_json)


def _show(declared: list[DeclaredFeed], as_json: bool) -> None:
    from found_footy.ops.terminal import printable

    if as_json:
        print_json([_document(each) for each in declared])
        return
    for each in declared:
        source = each.source
        by_hand = "" if each.switched is None else ", switched by hand"
        file = "" if each.switched is None else f" (the file says {'on' if source.enabled else 'off'})"
        style = "yellow" if each.on and each.lacks else "green" if each.on else "red"
        out.print(f"[{style}]{'on ' if each.on else 'off'}[/] ", end="")
        words = f"{source.id}  {source.adapter}, precedence {source.precedence}{by_hand}{file}"
        out.print(printable(words), markup=False, soft_wrap=True)
        if each.lacks:
            out.print(f"    {printable(each.lacks)}", style="dim", markup=False, soft_wrap=True)


def _document(each: DeclaredFeed) -> dict[str, Any]:
    source = each.source
    return {
        "feed": source.id,
        "adapter": source.adapter,
        "precedence": source.precedence,
        "on": each.on,
        "enabled": source.enabled,
        "switched": each.switched,
        "lacks": each.lacks,
        "follow": source.follow,
        "rate_limits": asdict(source.limits),
    }


def _decide(feed: str, feed_id: int, fixture_id: int, *, same: bool) -> None:
    async def decide(listings: PostgresListings) -> None:
        await listings.decide(feed, feed_id, fixture_id, same, datetime.now(UTC))

    _asked(decide)


def _asked(ask: Callable[[PostgresListings], Coroutine[Any, Any, T]]) -> T:
    """Asks the database of the running system; the composition root would load every engine's client."""
    from found_footy.adapters.storage.postgres.database import Database
    from found_footy.adapters.storage.postgres.listings import PostgresListings

    settings = located("database_url")
    if settings.database_url is None:
        raise EngineError("no database is known; start `footy up`, or set DATABASE_URL")
    database = Database(settings.database_url.get_secret_value())

    async def body() -> T:
        await database.open()
        try:
            return await ask(PostgresListings(database))
        finally:
            await database.close()

    return run(body)


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Feeds]:
    from found_footy.bootstrap_feeds import open_feeds

    async with open_feeds(settings) as opened:
        yield opened
