"""Addresses of style sheets and scripts."""

from __future__ import annotations

import re

import httpx
import pytest

from found_footy.web.rendering import STATIC, static, version


async def test_what_a_page_names_is_there_and_kept_for_good(site: httpx.AsyncClient) -> None:
    named = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', (await site.get("/")).text))
    assert {static(name) for name in ("footy.css", "footy.js", "matchday.css", "matchday.js")} <= named
    for path in named:
        answer = await site.get(path)
        assert (answer.status_code, "immutable" in answer.headers["cache-control"]) == (200, True)


async def test_a_page_from_before_an_upgrade_gets_todays_files_without_keeping_them(site: httpx.AsyncClient) -> None:
    for path in ("/static/0123456789ab/footy.css", "/static/footy.css"):
        answer = await site.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")


async def test_nothing_outside_of_the_folder_is_given_away(site: httpx.AsyncClient) -> None:
    for path in (f"/static/{version()}/..%2fapp.py", "/static/..%2fapp.py", f"/static/{version()}", "/static/"):
        assert (await site.get(path)).status_code == 404


def test_modules_import_each_other_by_names_that_exist() -> None:
    for script in STATIC.glob("*.js"):
        for name in re.findall(r'from "\./([^"]+)"', script.read_text()):
            assert (STATIC / name).is_file(), f"{script.name}: {name}"


def test_a_file_that_is_not_there_is_a_fault() -> None:
    with pytest.raises(FileNotFoundError):
        static("nowhere.css")
