"""CREX over a scripted matchday: which page behaves how, and when."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import Route

from found_footy.simulator.crex_site import CrexSiteState, crex_routes
from found_footy.simulator.crex_traps import CrexMode
from found_footy.simulator.cricket import CricketNow
from found_footy.simulator.feed_script import FaultKind
from found_footy.simulator.feed_view import FeedView

MODES: dict[FaultKind, CrexMode] = {
    "server_error": CrexMode.DOWN,
    "timeout": CrexMode.HANGING,
    "truncated": CrexMode.TRUNCATED,
    "html": CrexMode.BLANK,
    "captcha": CrexMode.CAPTCHA,
    "rate_limit": CrexMode.RATE_LIMITED,
    "redirect_loop": CrexMode.REDIRECT_LOOP,
    "gzip_bomb": CrexMode.HUGE,
}
"""What a fault looks like on a page."""


class CrexFeed:
    def __init__(self, view: FeedView, state: CrexSiteState) -> None:
        self._view = view
        self._state = state

    def routes(self) -> list[Route]:
        return crex_routes(self._matches_now, self._state, self._asked)

    def _matches_now(self) -> Sequence[CricketNow]:
        return self._view.matchday.cricket(self._view.offset)

    def _asked(self, code: str) -> CrexMode:
        """A match's page is opened, which is a poll."""
        self._view.poll()
        due = self._view.faults(())
        return self._state.mode if due.feed is None else MODES[due.feed.kind]
