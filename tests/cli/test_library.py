"""`footy submit` and `footy library` on a real database and object store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest

from found_footy.cli.library import size_of
from found_footy.errors import BadRequest, FootyError, NotFound
from found_footy.library.stages import find_stage
from found_footy.library.store import LibraryStore
from found_footy.storage.objects.store import ThreadedObjectStore, open_object_store
from found_footy.storage.postgres import Database
from tests.cli.conftest import Footy
from tests.support.library_rows import pending
from tests.support.library_world import CutSource, film

T = TypeVar("T")


@pytest.fixture
def engines(database_url: str, tmp_path: Path) -> dict[str, str]:
    return {"DATABASE_URL": database_url, "FOOTY_OBJECT_STORE_URL": (tmp_path / "objects").as_uri()}


def inside(engines: dict[str, str], do: Callable[[LibraryStore, ThreadedObjectStore], Awaitable[T]]) -> T:
    async def body() -> T:
        database = Database(engines["DATABASE_URL"])
        await database.open()
        objects = open_object_store(
            engines["FOOTY_OBJECT_STORE_URL"], endpoint=None, region="", access_key=None, secret_key=None
        )
        try:
            return await do(LibraryStore(database), objects)
        finally:
            await objects.aclose()
            await database.close()

    return asyncio.run(body())


def test_files_and_urls_are_submitted_and_listed(footy: Footy, engines: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "cup final.mp4").write_bytes(b"a film")
    ended = footy("submit", "cup final.mp4", "--player", "Ana", **engines)
    assert (ended.code, ended.err) == (0, "")
    assert "source 1: cup final" in ended.out
    ended = footy("submit", "https://films.example/a?key=secret", "--title", "Derby", "--json", **engines)
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    assert (document["id"], document["kind"], document["title"], document["state"]) == (2, "url", "Derby", "new")
    assert "secret" not in ended.out

    async def look(library: LibraryStore, objects: ThreadedObjectStore) -> bytes:
        source = await library.source(1)
        assert (source.facts, source.submitted_by) == ({"player": "Ana"}, "footy submit")
        assert source.upload_key is not None
        return await objects.read(source.upload_key)

    assert inside(engines, look) == b"a film"
    listed = footy("library", **engines)
    assert listed.out.index("Derby") < listed.out.index("cup final")
    assert [each["id"] for each in json.loads(footy("library", "list", "--kind", "file", "--json", **engines).out)] == [
        1
    ]


@pytest.mark.parametrize(
    ("what", "kind", "said"),
    [
        ("missing.mp4", NotFound, "not found"),
        (".", BadRequest, "is not a file"),
        ("empty.mp4", BadRequest, "is empty"),
        ("large.mp4", BadRequest, "FOOTY_SOURCE_MB allows 1"),
        ("nul\0.mp4", NotFound, "not found"),
        ("x" * 300, BadRequest, "cannot read"),
    ],
)
def test_an_invalid_file_is_rejected_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, kind: type[FootyError], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.mp4").touch()
    Path("large.mp4").write_bytes(b"x" * 1_000_001)
    with pytest.raises(kind, match=said):
        size_of(Path(what), 1_000_000)


def test_a_forbidden_url_is_rejected_with_a_reason(footy: Footy, engines: dict[str, str]) -> None:
    ended = footy("submit", "http://127.0.0.1/a.mp4", "--json", **engines)
    assert (ended.code, ended.error()["class"]) == (1, "BadRequest")
    assert footy("library", "list", **engines).out.startswith("no sources")


def test_a_source_is_shown_with_its_clips_and_retried(footy: Footy, engines: dict[str, str], tmp_path: Path) -> None:
    now = datetime.now(UTC)
    inside(engines, lambda library, objects: film(library, objects, (0.6, 0.4), title="Two \x1b[31mscenes", now=now))
    ended = footy("library", "show", "1", **engines)
    assert ended.code == 0, ended.err
    assert "\x1b" not in ended.out
    assert "2 waiting for review" in ended.out
    assert "frames 0–14" in ended.out
    assert footy("library", "retry", "1", "--json", **engines).error()["class"] == "EditRefused"
    assert footy("library", "retry", "--clip", "9", **engines).code == 3
    assert footy("library", "retry", **engines).code == 2

    footy("submit", "https://films.example/gone", **engines)

    async def fail(library: LibraryStore, _: ThreadedObjectStore) -> None:
        assert await library.begin(find_stage("download"), 2, now)
        await library.fail(find_stage("download"), 2, "gone for good", "CandidateRejected", False, now)

    inside(engines, fail)
    assert "CandidateRejected: gone for good" in footy("library", "list", "--state", "download_failed", **engines).out
    assert footy("library", "retry", "2", **engines).code == 0

    async def work(library: LibraryStore, _: ThreadedObjectStore) -> list[int]:
        return await pending(library, "download", {}, datetime.now(UTC))

    assert inside(engines, work) == [2]


def test_removing_a_source_needs_confirmation(footy: Footy, engines: dict[str, str]) -> None:
    now = datetime.now(UTC)
    inside(engines, lambda library, objects: film(library, objects, (0.6, 0.4), now=now))
    asked = footy("library", "remove", "1", **engines)
    assert (asked.code, asked.out.strip()) == (1, "")
    assert "Remove source 1" in asked.err
    ended = footy("library", "remove", "1", "--yes", "--json", **engines)
    assert ended.code == 0, ended.err
    assert json.loads(ended.out) == {"source": 1, "deleted": False, "clips": 2, "action": 1}
    assert "are already archived" in footy("library", "remove", "1", "--yes", **engines).out
    footy("submit", "https://films.example/wrong", **engines)
    assert footy("library", "remove", "2", "--yes", **engines).out == "source 2 removed\n"
    assert footy("library", "remove", "2", "--yes", **engines).code == 3


def test_scrub_compares_rows_and_objects(footy: Footy, engines: dict[str, str], tmp_path: Path) -> None:
    assert "nothing to delete" in footy("library", "leftovers", **engines).out
    filmed: CutSource = inside(
        engines, lambda library, objects: film(library, objects, (0.6, 0.4), now=datetime.now(UTC))
    )
    (tmp_path / "stray").write_bytes(b"nobody knows me")

    async def disturb(library: LibraryStore, objects: ThreadedObjectStore) -> list[str]:
        await objects.delete([f"library/1/{filmed.clips[0]}.webp"])
        await objects.put("library/1/stray.mp4", tmp_path / "stray")
        return await library.release_files(filmed.clips[1])

    leaving = inside(engines, disturb)
    ended = footy("library", "scrub", "--json", **engines)
    report = json.loads(ended.out)
    assert (ended.code, report["missing"], report["unknown"], report["deleted"]) == (6, 1, 1, 0)
    assert report["missing_keys"] == [f"library/1/{filmed.clips[0]}.webp"]
    assert report["unknown_keys"] == ["library/1/stray.mp4"]
    told = footy("library", "scrub", "--delete", **engines)
    assert "library/1/stray.mp4" in told.out  # too young to be deleted
    left = json.loads(footy("library", "leftovers", "--json", **engines).out)
    assert {each["key"] for each in left} >= set(leaving)
