"""Every answer says when it was given, as servers do; one that has its own idea of the time keeps it."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def dated(app: ASGIApp) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def with_date(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).setdefault("date", format_datetime(datetime.now(UTC), usegmt=True))
            await send(message)

        await app(scope, receive, with_date)

    return answer
