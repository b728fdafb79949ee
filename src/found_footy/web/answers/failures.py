"""Failures as an answer: one envelope with a class and a hint for programs, a page for people."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from found_footy.domain.errors import (
    BadRequest,
    CacheUnavailable,
    DeliveryUnavailable,
    EditRefused,
    EmbeddingUnavailable,
    FollowUnknown,
    FootyError,
    LinkEnded,
    NotAllowed,
    NotFound,
    NotLoggedIn,
    ObjectMissing,
    ObjectStoreError,
    StoreUnavailable,
    StreamFull,
    TooManyRequests,
)
from found_footy.web.answers.rendering import for_people, login_path, render

log = logging.getLogger(__name__)

STATUSES: Mapping[type[FootyError], int] = {
    BadRequest: 400,
    FollowUnknown: 400,
    NotLoggedIn: 401,
    NotAllowed: 403,
    NotFound: 404,
    ObjectMissing: 404,
    LinkEnded: 410,
    EditRefused: 409,
    TooManyRequests: 429,
    StoreUnavailable: 503,
    CacheUnavailable: 503,
    ObjectStoreError: 503,
    StreamFull: 503,
    DeliveryUnavailable: 503,
    EmbeddingUnavailable: 503,
}
"""Documented in docs/reference/api.md. 500 is everything else."""

MOST_PROBLEMS = 10


def install(app: FastAPI) -> None:
    app.add_exception_handler(FootyError, answered)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(Exception, _fault)


def status_of(error: FootyError) -> int:
    return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)


def envelope(kind: str, message: str, hint: str, **more: Any) -> dict[str, Any]:
    return {"error": {"class": kind, "message": message, "hint": hint, **more}}


async def answered(request: Request, error: Exception) -> Response:
    assert isinstance(error, FootyError)
    status = status_of(error)
    if status >= 500:
        log.error(str(error), extra={"action": "request_failed", "path": request.url.path, "error": error.kind})
    headers = dict(getattr(error, "headers", {}))
    if isinstance(error, NotLoggedIn):
        if for_people(request) and request.method == "GET":
            return RedirectResponse(login_path(request), 303)
        headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        headers.setdefault("Retry-After", "5")
    return answer(request, status, error.kind, str(error), error.hint, headers)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [
        {"where": ".".join(str(part) for part in each["loc"]), "problem": str(each["msg"])}
        for each in error.errors()[:MOST_PROBLEMS]
    ]
    message = "; ".join(f"{each['where']}: {each['problem']}" for each in problems)
    return answer(request, 422, "BadRequest", message, "The API's reference is at /docs.", {}, problems=problems)


async def _plain(request: Request, error: Exception) -> Response:
    """What the framework itself refuses: no such route, no such method."""
    assert isinstance(error, HTTPException)
    kind = {404: "NotFound", 405: "MethodNotAllowed"}.get(error.status_code, "RequestError")
    said = f"there is no page {request.url.path[:200]}" if error.status_code == 404 else str(error.detail)
    return answer(request, error.status_code, kind, said, "The API's reference is at /docs.", dict(error.headers or {}))


async def _fault(request: Request, error: Exception) -> Response:
    log.error(
        "a request met a fault of our own",
        exc_info=error,
        extra={"action": "request_fault", "path": request.url.path},
    )
    return answer(
        request, 500, "ProgramFault", "a fault of our own", "The log has the traceback; please report it.", {}
    )


def answer(
    request: Request, status: int, kind: str, message: str, hint: str, headers: Mapping[str, str], **more: Any
) -> Response:
    if for_people(request):
        title = HTTPStatus(status).phrase
        return render(
            request, "failure.html", {"title": title, "kind": kind, "said": message, "hint": hint}, status, headers
        )
    content = json.dumps(envelope(kind, message, hint, **more), ensure_ascii=False)
    return Response(content, status, headers, media_type="application/json")
