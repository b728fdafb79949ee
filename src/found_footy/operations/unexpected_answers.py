"""Stores raw responses of unexpected form for bug reports."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from found_footy.clips.models import RejectionReason
from found_footy.errors import (
    CandidateRejected,
    FeedBlocked,
    FeedMalformed,
    FeedRejected,
    FeedSchemaError,
    FootyError,
    InvalidVisionResponse,
    SourceChanged,
    WikidataError,
)
from found_footy.operations.check_store import PostgresUnexpectedAnswers
from found_footy.runtime.http_exchanges import Exchange, decisive_exchange

log = logging.getLogger(__name__)

UNEXPECTED = (FeedMalformed, FeedSchemaError, FeedRejected, FeedBlocked, SourceChanged, InvalidVisionResponse)
PAUSE_SECONDS = 600.0
"""Minimum time between two stored responses of a service with the same error. The store enforces it across workers."""


class UnexpectedAnswerRecorder:
    def __init__(self, answers: PostgresUnexpectedAnswers | None = None) -> None:
        """Without a store, nothing is recorded."""
        self._answers = answers
        self._kept_at: dict[tuple[str, str], float] = {}

    async def note(self, name: str, errors: Iterable[FootyError], exchanges: Iterable[Exchange]) -> None:
        """Store the decisive response. Never raises, because such a failure must not fail a poll."""
        exchange = decisive_exchange(exchanges)
        if self._answers is None or exchange is None:
            return
        for error in {error.kind: error for error in errors if is_unexpected(error, exchange)}.values():
            await self._keep(self._answers, name, error, exchange)

    async def _keep(self, answers: PostgresUnexpectedAnswers, name: str, error: FootyError, exchange: Exchange) -> None:
        last, now = self._kept_at.get((name, error.kind)), time.monotonic()
        if last is not None and now - last < PAUSE_SECONDS:
            return
        self._kept_at[name, error.kind] = now
        try:
            kept = await answers.save(name, error, exchange)
        except Exception:
            log.exception(
                "could not store an unexpected response", extra={"action": "response_not_stored", "service": name}
            )
            return
        if kept:
            log.warning(
                f"{name} sent an unexpected response, stored for `footy doctor --report`: {exchange.summary}",
                extra={"action": "unexpected_answer", "service": name, "error": error.kind},
            )


def is_unexpected(error: FootyError, exchange: Exchange) -> bool:
    """Whether the error is about the form of the response, and not the network, a login or a limit."""
    if isinstance(error, WikidataError):
        return exchange.status == 200
    if isinstance(error, CandidateRejected):
        # The page loaded, but contains no video.
        return error.reason == RejectionReason.UNSUPPORTED and exchange.status == 200
    return isinstance(error, UNEXPECTED)
