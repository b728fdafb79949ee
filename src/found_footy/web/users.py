"""User of a request, roles, and CSRF protection. `AuthMiddleware` identifies the user first."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from markupsafe import Markup
from starlette.requests import HTTPConnection, Request

from found_footy.access.models import Role
from found_footy.errors import NotAllowed, NotLoggedIn
from found_footy.library.review import Reviewer
from found_footy.runtime.addresses import is_loopback
from found_footy.web.requests import SAFE_METHODS, read_form
from found_footy.web.services import WebRules, WebServices, get_services
from found_footy.web.visitors import is_local

CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
SCOPE_KEY = "found_footy.user"

_bearer = HTTPBearer(auto_error=False, description="A token made by `footy token create`.")


@dataclass(frozen=True, slots=True)
class User:
    role: Role | None = None
    name: str = ""
    token_id: str = ""
    via: Literal["anonymous", "token", "session"] = "anonymous"
    csrf: str = ""
    """CSRF token, required in the forms of a session."""

    def may(self, role: Role) -> bool:
        return self.role is not None and self.role >= role


ANONYMOUS = User()


def current_user(connection: HTTPConnection) -> User:
    user = connection.scope.get(SCOPE_KEY)
    return user if isinstance(user, User) else ANONYMOUS


def check_role(user: User, role: Role) -> None:
    """Require a role. Raises NotLoggedIn or NotAllowed."""
    if user.role is None:
        raise NotLoggedIn(f"this needs {_a(role)} token")
    if not user.may(role):
        raise NotAllowed(f"this needs {_a(role)} token; {user.name!r} is {_a(user.role)} token")


def read_role(rules: WebRules) -> Role | None:
    """Role needed for reading; None if reading is open."""
    return Role.READER if rules.read_access == "token" else None


def require_role(role: Role) -> Callable[..., Awaitable[User]]:
    """Dependency of routes that need a role: `Depends(require_role(Role.OPERATOR))`.

    A change made through a session cookie must carry the CSRF token in its form or header.
    """

    async def check(request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]) -> User:
        user = current_user(request)
        check_role(user, role)
        if user.via == "session" and request.method not in SAFE_METHODS:
            _check_token(user, await _received_csrf_token(request))
        return user

    return check


def library_reviewer(services: WebServices, user: User) -> Reviewer:
    """The reviewer who acts on library pages and over the API; each window of the review page has its own."""
    return Reviewer(f"{user.token_id}:library", user.name, services.now())


def can_see_internals(request: HTTPConnection) -> bool:
    """Whether to show host names and engine messages: to operators, and to programs on the machine of a loopback
    server.
    """
    rules = get_services(request).rules
    return current_user(request).may(Role.OPERATOR) or (
        is_loopback(rules.web_host) and rules.public_url is None and is_local(request)
    )


def csrf_field(request: HTTPConnection) -> Markup:
    """Hidden form field; empty without a session."""
    csrf = current_user(request).csrf
    return Markup('<input type="hidden" name="{}" value="{}">').format(CSRF_FIELD, csrf) if csrf else Markup()


def check_csrf(request: Request, form: Mapping[str, str]) -> None:
    """Check the CSRF token in page routes without `require_role`. Not needed without a session."""
    user = current_user(request)
    if user.via == "session":
        _check_token(user, request.headers.get(CSRF_HEADER) or form.get(CSRF_FIELD, ""))


async def _received_csrf_token(request: Request) -> str:
    if header := request.headers.get(CSRF_HEADER):
        return header
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return ""
    await request.body()  # cached by the request, so that the route can read it again
    return (await read_form(request)).get(CSRF_FIELD, "")


def _check_token(user: User, sent: str) -> None:
    if not hmac.compare_digest(user.csrf.encode(), sent.encode()):
        raise NotAllowed("invalid CSRF token; reload the page")


def _a(role: Role) -> str:
    return f"a {role}" if role is Role.READER else f"an {role}"
