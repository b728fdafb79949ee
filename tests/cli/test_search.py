"""`footy search` on a real database."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from found_footy.cli.search import result_line
from found_footy.library.models import ClipState
from found_footy.library.moments import ClipResult, MomentResult
from found_footy.storage.objects.store import open_object_store
from found_footy.storage.postgres import Database
from tests.cli.conftest import Footy
from tests.library.clip_rows import GOAL, ClipRows
from tests.library.scene_pictures import compressed, draw_scene, mirrored
from tests.media.made_clips import write
from tests.support.library_search import add_clips, jpeg


@dataclass(frozen=True)
class SearchableLibrary:
    url: str
    salah: list[int]
    nunez: list[int]


@pytest.fixture
def searchable(database_url: str, tmp_path: Path) -> SearchableLibrary:
    async def fill() -> SearchableLibrary:
        database = Database(database_url)
        await database.open()
        objects = open_object_store(
            (tmp_path / "objects").as_uri(), endpoint=None, region="", access_key=None, secret_key=None
        )
        try:
            salah = await add_clips(database, objects, [draw_scene(1), draw_scene(2)], "Salah scores")
            facts = {**GOAL, "player": "Darwin Núñez", "kind": "Penalty", "score": "1–0"}
            nunez = await add_clips(database, objects, [mirrored(draw_scene(1))], "Núñez scores", facts)
            await ClipRows(database).pair(salah[0], nunez[0])
            return SearchableLibrary(database_url, salah, nunez)
        finally:
            await objects.aclose()
            await database.close()

    return asyncio.run(fill())


def test_a_text_search_prints_one_line_per_moment(footy: Footy, searchable: SearchableLibrary) -> None:
    done = footy("search", "nun", "penalty", DATABASE_URL=searchable.url)
    assert done.code == 0, done.err
    assert "90+3' " in done.out
    assert f"copies: {searchable.nunez[0]}" in done.out or f"copies: {searchable.salah[0]}" in done.out


def test_json_output_equals_the_api_document(footy: Footy, searchable: SearchableLibrary) -> None:
    done = footy("search", "salah", "--verified", "--json", DATABASE_URL=searchable.url)
    found = json.loads(done.out)
    assert {each["clip"]["id"] for each in found["items"]} <= {*searchable.salah, *searchable.nunez}
    assert (found["total"], found["next"], found["model"]) == (2, None, None)


def test_similarity_search_takes_a_clip_an_image_or_a_video(
    footy: Footy, searchable: SearchableLibrary, tmp_path: Path
) -> None:
    (tmp_path / "shot.jpg").write_bytes(jpeg(compressed(draw_scene(2))))
    write(tmp_path / "film.mp4", [draw_scene(2)] * 10, 25.0)
    for like, expected in ((str(searchable.salah[0]), searchable.nunez[0]), ("shot.jpg", searchable.salah[1]),
                           ("film.mp4", searchable.salah[1])):  # fmt: skip
        done = footy("search", "--like", like, "--json", DATABASE_URL=searchable.url)
        assert done.code == 0, done.err
        assert json.loads(done.out)["items"][0]["clip"]["id"] == expected


def test_an_empty_result_is_not_an_error(footy: Footy, searchable: SearchableLibrary) -> None:
    done = footy("search", "nobody", DATABASE_URL=searchable.url)
    assert (done.code, done.out.strip()) == (0, "nothing found")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--like", "999"), 3, "clip 999 not found"),
        (("--like", "nowhere.jpg"), 3, "neither a clip id nor a file"),
        (("--place", "gone"), 2, "library, review, skipped"),
        (("--from", "yesterday"), 2, "YYYY-MM-DD"),
    ],
)
def test_invalid_search_arguments_are_rejected(
    footy: Footy, searchable: SearchableLibrary, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = footy("search", *arguments, DATABASE_URL=searchable.url)
    assert done.code == code
    assert words in done.words


def test_a_file_that_is_not_an_image_is_rejected(footy: Footy, searchable: SearchableLibrary, tmp_path: Path) -> None:
    (tmp_path / "notes.jpg").write_text("no picture")
    done = footy("search", "--like", "notes.jpg", "--json", DATABASE_URL=searchable.url)
    assert done.code == 1
    assert done.error()["class"] == "NotAVideo"


def test_a_withdrawn_goal_is_marked() -> None:
    facts = {"player": "E. Haaland", "minute": "31'", "home": "A", "away": "B", "score": "0–1", "withdrawn": True}
    clip = ClipResult(7, 1, 0, 100, Fraction(25), ClipState.EMBEDDED, "a title", facts=facts)
    assert (
        result_line(MomentResult(clip, ())) == "     7  31' E. Haaland · A 0–1 B · withdrawn · 4.0 s · in the library"
    )
