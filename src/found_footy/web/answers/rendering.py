"""Templates: everything is escaped, and nobody's text can turn a line around or run over the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.domain.fixtures.model import Minute
from found_footy.web.access.visitors import Role, csrf_field, visitor
from found_footy.web.answers.assets import static
from found_footy.web.answers.preferences import preferences

HERE = Path(__file__).parent.parent
FOR_PROGRAMS = ("/api/", "/health", "/metrics", "/status", "/admin/")

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters, but for line ends and tabs
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of writing
    "\ud800-\udfff]"  # halves of characters
)


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(text=text, minute=minute, moment=moment, plural=plural, megabytes=megabytes)
    made.globals.update(static=static, preferences=preferences, navigation=navigation, here=here)
    made.globals.update(csrf_field=csrf_field, visitor=visitor, login_path=login_path)
    return made


def render(
    request: Request,
    template: str,
    values: Mapping[str, Any],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    return HTMLResponse(rendered(request, template, values), status, headers)


def rendered(request: Request, template: str, values: Mapping[str, Any]) -> str:
    return environment().get_template(template).render(request=request, **values)


def for_people(request: Request) -> bool:
    """Whether this address is a page; programs get JSON wherever they ask under /api."""
    return not request.url.path.startswith(FOR_PROGRAMS) and "text/html" in request.headers.get("accept", "")


def navigation(request: Request) -> list[tuple[str, str]]:
    """Only what works, for whoever asks."""
    who = visitor(request)
    pages = [("/", "Matches"), ("/search", "Search"), ("/library", "Library")]
    if who.may(Role.EDITOR):
        pages.append(("/review", "Review"))
    pages += [("/follow", "Follow"), ("/operations", "Operations")]
    return [*pages, ("/subscriptions", "Subscriptions")] if who.may(Role.OPERATOR) else pages


def login_path(request: Request) -> str:
    """The login, which leads back to where one is."""
    query = f"?{request.url.query}" if request.url.query else ""
    return "/login?" + urlencode({"back": request.url.path + query})


def here(request: Request, path: str) -> bool:
    at = request.url.path
    return at == "/" or at.startswith(("/day/", "/g/")) if path == "/" else at.startswith(path)


def text(value: object, most: int = 300) -> str:
    """A stranger's words: without what turns the direction of writing, and not longer than the page can bear."""
    plain = _INVISIBLE.sub("", "" if value is None else str(value))
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def minute(elapsed: int | None, extra: int | None = None, innings: int | None = None) -> str:
    """`67'`, `90+3'`, or `12.3 ov` of an innings."""
    return "" if elapsed is None else str(Minute(elapsed, extra, innings))


def moment(value: datetime | str | None, style: str = "time") -> Markup:
    """A time that the browser shows in the reader's own zone; without scripts it is UTC, and says so."""
    if value is None:
        return Markup("")
    at = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    plain = {"time": f"{at:%H:%M} UTC", "date": f"{at:%d %b %Y}", "both": f"{at:%d %b %H:%M} UTC"}[style]
    return Markup('<time datetime="{}" data-style="{}">{}</time>').format(at.isoformat(), style, plain)


def plural(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
