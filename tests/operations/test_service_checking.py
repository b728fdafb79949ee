"""Live checks run side by side, bounded in time, and each says what it asked and what came back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from found_footy import errors
from found_footy.errors import FeedBlocked, FootyError, SourceUnavailable
from found_footy.operations.models import CheckKind, ServiceCheck
from found_footy.operations.service_checks import Probe, ServiceChecker
from found_footy.runtime.http_exchanges import record_exchange
from found_footy.runtime.redaction import Redactor

NOW = datetime(2026, 11, 18, 6, 0, tzinfo=UTC)


def checker(seconds: float = 5, secret: str = "hunter-two") -> ServiceChecker:
    return ServiceChecker(lambda: NOW, Redactor([secret]), seconds)


def probe(check: Callable[[], Awaitable[str]], name: str = "feed espn") -> Probe:
    return Probe(name, CheckKind.FEED, check)


async def good() -> str:
    record_exchange("GET", "https://espn.example/scoreboard?dates=20261118&key=abc", 0.25, status=200, body=b"12345")
    return "3 matches for hunter-two"


async def blocked() -> str:
    record_exchange("GET", "https://espn.example/a", 0.1, status=403, body=b"no")
    record_exchange("GET", "https://espn.example/a", 0.1, status=403, body=b"no")
    record_exchange("GET", "https://espn.example/b", 0.1, status=200)
    raise FeedBlocked("refused")


async def hangs() -> str:
    record_exchange("GET", "https://slow.example/", 0.1, error="no answer")
    await asyncio.Event().wait()
    return ""


async def broken() -> str:
    raise KeyError("name")


async def test_a_result_has_request_and_response_without_secrets() -> None:
    (result,) = await checker().run([probe(good)])
    assert (result.ok, result.error_class, result.checked_at) == (True, "", NOW)
    assert result.asked == "GET espn.example/scoreboard?dates=20261118&key=***"
    assert result.answer == "HTTP 200, 5 bytes, 0.2 s; 3 matches for ***"


async def test_a_failure_names_the_request_that_decided_it() -> None:
    (result,) = await checker().run([probe(blocked)])
    assert (result.ok, result.error_class, result.hint) == (False, "FeedBlocked", FeedBlocked.hint)
    assert result.asked.splitlines() == ["GET espn.example/a (2 times)", "GET espn.example/b"]
    assert result.answer == "HTTP 403, 2 bytes, 0.1 s; FeedBlocked: refused"


async def test_one_slow_or_faulty_check_does_not_hold_up_the_others() -> None:
    seen: list[str] = []
    probes = [probe(hangs, "slow"), probe(broken, "broken"), probe(good, "good")]
    began = time.monotonic()
    results = await checker(0.3).run(probes, lambda result: seen.append(result.name))
    assert time.monotonic() - began < 3
    assert [(each.name, each.ok, each.error_class) for each in results] == [
        ("slow", False, "TimeoutError"),
        ("broken", False, "InternalFault"),
        ("good", True, ""),
    ]
    assert set(seen[:2]) == {"broken", "good"}
    assert seen[2] == "slow"
    assert results[0].asked == "GET slow.example/"
    assert all(each.hint for each in results if not each.ok)


async def test_an_uncancellable_check_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("found_footy.operations.service_checks.CLOSE_SECONDS", 0.1)
    released = asyncio.Event()

    async def stubborn() -> str:
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    (result,) = await checker(0.1).run([probe(stubborn)])
    assert (result.ok, result.error_class) == (False, "TimeoutError")
    released.set()
    await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name().startswith("check ")))


async def test_a_failure_that_may_pass_is_checked_again_once() -> None:
    tries: dict[str, int] = {}

    def failing(name: str, times: int, error: FootyError) -> Probe:
        async def check() -> str:
            tries[name] = tries.get(name, 0) + 1
            if tries[name] <= times:
                raise error
            return "fine"

        return probe(check, name)

    unavailable, refused = SourceUnavailable("away"), FeedBlocked("refused")
    probes = [failing("passes", 1, unavailable), failing("lasts", 9, unavailable), failing("refused", 9, refused)]
    results = await checker().run_with_recheck([*probes, probe(good)], pause_seconds=0)
    assert [result.ok for result in results] == [True, False, False, True]
    assert tries == {"passes": 2, "lasts": 2, "refused": 1}


ADAPTER_ERRORS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type)
    and issubclass(kind, errors.FeedError | errors.SourceError | errors.VisionError | errors.WikidataError)
    and kind not in (errors.FeedError, errors.SourceError, errors.VisionError)
    and kind not in (errors.MissingFromResponse, errors.FeedTimeWrong)  # about one match, not raised by a check
]


@pytest.mark.parametrize("kind", ADAPTER_ERRORS)
def test_every_error_that_a_check_can_raise_has_a_hint(kind: type[FootyError]) -> None:
    assert kind.hint


@pytest.mark.parametrize(
    ("ok", "since", "last_ok", "words"),
    [
        (True, 72, 0, "working for 3 d"),
        (False, 2, None, "failing for 2 h, never worked"),
        (False, 2, 26, "failing for 2 h, last worked 1 d ago"),
    ],
)
def test_state_duration_in_words(ok: bool, since: float, last_ok: float | None, words: str) -> None:
    last = None if last_ok is None else NOW - timedelta(hours=last_ok)
    check = ServiceCheck("x", CheckKind.SOURCE, ok, NOW - timedelta(hours=since), last, NOW, "", "")
    assert check.history(NOW) == words
