"""What each answer tells the browser to refuse, and what we refuse of each request: a strange name, a large body."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from found_footy.web.access.origins import is_known_host
from found_footy.web.answers import failures
from found_footy.web.services import WebRules

MOST_BODY_BYTES = 1024 * 1024
UPLOADS = frozenset({"/api/v1/sources"})
"""Where a film may come, which is taken piece by piece; everything else is read into memory."""
MOST_HOSTS = 64
"""Names of which it is remembered whether they are ours."""
HALF_A_YEAR = 182 * 24 * 3600

Pairs = Sequence[tuple[bytes, bytes]]


def policy(media_origin: str | None) -> str:
    """Nothing from elsewhere, no inline script or style. Signed links lead to the object store's own address."""
    media = f" {media_origin}" if media_origin else ""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' data:{media}; media-src 'self'{media}; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def safety(rules: WebRules) -> Pairs:
    pairs = {
        "content-security-policy": policy(rules.media_origin if rules.video_links == "redirect" else None),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "x-frame-options": "DENY",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }
    if (rules.public_url or "").startswith("https://"):
        pairs["strict-transport-security"] = f"max-age={HALF_A_YEAR}"
    return [(name.encode(), value.encode()) for name, value in pairs.items()]


class SafeHeaders:
    """Pure ASGI, around everything else: also what fails outside of all routes goes through here."""

    def __init__(self, app: ASGIApp, rules: WebRules) -> None:
        self._app = app
        self._rules = rules
        self._safety = safety(rules)
        self._names = {name for name, _ in self._safety}
        self._hosts: dict[bytes, bool] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sending = self._with_headers(send)
        host, length, has_body = b"", b"0", False
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == b"content-length":
                length, has_body = value, True
            elif name == b"transfer-encoding":
                has_body = True
        if not self._is_known(host):
            said = "this server does not go by that name"
            hint = "Use the address that `footy web` printed, or set FOOTY_PUBLIC_URL."
            refused = failures.answer(Request(scope), 400, "BadRequest", said, hint, {})
            await refused(scope, receive, sending)
            return
        most = self._most_bytes(scope)
        if not length.isdigit() or int(length[:20]) > most:
            said = f"a request has at most {most} bytes"
            await failures.answer(Request(scope), 413, "BadRequest", said, "", {"Connection": "close"})(
                scope, receive, sending
            )
            return
        await self._app(scope, _bounded(receive, most) if has_body else receive, sending)

    def _most_bytes(self, scope: Scope) -> int:
        takes_films = scope["method"] == "POST" and scope["path"] in UPLOADS
        return self._rules.source_mb * 1_000_000 if takes_films else MOST_BODY_BYTES

    def _is_known(self, host: bytes) -> bool:
        known = self._hosts.get(host)
        if known is None:
            known = is_known_host(host.decode("latin-1"), self._rules.web_host, self._rules.public_url)
            if len(self._hosts) < MOST_HOSTS:
                self._hosts[host] = known
        return known

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message["headers"] = list(message.get("headers", ()))
                names = {name for name, _ in given}
                missing = self._names.isdisjoint(names)
                given.extend(self._safety if missing else [pair for pair in self._safety if pair[0] not in names])
            await send(message)

        return sending


def _bounded(receive: Receive, most: int) -> Receive:
    """Counts what comes in; bodies without a length are the reason."""
    size = 0

    async def receiving() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            raise HTTPException(413, f"a request has at most {most} bytes", {"Connection": "close"})
        return message

    return receiving
