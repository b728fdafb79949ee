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

from found_footy.errors import BadRequest, EmbeddingError, FootyError, NotFound
from found_footy.library.moments import SECTIONS, SearchFilter, SearchResults, parse_filter
from found_footy.library.search import DEFAULT_ORDER, SimilarityOrder
from found_footy.web.api.goals import Kind, MatchSearchQuery, find_documents
from found_footy.web.api.parameters import MINUTE, YEARS, SportName
from found_footy.web.pages.search_results import moments_view, results_view
from found_footy.web.rendering import PRIVATE, preferences, render
from found_footy.web.services import ServicesDep, WebServices
from found_footy.web.uploads import picture_receiver

FIELDS = (
    "q", "kind", "competition", "from", "to", "minute", "verified", "clips", "sport", "team", "goal", "place", "source",
    "like", "order", "model",
)  # fmt: skip
MAX_FIELD_LENGTH = 100
LIBRARY_KIND = "library"
"""Fourth kind: library clips, which have a separate search."""
LIBRARY_FIELDS = ("team", "goal", "place", "source", "like", "order", "model")
SIMILARITY_FIELDS = ("like", "order", "model")
LEAST_SIMILAR = "least"

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class LibraryQuery:
    filters: SearchFilter
    like: int | None = None
    order: SimilarityOrder = DEFAULT_ORDER


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
        return any(value for name, value in self.fields.items() if name not in ("kind", "q", *SIMILARITY_FIELDS))

    def address(self, page: str = "/search", **more: str) -> str:
        values = {name: value for name, value in {**self.fields, **more}.items() if value}
        if values.get("kind") == "goals":
            del values["kind"]
        return f"{page}?{urlencode(values)}" if values else page


def search_form(values: Mapping[str, str]) -> SearchForm:
    fields = {name: _CONTROL.sub("", values.get(name, ""))[:MAX_FIELD_LENGTH].strip() for name in FIELDS}
    problems: list[str] = []
    kind: Kind = next((each for each in get_args(Kind) if each == fields["kind"]), "goals")
    # A link with only a clip means the library; an explicit choice in the form takes precedence.
    is_library_search = fields["kind"] == LIBRARY_KIND or (bool(fields["like"]) and not fields["kind"])
    fields["kind"] = LIBRARY_KIND if is_library_search else kind
    if not is_library_search:
        fields |= dict.fromkeys(LIBRARY_FIELDS, "")
    first = _day(fields["from"], problems)
    last = _day(fields["to"], problems)
    if first and last and first > last:
        problems.append("The start date is after the end date.")
    minute = fields["minute"].removesuffix("'") or None
    if minute is not None and not re.fullmatch(MINUTE, minute):
        problems.append("Invalid minute: expected a number such as 23, or 45+2.")
        minute = None
    query = MatchSearchQuery(
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
    library = _library(fields, query, problems) if is_library_search else None
    return SearchForm(fields, query, tuple(problems), library)


def _library(fields: Mapping[str, str], query: MatchSearchQuery, problems: list[str]) -> LibraryQuery:
    like = _number(fields["like"], "clip", problems)
    minute = (query.minute or "").replace(" ", "+")
    return LibraryQuery(
        parse_filter(
            f"{fields['q']} {minute}",
            first=query.first,
            last=query.last,
            competition=query.competition,
            team=fields["team"],
            kind=fields["goal"],
            verified=query.verified,
            sport=query.sport,
            place=fields["place"] if fields["place"] in SECTIONS else None,
            source=_number(fields["source"], "source", problems),
        ),
        like,
        SimilarityOrder(fields["model"] or None, least=fields["order"] == LEAST_SIMILAR),
    )


def _number(text: str, of: str, problems: list[str]) -> int | None:
    number = int(text) if re.fullmatch(r"[1-9][0-9]{0,17}", text) else None
    if text and number is None:
        problems.append(f"Invalid {of} number.")
    return number


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
    library = services.library.search
    values = {**await _results(request, services, form), "models": library.clips.models if library else ()}
    return render(request, "search.html", values, headers=PRIVATE)


@router.get("/search/results")
async def results(request: Request, services: ServicesDep) -> HTMLResponse:
    form = search_form(request.query_params)
    return render(request, "parts/found.html", await _results(request, services, form), headers=PRIVATE)


@picture_router.post("/search/picture")
async def by_picture(request: Request, services: ServicesDep) -> HTMLResponse:
    """Results only: the picture comes from an open page and is not stored."""
    form = search_form({**request.query_params, "kind": LIBRARY_KIND, "like": ""})
    query = form.library
    assert query is not None
    search = services.library_search()
    bgr = await picture_receiver(request).read(request, search.pictures)
    results: SearchResults | None
    try:
        results = await search.clips.similar_to_image(bgr, query.filters, query.order)
    except (BadRequest, EmbeddingError) as error:
        form, results = _with_problem(form, error), None
    values = _moments(request, form, results, 0, _likeness(query.order, "this picture"))
    return render(request, "parts/found.html", {**values, "next": None}, headers=PRIVATE)


async def _results(request: Request, services: WebServices, form: SearchForm) -> dict[str, Any]:
    if form.library is not None:
        return await _library_search(request, services, form, form.library)
    kind, cursor = form.query.kind, request.query_params.get("cursor") or None
    results = await find_documents(services, form.query, cursor, PAGE_SIZE)
    views = results_view(results, preferences(request).hides)
    return {
        "form": form,
        "kind": kind,
        "found": views,
        "count": results_heading(
            form,
            len(results.items),
            more=results.next is not None,
            is_later_page=cursor is not None,
            hidden=any(each.is_hidden for each in views),
        ),
        "next": form.address(cursor=results.next) if results.next else None,
        "back": form.address(**({"cursor": cursor} if cursor else {})),
        "others": [(each, NOUNS[each][1]) for each in NOUNS if each != kind],
    }


async def _library_search(
    request: Request, services: WebServices, form: SearchForm, query: LibraryQuery
) -> dict[str, Any]:
    """Template values. An error is shown on the page, since it differs from an empty result."""
    raw_skip = request.query_params.get("skip", "")
    skip = int(raw_skip) if raw_skip.isascii() and raw_skip.isdecimal() and len(raw_skip) < 5 else 0
    similar_text = "" if query.like is None else _likeness(query.order, f"clip {query.like}")
    results: SearchResults | None
    try:
        clips = services.library_search().clips
        query_results = (
            clips.by_text(query.filters)
            if query.like is None
            else clips.similar_to_clip(query.like, query.filters, query.order)
        )
        results = await query_results
    except (BadRequest, NotFound, EmbeddingError) as error:
        form, results = _with_problem(form, error), None
    if results is not None and results.incomplete_reason:
        form = replace(form, problems=(*form.problems, f"Not searched: {results.incomplete_reason}"))
    return _moments(request, form, results, skip, similar_text)


def _likeness(order: SimilarityOrder, example: str) -> str:
    return f"least like {example}" if order.least else f"like {example}"


def _moments(
    request: Request, form: SearchForm, results: SearchResults | None, skip: int, similar_text: str
) -> dict[str, Any]:
    """Template values of the moments. `results` is None if the form has problems or the search failed."""
    moments = results.moments if results is not None else ()
    page_items = moments[skip : skip + PAGE_SIZE]
    views = moments_view(page_items, preferences(request).hides)
    next_skip = skip + PAGE_SIZE
    return {
        "form": form,
        "kind": LIBRARY_KIND,
        "found": views,
        "count": moments_heading(form, results, similar_text, len(page_items) if skip else None),
        "next": form.address(skip=str(next_skip)) if next_skip < len(moments) else None,
        "back": form.address(),
        "others": [(each, NOUNS[each][1]) for each in NOUNS],
    }


def _with_problem(form: SearchForm, error: FootyError) -> SearchForm:
    message = str(error)
    return replace(form, problems=(*form.problems, message[:1].upper() + message[1:] + "."))


def moments_heading(
    form: SearchForm, results: SearchResults | None, similar_text: str, later_count: int | None = None
) -> str:
    """Heading, also for screen readers. `later_count` is the number of results on a later page."""
    if results is None:
        return "Library search is unavailable"
    if later_count is not None:
        return f"{later_count} more {'moment' if later_count == 1 else 'moments'}"
    number = len(results.moments)
    if not number:
        return f"No clips found {similar_text}".rstrip()
    if form.is_empty and not similar_text:
        return "Latest library clips"
    prefix = "More than " if results.has_more else ""
    return f"{prefix}{number} {'moment' if number == 1 else 'moments'} {similar_text}".rstrip()


def nouns(form: SearchForm) -> tuple[str, str]:
    if form.query.kind == "goals" and form.query.sport == "cricket":
        return "wicket", "wickets"
    return NOUNS[form.query.kind]


def results_heading(form: SearchForm, number: int, *, more: bool, is_later_page: bool, hidden: bool) -> str:
    """Heading, also for screen readers. The number of goals would reveal the result of a hidden match."""
    singular_noun, plural_noun = nouns(form)
    if hidden and form.query.kind != "fixtures":
        return "Results with hidden scores"
    if is_later_page:
        return f"{number} more {singular_noun if number == 1 else plural_noun}"
    if form.is_empty:
        return f"Latest {plural_noun}"
    if not number:
        return f"No {plural_noun} found"
    return f"More than {number} {plural_noun}" if more else f"{number} {singular_noun if number == 1 else plural_noun}"
