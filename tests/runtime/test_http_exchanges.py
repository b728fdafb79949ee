"""What is kept of an HTTP exchange, and what never is."""

from __future__ import annotations

import asyncio

import pytest

from found_footy.runtime.http_exchanges import (
    MAX_BODY_BYTES,
    MAX_EXCHANGES,
    mask_credentials,
    record_exchange,
    record_exchanges,
)


def test_exchanges_are_kept_only_while_recording() -> None:
    record_exchange("GET", "https://a.example/x", 0.1, status=200)
    with record_exchanges() as exchanges:
        record_exchange("GET", "https://a.example/y", 0.1, status=200, body=b"{}")
    record_exchange("GET", "https://a.example/z", 0.1, status=200)
    assert [each.summary for each in exchanges] == ["GET a.example/y -> HTTP 200, 2 bytes, 0.1 s"]


async def test_tasks_started_inside_the_block_record_into_the_same_list() -> None:
    async def ask(number: int) -> None:
        record_exchange("GET", f"https://a.example/{number}", 0, error="ConnectError")

    with record_exchanges() as exchanges:
        await asyncio.gather(*(ask(number) for number in range(3)))
    assert sorted(each.request_line for each in exchanges) == ["GET a.example/0", "GET a.example/1", "GET a.example/2"]
    assert exchanges[0].response_line == "ConnectError, 0.0 s"


def test_the_newest_exchanges_are_kept_and_bodies_are_cut() -> None:
    with record_exchanges() as exchanges:
        for number in range(MAX_EXCHANGES + 5):
            record_exchange("GET", f"https://a.example/{number}", 0, status=200, body=b"x" * (MAX_BODY_BYTES + 1))
    assert len(exchanges) == MAX_EXCHANGES
    assert exchanges[-1].request_line == f"GET a.example/{MAX_EXCHANGES + 4}"
    assert len(exchanges[-1].body) == MAX_BODY_BYTES
    assert exchanges[-1].size == MAX_BODY_BYTES + 1


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pass@a.example/x", "a.example/x"),
        ("https://a.example/x?q=goal&token=abc", "a.example/x?q=goal&token=***"),
        ("https://a.example/x?API_KEY=abc", "a.example/x?API_KEY=***"),
        ("https://a.example/x?dates=20261118", "a.example/x?dates=20261118"),
        ("https://[bad/x", "an invalid URL"),
    ],
)
def test_urls_are_shown_without_credentials(url: str, shown: str) -> None:
    assert mask_credentials(url) == shown


def test_headers_that_may_carry_secrets_are_dropped() -> None:
    headers = {"Content-Type": "text/html", "Set-Cookie": "session=1", "X-RateLimit-Remaining": "0", "X-Key": "k"}
    with record_exchanges() as exchanges:
        record_exchange("GET", "https://a.example/", 0, status=429, headers=headers)
    assert exchanges[0].headers == {"content-type": "text/html", "x-ratelimit-remaining": "0"}
