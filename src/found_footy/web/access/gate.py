"""Before every route: who asks, and whether they may ask at all.

A route that nobody thought of is closed: reading goes by the setting, and changing something needs an editor's token,
unless the path stands in one of the two short lists here.
"""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from found_footy.domain.access import Role, Token, client_of, csrf_of, fits, hash_of, parse_token, wait_seconds
from found_footy.domain.errors import FootyError, NotAllowed, NotLoggedIn, StoreUnavailable, TooManyRequests
from found_footy.web.access.origins import SAFE_METHODS, comes_from_here
from found_footy.web.access.visitors import NOBODY, SCOPE_KEY, Visitor, read_role, require
from found_footy.web.answers import failures
from found_footy.web.services import Services, services_of

OWN_AFFAIRS = frozenset({"/login", "/logout", "/preferences"})
"""What these change concerns only who asks."""
SEARCHES = frozenset({"/api/v1/library/search", "/search/picture"})
"""A picture to search with comes here: nothing is changed, and whoever may read may ask."""
OPEN_PATHS = OWN_AFFAIRS | {"/health/live", "/health/ready"}
OPEN_FOLDER = "/static/"

SESSION_COOKIE = "footy_session"
ANSWER_SECONDS = 3.0


class Gate:
    """Pure ASGI: answers pass through it piece by piece."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        services = services_of(request)
        try:
            scope[SCOPE_KEY] = who = await _visitor(scope, services)
            _admit(scope, services, who)
        except FootyError as error:
            await (await failures.answered(request, error))(scope, receive, send)
            return
        closed = read_role(services.rules) is not None
        await self._app(scope, receive, _privately(send) if closed else send)


def _admit(scope: Scope, services: Services, who: Visitor) -> None:
    path, method = scope["path"], scope["method"]
    if method not in SAFE_METHODS:
        if who.via != "token" and not comes_from_here(Headers(scope=scope), services.rules.public_url):
            raise NotAllowed("this came from a page elsewhere")
        if path not in OWN_AFFAIRS | SEARCHES:
            require(who, Role.EDITOR)
    least = read_role(services.rules)
    if least is not None and path not in OPEN_PATHS and not path.startswith(OPEN_FOLDER):
        require(who, least)


async def _visitor(scope: Scope, services: Services) -> Visitor:
    """Raises NotLoggedIn where a token was sent that does not hold. A login that has ended is just nobody."""
    if scope["path"].startswith(OPEN_FOLDER) or scope["path"].startswith("/health/"):
        return NOBODY
    authorization = cookies = None
    for name, value in scope["headers"]:
        if name == b"authorization":
            authorization = value
        elif name == b"cookie" and SESSION_COOKIE.encode() in value:
            cookies = value
    if authorization is not None and authorization[:7].lower() == b"bearer ":
        token = await check_token(services, authorization[7:].decode("latin-1").strip(), _client(scope))
        return Visitor(token.role, token.name, token.id, "token")
    if cookies is not None and (secret := session_secret(cookie_parser(cookies.decode("latin-1")))) is not None:
        return await _of_session(scope, services, secret)
    return NOBODY


def session_secret(cookies: dict[str, str]) -> bytes | None:
    """None where the cookie is none of ours."""
    try:
        secret = bytes.fromhex(cookies.get(SESSION_COOKIE, "")[:64])
    except ValueError:
        return None
    return secret if len(secret) == 32 else None


async def _of_session(scope: Scope, services: Services, secret: bytes) -> Visitor:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await _logged_in(services, secret)
    except (StoreUnavailable, TimeoutError):
        if read_role(services.rules) is None and scope["method"] in SAFE_METHODS:
            return NOBODY  # the operations page must be seen when the database is away
        raise StoreUnavailable("nobody can be logged in: the database does not answer") from None


async def _logged_in(services: Services, secret: bytes) -> Visitor:
    now = services.now()
    token = await services.access.token_of_session(hash_of(secret), now)
    if token is None or token.ended(now):
        return NOBODY
    if token.is_due_for_touch(now):
        await services.access.touch(token.id, now)
    return Visitor(token.role, token.name, token.id, "session", csrf_of(secret))


async def check_token(services: Services, text: str, client: str) -> Token:
    """Raises NotLoggedIn, or TooManyRequests after too many wrong ones. Only who knows the secret hears why."""
    now, access = services.now(), services.access
    parsed = parse_token(text)
    token = await access.token(parsed[0]) if parsed else None
    if parsed is None or token is None or not fits(token, parsed[1]):
        most = services.rules.login_failures
        number, oldest = await access.note_failure(client, now, most)
        if number >= most:
            raise too_many(wait_seconds(oldest, now))
        raise NotLoggedIn("there is no such token")
    if ended := token.ended(now):
        raise NotLoggedIn(f"the token {token.name!r} {'was revoked' if ended == 'revoked' else 'has expired'}")
    if token.is_due_for_touch(now):
        await access.touch(token.id, now)
    return token


def too_many(seconds: int) -> TooManyRequests:
    error = TooManyRequests(f"too many wrong tokens from this address; try again in {seconds} s")
    vars(error)["headers"] = {"Retry-After": str(seconds)}
    return error


def _client(scope: Scope) -> str:
    return client_of(scope["client"][0] if scope.get("client") else None)


def _privately(send: Send) -> Send:
    """Where reading needs a token, no cache between us and the reader may keep an answer."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                (name, value.replace(b"public", b"private") if name.lower() == b"cache-control" else value)
                for name, value in message["headers"]
            ]
        await send(message)

    return sending
