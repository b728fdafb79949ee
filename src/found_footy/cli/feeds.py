"""`footy feeds`: list, enable and disable score feeds, and confirm or reject match pairings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from found_footy.cli.common import AsJson, located_settings, out, print_json, run, with_database
from found_footy.cli.match_view import printable
from found_footy.config import Settings
from found_footy.errors import NotFound
from found_footy.runtime.clock import utc_now

if TYPE_CHECKING:
    from found_footy.feeds.models import DoubtfulPairing
    from found_footy.feeds.registry import DeclaredFeed, OpenFeeds
    from found_footy.feeds.store import ListingStore
    from found_footy.storage.postgres import Database


T = TypeVar("T")

feeds = typer.Typer(
    name="feeds",
    help="List, enable and disable score feeds; confirm or reject match pairings. Default command: list.",
    invoke_without_command=True,
)

FeedId = Annotated[str, typer.Argument(help="Feed id, from `footy feeds list`.")]
MatchId = Annotated[int, typer.Argument(help="The match's id in that feed.")]
FixtureId = Annotated[int, typer.Argument(help="Fixture id, from `footy fixtures`.")]


@feeds.callback()
def default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_feeds()


@feeds.command(name="list")
def list_feeds(as_json: AsJson = False) -> None:
    """List the declared feeds and whether each is on, highest precedence first."""
    settings = located_settings("redis_url")

    async def body() -> list[DeclaredFeed]:
        async with _opened(settings) as opened:
            return await opened.registry.declared()

    _show(run(body), as_json)


@feeds.command()
def on(feed: FeedId, as_json: AsJson = False) -> None:
    """Enable a feed from the next poll on, overriding the feeds file."""
    _switch(feed, True, as_json)


@feeds.command()
def off(feed: FeedId, as_json: AsJson = False) -> None:
    """Disable a feed from the next poll on, overriding the feeds file."""
    _switch(feed, False, as_json)


@feeds.command()
def auto(feed: FeedId, as_json: AsJson = False) -> None:
    """Remove the override: the feeds file decides again."""
    _switch(feed, None, as_json)


@feeds.command()
def pairings(as_json: AsJson = False) -> None:
    """List uncertain pairings: matches of two feeds that may be the same, to be confirmed or rejected."""

    async def query(listings: ListingStore) -> Sequence[DoubtfulPairing]:
        return await listings.doubtful()

    found = _with_listings(query)
    if as_json:
        print_json([_pairing_document(each) for each in found])
    elif found:
        out.print(pairings_view(found))
    else:
        out.print("no uncertain pairings")


@feeds.command()
def same(feed: FeedId, feed_id: MatchId, fixture_id: FixtureId) -> None:
    """Confirm that a feed's match is this fixture. The feed is used for it at once."""
    _decide(feed, feed_id, fixture_id, same=True)
    out.print(f"match {feed_id} of {feed} is fixture {fixture_id}", markup=False)


@feeds.command()
def different(feed: FeedId, feed_id: MatchId, fixture_id: FixtureId) -> None:
    """Reject a pairing: the feed's match becomes a separate fixture at the next ingest."""
    _decide(feed, feed_id, fixture_id, same=False)
    out.print(f"match {feed_id} of {feed} is not fixture {fixture_id}", markup=False)


def _switch(feed: str, state: bool | None, as_json: bool) -> None:
    from found_footy.feeds.cache import FeedSwitches

    settings = located_settings("redis_url")

    async def body() -> list[DeclaredFeed]:
        async with _opened(settings) as opened:
            declared = {each.source.id for each in await opened.registry.declared()}
            if feed not in declared:
                raise NotFound(f"feed {feed[:40]!r} not found; declared feeds: {', '.join(sorted(declared))}")
            await FeedSwitches(opened.cache).switch(feed, state)
            return await opened.registry.declared()

    _show([each for each in run(body) if each.source.id == feed], as_json)


def _show(declared: list[DeclaredFeed], as_json: bool) -> None:
    if as_json:
        print_json([_document(each) for each in declared])
        return
    for each in declared:
        source = each.source
        by_hand = "" if each.switched is None else ", set manually"
        file = "" if each.switched is None else f" (feeds file: {'on' if source.enabled else 'off'})"
        style = "yellow" if each.is_on and each.missing else "green" if each.is_on else "red"
        out.print(f"[{style}]{'on ' if each.is_on else 'off'}[/] ", end="")
        words = f"{source.id}  {source.adapter}, precedence {source.precedence}{by_hand}{file}"
        out.print(printable(words), markup=False, soft_wrap=True)
        if each.missing:
            out.print(f"    {printable(each.missing)}", style="dim", markup=False, soft_wrap=True)


def _document(each: DeclaredFeed) -> dict[str, Any]:
    source = each.source
    return {
        "feed": source.id,
        "adapter": source.adapter,
        "precedence": source.precedence,
        "on": each.is_on,
        "enabled": source.enabled,
        "switched": each.switched,
        "lacks": each.missing,
        "follow": source.follow,
        "rate_limits": asdict(source.limits),
    }


def _decide(feed: str, feed_id: int, fixture_id: int, *, same: bool) -> None:
    async def decide(listings: ListingStore) -> None:
        await listings.decide(feed, feed_id, fixture_id, same, utc_now())

    _with_listings(decide)


def _with_listings(use: Callable[[ListingStore], Coroutine[Any, Any, T]]) -> T:
    async def body(database: Database) -> T:
        from found_footy.feeds.store import ListingStore

        return await use(ListingStore(database))

    return with_database(body)


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[OpenFeeds]:
    from found_footy.feeds.registry import open_feeds

    async with open_feeds(settings) as opened:
        yield opened


# --- Terminal view


def _pairing_document(pairing: DoubtfulPairing) -> dict[str, Any]:
    document = asdict(pairing)
    names = {
        "our_home": "home_name",
        "our_away": "away_name",
        "our_kickoff": "fixture_kickoff",
        "our_competition": "fixture_competition",
    }
    return {names.get(name, name): value for name, value in document.items()} | {"same": None, "decided_at": None}


def pairings_view(pairings: Sequence[DoubtfulPairing]) -> RenderableType:
    lines: list[RenderableType] = []
    for each in pairings:
        listed = f"{each.home} – {each.away}, {each.competition}, {each.kickoff:%Y-%m-%d %H:%M}"
        fixture = f"{each.our_home} – {each.our_away}, {each.our_competition}, {each.our_kickoff:%Y-%m-%d %H:%M}"
        lines.append(Text(printable(f"{each.feed} {each.feed_id}: {listed}"), "bold"))
        lines.append(Text(printable(f"  fixture {each.fixture_id}: {fixture}")))
        lines.append(Text(printable(f"  {each.confidence:.0%} confident: {'; '.join(each.reasons)}"), "yellow"))
        decision = f"{each.feed} {each.feed_id} {each.fixture_id}"
        lines.append(Text(printable(f"  footy feeds same {decision}  |  footy feeds different {decision}"), "dim"))
    return Group(*lines)
