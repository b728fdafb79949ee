from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from found_footy.media.processor import MediaProcessor


@pytest.fixture
async def media() -> AsyncIterator[MediaProcessor]:
    made = MediaProcessor(1024, 60)
    yield made
    await made.aclose()
