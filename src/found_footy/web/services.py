"""What the routes are given: built once by the composition root, and found by each request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

from found_footy.ports import MediaReader
from found_footy.web.ports import ClipFiles, GoalReading


@dataclass(frozen=True, slots=True)
class WebRules:
    """The settings that the pages and the API go by."""

    debounce_polls: int = 3
    search_attempts: int = 10
    public_url: str | None = None
    read_access: str = "open"
    video_links: str = "stream"
    session_hours: float = 12
    login_failures: int = 10
    stream_clients: int = 2000
    stream_heartbeat_seconds: float = 15
    poll_seconds: float = 30
    feed: str = "api_football"
    temporal_ui_url: str | None = None
    temporal_namespace: str = "default"
    private_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Services:
    rules: WebRules
    now: Callable[[], datetime]
    goals: GoalReading
    files: ClipFiles
    media: MediaReader


def services_of(connection: HTTPConnection) -> Services:
    return cast(Services, connection.app.state.services)


Given = Annotated[Services, Depends(services_of)]
