"""The lines that `footy up` prints when it is ready: what it follows, what is on and off, and the next match."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

from temporalio.client import WorkflowFailureError
from temporalio.service import RPCError

from found_footy.bootstrap_overview import setup_overview
from found_footy.bootstrap_stores import open_store
from found_footy.console import out
from found_footy.domain.errors import FootyError
from found_footy.ops.ingest_now import as_ours
from found_footy.ops.running import Running
from found_footy.setup_overview import SetupOverview, joined, next_match_text

log = logging.getLogger(__name__)

INGEST_TIMEOUT = timedelta(minutes=3)


async def print_banner(system: Running, pages: str) -> None:
    """Returns once the first ingest, if there is one, has ended: only then is the next match known."""
    try:
        async with open_store(system.settings) as store:
            overview = await setup_overview(system.settings, store.database, _now())
            print_overview(overview, pages, "fetching fixtures …" if system.first_ingest else None)
            if system.first_ingest is None:
                return
            failure = await _first_ingest(system)
            overview = await setup_overview(system.settings, store.database, _now())
            out.print(f"Next       {next_text(overview) if failure is None else failure}", markup=False, soft_wrap=True)
    except FootyError as error:
        # The system runs without its banner, and the log says why there is none.
        log.warning(str(error), extra={"action": "banner_failed", "error": error.kind})


async def _first_ingest(system: Running) -> str | None:
    """Why no fixtures came; None if they did."""
    assert system.first_ingest is not None
    try:
        await system.first_ingest.result(rpc_timeout=INGEST_TIMEOUT)
    except WorkflowFailureError as error:
        cause = as_ours(error)
        return f"no fixtures: {cause.kind}: {cause}. Run `footy doctor --live` to see which feed fails, and why."
    except (RPCError, TimeoutError):
        return "fixtures are still being fetched; the matchday page shows them as they arrive."
    return None


def print_overview(overview: SetupOverview, pages: str | None, pending: str | None = None) -> None:
    """`pending` replaces the next match while it is not known yet."""
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
        return "no match known yet; fixtures are fetched every day at 00:05 UTC, and now with `footy ingest`"
    return next_match_text(overview.next_match, _now())


def _now() -> datetime:
    return datetime.now(UTC)
