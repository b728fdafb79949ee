"""Webhooks: signed, delivered to a checked address, and never followed elsewhere."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime

import pytest

from found_footy.errors import BadRequest
from found_footy.notifications.models import DeliveryOutcome, OutgoingMessage, SendResult
from found_footy.notifications.webhook import WebhookSender
from tests.clips.hostile_server import HostileServer, Reply, redirect
from tests.support.notifications import Receiver

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
BODY = '{"id":"3-17","title":"Goal: Liverpool 1–0 Manchester City"}'

Open = Callable[..., WebhookSender]


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    made: list[WebhookSender] = []

    def open_one(*hosts: str, seconds: float = 5, addresses: Sequence[str] | None = None) -> WebhookSender:
        async def resolve(host: str, port: int) -> Sequence[str]:
            return addresses or ["127.0.0.1"]

        made.append(WebhookSender(seconds=seconds, private_hosts=hosts, now=lambda: NOW, resolve=resolve))
        return made[-1]

    yield open_one
    for each in made:
        await each.aclose()


def parcel(target: str) -> OutgoingMessage:
    return OutgoingMessage(
        8, 3, "3-17", "goal.stable", BODY, "webhook", target, "footy_secret", possibly_delivered=False
    )


async def test_a_message_is_signed_and_has_an_idempotency_key(opened: Open) -> None:
    async with Receiver() as receiver:
        outcome = await opened(receiver.host).send(parcel(receiver.url))
    assert outcome == DeliveryOutcome(SendResult.DELIVERED)
    (message,) = receiver.received
    assert message.raw == BODY.encode()
    assert message.headers["content-type"] == "application/json"
    assert (message.key, message.headers["footy-topic"]) == ("3-17", "goal.stable")
    at = int(NOW.timestamp())
    expected = hmac.new(b"footy_secret", f"{at}.".encode() + message.raw, hashlib.sha256).hexdigest()
    assert message.headers["footy-signature"] == f"t={at},v1={expected}"


@pytest.mark.parametrize(
    ("status", "result", "possibly_delivered"),
    [
        (200, SendResult.DELIVERED, False),
        (204, SendResult.DELIVERED, False),
        (301, SendResult.REFUSED, False),
        (400, SendResult.REFUSED, False),
        (404, SendResult.REFUSED, False),
        (408, SendResult.RETRY, False),
        (410, SendResult.ENDPOINT_GONE, False),
        (425, SendResult.RETRY, False),
        (429, SendResult.RETRY, False),
        (500, SendResult.RETRY, True),
        (503, SendResult.RETRY, True),
    ],
)
async def test_outcome_of_a_status(opened: Open, status: int, result: SendResult, possibly_delivered: bool) -> None:
    async with Receiver(lambda _: status) as receiver:
        outcome = await opened(receiver.host).send(parcel(receiver.url))
    assert (outcome.result, outcome.possibly_delivered) == (result, possibly_delivered)
    assert "secret" not in outcome.reason


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("soon", None), ("9" * 30, None), ("-1", None)])
async def test_retry_after_of_a_receiver(opened: Open, header: str, seconds: float | None) -> None:
    async with HostileServer(Reply(status=429, headers={"Retry-After": header})) as server:
        outcome = await opened(server.host).send(parcel(server.url))
    assert (outcome.result, outcome.retry_after) == (SendResult.RETRY, seconds)


async def test_the_reason_of_a_rejection_is_shortened(opened: Open) -> None:
    text = ("no such \u202ekey\x00\n" * 500).encode()
    async with HostileServer(Reply(text, 400, "text/plain")) as server:
        outcome = await opened(server.host).send(parcel(server.url))
    assert outcome.reason.startswith("HTTP 400: no such key")
    assert len(outcome.reason) < 150
    async with HostileServer(Reply(b"<h1>no</h1>", 400, "text/html")) as server:
        assert (await opened(server.host).send(parcel(server.url))).reason == "HTTP 400"


async def test_an_endless_response_is_cut_off(opened: Open) -> None:
    endless = Reply(status=400, kind="text/plain", unmeasured=True, then=b"x" * 65_536)
    async with HostileServer(endless) as server:
        assert (await opened(server.host).send(parcel(server.url))).result is SendResult.REFUSED
        assert server.sent < 10_000_000
    async with HostileServer(Reply(status=200, unmeasured=True, then=b"x" * 65_536)) as server:
        assert (await opened(server.host).send(parcel(server.url))).result is SendResult.DELIVERED


async def test_a_receiver_that_does_not_respond_possibly_has_the_message(opened: Open) -> None:
    async with HostileServer(Reply(silent=True)) as server:
        outcome = await opened(server.host, seconds=2).send(parcel(server.url))
    assert (outcome.result, outcome.possibly_delivered) == (SendResult.RETRY, True)
    assert "no response within 2 s" in outcome.reason


async def test_an_unreachable_receiver_does_not_have_the_message(opened: Open) -> None:
    async with Receiver() as receiver:
        pass
    outcome = await opened(receiver.host).send(parcel(receiver.url))
    assert (outcome.result, outcome.possibly_delivered) == (SendResult.RETRY, False)


async def test_a_receiver_with_an_invalid_response_possibly_has_the_message(opened: Open) -> None:
    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"\x00\xff garbage\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(nonsense, "127.0.0.1", 0)
    async with server:
        host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        outcome = await opened(host).send(parcel(f"http://{host}/"))
    assert (outcome.result, outcome.possibly_delivered) == (SendResult.RETRY, True)


async def test_a_redirect_to_a_private_address_is_not_followed(opened: Open) -> None:
    async with Receiver() as inside, HostileServer(redirect(inside.url)) as server:
        outcome = await opened(server.host, inside.host).send(parcel(server.url))
        assert outcome.result is SendResult.REFUSED
        assert "redirects are not followed" in outcome.reason
        assert inside.received == []


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1"])
async def test_a_name_with_a_private_address_is_refused(opened: Open, address: str) -> None:
    outcome = await opened(addresses=[address]).send(parcel("http://hooks.example/in"))
    assert (outcome.result, outcome.possibly_delivered) == (SendResult.REFUSED, False)
    assert "address is not public" in outcome.reason


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
async def test_an_impossible_target_is_refused_at_once(opened: Open, target: str) -> None:
    with pytest.raises(BadRequest):
        await opened().check(target)


@pytest.mark.parametrize("target", ["https://hooks.example/in?x=1", "http://host1:8080/", "https://b\xfccher.example/"])
async def test_a_possible_target_is_accepted(opened: Open, target: str) -> None:
    await opened().check(target)
