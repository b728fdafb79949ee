"""Templates, versioned static files, and reader preferences in cookies."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from found_footy.access.models import Role
from found_footy.fixtures.models import MatchMinute
from found_footy.web.requests import read_form, safe_redirect_path
from found_footy.web.users import csrf_field, current_user

HERE = Path(__file__).parent
STATIC = HERE / "static"

NO_STORE: Mapping[str, str] = {"Cache-Control": "no-store"}
PRIVATE: Mapping[str, str] = {"Cache-Control": "private, no-cache", "Vary": "Cookie"}
"""For pages that depend on the reader's preferences."""


def no_store(response: Response) -> None:
    """Dependency of routes whose responses must not be cached."""
    response.headers.update(NO_STORE)


# --- Static files, under a path that contains the version of all of them.


@cache
def version() -> str:
    """Hash over all static files: scripts that import each other by `./name.js` get the same version."""
    content = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            content.update(path.relative_to(STATIC).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return content.hexdigest()[:12]


@cache
def static(name: str) -> str:
    """Versioned path of a static file. Raises FileNotFoundError."""
    if not (STATIC / name).is_file():
        raise FileNotFoundError(name)
    return f"/static/{version()}/{name}"


class VersionedStaticFiles(StaticFiles):
    """Serves the current files under any version, so that a page loaded before an upgrade keeps working."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        first, _, rest = path.partition("/")
        name = rest if rest and re.fullmatch(r"[0-9a-f]{12}", first) else path
        response = await super().get_response(name, scope)
        caching = "public, max-age=31536000, immutable" if first == version() else "no-cache"
        response.headers.setdefault("Cache-Control", caching)
        return response


# --- Templates, with autoescaping.


API_PREFIXES = ("/api/", "/health", "/metrics", "/status", "/admin/")

_SCORE_DASH = re.compile(r"(?<=\d)–(?=\d)")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters, except line ends and tabs
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that change the writing direction
    "\ud800-\udfff]"  # lone surrogates
)


@cache
def environment() -> Environment:
    env = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters.update(text=text, minute=minute, moment=moment, plural=plural, megabytes=megabytes)
    env.filters.update(code=with_code, unbroken=unbroken)
    env.globals.update(static=static, preferences=preferences, navigation=navigation, is_current=is_current)
    env.globals.update(csrf_field=csrf_field, current_user=current_user, login_path=login_path)
    return env


def render(
    request: Request,
    template: str,
    values: Mapping[str, Any],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    html = environment().get_template(template).render(request=request, **values)
    return HTMLResponse(html, status, headers)


def wants_html(request: Request) -> bool:
    """Whether to render an error as a page."""
    return not request.url.path.startswith(API_PREFIXES) and "text/html" in request.headers.get("accept", "")


def navigation(request: Request) -> list[tuple[str, str]]:
    """Pages that this user may open."""
    user = current_user(request)
    pages = [("/", "Matches"), ("/search", "Search"), ("/library", "Library")]
    if user.may(Role.EDITOR):
        pages.append(("/review", "Review"))
    pages += [("/follow", "Follow"), ("/operations", "Operations")]
    return (
        [*pages, ("/subscriptions", "Subscriptions"), ("/takedowns", "Takedowns")] if user.may(Role.OPERATOR) else pages
    )


def login_path(request: Request) -> str:
    """Path of the login page, which returns to this one."""
    query = f"?{request.url.query}" if request.url.query else ""
    return "/login?" + urlencode({"back": request.url.path + query})


def is_current(request: Request, path: str) -> bool:
    at = request.url.path
    return at == "/" or at.startswith(("/day/", "/g/")) if path == "/" else at.startswith(path)


def text(value: object, max_length: int = 300) -> str:
    """Untrusted text without invisible characters, truncated to `max_length` characters."""
    plain = _INVISIBLE.sub("", "" if value is None else str(value))
    return plain if len(plain) <= max_length else plain[: max_length - 1].rstrip() + "…"


def unbroken(value: str) -> str:
    """The title of a goal, so that a line breaks neither inside a score or an over nor before a separator."""
    together = _SCORE_DASH.sub("\u2060–\u2060", value)
    return together.replace(" ov ", "\u00a0ov ").replace(" · ", "\u00a0· ")


def with_code(value: str, max_length: int = 600) -> Markup:
    """Untrusted text with backtick sections as code."""
    parts = text(value, max_length).split("`")
    return Markup().join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


def minute(elapsed: int | None, extra: int | None = None, innings: int | None = None) -> str:
    """`67'`, `90+3'`, or `12.3 ov` in an innings."""
    return "" if elapsed is None else str(MatchMinute(elapsed, extra, innings))


def moment(value: datetime | str | None, style: str = "time") -> Markup:
    """Time element that a script converts to the reader's time zone; in UTC without scripts."""
    if value is None:
        return Markup("")
    at = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    plain = {"time": f"{at:%H:%M} UTC", "date": f"{at:%d %b %Y}", "both": f"{at:%d %b %H:%M} UTC"}[style]
    return Markup('<time datetime="{}" data-style="{}">{}</time>').format(at.isoformat(), style, plain)


def plural(number: int, singular: str, plural_form: str | None = None) -> str:
    """`1 goal`, `3 goals`."""
    return f"{number} {singular if number == 1 else plural_form or singular + 's'}"


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


# --- Preferences: theme, hidden scores, and matches revealed despite hidden scores.


router = APIRouter(include_in_schema=False)

THEMES = ("auto", "light", "dark")
COOKIE_SECONDS = 365 * 24 * 3600
MAX_OPENED = 60
"""Maximum matches in the `opened` cookie; browsers limit its size."""


@dataclass(frozen=True, slots=True)
class Preferences:
    hide_scores: bool = False
    theme: str = "auto"
    opened: tuple[int, ...] = ()
    """Matches revealed despite hidden scores, the latest last."""

    @property
    def next_theme(self) -> str:
        return THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)]

    def hides(self, fixture_id: int) -> bool:
        return self.hide_scores and fixture_id not in self.opened


def preferences(request: Request) -> Preferences:
    cookies = request.cookies
    theme = cookies.get("theme", "auto")
    opened = re.findall(r"\d{1,18}", cookies.get("opened", "")[:2000])
    return Preferences(
        hide_scores=cookies.get("spoilers") == "hidden",
        theme=theme if theme in THEMES else "auto",
        opened=tuple(int(number) for number in opened[-MAX_OPENED:]),
    )


@router.post("/preferences")
async def set_preferences(request: Request) -> RedirectResponse:
    form = await read_form(request)
    response = RedirectResponse(safe_redirect_path(form.get("back", "/")), 303)
    if form.get("spoilers") in ("hidden", "shown"):
        _set_cookie(response, "spoilers", form["spoilers"])
        response.delete_cookie("opened")
    if form.get("theme") in THEMES:
        _set_cookie(response, "theme", form["theme"])
    if form.get("open", "").isdecimal():
        opened = [*preferences(request).opened, int(form["open"][:18])]
        _set_cookie(response, "opened", "-".join(str(number) for number in opened[-MAX_OPENED:]))
    return response


def _set_cookie(response: RedirectResponse, name: str, value: str) -> None:
    response.set_cookie(name, value, max_age=COOKIE_SECONDS, samesite="lax", httponly=True)
