"""The web application: routes around the services they are given."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.staticfiles import StaticFiles

from found_footy.web import failures, preferences
from found_footy.web.rendering import STATIC
from found_footy.web.services import Services

ROUTERS: tuple[APIRouter, ...] = (preferences.router,)
"""In the order in which they are asked."""


def create_app(services: Services) -> FastAPI:
    app = FastAPI(
        title="Found Footy",
        version="1",
        summary="Goals and their clips, minutes after they are scored.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.services = services
    failures.install(app)
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app
