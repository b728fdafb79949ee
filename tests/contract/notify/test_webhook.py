"""Webhooks: signed, delivered to a checked address, and never followed elsewhere."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime

import pytest
from tests.contract.download.hostile_server import HostileServer, Reply, redirect
from tests.support.announcing import Receiver

from found_footy.adapters.notify.webhook import Webhooks
from found_footy.domain.announcing.outcomes import Outcome, Result
from found_footy.domain.errors import BadRequest
from found_footy.ports_announcing import Parcel

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
BODY = '{"id":"3-17","title":"Goal: Liverpool 1–0 Manchester City"}'

Open = Callable[..., Webhooks]


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    made: list[Webhooks] = []

    def open_one(*hosts: str, seconds: float = 5, addresses: Sequence[str] | None = None) -> Webhooks:
        async def resolve(host: str, port: int) -> Sequence[str]:
            return addresses or ["127.0.0.1"]

        made.append(Webhooks(seconds=seconds, private_hosts=hosts, now=lambda: NOW, resolve=resolve))
        return made[-1]

    yield open_one
    for each in made:
        await each.aclose()


def parcel(target: str) -> Parcel:
    return Parcel(8, 3, "3-17", "goal.stable", BODY, "webhook", target, "footy_secret", maybe_told=False)


async def test_a_message_is_signed_and_says_which_it_is(opened: Open) -> None:
    async with Receiver() as receiver:
        outcome = await opened(receiver.host).send(parcel(receiver.url))
    assert outcome == Outcome(Result.TAKEN)
    (message,) = receiver.received
    assert message.raw == BODY.encode()
    assert message.headers["content-type"] == "application/json"
    assert (message.key, message.headers["footy-topic"]) == ("3-17", "goal.stable")
    at = int(NOW.timestamp())
    expected = hmac.new(b"footy_secret", f"{at}.".encode() + message.raw, hashlib.sha256).hexdigest()
    assert message.headers["footy-signature"] == f"t={at},v1={expected}"


@pytest.mark.parametrize(
    ("status", "result", "maybe_told"),
    [
        (200, Result.TAKEN, False),
        (204, Result.TAKEN, False),
        (301, Result.REFUSED, False),
        (400, Result.REFUSED, False),
        (404, Result.REFUSED, False),
        (408, Result.LATER, False),
        (410, Result.GONE, False),
        (425, Result.LATER, False),
        (429, Result.LATER, False),
        (500, Result.LATER, True),
        (503, Result.LATER, True),
    ],
)
async def test_a_status_says_what_becomes_of_a_message(
    opened: Open, status: int, result: Result, maybe_told: bool
) -> None:
    async with Receiver(lambda _: status) as receiver:
        outcome = await opened(receiver.host).send(parcel(receiver.url))
    assert (outcome.result, outcome.maybe_told) == (result, maybe_told)
    assert "secret" not in outcome.said


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("soon", None), ("9" * 30, None), ("-1", None)])
async def test_a_receiver_may_say_when(opened: Open, header: str, seconds: float | None) -> None:
    async with HostileServer(Reply(status=429, headers={"Retry-After": header})) as server:
        outcome = await opened(server.host).send(parcel(server.url))
    assert (outcome.result, outcome.retry_after) == (Result.LATER, seconds)


async def test_the_words_of_a_refusal_are_kept_short_and_plain(opened: Open) -> None:
    text = ("no such \u202ekey\x00\n" * 500).encode()
    async with HostileServer(Reply(text, 400, "text/plain")) as server:
        outcome = await opened(server.host).send(parcel(server.url))
    assert outcome.said.startswith("HTTP 400: no such key")
    assert len(outcome.said) < 150
    async with HostileServer(Reply(b"<h1>no</h1>", 400, "text/html")) as server:
        assert (await opened(server.host).send(parcel(server.url))).said == "HTTP 400"


async def test_an_answer_without_an_end_is_not_waited_for(opened: Open) -> None:
    endless = Reply(status=400, kind="text/plain", unmeasured=True, then=b"x" * 65_536)
    async with HostileServer(endless) as server:
        assert (await opened(server.host).send(parcel(server.url))).result is Result.REFUSED
        assert server.sent < 10_000_000
    async with HostileServer(Reply(status=200, unmeasured=True, then=b"x" * 65_536)) as server:
        assert (await opened(server.host).send(parcel(server.url))).result is Result.TAKEN


async def test_a_receiver_that_says_nothing_may_have_heard(opened: Open) -> None:
    async with HostileServer(Reply(silent=True)) as server:
        outcome = await opened(server.host, seconds=2).send(parcel(server.url))
    assert (outcome.result, outcome.maybe_told) == (Result.LATER, True)
    assert "no answer within 2 s" in outcome.said


async def test_a_receiver_that_is_not_there_has_not(opened: Open) -> None:
    async with Receiver() as receiver:
        pass
    outcome = await opened(receiver.host).send(parcel(receiver.url))
    assert (outcome.result, outcome.maybe_told) == (Result.LATER, False)


async def test_one_that_hangs_up_or_talks_nonsense_may_have_heard(opened: Open) -> None:
    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"\x00\xff garbage\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(nonsense, "127.0.0.1", 0)
    async with server:
        host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        outcome = await opened(host).send(parcel(f"http://{host}/"))
    assert (outcome.result, outcome.maybe_told) == (Result.LATER, True)


async def test_a_redirect_to_a_private_address_is_not_followed(opened: Open) -> None:
    async with Receiver() as inside, HostileServer(redirect(inside.url)) as server:
        outcome = await opened(server.host, inside.host).send(parcel(server.url))
        assert outcome.result is Result.REFUSED
        assert "redirects are not followed" in outcome.said
        assert inside.received == []


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1"])
async def test_a_name_that_leads_inside_is_refused(opened: Open, address: str) -> None:
    outcome = await opened(addresses=[address]).send(parcel("http://hooks.example/in"))
    assert (outcome.result, outcome.maybe_told) == (Result.REFUSED, False)
    assert "not at a public address" in outcome.said


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/x",
        "http://127.1/x",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://[::1]/",
        "http://hooks.example:5432/",
        "ftp://hooks.example/",
        "http://user:word@hooks.example/",
        "http://",
        "http://exa mple/",
    ],
)
async def test_a_target_that_can_never_work_is_refused_at_once(opened: Open, target: str) -> None:
    with pytest.raises(BadRequest):
        await opened().check(target)


@pytest.mark.parametrize("target", ["https://hooks.example/in?x=1", "http://host1:8080/", "https://b\xfccher.example/"])
async def test_a_target_that_may_work_is_taken(opened: Open, target: str) -> None:
    await opened().check(target)
