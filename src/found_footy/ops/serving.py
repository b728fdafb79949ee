"""One web process: pages, API and live updates until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import socket

from found_footy.bootstrap_web import open_web
from found_footy.config import Settings
from found_footy.domain.errors import EngineError
from found_footy.http_server import HttpServer
from found_footy.web.app import create_app

log = logging.getLogger(__name__)


async def serve(settings: Settings, stop: asyncio.Event) -> None:
    async with open_web(settings) as services:
        app = create_app(services)
        async with HttpServer(app, settings.web_port, host=settings.web_host, name="the web server") as server:
            log.info(f"the pages are at {server.url}", extra={"action": "web_ready"})
            failing = asyncio.create_task(server.wait())
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait({failing, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for task in (failing, stopping):
                task.cancel()
            services.live.close()  # the server waits for open answers, and these never end by themselves
    log.info("the web server has stopped", extra={"action": "web_stopped"})


def with_web_port(settings: Settings, *, any_other: bool = False) -> Settings:
    """The port that the web process will take, tried out: a port in use is told before anything is started."""
    for port in (settings.web_port, 0) if any_other else (settings.web_port,):
        family = socket.AF_INET6 if ":" in settings.web_host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((settings.web_host, port))
            except OSError as error:
                said = error.strerror
                continue
            return settings.model_copy(update={"web_port": probe.getsockname()[1]})
    raise EngineError(
        f"the pages cannot be served at {settings.web_host}, port {settings.web_port}: {said};"
        " set FOOTY_WEB_PORT to another, or to 0 for any"
    )


def pages_url(settings: Settings) -> str:
    """Where people on this machine find the pages."""
    return HttpServer.address(settings.web_host, settings.web_port)
