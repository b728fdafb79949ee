"""Banner of `footy up`: what is followed, which feeds and sources are enabled, and the next match."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from temporalio.client import WorkflowFailureError
from temporalio.service import RPCError

from found_footy.app import Running, setup_overview
from found_footy.cli.common import out
from found_footy.errors import FootyError
from found_footy.operations.overview import SetupOverview, joined, next_match_text
from found_footy.runtime.clock import utc_now
from found_footy.runtime.temporal import restore_error
from found_footy.storage.postgres import open_database

log = logging.getLogger(__name__)

INGEST_TIMEOUT = timedelta(minutes=3)


async def print_banner(system: Running, pages: str) -> None:
    """Print the banner, and the next match once the first ingest, if any, has ended."""
    try:
        async with open_database(system.settings) as database:
            overview = await setup_overview(system.settings, database, _now())
            print_overview(overview, pages, "fetching fixtures …" if system.first_ingest else None)
            if system.first_ingest is None:
                return
            failure = await _first_ingest(system)
            overview = await setup_overview(system.settings, database, _now())
            out.print(f"Next       {next_text(overview) if failure is None else failure}", markup=False, soft_wrap=True)
    except FootyError as error:
        # The system also runs without its banner.
        log.warning(str(error), extra={"action": "banner_failed", "error": error.kind})


async def _first_ingest(system: Running) -> str | None:
    """Wait for the first ingest and return why it failed; None if it succeeded."""
    assert system.first_ingest is not None
    try:
        await system.first_ingest.result(rpc_timeout=INGEST_TIMEOUT)
    except WorkflowFailureError as error:
        cause = restore_error(error)
        return f"no fixtures: {cause.kind}: {cause}. Run `footy doctor --live` to see which feed fails and why."
    except (RPCError, TimeoutError):
        return "fixtures are still being fetched; the matchday page shows them as they arrive."
    return None


def print_overview(overview: SetupOverview, pages: str | None, pending: str | None = None) -> None:
    """Print the overview. `pending` replaces the next match while it is unknown."""
    rows = [
        ("Following", overview.following),
        ("Feeds", joined(overview.feeds)),
        ("Sources", joined(overview.sources)),
        ("Next", pending or next_text(overview)),
    ]
    for label, text in rows if pages is None else [*rows, ("Pages", pages)]:
        out.print(f"{label:<10} {text}", markup=False, soft_wrap=True)
    for problem in overview.problems:
        out.print(problem, style="yellow", markup=False, soft_wrap=True)


def next_text(overview: SetupOverview) -> str:
    if overview.next_match is None:
        return "no upcoming match; fixtures are fetched daily at 00:05 UTC, or now with `footy ingest`"
    return next_match_text(overview.next_match, _now())


def _now() -> datetime:
    return utc_now()
