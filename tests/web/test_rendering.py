"""Error pages and preferences."""

from __future__ import annotations

import httpx
import pytest

from found_footy.web.rendering import unbroken


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


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Salah 12' · Liverpool 1–0 Manchester City", "Salah 12'\u00a0· Liverpool 1\u2060–\u20600 Manchester City"),
        ("Glenn Maxwell 9.5 ov · India – Australia", "Glenn Maxwell 9.5\u00a0ov\u00a0· India – Australia"),
        ("A film", "A film"),
    ],
)
def test_a_line_does_not_break_inside_a_score_or_an_over(title: str, expected: str) -> None:
    assert unbroken(title) == expected
