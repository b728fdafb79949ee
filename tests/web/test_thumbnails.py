"""Posters and proof frames: made once, stored beside the clip, decoded in the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest

from found_footy.clips.models import PublishedVideo, clip_key, md5_of, poster_key, proof_key
from found_footy.errors import MediaBroken, ObjectStoreError, StreamFull
from found_footy.fixtures.models import MatchMinute
from found_footy.media.images import best_poster
from found_footy.media.models import Frame
from found_footy.web import thumbnails as picture_making
from found_footy.web.services import WebServices
from found_footy.web.thumbnails import ThumbnailService
from tests.conftest import SampleDataCopy
from tests.support.web_world import SALAH


def decoded(jpeg: bytes) -> tuple[int, int]:
    """Width and height."""
    picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    height, width = picture.shape[:2]
    return width, height


@pytest.fixture
async def best(small_world: SampleDataCopy) -> dict[str, str]:
    video: dict[str, str] = (await small_world.store.event(SALAH))["_s3_videos"][0]
    return video


async def keys(world: SampleDataCopy) -> list[str]:
    return sorted([stored.key async for stored in world.world.objects.list(f"7001/{SALAH}/")])


async def test_a_poster_is_made_on_demand_in_all_sizes_and_stored(
    server: tuple[str, WebServices], small_world: SampleDataCopy, best: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, services = server
    calls = 0
    pictures = services.media.frames_at

    async def counted(path: Path, fractions: Sequence[float]) -> list[Frame]:
        nonlocal calls
        calls += 1
        return await pictures(path, fractions)

    monkeypatch.setattr(services.media, "frames_at", counted)
    before = await keys(small_world)
    async with httpx.AsyncClient(base_url=url) as client:
        answers = await asyncio.gather(
            *(client.get(f"/v/{best['id']}/poster.jpg?w={w}") for w in (320, 640, 1280, 640))
        )
        assert calls == 1
        for answer in answers:
            assert (answer.status_code, answer.headers["content-type"]) == (200, "image/jpeg")
            assert answer.headers["cache-control"] == "public, no-cache"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert decoded(answer.content) == (320, 180), "a small clip is not enlarged"
        assert set(await keys(small_world)) - set(before) == {
            f"7001/{SALAH}/{best['md5']}.poster-{width}.jpg" for width in (320, 640, 1280)
        }
        again = await client.get(f"/v/{best['id']}/poster.jpg")
        assert (again.content, calls) == (answers[1].content, 1)
        known = await client.get(f"/v/{best['id']}/poster.jpg", headers={"if-none-match": again.headers["etag"]})
        assert (known.status_code, known.content) == (304, b"")
        head = await client.head(f"/v/{best['id']}/poster.jpg")
        assert (head.status_code, head.headers["etag"], head.content) == (200, again.headers["etag"], b"")
        for wrong in ("0", "641", "100000", "-1", "abc", ""):
            assert (await client.get(f"/v/{best['id']}/poster.jpg?w={wrong}")).status_code == 422
        assert calls == 1


async def test_a_merged_video_redirects_to_the_winners_poster(
    web: httpx.AsyncClient, best: dict[str, str], small_world: SampleDataCopy
) -> None:
    (copy,) = (await small_world.store.event(SALAH))["_s3_videos"][0]["copies"]
    answer = await web.get(f"/v/{copy['id']}/poster.jpg?w=320")
    assert answer.status_code == 307
    assert answer.headers["location"].startswith(f"/v/{best['id']}/poster.jpg?w=320")


async def test_proof_frames_are_limited_to_checked_ones(
    web: httpx.AsyncClient, best: dict[str, str], small_world: SampleDataCopy
) -> None:
    path = f"/v/{best['id']}/proof.jpg"
    first, decided, second = [await web.get(f"{path}{at}") for at in ("?at=1.000", "", "?at=3")]
    assert [answer.status_code for answer in (first, decided, second)] == [200, 200, 200]
    assert first.content == decided.content != second.content
    assert decoded(second.content) == (320, 180)
    for at in ("2", "1.01", "-1", "nan", "inf", "1e308"):
        assert (await web.get(f"{path}?at={at}")).status_code == 404
    assert (await web.get(f"{path}?at=soon")).status_code == 422
    proofs = [key for key in await keys(small_world) if ".proof-" in key]
    assert proofs == [f"7001/{SALAH}/{best['md5']}.proof-{at}.jpg" for at in (1000, 3000)]


async def test_a_poster_of_a_missing_file_is_an_internal_error(
    web: httpx.AsyncClient, best: dict[str, str], small_world: SampleDataCopy
) -> None:
    await small_world.world.objects.delete([clip_key(7001, SALAH, best["md5"])])
    answer = await web.get(f"/v/{best['id']}/poster.jpg")
    assert (answer.status_code, answer.json()["error"]["class"]) == (503, "ObjectStoreError")


# --- the line in front of the decoder


class Decoder:
    """Decodes when it is told to."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.go = asyncio.Event()
        self.busy = self.most = self.calls = 0
        self.problem = problem

    async def frames_at(self, path: Path, fractions: Sequence[float]) -> list[Frame]:
        self.calls += 1
        self.busy += 1
        self.most = max(self.most, self.busy)
        await self.go.wait()
        self.busy -= 1
        if self.problem is not None:
            raise self.problem
        return [Frame(0.0, np.full((90, 160, 3), 128, np.uint8)) for _ in fractions]


def link(number: int) -> PublishedVideo:
    return PublishedVideo(
        f"{number:016x}", "1_2_3_Goal_1", 1, f"{number:032x}", 4, 4.0, 0.0, None, "Somebody", MatchMinute(1), "A", "B"
    )  # fmt: skip


@pytest.fixture
async def maker(small_world: SampleDataCopy, tmp_path: Path) -> tuple[ThumbnailService, Decoder]:
    file = tmp_path / "clip.mp4"
    file.write_bytes(b"clip")
    for number in range(8):
        await small_world.world.objects.put(link(number).key, file)
    decoder = Decoder()
    return ThumbnailService(small_world.world.objects, decoder), decoder  # type: ignore[arg-type]


async def test_decoding_is_limited_and_the_queue_is_bounded(
    maker: tuple[ThumbnailService, Decoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    making, decoder = maker
    monkeypatch.setattr(picture_making, "MAX_WAITING", 6)
    asked = [asyncio.create_task(making.poster(link(number % 6), 320)) for number in range(12)]
    while decoder.busy < 2 or len(making._running) < 6:
        await asyncio.sleep(0)
    with pytest.raises(StreamFull):
        await making.poster(link(7), 320)
    asked[0].cancel()
    decoder.go.set()
    done = await asyncio.gather(*asked[1:])
    assert (len(set(done)), decoder.calls, decoder.most) == (1, 6, 2)
    assert (await making.poster(link(7), 320))[:2] == b"\xff\xd8"


async def test_failed_decoding_has_a_cooldown(
    maker: tuple[ThumbnailService, Decoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    making, decoder = maker
    decoder.problem = MediaBroken("/tmp/somewhere/clip.mp4: no decodable frames")
    decoder.go.set()
    for _ in range(3):
        with pytest.raises(ObjectStoreError, match="cannot decode video 0000") as caught:
            await making.poster(link(0), 320)
        assert "/tmp" not in str(caught.value)
    assert decoder.calls == 1
    monkeypatch.setattr(picture_making, "FAILURE_COOLDOWN", 0.0)
    with pytest.raises(ObjectStoreError):
        await making.poster(link(1), 320)
    decoder.problem = None
    assert await making.poster(link(1), 320), "one day it is tried again"


async def test_a_poster_that_cannot_be_stored_is_still_served(
    maker: tuple[ThumbnailService, Decoder], small_world: SampleDataCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    making, decoder = maker
    decoder.go.set()

    async def refused(*_: object, **__: object) -> None:
        raise ObjectStoreError("put: no space left")

    monkeypatch.setattr(small_world.world.objects, "put", refused)
    assert (await making.poster(link(0), 320))[:2] == b"\xff\xd8"


# --- which picture, and under which name

BLACK, WHITE = np.zeros((90, 160, 3), np.uint8), np.full((90, 160, 3), 255, np.uint8)
SCENE = np.random.default_rng(1).integers(0, 255, (90, 160, 3)).astype(np.uint8)
DIM = (SCENE // 12).astype(np.uint8)


@pytest.mark.parametrize(
    ("pictures", "place"),
    [([SCENE, BLACK], 0), ([BLACK, WHITE, SCENE], 2), ([BLACK, DIM, BLACK], 1), ([BLACK, BLACK], 0), ([DIM, SCENE], 1)],
)
def test_the_poster_is_the_first_frame_with_content(pictures: list[Frame], place: int) -> None:
    assert best_poster(pictures) == place  # type: ignore[arg-type]


def test_thumbnail_keys_are_next_to_the_clip() -> None:
    md5 = "ab" * 16
    clip, poster, proof = (
        clip_key(1, "1_2_3_Goal_1", md5),
        poster_key(1, "1_2_3_Goal_1", md5, 640),
        proof_key(1, "1_2_3_Goal_1", md5, 1.5),
    )
    assert (poster, proof) == (clip.replace(".mp4", ".poster-640.jpg"), clip.replace(".mp4", ".proof-1500.jpg"))
    assert {md5_of(key) for key in (clip, poster, proof, f"staging/1_2_3_Goal_1/{md5}.mp4")} == {md5}
