"""The composition root of the web process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

from found_footy.adapters.media.limited import LimitedMedia
from found_footy.bootstrap import build_objects, open_store
from found_footy.config import Settings
from found_footy.web.services import Services, WebRules


def web_rules(settings: Settings) -> WebRules:
    return WebRules(**{name: getattr(settings, name) for name in WebRules.__dataclass_fields__})


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def open_web(settings: Settings) -> AsyncIterator[Services]:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        objects = build_objects(settings)
        stack.push_async_callback(objects.aclose)
        media = LimitedMedia(settings.media_memory_mb, settings.media_seconds)
        stack.push_async_callback(media.aclose)
        yield Services(rules=web_rules(settings), now=_now, goals=store, files=objects, media=media)
