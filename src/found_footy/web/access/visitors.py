"""Who asks, and what they may do. `gate.py` finds out who it is before any route is reached."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from markupsafe import Markup
from starlette.requests import HTTPConnection, Request

from found_footy.domain.access import Role
from found_footy.domain.errors import NotAllowed, NotLoggedIn
from found_footy.web.access.origins import SAFE_METHODS, is_loopback
from found_footy.web.answers.forms import form_of
from found_footy.web.services import WebRules, services_of

__all__ = [
    "NOBODY",
    "Role",
    "Visitor",
    "allow",
    "check_csrf",
    "csrf_field",
    "reads",
    "require",
    "sees_details",
    "visitor",
]

CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
SCOPE_KEY = "found_footy.visitor"

_bearer = HTTPBearer(auto_error=False, description="A token that `footy token create` made.")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who asks. `csrf` is what the forms of a session must carry."""

    role: Role | None = None
    name: str = ""
    token_id: str = ""
    via: Literal["nobody", "token", "session"] = "nobody"
    csrf: str = ""

    def may(self, role: Role) -> bool:
        return self.role is not None and self.role >= role


NOBODY = Visitor()


def visitor(connection: HTTPConnection) -> Visitor:
    found = connection.scope.get(SCOPE_KEY)
    return found if isinstance(found, Visitor) else NOBODY


def require(who: Visitor, role: Role) -> None:
    """Raises NotLoggedIn or NotAllowed."""
    if who.role is None:
        raise NotLoggedIn(f"this needs the token of {_a(role)}")
    if not who.may(role):
        raise NotAllowed(f"this needs the token of {_a(role)}, and {who.name!r} is {_a(who.role)}")


def read_role(rules: WebRules) -> Role | None:
    """What reading needs; None where it is open."""
    return Role.READER if rules.read_access == "token" else None


def allow(role: Role) -> Callable[..., Awaitable[Visitor]]:
    """A dependency for routes that need this role: `dependencies=[Depends(allow(Role.OPERATOR))]`.

    Where somebody changes something through a session's cookie, their form or header must carry the CSRF token.
    """

    async def allowed(
        request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
    ) -> Visitor:
        who = visitor(request)
        require(who, role)
        if who.via == "session" and request.method not in SAFE_METHODS:
            _compare(who, await _csrf_sent(request))
        return who

    return allowed


async def reads(request: Request) -> Visitor:
    """A dependency for routes that only read. The gate asks the same of every route; this says it where it is read."""
    role = read_role(services_of(request).rules)
    who = visitor(request)
    if role is not None:
        require(who, role)
    return who


Reader = Annotated[Visitor, Depends(reads)]


def sees_details(request: HTTPConnection) -> bool:
    """Whether names of machines and messages of engines may be told: to operators, and where only this machine asks."""
    rules = services_of(request).rules
    return visitor(request).may(Role.OPERATOR) or (is_loopback(rules.web_host) and rules.public_url is None)


def csrf_field(request: HTTPConnection) -> Markup:
    """The hidden field of forms that change something; nothing for whoever is not logged in."""
    csrf = visitor(request).csrf
    return Markup('<input type="hidden" name="{}" value="{}">').format(CSRF_FIELD, csrf) if csrf else Markup()


def check_csrf(request: Request, form: Mapping[str, str]) -> None:
    """For page routes without `allow`. Whoever comes without a session has nothing that could be abused."""
    who = visitor(request)
    if who.via == "session":
        _compare(who, request.headers.get(CSRF_HEADER) or form.get(CSRF_FIELD, ""))


async def _csrf_sent(request: Request) -> str:
    if header := request.headers.get(CSRF_HEADER):
        return header
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return ""
    await request.body()  # kept by the request, so that the route can read it as well
    return (await form_of(request)).get(CSRF_FIELD, "")


def _compare(who: Visitor, sent: str) -> None:
    if not hmac.compare_digest(who.csrf.encode(), sent.encode()):
        raise NotAllowed("the form lacks the mark of your login; load the page again")


def _a(role: Role) -> str:
    return f"a {role}" if role is Role.READER else f"an {role}"
