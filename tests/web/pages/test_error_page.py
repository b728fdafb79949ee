"""The error page in a browser."""

from __future__ import annotations

import pytest

from tests.web.pages.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_an_error_page_links_back(visit: OpenPage) -> None:
    page = await visit("/nowhere")
    await page.get_by_role("link", name="Back to matches").click()
    await page.wait_for_url("**/")
