"""Logging in with a token, and out again."""

from __future__ import annotations

import secrets
from datetime import timedelta

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from found_footy.domain.access import SECRET_BYTES, client_of, hash_of, wait_seconds
from found_footy.domain.errors import NotLoggedIn
from found_footy.web.access.gate import SESSION_COOKIE, check_token, session_secret, too_many
from found_footy.web.access.origins import local_path
from found_footy.web.access.visitors import check_csrf
from found_footy.web.answers.forms import form_of
from found_footy.web.answers.rendering import render
from found_footy.web.services import Given

router = APIRouter(include_in_schema=False)


@router.get("/login")
async def form(request: Request, back: str = "/") -> Response:
    return _page(request, _way_back(back))


@router.post("/login")
async def log_in(request: Request, services: Given) -> Response:
    sent = await form_of(request)
    back = _way_back(sent.get("back", "/"))
    client, now = client_of(request.client.host if request.client else None), services.now()
    number, oldest = await services.access.failures(client, now)
    if number >= services.rules.login_failures:
        raise too_many(wait_seconds(oldest, now))
    try:
        token = await check_token(services, sent.get("token", "").strip(), client)
    except NotLoggedIn as error:
        said = str(error)
        return _page(request, back, f"{said[:1].upper()}{said[1:]}.")
    if (before := session_secret(request.cookies)) is not None:
        await services.access.end_session(hash_of(before))
    secret = secrets.token_bytes(SECRET_BYTES)
    holds = timedelta(hours=services.rules.session_hours)
    await services.access.add_session(hash_of(secret), token.id, now, now + holds)
    answer = RedirectResponse(back, 303)
    _keep(answer, request, secret.hex(), round(holds.total_seconds()), services.rules.public_url)
    return answer


@router.post("/logout")
async def log_out(request: Request, services: Given) -> Response:
    check_csrf(request, await form_of(request))
    if (secret := session_secret(request.cookies)) is not None:
        await services.access.end_session(hash_of(secret))
    answer = RedirectResponse("/", 303)
    _keep(answer, request, "", 0, services.rules.public_url)
    return answer


def _way_back(path: str) -> str:
    """Whoever has logged in has nothing more to do here."""
    return "/" if path.startswith("/login") else local_path(path)


def _page(request: Request, back: str, problem: str = "") -> Response:
    headers = {"Cache-Control": "no-store"}
    return render(request, "login.html", {"back": back, "problem": problem}, 401 if problem else 200, headers)


def _keep(answer: Response, request: Request, value: str, seconds: int, public_url: str | None) -> None:
    secure = request.url.scheme == "https" or (public_url or "").startswith("https://")
    answer.set_cookie(SESSION_COOKIE, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="lax")
    answer.headers["Cache-Control"] = "no-store"
