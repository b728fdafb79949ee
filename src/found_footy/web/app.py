"""The web application."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.types import ASGIApp

from found_footy.clips.alignment import ClipAlignment
from found_footy.web import auth, files, metrics, reference, rendering, thumbnails, uploads
from found_footy.web.api import (
    atom,
    fixtures,
    follow,
    goals,
    health,
    library,
    operations,
    review,
    stream,
    subscriptions,
    takedowns,
)
from found_footy.web.auth import AuthMiddleware
from found_footy.web.errors import install_error_handlers
from found_footy.web.metrics import RequestMetricsMiddleware, WebMetrics
from found_footy.web.pages import feeds as feeds_page
from found_footy.web.pages import follow as follow_page
from found_footy.web.pages import goal as goal_page
from found_footy.web.pages import library as library_page
from found_footy.web.pages import matchday as matchday_page
from found_footy.web.pages import operations as operations_page
from found_footy.web.pages import review as review_page
from found_footy.web.pages import search as search_page
from found_footy.web.pages import subscriptions as subscriptions_page
from found_footy.web.pages import takedowns as takedowns_page
from found_footy.web.rendering import STATIC, VersionedStaticFiles
from found_footy.web.security import SecurityHeadersMiddleware
from found_footy.web.services import WebServices
from found_footy.web.visitors import ConcurrencyLimit, VisitorMiddleware

ROUTERS: tuple[APIRouter, ...] = (
    goal_page.router,
    matchday_page.router,
    fixtures.router,
    fixtures.router_fixture_feeds,
    goals.router,
    rendering.router,
    auth.router,
    health.router,
    metrics.router,
    operations.router_admin,
    operations_page.router_operations,
    operations_page.router,
    feeds_page.router,
    operations.router,
    files.router,
    thumbnails.router,
    files.router_library_files,
    stream.router,
    atom.router,
    goals.router_videos,
    goals.router_search,
    goals.router_losses,
    search_page.router,
    search_page.picture_router,
    library.router_library_search,
    reference.router,
    follow.router,
    follow_page.router,
    subscriptions.router,
    subscriptions_page.router,
    takedowns.router,
    takedowns_page.router,
    library_page.router,
    library.router,
    review_page.router,
    review.router,
)
"""Matched in this order; the most requested first."""


class FootyApp(FastAPI):
    def build_middleware_stack(self) -> ASGIApp:
        """The visitor first, then security headers, so that errors raised outside of all routes get them too."""
        services: WebServices = self.state.services
        counted = RequestMetricsMiddleware(super().build_middleware_stack(), self.state.metrics)
        guarded = SecurityHeadersMiddleware(counted, services.rules)
        return VisitorMiddleware(guarded, services.rules.trusted_proxies)


def create_app(services: WebServices) -> FastAPI:
    app = create_routes()
    app.state.services = services
    app.state.metrics = WebMetrics()
    app.state.downloads = ConcurrencyLimit(files.MAX_DOWNLOADS, "downloads", services.rules.downloads_per_address)
    app.state.uploads = ConcurrencyLimit(uploads.MAX_UPLOADS, "uploads")
    app.state.thumbnails = thumbnails.ThumbnailService(services.files, services.media)
    app.state.alignment = ClipAlignment(services.links.fingerprints)
    app.state.pictures = uploads.PictureReceiver()
    return app


def create_routes() -> FastAPI:
    """Create the app without its services, as needed for the OpenAPI document."""
    app = FootyApp(
        title="Found Footy",
        version="1",
        summary="Goals and their clips, minutes after they are scored.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    install_error_handlers(app)
    app.add_middleware(AuthMiddleware)
    for router in ROUTERS:
        # `include_router` would match each router in turn, twice, before a request reaches its own.
        app.router.routes.extend(router.routes)
    app.mount("/static", VersionedStaticFiles(directory=STATIC), name="static")
    return app
