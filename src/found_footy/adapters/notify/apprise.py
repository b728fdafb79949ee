"""Discord, Telegram, ntfy, mail and the like, through Apprise in a process of its own."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from found_footy.adapters.guarded.asking import ask
from found_footy.domain.announcing.outcomes import Outcome, Result, outcome_of
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import BadRequest, DeliveryUnavailable
from found_footy.ports_announcing import Parcel

log = logging.getLogger(__name__)

CHILD = "found_footy.adapters.notify.apprise_child"
START_SECONDS = 10.0
"""For the process to begin: Apprise is large."""
AT_ONCE = 4
"""Processes, each of which takes some 60 MB."""
LONGEST_SAID = 200
SHORTEST_SECRET = 4

_STATUS = re.compile(r"\berror=(\d{3})\b")


class AppriseMessenger:
    def __init__(self, *, seconds: float, private_hosts: Collection[str] = ()) -> None:
        self._seconds = seconds
        self._private_hosts = list(private_hosts)
        self._places = asyncio.Semaphore(AT_ONCE)

    async def send(self, parcel: Parcel) -> Outcome:
        body = json.loads(parcel.body)
        try:
            answer = await self._ask(parcel.target, send=True, title=body["title"], text=body["text"])
        except TimeoutError:
            return Outcome(Result.LATER, f"not sent within {self._seconds:g} s", maybe_told=True)
        if answer is None:
            return Outcome(Result.LATER, "the process that sends ended without an answer", maybe_told=True)
        return _outcome(answer, parcel.target)

    async def check(self, target: str) -> None:
        try:
            answer = await self._ask(target, send=False)
        except TimeoutError:
            answer = None
        if answer is None:
            raise DeliveryUnavailable("the target could not be checked; try again")
        if not answer.get("valid"):
            raise BadRequest(f"the target is not usable: {_said(answer.get('said', ()), target)}")

    async def aclose(self) -> None:
        """Nothing is kept between two messages."""

    async def _ask(self, target: str, *, send: bool, title: str = "", text: str = "") -> dict[str, Any] | None:
        order = {
            "target": target,
            "send": send,
            "title": title,
            "text": text,
            "seconds": self._seconds,
            "private_hosts": self._private_hosts,
        }
        async with self._places:
            with tempfile.TemporaryDirectory(prefix="footy-apprise-") as folder:
                async with asyncio.timeout(self._seconds + START_SECONDS):
                    said = await ask(CHILD, order, Path(folder))
        if said.answer is None:
            log.warning(
                "Apprise ended without an answer",
                extra={
                    "action": "apprise_died",
                    "exit": said.exit_code,
                    "said": without_secrets(said.last_words, target),
                },
            )
        return said.answer


def _outcome(answer: dict[str, Any], target: str) -> Outcome:
    if answer.get("sent") is True:
        return Outcome(Result.TAKEN)
    said = _said(answer.get("said", ()), target)
    if answer.get("refused"):
        return Outcome(Result.REFUSED, f"forbidden address: {without_secrets(str(answer['refused'][0]), target)}")
    if not answer.get("valid"):
        return Outcome(Result.REFUSED, f"the target is not usable: {said}")
    if (status := _STATUS.search(said)) is not None:
        judged = outcome_of(int(status[1]))
        # The web server of a service says so; that something is gone there does not mean the whole subscription.
        result = Result.LATER if judged.result is Result.LATER else Result.REFUSED
        return Outcome(result, said, maybe_told=judged.maybe_told)
    return Outcome(Result.LATER, said, maybe_told=True)


def _said(lines: Sequence[object], target: str) -> str:
    last = next((str(line) for line in reversed(list(lines)) if str(line).strip()), "")
    return without_secrets(last, target) or "it was not sent"


def without_secrets(text: str, target: str) -> str:
    """A text of somebody who knew the target, with nothing of it left but its scheme."""
    pieces = [target, *re.split(r"[/?&=:@,%+]+", target.partition("://")[2])]
    for piece in sorted({each for each in pieces if len(each) >= SHORTEST_SECRET}, key=len, reverse=True):
        text = text.replace(piece, "…")
    return clean_text(text, LONGEST_SAID)
