"""Serves the pages with the settings of the environment until SIGTERM: `python -m tests.chaos.web_process`."""

from __future__ import annotations

import asyncio
import signal

import uvloop

from found_footy.app import open_web
from found_footy.config import load_settings
from found_footy.runtime.http_server import HttpServer
from found_footy.web.app import create_app


async def main() -> None:
    settings = load_settings()
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with open_web(settings) as services, HttpServer(create_app(services), settings.web_port):
        await stop.wait()
        services.live.close()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as in `footy web`
        runner.run(main())
