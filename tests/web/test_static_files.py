"""Versioned paths of style sheets and scripts."""

from __future__ import annotations

import re

import httpx
import pytest

from found_footy.web.rendering import STATIC, static, version


async def test_static_files_exist_and_are_immutable(site: httpx.AsyncClient) -> None:
    named = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', (await site.get("/")).text))
    assert {static(name) for name in ("footy.css", "footy.js", "matchday.css", "matchday.js")} <= named
    for path in named:
        answer = await site.get(path)
        assert (answer.status_code, "immutable" in answer.headers["cache-control"]) == (200, True)


async def test_an_old_page_gets_current_files_uncached(site: httpx.AsyncClient) -> None:
    for path in ("/static/0123456789ab/footy.css", "/static/footy.css"):
        answer = await site.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")


async def test_only_files_in_the_static_folder_are_served(site: httpx.AsyncClient) -> None:
    for path in (f"/static/{version()}/..%2fapp.py", "/static/..%2fapp.py", f"/static/{version()}", "/static/"):
        assert (await site.get(path)).status_code == 404


def test_scripts_import_existing_files() -> None:
    for script in STATIC.glob("*.js"):
        for name in re.findall(r'from "\./([^"]+)"', script.read_text()):
            assert (STATIC / name).is_file(), f"{script.name}: {name}"


def test_a_missing_static_file_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        static("nowhere.css")
