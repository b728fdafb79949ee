"""Keeps the raw answer when an adapter gets a form that it does not know, for the bug report."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from found_footy.domain.errors import (
    ClipLost,
    FeedBlocked,
    FeedMalformed,
    FeedRejected,
    FeedSchemaError,
    FootyError,
    KnowledgeError,
    SourceChanged,
    VisionNonsense,
)
from found_footy.domain.videos.losses import Loss
from found_footy.http_exchanges import Exchange, decisive
from found_footy.ports_checks import UnexpectedAnswers

log = logging.getLogger(__name__)

UNEXPECTED = (FeedMalformed, FeedSchemaError, FeedRejected, FeedBlocked, SourceChanged, VisionNonsense)
PAUSE_SECONDS = 600.0
"""Between two answers with the same error of the same service. The store enforces it across workers."""


class AnswerKeeper:
    def __init__(self, answers: UnexpectedAnswers | None = None) -> None:
        """Without a store, nothing is kept."""
        self._answers = answers
        self._kept_at: dict[tuple[str, str], float] = {}

    async def note(self, name: str, errors: Iterable[FootyError], exchanges: Iterable[Exchange]) -> None:
        """Never raises: that an answer could not be kept must not cost a poll."""
        exchange = decisive(exchanges)
        if self._answers is None or exchange is None:
            return
        for error in {error.kind: error for error in errors if is_unexpected(error, exchange)}.values():
            await self._keep(self._answers, name, error, exchange)

    async def _keep(self, answers: UnexpectedAnswers, name: str, error: FootyError, exchange: Exchange) -> None:
        last, now = self._kept_at.get((name, error.kind)), time.monotonic()
        if last is not None and now - last < PAUSE_SECONDS:
            return
        self._kept_at[name, error.kind] = now
        try:
            kept = await answers.save(name, error, exchange)
        except Exception:
            log.exception("an unexpected answer was not kept", extra={"action": "answer_not_kept", "service": name})
            return
        if kept:
            log.warning(
                f"{name} sent an answer of an unknown form, kept for `footy doctor --report`: {exchange.summary}",
                extra={"action": "unexpected_answer", "service": name, "error": error.kind},
            )


def is_unexpected(error: FootyError, exchange: Exchange) -> bool:
    """Whether the form of the answer is the problem, and not the network, a login or a limit."""
    if isinstance(error, KnowledgeError):
        return exchange.status == 200
    if isinstance(error, ClipLost):
        # A page was read, and no video was found in it.
        return error.loss == Loss.UNSUPPORTED and exchange.status == 200
    return isinstance(error, UNEXPECTED)
