"""Notifications through Apprise, in a process of its own, against a server that speaks ntfy's protocol."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from found_footy.errors import BadRequest, DeliveryUnavailable
from found_footy.notifications import apprise as module
from found_footy.notifications.apprise import AppriseSender, names_local_file, redact_secrets
from found_footy.notifications.models import DeliveryOutcome, OutgoingMessage, SendResult
from tests.clips.hostile_server import HostileServer, Reply, redirect
from tests.support.notifications import Receiver

TEXT = "23' Mohamed Salah (Liverpool) · Premier League\nhttps://footy.example/g/1"


def parcel(target: str) -> OutgoingMessage:
    body = json.dumps({"title": "Goal: Liverpool 1–0 Manchester City", "text": TEXT})
    return OutgoingMessage(8, 3, "3-17", "goal.stable", body, "notify", target, None, possibly_delivered=False)


async def send(target: str, seconds: float, *private_hosts: str) -> DeliveryOutcome:
    async with aclosing(AppriseSender(seconds=seconds, private_hosts=private_hosts)) as sender:
        return await sender.send(parcel(target))


async def check(target: str) -> None:
    async with aclosing(AppriseSender(seconds=5)) as sender:
        await sender.check(target)


async def test_a_message_reaches_its_service() -> None:
    async with Receiver(lambda _: 200) as server:
        outcome = await send(f"ntfy://{server.host}/goals", 10, server.host)
    assert outcome.result is SendResult.DELIVERED
    (message,) = server.received
    assert message.body == {"topic": "goals", "title": "Goal: Liverpool 1–0 Manchester City", "message": TEXT}


@pytest.mark.parametrize(
    ("status", "result", "possibly_delivered"),
    [
        (403, SendResult.REFUSED, False),
        (410, SendResult.REFUSED, False),
        (429, SendResult.RETRY, False),
        (503, SendResult.RETRY, True),
    ],
)
async def test_a_service_may_refuse(status: int, result: SendResult, possibly_delivered: bool) -> None:
    async with Receiver(lambda _: status) as server:
        outcome = await send(f"ntfy://{server.host}/hidden-topic", 10, server.host)
    assert (outcome.result, outcome.possibly_delivered) == (result, possibly_delivered)
    assert "hidden-topic" not in outcome.reason


async def test_a_hanging_service_times_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "STARTUP_SECONDS", 2.0)
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    endless = Reply(unmeasured=True, then=b" " * 100, pause=0.2)
    async with HostileServer(endless) as server:
        outcome = await send(f"ntfy://{server.host}/topic", 1, server.host)
    assert (outcome.result, outcome.possibly_delivered) == (SendResult.RETRY, True)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("address", ["127.0.0.1:9", "localhost", "10.0.0.1", "169.254.169.254", "[::1]"])
async def test_private_addresses_are_not_contacted(address: str) -> None:
    outcome = await send(f"ntfy://{address}/topic", 5)
    assert outcome.result is SendResult.REFUSED
    assert "forbidden address" in outcome.reason


async def test_a_redirect_to_a_private_address_is_not_followed_by_apprise() -> None:
    async with Receiver() as inside, HostileServer(redirect(inside.url, 307)) as server:
        outcome = await send(f"ntfy://{server.host}/topic?redirect=yes", 5, server.host)
        assert (outcome.result, inside.received) == (SendResult.REFUSED, [])


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
async def test_services_outside_the_list_are_refused(target: str) -> None:
    with pytest.raises(BadRequest):
        await check(target)


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
async def test_listed_services_are_accepted(target: str) -> None:
    await check(target)


async def test_a_failed_check_is_not_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TARGET", "found_footy.notifications.not_there:send")
    with pytest.raises(DeliveryUnavailable):
        await check("ntfys://ntfy.sh/goals")


async def test_the_target_is_not_on_a_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            started.append((args, kwargs["env"]))
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    await check("ntfys://ntfy.sh/secret-topic")
    assert len(started) == 1
    assert "secret-topic" not in repr(started)


@pytest.mark.parametrize(
    ("text", "target", "shown"),
    [
        ("Unparseable URL tgram://12:ab/34", "tgram://12:ab/34", "Unparseable URL …"),
        ("to topic 'goals' at ntfy.sh", "ntfys://ntfy.sh/goals?token=abcdef", "to topic '…' at …"),
        ("login of fan failed: s3cret", "mailto://fan:s3cret@mail.example", "login of fan failed: …"),
    ],
)
def test_secrets_of_a_target_are_redacted(text: str, target: str, shown: str) -> None:
    assert redact_secrets(text, target) == shown


@pytest.mark.parametrize(
    "target",
    [
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/?template=/etc/passwd",
        "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js?TEMPLATE=secret.json",
        "workflows://host:443/workflow/signature/?template=http://127.0.0.1/x",
        "mailto://user:pass@example.com?pgppub=%2Froot%2Fkey",
        "ntfy://host/topic?attach=file%253A%252F%252F%252Fetc%252Fpasswd",
        "ntfy://host/topic?icon=~/.ssh/id_rsa",
        "ntfy://host/topic?icon=%2e%2e/secret",
        "file:///etc/passwd",
    ],
)
def test_a_target_cannot_name_local_files(target: str) -> None:
    assert names_local_file(target)


async def test_a_target_with_a_local_file_is_refused() -> None:
    with pytest.raises(BadRequest, match="cannot name local files"):
        await check("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/?template=/etc/passwd")


@pytest.mark.parametrize("target", ["ntfys://host/topic?priority=high&tags=a,b", "tgram://123:abc/456?format=html"])
def test_other_parameters_of_a_target_are_not_files(target: str) -> None:
    assert not names_local_file(target)
