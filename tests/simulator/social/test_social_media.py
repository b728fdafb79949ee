"""The files behind the posts: made in the background, in their order, once; and served as a good host does."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from social_helpers import scenario_with

from footy_simulator.clips.encode import render
from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import all_clips
from footy_simulator.clips.worker import RenderPool
from footy_simulator.server import Simulator
from found_footy.errors import EngineError

SCENARIO = scenario_with("copy 360p -1s 3s", "copy grey 360p -1s 3s", "html", "gone")
COPY, GREY, PAGE = all_clips(SCENARIO)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    for clip in (COPY, PAGE):
        render(clip, folder)
    return folder


@pytest.fixture
async def client(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        Simulator(SCENARIO, clips_folder=folder) as simulator,
        httpx.AsyncClient(base_url=simulator.url, timeout=30) as client,
    ):
        yield client


async def test_a_video_is_served_whole_and_in_parts(client: httpx.AsyncClient, folder: Path) -> None:
    path, content = f"/media/{COPY.file_name}", (folder / COPY.file_name).read_bytes()
    whole = await client.get(path)
    assert (whole.status_code, whole.content) == (200, content)
    assert whole.headers["content-type"] == "video/mp4"
    assert whole.headers["accept-ranges"] == "bytes"
    part = await client.get(path, headers={"range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, content[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(content)}"
    rest = await client.get(path, headers={"range": "bytes=100-", "if-range": whole.headers["etag"]})
    assert (rest.status_code, rest.content) == (206, content[100:])
    changed = await client.get(path, headers={"range": "bytes=100-", "if-range": '"another"'})
    assert (changed.status_code, changed.content) == (200, content)
    head = await client.head(path)
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(len(content)), b"")
    assert (await client.get(path, headers={"range": f"bytes={len(content)}-"})).status_code == 416


async def test_a_request_waits_until_the_video_is_rendered(client: httpx.AsyncClient) -> None:
    answer = await client.get(f"/media/{GREY.file_name}")
    assert answer.status_code == 200
    assert answer.content[4:8] == b"ftyp"


async def test_other_files_claim_to_be_videos(client: httpx.AsyncClient) -> None:
    answer = await client.get(f"/media/{PAGE.file_name}")
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.content.startswith(b"<!DOCTYPE html>")


@pytest.mark.parametrize("name", ["missing.mp4", "..%2f..%2fetc%2fpasswd", "master-0.mp4", f"{COPY.file_name}.m3u8"])
async def test_nothing_but_clips_is_served(client: httpx.AsyncClient, name: str) -> None:
    assert (await client.get(f"/media/{name}")).status_code == 404


async def test_without_a_folder_every_video_is_missing_and_nothing_is_rendered() -> None:
    async with Simulator(SCENARIO) as simulator, httpx.AsyncClient(base_url=simulator.url) as client:
        assert (await client.get(f"/media/{COPY.file_name}")).status_code == 404


def times_of(folder: Path) -> dict[str, int]:
    """When each was made. Small ones are made within one tick of the file system's clock."""
    made = [path for path in folder.glob("*.mp4") if not path.name.startswith("master")]
    return {path.name: path.stat().st_mtime_ns for path in made}


async def at_work(folder: Path) -> None:
    """Until a file is being written."""
    while not any(name.endswith(".part") for name in os.listdir(folder)):
        await asyncio.sleep(0.01)


async def made(files: RenderPool, *clips: ClipSpec) -> None:
    for clip in clips:
        assert await files.path_of(clip.file_name)


async def test_files_are_rendered_in_order_of_posting_and_requested_ones_first(tmp_path: Path) -> None:
    clips = list(all_clips(scenario_with("html", "zip", "copy 360p -1s 3s", "copy dark 360p -1s 3s", "truncated 3s")))
    page, archive, copy, dark, cut = clips
    files = RenderPool(tmp_path, clips)
    files.start()
    await made(files, cut, dark)
    await made(files, page, archive, copy)
    await files.stop()
    times = times_of(tmp_path)
    assert len(times) == len(clips)
    assert times[cut.file_name] == min(times.values())
    assert times[page.file_name] <= times[archive.file_name] <= times[copy.file_name]


async def test_stopping_ends_the_process_and_fails_waiters(tmp_path: Path) -> None:
    clips = list(all_clips(scenario_with("copy 720p -12s 30s", "copy 1080p -12s 30s")))
    files = RenderPool(tmp_path, clips)
    files.start()
    waiting = asyncio.create_task(files.path_of(clips[0].file_name))
    await at_work(tmp_path)
    (process,) = files.process_ids
    assert process is not None
    await files.stop()
    with pytest.raises(EngineError, match="the simulator is stopping"):
        await waiting
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert os.listdir(tmp_path) == [], "nothing half made is left"


async def test_the_process_is_polite(tmp_path: Path) -> None:
    files = RenderPool(tmp_path, list(all_clips(scenario_with("copy 720p -12s 30s"))))
    files.start()
    await at_work(tmp_path)
    (process,) = files.process_ids
    niceness = os.getpriority(os.PRIO_PROCESS, process)
    await files.stop()
    assert niceness == os.getpriority(os.PRIO_PROCESS, 0) + 5


async def test_a_dead_process_fails_its_callers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    clips = list(all_clips(scenario_with("copy 720p -12s 30s", "html")))
    files = RenderPool(tmp_path, clips)
    files.start()
    await at_work(tmp_path)
    (process,) = files.process_ids
    os.kill(process, signal.SIGKILL)
    for clip in clips:
        with pytest.raises(EngineError, match="the rendering process ended with code -9"):
            await files.path_of(clip.file_name)
    await files.stop()
    assert "ended with code -9" in caplog.text


async def test_an_unwritable_folder_fails_its_callers(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    files = RenderPool(blocked, [COPY])
    files.start()
    with pytest.raises(EngineError, match="could not be rendered"):
        await files.path_of(COPY.file_name)
    await files.stop()


async def test_existing_files_are_not_rendered_again(folder: Path) -> None:
    files = RenderPool(folder, [COPY, PAGE])
    files.start()
    assert await files.path_of(COPY.file_name) == folder / COPY.file_name
    assert files.process_ids == []
    await files.stop()
