"""Search page: form and results. Incomplete filters are reported, not rejected, since the user may still be typing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, get_args
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.errors import EmbeddingError, FootyError, NotFound
from found_footy.library.moments import SECTIONS, SearchFilter, SearchResults, parse_filter
from found_footy.web.api.goals import Kind, MatchSearchQuery, find_documents
from found_footy.web.api.parameters import MINUTE, YEARS, SportName
from found_footy.web.pages.search_results import moments_view, results_view
from found_footy.web.rendering import PRIVATE, preferences, render
from found_footy.web.services import ServicesDep, WebServices
from found_footy.web.uploads import picture_receiver

FIELDS = (
    "q", "kind", "competition", "from", "to", "minute", "verified", "clips", "sport", "team", "goal", "place", "like",
)  # fmt: skip
MAX_FIELD_LENGTH = 100
LIBRARY = "library"
"""Fourth kind: library clips, which have a separate search."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class LibraryQuery:
    wanted: SearchFilter
    like: int | None = None


@dataclass(frozen=True, slots=True)
class SearchForm:
    """Submitted fields, the parsed query, and the problems with it."""

    fields: Mapping[str, str]
    query: MatchSearchQuery
    problems: tuple[str, ...]
    library: LibraryQuery | None = None
    """Set for a library search."""

    @property
    def is_empty(self) -> bool:
        return not any(value for name, value in self.fields.items() if name != "kind")

    @property
    def has_filters(self) -> bool:
        return any(value for name, value in self.fields.items() if name not in ("kind", "q", "like"))

    def address(self, page: str = "/search", **more: str) -> str:
        given = {name: value for name, value in {**self.fields, **more}.items() if value}
        if given.get("kind") == "goals":
            del given["kind"]
        return f"{page}?{urlencode(given)}" if given else page


def search_form(given: Mapping[str, str]) -> SearchForm:
    fields = {name: _CONTROL.sub("", given.get(name, ""))[:MAX_FIELD_LENGTH].strip() for name in FIELDS}
    problems: list[str] = []
    kind: Kind = next((each for each in get_args(Kind) if each == fields["kind"]), "goals")
    # A link with only a clip means the library; an explicit choice in the form takes precedence.
    asks_library = fields["kind"] == LIBRARY or (bool(fields["like"]) and not fields["kind"])
    fields["kind"] = LIBRARY if asks_library else kind
    if not asks_library:
        fields |= dict.fromkeys(("team", "goal", "place", "like"), "")
    first = _day(fields["from"], problems)
    last = _day(fields["to"], problems)
    if first and last and first > last:
        problems.append("The start date is after the end date.")
    minute = fields["minute"].removesuffix("'") or None
    if minute is not None and not re.fullmatch(MINUTE, minute):
        problems.append("Invalid minute: expected a number such as 23, or 45+2.")
        minute = None
    wishes = MatchSearchQuery(
        kind=kind,
        q=fields["q"] or None,
        competition=fields["competition"] or None,
        first=first,
        last=last,
        minute=minute,
        verified={"yes": True, "no": False}.get(fields["verified"]),
        has_clip=True if fields["clips"] == "yes" else None,
        sport=next((each for each in get_args(SportName) if each == fields["sport"]), None),
    )
    library = _library(fields, wishes, problems) if asks_library else None
    return SearchForm(fields, wishes, tuple(problems), library)


def _library(fields: Mapping[str, str], wishes: MatchSearchQuery, problems: list[str]) -> LibraryQuery:
    like = int(fields["like"]) if re.fullmatch(r"[1-9][0-9]{0,17}", fields["like"]) else None
    if fields["like"] and like is None:
        problems.append("Invalid clip number.")
    minute = (wishes.minute or "").replace(" ", "+")
    return LibraryQuery(
        parse_filter(
            f"{fields['q']} {minute}",
            first=wishes.first,
            last=wishes.last,
            competition=wishes.competition,
            team=fields["team"],
            kind=fields["goal"],
            verified=wishes.verified,
            sport=wishes.sport,
            place=fields["place"] if fields["place"] in SECTIONS else None,
        ),
        like,
    )


def _day(text: str, problems: list[str]) -> date | None:
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.year not in YEARS:
        problems.append("Invalid date: expected YYYY-MM-DD.")
        return None
    return day


# --- Routes: the form, which works without scripts, and a results fragment for search as you type.


router = APIRouter(include_in_schema=False)
picture_router = APIRouter(include_in_schema=False)

PAGE_SIZE = 20
NOUNS = {"goals": ("goal", "goals"), "fixtures": ("match", "matches"), "clips": ("clip", "clips")}


@router.get("/search")
async def search(request: Request, services: ServicesDep) -> HTMLResponse:
    form = search_form(request.query_params)
    return render(request, "search.html", await _results(request, services, form), headers=PRIVATE)


@router.get("/search/results")
async def results(request: Request, services: ServicesDep) -> HTMLResponse:
    form = search_form(request.query_params)
    return render(request, "parts/found.html", await _results(request, services, form), headers=PRIVATE)


@picture_router.post("/search/picture")
async def by_picture(request: Request, services: ServicesDep) -> HTMLResponse:
    """The results alone: the picture comes from a page that is open, and is not kept."""
    form = search_form({**request.query_params, "kind": LIBRARY, "like": ""})
    assert form.library is not None
    given = services.library_search()
    bgr = await picture_receiver(request).read(request, given.pictures)
    answer: SearchResults | None
    try:
        answer = await given.clips.similar_to_image(bgr, form.library.wanted)
    except EmbeddingError as error:
        form, answer = _troubled(form, error), None
    values = _moments(request, form, answer, 0, "like this picture")
    return render(request, "parts/found.html", {**values, "next": None}, headers=PRIVATE)


async def _results(request: Request, services: WebServices, form: SearchForm) -> dict[str, Any]:
    if form.library is not None:
        return await _library_search(request, services, form, form.library)
    kind, cursor = form.query.kind, request.query_params.get("cursor") or None
    answer = await find_documents(services, form.query, cursor, PAGE_SIZE)
    shown = results_view(answer, preferences(request).hides)
    return {
        "form": form,
        "kind": kind,
        "found": shown,
        "count": results_heading(
            form,
            len(answer.items),
            more=answer.next is not None,
            later=cursor is not None,
            hidden=any(each.is_hidden for each in shown),
        ),
        "next": form.address(cursor=answer.next) if answer.next else None,
        "back": form.address(**({"cursor": cursor} if cursor else {})),
        "others": [(each, NOUNS[each][1]) for each in NOUNS if each != kind],
    }


async def _library_search(
    request: Request, services: WebServices, form: SearchForm, wishes: LibraryQuery
) -> dict[str, Any]:
    """Template values. An error is shown on the page, since it differs from an empty result."""
    skipped = request.query_params.get("skip", "")
    skip = int(skipped) if skipped.isascii() and skipped.isdecimal() and len(skipped) < 5 else 0
    words = "" if wishes.like is None else f"like clip {wishes.like}"
    answer: SearchResults | None
    try:
        clips = services.library_search().clips
        asking = (
            clips.by_text(wishes.wanted) if wishes.like is None else clips.similar_to_clip(wishes.like, wishes.wanted)
        )
        answer = await asking
    except (NotFound, EmbeddingError) as error:
        form, answer = _troubled(form, error), None
    if answer is not None and answer.incomplete_reason:
        form = replace(form, problems=(*form.problems, f"Not searched: {answer.incomplete_reason}"))
    return _moments(request, form, answer, skip, words)


def _moments(request: Request, form: SearchForm, answer: SearchResults | None, skip: int, words: str) -> dict[str, Any]:
    """Template values of the moments. `answer` is None if the form has problems or the search failed."""
    moments = answer.moments if answer is not None else ()
    here = moments[skip : skip + PAGE_SIZE]
    shown = moments_view(here, preferences(request).hides)
    later = skip + PAGE_SIZE
    return {
        "form": form,
        "kind": LIBRARY,
        "found": shown,
        "count": moments_heading(form, answer, words, len(here) if skip else None),
        "next": form.address(skip=str(later)) if later < len(moments) else None,
        "back": form.address(),
        "others": [(each, NOUNS[each][1]) for each in NOUNS],
    }


def _troubled(form: SearchForm, error: FootyError) -> SearchForm:
    said = str(error)
    return replace(form, problems=(*form.problems, said[:1].upper() + said[1:] + "."))


def moments_heading(form: SearchForm, answer: SearchResults | None, words: str, following: int | None = None) -> str:
    """Heading, also for screen readers. `following` is the number of results on a later page."""
    if answer is None:
        return "Library search is unavailable"
    if following is not None:
        return f"{following} more {'moment' if following == 1 else 'moments'}"
    number = len(answer.moments)
    if not number:
        return f"No clips found {words}".rstrip()
    if form.is_empty and not words:
        return "Latest library clips"
    least = "More than " if answer.has_more else ""
    return f"{least}{number} {'moment' if number == 1 else 'moments'} {words}".rstrip()


def nouns(form: SearchForm) -> tuple[str, str]:
    if form.query.kind == "goals" and form.query.sport == "cricket":
        return "wicket", "wickets"
    return NOUNS[form.query.kind]


def results_heading(form: SearchForm, number: int, *, more: bool, later: bool, hidden: bool) -> str:
    """Heading, also for screen readers. The number of goals would reveal the result of a hidden match."""
    one, many = nouns(form)
    if hidden and form.query.kind != "fixtures":
        return "Results with hidden scores"
    if later:
        return f"{number} more {one if number == 1 else many}"
    if form.is_empty:
        return f"Latest {many}"
    if not number:
        return f"No {many} found"
    return f"More than {number} {many}" if more else f"{number} {one if number == 1 else many}"
