"""What is wrong with an HTTP answer before anybody looks into its JSON: a table of signs and their classes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from found_footy.domain.errors import (
    FeedBlocked,
    FeedMalformed,
    FeedNotFound,
    FeedQueryRejected,
    FeedRateLimited,
    FeedTimeWrong,
    FeedUnauthorized,
    FeedUnavailable,
    NotFound,
)

CLOCK_TOLERANCE = timedelta(minutes=10)
"""How far a feed's clock may be from ours, and how old an answer out of some cache may be."""
LOOKED_AT = 200_000
"""Bytes of a page in which the words are looked for."""

FOR_PEOPLE = re.compile(
    rb"captcha|are you (?:a )?human|(?:are|re) (?:you )?not a robot|are you a robot|verify (?:that )?you are human"
    rb"|unusual traffic|automated requests|cf-chl|challenge-platform|just a moment\.\.\.|enable javascript and cookies"
    rb"|before you continue|cookie consent|consent to (?:the use of )?cookies|your privacy choices|_incapsula_resource",
    re.IGNORECASE,
)
"""Words of pages that want a person in front of them."""
MAYBE_BLOCKED = frozenset({403, 405, 429, 503})


def judge(status: int, headers: Mapping[str, str], body: bytes, where: str, now: datetime | None) -> Any:
    """The JSON of an answer, or the FeedError that says why there is none."""
    if is_for_people(status, headers, body):
        raise FeedBlocked(f"{where} answered HTTP {status} with a page for people instead of data")
    _refuse(status, headers, body, where, now)
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        start = body[:60].decode("utf-8", "replace")
        kind = "a page" if _is_page(headers, body) else "something that is not JSON"
        raise FeedMalformed(f"{where} sent {kind}, starting {start!r}") from error


def judge_page(status: int, headers: Mapping[str, str], body: bytes, where: str, now: datetime | None) -> str:
    """The text of a page. A good page may mention captchas, so the words decide only about refusals."""
    if status != 200 and is_for_people(status, headers, body):
        raise FeedBlocked(f"{where} answered HTTP {status} with a page for people instead of data")
    if status == 404:
        raise NotFound(f"{where} answered HTTP 404")
    _refuse(status, headers, body, where, now)
    return body.decode("utf-8", "replace")


def _refuse(status: int, headers: Mapping[str, str], body: bytes, where: str, now: datetime | None) -> None:
    if status in (401, 403):
        raise FeedUnauthorized(f"{where} answered HTTP {status}")
    if status == 400:
        raise FeedQueryRejected(f"{where} answered HTTP 400: {_reason(body)}")
    if status == 429:
        raise FeedRateLimited(f"{where} answered HTTP 429")
    if status == 404:
        raise FeedNotFound(f"{where} answered HTTP 404")
    if status != 200:
        raise FeedUnavailable(f"{where} answered HTTP {status}")
    made = answer_time(headers)
    if now is not None and made is not None and abs(now - made) > CLOCK_TOLERANCE:
        raise FeedTimeWrong(f"{where} dates its answer {made:%Y-%m-%d %H:%M} UTC; here it is {now:%Y-%m-%d %H:%M}")


def is_for_people(status: int, headers: Mapping[str, str], body: bytes) -> bool:
    """A captcha, a challenge or a consent page. Words inside of good JSON prove nothing."""
    if headers.get("cf-mitigated"):
        return True
    return (status in MAYBE_BLOCKED or _is_page(headers, body)) and bool(FOR_PEOPLE.search(body[:LOOKED_AT]))


def leads_to_people(address: str) -> bool:
    """Whether an address that a feed sends us to is one of those pages."""
    return bool(re.search(r"captcha|challenge|consent|validate\.perfdrive", address, re.IGNORECASE))


def answer_time(headers: Mapping[str, str]) -> datetime | None:
    """When the answer was made, by the feed's clock."""
    text = headers.get("date", "")
    try:
        made = parsedate_to_datetime(text[:60])
    except (ValueError, TypeError, OverflowError):
        return None
    return (made.replace(tzinfo=UTC) if made.tzinfo is None else made).astimezone(UTC)


def _reason(body: bytes) -> str:
    """The vendor's own message, where the body is JSON that has one."""
    try:
        message = json.loads(body)["message"]
    except (ValueError, RecursionError, KeyError, TypeError):
        message = body[:120].decode("utf-8", "replace")
    return ascii(message)[1:-1][:200] if isinstance(message, str) and message.strip() else "no reason given"


def _is_page(headers: Mapping[str, str], body: bytes) -> bool:
    start = body[:100].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"<") or headers.get("content-type", "").strip().lower().startswith("text/html")
