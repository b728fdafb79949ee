"""Error pages and preferences."""

from __future__ import annotations

import httpx


async def test_an_unknown_path_returns_html_or_json(site: httpx.AsyncClient) -> None:
    page = await site.get("/nowhere", headers={"accept": "text/html"})
    assert (page.status_code, "Not Found" in page.text) == (404, True)
    answer = await site.get("/api/v1/nowhere", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert answer.json()["error"]["class"] == "NotFound"


async def test_preferences_redirect_to_own_pages_only(web: httpx.AsyncClient) -> None:
    for back, leads_to in [
        ("/day/2026-08-22?x=1", "/day/2026-08-22?x=1"),
        ("//evil.example", "/"),
        ("https://a.b", "/"),
    ]:
        answer = await web.post("/preferences", data={"spoilers": "hidden", "back": back})
        assert (answer.status_code, answer.headers["location"]) == (303, leads_to)
