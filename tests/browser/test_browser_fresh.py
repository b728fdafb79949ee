"""Who asks the same again at once does not make X work twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from found_footy.browser.models import BrowserOptions
from found_footy.browser.service import BrowserService
from found_footy.browser.x_search import FoundPost, XSearchRequest

SALAH = XSearchRequest("Salah LFC", since=datetime(2026, 8, 22, 15, 0, tzinfo=UTC))


class Counting(BrowserService):
    """Answers without a browser, and counts."""

    def __init__(self, fresh_seconds: float, profile: Path) -> None:
        super().__init__(BrowserOptions("http://x.invalid", profile, port=0, fresh_seconds=fresh_seconds))
        self.searched: list[str] = []

    async def _search(self, order: XSearchRequest) -> list[FoundPost]:
        self.searched.append(order.query)
        return []


async def searched(service: Counting, orders: Sequence[XSearchRequest]) -> list[str]:
    for order in orders:
        await service.search(order)
    return service.searched


@pytest.mark.parametrize(("fresh", "times"), [(60.0, 1), (0.0, 2)])
async def test_the_same_search_is_answered_again_only_while_it_is_fresh(
    tmp_path: Path, fresh: float, times: int
) -> None:
    later = replace(SALAH, since=datetime(2026, 8, 22, 15, 1, tzinfo=UTC))
    assert await searched(Counting(fresh, tmp_path), [SALAH, later]) == ["Salah LFC"] * times


async def test_another_search_is_another_one(tmp_path: Path) -> None:
    others = [SALAH, XSearchRequest("Foden MCFC"), replace(SALAH, limit=7)]
    assert len(await searched(Counting(60.0, tmp_path), others)) == 3
