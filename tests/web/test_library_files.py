"""Videos, sprite sheets and keyframes of the library: ranges, caching, missing files."""

from __future__ import annotations

import httpx
import pytest

from found_footy.library.models import clip_file_key, keyframe_key, master_key, sprite_key
from found_footy.library.review import ActionKind
from found_footy.library.stages import find_stage
from found_footy.media.models import Keyframe
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.library_pages import WHO, Library, filled_library
from tests.support.library_world import put
from tests.support.web_world import served


@pytest.fixture
async def library(server: tuple[str, WebServices], web: httpx.AsyncClient, small_world: SampleDataCopy) -> Library:
    return await filled_library(server[1], web, small_world)


async def stored(world: SampleDataCopy, key: str) -> bytes:
    return await world.world.objects.read(key)


async def test_videos_and_sprite_sheets_are_served(library: Library, small_world: SampleDataCopy) -> None:
    source, clip = library.first.source_id, library.first.clips[1]
    for path, key, kind in [
        (f"/s/{source}.mp4", master_key(source), "video/mp4"),
        (f"/c/{clip}.mp4", clip_file_key(source, clip), "video/mp4"),
        (f"/c/{clip}.webp", sprite_key(source, clip), "image/webp"),
        (f"/c/{library.whole.clips[0]}.mp4", master_key(library.whole.source_id), "video/mp4"),
    ]:
        content = await stored(small_world, key)
        answer = await library.web.get(path)
        assert (answer.status_code, answer.content) == (200, content), path
        assert answer.headers["content-type"] == kind
        assert answer.headers["accept-ranges"] == "bytes"
        assert answer.headers["x-content-type-options"] == "nosniff"
        head = await library.web.head(path)
        assert (head.status_code, head.headers["content-length"]) == (200, str(len(content)))
        part = await library.web.get(path, headers={"range": "bytes=10-99"})
        assert (part.status_code, part.content) == (206, content[10:100])
        assert part.headers["content-range"] == f"bytes 10-99/{len(content)}"
        beyond = await library.web.get(path, headers={"range": f"bytes={len(content)}-"})
        assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{len(content)}")


async def test_files_are_revalidated_since_they_can_be_taken_down(library: Library) -> None:
    document = (await library.web.get(f"/api/v1/clips/{library.first.clips[0]}")).json()
    for path in (document["file"], document["film"], document["sheet"]["url"]):
        answer = await library.web.get(path)
        assert answer.headers["cache-control"] == "public, no-cache", path
        known = await library.web.get(path, headers={"if-none-match": answer.headers["etag"]})
        assert (known.status_code, known.content) == (304, b"")


async def test_a_download_is_named_after_the_title(library: Library) -> None:
    answer = await library.web.head(f"/s/{library.whole.source_id}.mp4?download=1")
    said = answer.headers["content-disposition"]
    assert said == "attachment; filename=\"odz 10.mp4\"; filename*=UTF-8''%C5%81%C3%B3d%C5%BA%201%3A0.mp4"


async def test_keyframes_are_served(library: Library, small_world: SampleDataCopy) -> None:
    source, clip = library.first.source_id, library.first.clips[0]
    await library.services.library.store.save_keyframes(clip, [Keyframe(0, 12, "50%", 640, 360)])
    await put(small_world.world.objects, keyframe_key(source, clip, 0), b"a picture")
    answer = await library.web.get(f"/c/{clip}-0.jpg")
    assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, b"a picture", "image/jpeg")
    for path in (f"/c/{clip}-1.jpg", "/c/999-0.jpg"):
        assert (await library.web.get(path)).status_code == 404


async def test_a_clip_without_a_file_refers_to_its_source(library: Library) -> None:
    split = await library.services.library.review.split(library.first.clips[0], 10, WHO)
    answer = await library.web.get(f"/c/{split.made[1]}.mp4")
    assert (answer.status_code, answer.json()["error"]["class"]) == (404, "NotFound")
    said = answer.json()["error"]["message"]
    assert "just edited" in said
    assert f"/s/{library.first.source_id}.mp4 shows its frames 10 to 24" in said
    assert (await library.web.get(f"/c/{split.made[1]}.webp")).status_code == 404


async def test_an_archived_clip_is_gone(library: Library) -> None:
    store, clip = library.services.library.store, library.first.clips[0]
    done = await library.services.library.review.decide(ActionKind.ARCHIVE, [clip], WHO)
    assert (await library.web.get(f"/c/{clip}.mp4")).status_code == 200  # it can still be undone
    assert await store.begin(find_stage("clean-up"), clip, done.settles_at)
    for path in (f"/c/{clip}.mp4", f"/c/{clip}.webp"):
        answer = await library.web.get(path)
        assert (answer.status_code, answer.json()["error"]["class"]) == (410, "LinkGone")


async def test_a_source_without_clips_is_gone(library: Library) -> None:
    store, source, (clip,) = library.services.library.store, library.whole.source_id, library.whole.clips
    done = await library.services.library.review.decide(ActionKind.ARCHIVE, [clip], WHO)
    assert await store.begin(find_stage("clean-up"), clip, done.settles_at)
    await store.release_files(clip)
    await store.fail(find_stage("clean-up"), clip, "away", "ObjectStoreUnavailable", True, done.settles_at)
    for path in (f"/s/{source}.mp4", f"/c/{clip}.mp4", f"/c/{clip}.webp"):
        answer = await library.web.get(path)
        assert (answer.status_code, answer.json()["error"]["class"]) == (410, "LinkGone"), path
        assert "archived" in answer.json()["error"]["message"]
    shown = (await library.web.get(f"/api/v1/sources/{source}")).json()
    assert (shown["film"]["url"], shown["film"]["deleted_at"] is None) == (None, False)
    document = (await library.web.get(f"/api/v1/clips/{clip}")).json()
    assert (document["file"], document["film"]) == (None, None)
    page = (await library.web.get(f"/library/clips/{clip}")).text
    assert "so is the video" in page
    assert "<video" not in page


async def test_a_missing_file_is_an_internal_error(library: Library, small_world: SampleDataCopy) -> None:
    source, clip = library.first.source_id, library.first.clips[0]
    await small_world.world.objects.delete([master_key(source), clip_file_key(source, clip)])
    for path in (f"/s/{source}.mp4", f"/c/{clip}.mp4"):
        answer = await library.web.get(path)
        assert (answer.status_code, answer.json()["error"]["class"]) == (503, "ObjectStoreError")


async def test_a_source_without_a_video_reports_its_state(library: Library) -> None:
    order = {"url": "https://films.example/a"}
    made = (await library.web.post("/api/v1/sources", json=order, headers=library.editor)).json()["id"]
    answer = await library.web.get(f"/s/{made}.mp4")
    assert answer.status_code == 404
    assert "waiting for download" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "path", ["/c/0.mp4", "/c/x.mp4", f"/c/{2**63}.mp4", "/c/1-9999999.jpg", "/s/-1.mp4", "/c/..%2f1.mp4", "/s/1.mp3"]
)
async def test_an_invalid_id_is_rejected(web: httpx.AsyncClient, path: str) -> None:
    assert (await web.get(path)).status_code in (404, 422)


async def test_files_need_a_token_if_reading_does(small_world: SampleDataCopy) -> None:
    settings = small_world.settings.model_copy(update={"read_access": "token"})
    async with served(settings) as (server, services), httpx.AsyncClient(base_url=server.url) as web:
        library = await filled_library(services, web, small_world)
        path = (await web.get(f"/api/v1/clips/{library.first.clips[0]}", headers=library.editor)).json()["file"]
        assert (await web.get(path)).status_code == 401
        answer = await web.get(path, headers=library.editor)
        assert answer.headers["cache-control"] == "private, no-cache"
