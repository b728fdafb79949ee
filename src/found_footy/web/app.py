"""The web application: routes around the services they are given."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.types import ASGIApp

from found_footy.web.access.gate import Gate
from found_footy.web.access.headers import SafeHeaders
from found_footy.web.answers import failures, preferences
from found_footy.web.answers.assets import STATIC, Assets
from found_footy.web.api import (
    admin,
    clips,
    dates,
    events,
    fixture_feeds,
    fixtures,
    follow,
    library_search,
    losses,
    search,
    sources,
    stream,
    subscriptions,
    videos,
)
from found_footy.web.api import operations as operations_api
from found_footy.web.api import review as review_api
from found_footy.web.feeds import routes as feeds
from found_footy.web.files import library_files, links, pictures
from found_footy.web.operating import health, metrics, status
from found_footy.web.operating.metrics import Counted, WebMetrics
from found_footy.web.pages import follow as follow_page
from found_footy.web.pages import goal, library, login, match_words, matchday, operations, operations_forms, reference
from found_footy.web.pages import review as review_page
from found_footy.web.pages import search as search_page
from found_footy.web.pages import subscriptions as subscriptions_page
from found_footy.web.services import Services

ROUTERS: tuple[APIRouter, ...] = (
    goal.router,
    matchday.router,
    fixtures.router,
    fixture_feeds.router,
    events.router,
    preferences.router,
    login.router,
    health.router,
    metrics.router,
    status.router,
    admin.router,
    operations.router,
    operations_forms.router,
    match_words.router,
    operations_api.router,
    links.router,
    pictures.router,
    library_files.router,
    stream.router,
    feeds.router,
    dates.router,
    videos.router,
    search.router,
    losses.router,
    search_page.router,
    search_page.picture_router,
    library_search.router,
    reference.router,
    follow.router,
    follow_page.router,
    subscriptions.router,
    subscriptions_page.router,
    library.router,
    sources.router,
    clips.router,
    review_page.router,
    review_api.router,
)
"""In the order in which they are asked: the most wanted first."""


class FootyApp(FastAPI):
    def build_middleware_stack(self) -> ASGIApp:
        """Also what fails outside of all routes gets the headers."""
        services: Services = self.state.services
        return SafeHeaders(Counted(super().build_middleware_stack(), self.state.metrics), services.rules)


def create_app(services: Services) -> FastAPI:
    app = FootyApp(
        title="Found Footy",
        version="1",
        summary="Goals and their clips, minutes after they are scored.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.services = services
    app.state.metrics = WebMetrics()
    failures.install(app)
    app.add_middleware(Gate)
    for router in ROUTERS:
        # Not `include_router`: that asks each router in turn, twice, and a request pays for all before its own.
        app.router.routes.extend(router.routes)
    app.mount("/static", Assets(directory=STATIC), name="static")
    return app
