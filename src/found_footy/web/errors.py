"""Error responses: a JSON envelope for programs, an HTML page for browsers."""

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

from found_footy.access.models import Role
from found_footy.errors import (
    BadRequest,
    CacheUnavailable,
    DeliveryUnavailable,
    EditRefused,
    EmbeddingUnavailable,
    FollowUnknown,
    FootyError,
    LinkGone,
    NotAllowed,
    NotFound,
    NotLoggedIn,
    ObjectMissing,
    ObjectStoreError,
    RequestError,
    StoreUnavailable,
    StreamFull,
    TooManyRequests,
)
from found_footy.web.api.models import ErrorResponse
from found_footy.web.rendering import login_path, render, wants_html
from found_footy.web.users import can_see_internals

log = logging.getLogger(__name__)

STATUSES: Mapping[type[FootyError], int] = {
    BadRequest: 400,
    FollowUnknown: 400,
    NotLoggedIn: 401,
    NotAllowed: 403,
    NotFound: 404,
    ObjectMissing: 404,
    LinkGone: 410,
    EditRefused: 409,
    TooManyRequests: 429,
    StoreUnavailable: 503,
    CacheUnavailable: 503,
    ObjectStoreError: 503,
    StreamFull: 503,
    DeliveryUnavailable: 503,
    EmbeddingUnavailable: 503,
}
"""Status by error class, documented in docs/reference/api.md. Everything else is 500."""

MAX_PROBLEMS = 10
REFERENCE_HINT = "The API reference is at /docs."


def install_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(FootyError, error_response_of)
    app.add_exception_handler(RequestValidationError, _handle_invalid_request)
    app.add_exception_handler(HTTPException, _handle_http_exception)
    app.add_exception_handler(Exception, _handle_internal_error)


def status_of(error: FootyError) -> int:
    return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)


async def error_response_of(request: Request, error: Exception) -> Response:
    assert isinstance(error, FootyError)
    status = status_of(error)
    if status >= 500:
        log.error(str(error), extra={"action": "request_failed", "path": request.url.path, "error": error.kind})
    headers = dict(getattr(error, "headers", {}))
    if isinstance(error, NotLoggedIn):
        if wants_html(request) and request.method == "GET":
            return RedirectResponse(login_path(request), 303)
        headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        headers.setdefault("Retry-After", "5")
    message, hint = _public_message(request, status, error)
    return error_response(request, status, error.kind, message, hint, headers)


def _public_message(request: Request, status: int, error: FootyError) -> tuple[str, str]:
    """Message and hint. Those of failed engines contain addresses, which the public does not get to see."""
    if status < 500 or isinstance(error, RequestError) or can_see_internals(request):
        return str(error), error.hint
    return (type(error).__doc__ or "internal error").partition(".")[0], ""


async def _handle_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [
        {"where": ".".join(str(part) for part in each["loc"]), "problem": str(each["msg"])}
        for each in error.errors()[:MAX_PROBLEMS]
    ]
    message = "; ".join(f"{each['where']}: {each['problem']}" for each in problems)
    return error_response(request, 422, "BadRequest", message, REFERENCE_HINT, {}, problems=problems)


async def _handle_http_exception(request: Request, error: Exception) -> Response:
    """Handle unknown routes and methods."""
    assert isinstance(error, HTTPException)
    kind = {404: "NotFound", 405: "MethodNotAllowed"}.get(error.status_code, "RequestError")
    message = f"page not found: {request.url.path[:200]}" if error.status_code == 404 else str(error.detail)
    return error_response(request, error.status_code, kind, message, REFERENCE_HINT, dict(error.headers or {}))


async def _handle_internal_error(request: Request, error: Exception) -> Response:
    log.error("internal error", exc_info=error, extra={"action": "request_fault", "path": request.url.path})
    hint = "The log has the traceback; please report it."
    return error_response(request, 500, "InternalFault", "internal error", hint, {})


def error_response(
    request: Request, status: int, kind: str, message: str, hint: str, headers: Mapping[str, str], **details: Any
) -> Response:
    """Build an error response. `details` are added to the JSON envelope."""
    if wants_html(request):
        values = {"title": HTTPStatus(status).phrase, "kind": kind, "message": message, "hint": hint}
        return render(request, "error.html", values, status, headers)
    envelope = {"error": {"class": kind, "message": message, "hint": hint, **details}}
    return Response(json.dumps(envelope, ensure_ascii=False), status, headers, media_type="application/json")


# --- Error responses of a route, for the API reference.


DESCRIPTIONS: Mapping[int, str] = {
    304: "Not modified since the ETag in `If-None-Match`.",
    400: "Invalid request, or a cursor of another list or other filters; the message says which.",
    401: "Missing, invalid or expired token.",
    404: "Not found.",
    409: "Not possible in the current state; the message says why. Nothing was changed.",
    410: "Permanently gone; the message has the reason.",
    413: "The request body is too large.",
    422: "Invalid parameter or value.",
    429: "Too many requests, or too many invalid tokens from this address.",
    503: "The database, or another service that this request needs, is unavailable or busy.",
}

Responses = dict[int | str, dict[str, Any]]


def error_responses(*statuses: int, role: Role | None = None, cached: bool = True) -> Responses:
    """Describe these statuses and those of every route. A route with a role also returns 403, and is never cached."""
    responses: Responses = {}
    if role is None and cached:
        responses[304] = {"description": DESCRIPTIONS[304]}
    if role is not None:
        responses[403] = {"model": ErrorResponse, "description": f"Needs the {role} role."}
    for status in sorted({*statuses, 401, 422, 429, 503}):
        responses[status] = {"model": ErrorResponse, "description": DESCRIPTIONS[status]}
    return dict(sorted(responses.items(), key=lambda item: int(item[0])))
