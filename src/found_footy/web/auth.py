"""Authentication: bearer tokens, login sessions, and the login page.

Deny by default: reading follows FOOTY_READ_ACCESS, and every change needs the editor role, unless its path is listed
here. Routes with higher requirements declare them with `require_role`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from datetime import timedelta

from fastapi import APIRouter
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request, cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from found_footy.access.models import (
    SECRET_BYTES,
    Role,
    Token,
    account_key,
    csrf_token,
    hash_secret,
    parse_token,
    retry_after_seconds,
    verify_secret,
)
from found_footy.errors import FootyError, NotAllowed, NotLoggedIn, StoreUnavailable, TooManyRequests
from found_footy.web.errors import error_response_of
from found_footy.web.rendering import render
from found_footy.web.requests import SAFE_METHODS, is_same_origin, read_form, safe_redirect_path
from found_footy.web.services import ServicesDep, WebServices, get_services
from found_footy.web.users import ANONYMOUS, SCOPE_KEY, User, check_csrf, check_role, read_role
from found_footy.web.visitors import visitor_key

SELF_SERVICE_PATHS = frozenset({"/login", "/logout", "/preferences"})
"""These change only the caller's own cookies."""
SEARCH_PATHS = frozenset({"/api/v1/library/search", "/search/picture"})
"""Read-only POST requests, which carry an image to search with."""
OPEN_PATHS = SELF_SERVICE_PATHS | {"/health/live", "/health/ready"}
STATIC_PREFIX = "/static/"

SESSION_COOKIE = "footy_session"
SESSION_TIMEOUT_SECONDS = 3.0


class AuthMiddleware:
    """Pure ASGI, so that streamed responses pass through unbuffered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        services = get_services(request)
        try:
            scope[SCOPE_KEY] = user = await _identify(scope, services)
            _authorize(scope, services, user)
        except FootyError as error:
            await (await error_response_of(request, error))(scope, receive, send)
            return
        is_private = read_role(services.rules) is not None
        await self._app(scope, receive, _private_caching(send) if is_private else send)


def _authorize(scope: Scope, services: WebServices, user: User) -> None:
    path, method = scope["path"], scope["method"]
    if method not in SAFE_METHODS:
        if user.via != "token" and not is_same_origin(Headers(scope=scope), services.rules.public_url):
            raise NotAllowed("cross-origin request refused")
        if path not in SELF_SERVICE_PATHS | SEARCH_PATHS:
            check_role(user, Role.EDITOR)
    role = read_role(services.rules)
    if role is not None and path not in OPEN_PATHS and not path.startswith(STATIC_PREFIX):
        check_role(user, role)


async def _identify(scope: Scope, services: WebServices) -> User:
    """Identify the caller. An expired session is anonymous. Raises NotLoggedIn for an invalid token."""
    if scope["path"].startswith(STATIC_PREFIX) or scope["path"].startswith("/health/"):
        return ANONYMOUS
    authorization = cookies = None
    for name, value in scope["headers"]:
        if name == b"authorization":
            authorization = value
        elif name == b"cookie" and SESSION_COOKIE.encode() in value:
            cookies = value
    if authorization is not None and authorization[:7].lower() == b"bearer ":
        token = await check_token(
            services, authorization[7:].decode("latin-1").strip(), visitor_key(HTTPConnection(scope))
        )
        return User(token.role, token.name, token.id, "token")
    if cookies is not None and (secret := session_secret(cookie_parser(cookies.decode("latin-1")))) is not None:
        return await _session_user(scope, services, secret)
    return ANONYMOUS


def session_secret(cookies: dict[str, str]) -> bytes | None:
    """Secret in the session cookie; None if the cookie is malformed."""
    try:
        secret = bytes.fromhex(cookies.get(SESSION_COOKIE, "")[:64])
    except ValueError:
        return None
    return secret if len(secret) == 32 else None


async def _session_user(scope: Scope, services: WebServices, secret: bytes) -> User:
    try:
        async with asyncio.timeout(SESSION_TIMEOUT_SECONDS):
            return await _load_session(services, secret)
    except (StoreUnavailable, TimeoutError):
        if read_role(services.rules) is None and scope["method"] in SAFE_METHODS:
            return ANONYMOUS  # the operations page must work while the database is down
        raise StoreUnavailable("cannot check the session: the database does not respond") from None


async def _load_session(services: WebServices, secret: bytes) -> User:
    now = services.now()
    token = await services.access.token_of_session(hash_secret(secret), now)
    if token is None or token.end_reason(now):
        return ANONYMOUS
    if token.is_due_for_touch(now):
        await services.access.touch(token.id, now)
    return User(token.role, token.name, token.id, "session", csrf_token(secret))


async def check_token(services: WebServices, text: str, client: str) -> Token:
    """Check a token. Only a caller with the right secret gets the reason for a rejection. Raises NotLoggedIn, or
    TooManyRequests.
    """
    now, access = services.now(), services.access
    parsed = parse_token(text)
    token = await access.token(parsed[0]) if parsed else None
    if parsed is None or token is None or not verify_secret(token, parsed[1]):
        await _note_failure(services, [client] if token is None else [client, account_key(token.id)])
        raise NotLoggedIn("unknown token")
    if reason := token.end_reason(now):
        raise NotLoggedIn(f"the token {token.name!r} {'was revoked' if reason == 'revoked' else 'has expired'}")
    if token.is_due_for_touch(now):
        await access.touch(token.id, now)
    return token


async def _note_failure(services: WebServices, keys: Sequence[str]) -> None:
    """Count an invalid secret by its address, and by the token that it claims to be. Raises TooManyRequests.

    Only further wrong secrets are refused: neither the neighbours of an address nor the owner of a token are locked
    out, and 256 random bits cannot be guessed in the meantime.
    """
    now, limit = services.now(), services.rules.login_failures
    waits = []
    for key in keys:
        failures, oldest = await services.access.note_failure(key, now, limit)
        if failures >= limit:
            waits.append(retry_after_seconds(oldest, now))
    if waits:
        raise too_many_attempts(max(waits))


def too_many_attempts(seconds: int) -> TooManyRequests:
    error = TooManyRequests(f"too many invalid tokens; try again in {seconds} s")
    vars(error)["headers"] = {"Retry-After": str(seconds)}
    return error


def _private_caching(send: Send) -> Send:
    """If reading needs a token, keep shared caches from storing responses."""

    async def send_privately(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                (name, value.replace(b"public", b"private") if name.lower() == b"cache-control" else value)
                for name, value in message["headers"]
            ]
        await send(message)

    return send_privately


# --- Login page.


router = APIRouter(include_in_schema=False)


@router.get("/login")
async def login_page(request: Request, back: str = "/") -> Response:
    return _render_login(request, _back_path(back))


@router.post("/login")
async def log_in(request: Request, services: ServicesDep) -> Response:
    form = await read_form(request)
    back = _back_path(form.get("back", "/"))
    now = services.now()
    try:
        token = await check_token(services, form.get("token", "").strip(), visitor_key(request))
    except NotLoggedIn as error:
        message = str(error)
        return _render_login(request, back, f"{message[:1].upper()}{message[1:]}.")
    if (previous := session_secret(request.cookies)) is not None:
        await services.access.end_session(hash_secret(previous))
    secret = secrets.token_bytes(SECRET_BYTES)
    lifetime = timedelta(hours=services.rules.session_hours)
    await services.access.add_session(hash_secret(secret), token.id, now, now + lifetime)
    response = RedirectResponse(back, 303)
    _set_cookie(response, request, secret.hex(), round(lifetime.total_seconds()), services.rules.public_url)
    return response


@router.post("/logout")
async def log_out(request: Request, services: ServicesDep) -> Response:
    check_csrf(request, await read_form(request))
    if (secret := session_secret(request.cookies)) is not None:
        await services.access.end_session(hash_secret(secret))
    response = RedirectResponse("/", 303)
    _set_cookie(response, request, "", 0, services.rules.public_url)
    return response


def _back_path(path: str) -> str:
    """Path to return to after login, never the login page itself."""
    return "/" if path.startswith("/login") else safe_redirect_path(path)


def _render_login(request: Request, back: str, problem: str = "") -> Response:
    headers = {"Cache-Control": "no-store"}
    return render(request, "login.html", {"back": back, "problem": problem}, 401 if problem else 200, headers)


def _set_cookie(response: Response, request: Request, value: str, seconds: int, public_url: str | None) -> None:
    secure = request.url.scheme == "https" or (public_url or "").startswith("https://")
    response.set_cookie(SESSION_COOKIE, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="lax")
    response.headers["Cache-Control"] = "no-store"
