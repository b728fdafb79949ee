"""Notifications through Apprise, in a process of its own, against a server that speaks ntfy's protocol."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.contract.download.hostile_server import HostileServer, Reply, redirect
from tests.support.announcing import Receiver

from found_footy.adapters.notify import apprise as module
from found_footy.adapters.notify.apprise import AppriseMessenger, without_secrets
from found_footy.domain.announcing.outcomes import Result
from found_footy.domain.errors import BadRequest, DeliveryUnavailable
from found_footy.ports_announcing import Parcel

TEXT = "23' Mohamed Salah (Liverpool) · Premier League\nhttps://footy.example/g/1"


def parcel(target: str) -> Parcel:
    body = json.dumps({"title": "Goal: Liverpool 1–0 Manchester City", "text": TEXT})
    return Parcel(8, 3, "3-17", "goal.stable", body, "notify", target, None, maybe_told=False)


async def test_a_message_reaches_its_service() -> None:
    async with Receiver(lambda _: 200) as server:
        outcome = await AppriseMessenger(seconds=10, private_hosts=[server.host]).send(
            parcel(f"ntfy://{server.host}/goals")
        )
    assert outcome.result is Result.TAKEN
    (message,) = server.received
    assert message.body == {"topic": "goals", "title": "Goal: Liverpool 1–0 Manchester City", "message": TEXT}


@pytest.mark.parametrize(
    ("status", "result", "maybe_told"),
    [(403, Result.REFUSED, False), (410, Result.REFUSED, False), (429, Result.LATER, False), (503, Result.LATER, True)],
)
async def test_a_service_may_refuse(status: int, result: Result, maybe_told: bool) -> None:
    async with Receiver(lambda _: status) as server:
        outcome = await AppriseMessenger(seconds=10, private_hosts=[server.host]).send(
            parcel(f"ntfy://{server.host}/hidden-topic")
        )
    assert (outcome.result, outcome.maybe_told) == (result, maybe_told)
    assert "hidden-topic" not in outcome.said


async def test_a_service_that_hangs_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "START_SECONDS", 2.0)
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    endless = Reply(unmeasured=True, then=b" " * 100, pause=0.2)
    async with HostileServer(endless) as server:
        outcome = await AppriseMessenger(seconds=1, private_hosts=[server.host]).send(
            parcel(f"ntfy://{server.host}/topic")
        )
    assert (outcome.result, outcome.maybe_told) == (Result.LATER, True)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("address", ["127.0.0.1:9", "localhost", "10.0.0.1", "169.254.169.254", "[::1]"])
async def test_no_private_address_is_asked(address: str) -> None:
    outcome = await AppriseMessenger(seconds=5).send(parcel(f"ntfy://{address}/topic"))
    assert outcome.result is Result.REFUSED
    assert "forbidden address" in outcome.said


async def test_a_redirect_is_not_followed_inside() -> None:
    async with Receiver() as inside, HostileServer(redirect(inside.url, 307)) as server:
        outcome = await AppriseMessenger(seconds=5, private_hosts=[server.host]).send(
            parcel(f"ntfy://{server.host}/topic?redirect=yes")
        )
        assert (outcome.result, inside.received) == (Result.REFUSED, [])


@pytest.mark.parametrize(
    "target",
    [
        "json://hooks.example/",
        "xml://hooks.example/",
        "apprise://hooks.example/token",
        "syslog://",
        "dbus://",
        "https://hooks.example/in",
        "nothing://x",
        "tgram://bad",
        "discord://only-one",
    ],
)
async def test_what_is_no_service_for_people_is_refused_when_it_is_given(target: str) -> None:
    with pytest.raises(BadRequest):
        await AppriseMessenger(seconds=5).check(target)


@pytest.mark.parametrize(
    "target",
    [
        "ntfys://ntfy.sh/goals",
        "discord://123456789012345678/abcdefghijklmnopqrstuvwxyz",
        "https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcd",
        "tgram://123456789:abcdefghijklmnopqrstuvwxyz0123456789/12315544",
        "mailtos://user:word@mail.example?to=fan@mail.example",
    ],
)
async def test_a_service_for_people_is_taken(target: str) -> None:
    await AppriseMessenger(seconds=5).check(target)


async def test_a_check_that_could_not_be_made_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHILD", "found_footy.adapters.notify.not_there")
    with pytest.raises(DeliveryUnavailable):
        await AppriseMessenger(seconds=5).check("ntfys://ntfy.sh/goals")


async def test_the_target_is_on_no_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[object, ...]] = []
    real = module.asyncio.create_subprocess_exec

    async def noted(*args: object, **kwargs: object) -> object:
        seen.append((args, kwargs["env"]))
        return await real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(module.asyncio, "create_subprocess_exec", noted)
    await AppriseMessenger(seconds=5).check("ntfys://ntfy.sh/secret-topic")
    assert len(seen) == 1
    assert "secret-topic" not in repr(seen)


@pytest.mark.parametrize(
    ("text", "target", "shown"),
    [
        ("Unparseable URL tgram://12:ab/34", "tgram://12:ab/34", "Unparseable URL …"),
        ("to topic 'goals' at ntfy.sh", "ntfys://ntfy.sh/goals?token=abcdef", "to topic '…' at …"),
        ("login of fan failed: s3cret", "mailto://fan:s3cret@mail.example", "login of fan failed: …"),
    ],
)
def test_nothing_of_a_target_is_left_in_what_is_said(text: str, target: str, shown: str) -> None:
    assert without_secrets(text, target) == shown
