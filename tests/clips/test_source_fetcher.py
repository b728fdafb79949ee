"""What an editor submits: films by their link, with their title, their progress and the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import av
import pytest

from found_footy.clips.download_http import DownloadLimits
from found_footy.clips.models import RejectionReason
from found_footy.errors import BadRequest, CandidateRejected, DownloadUnavailable
from found_footy.library.source_download import SourceFetcher, open_source_fetcher
from tests.clips.conftest import Serve, names_in, saved
from tests.clips.hostile_server import VIDEO, HostileServer, Reply, html, redirect
from tests.media.numbered_films import beeps, beeps_in, flashes_in, numbered, times, write_film

PLAYER = """<html><head><title>A whole match</title></head><body>
<script>jwplayer("p").setup({"file": "%s", "title": "A whole match"});</script></body></html>"""

Opened = Callable[..., SourceFetcher]


@pytest.fixture
async def fetcher() -> AsyncIterator[Opened]:
    async with AsyncExitStack() as stack:

        def open_one(
            *servers: HostileServer, max_bytes: int = 1_000_000, max_duration_seconds: float = 3600
        ) -> SourceFetcher:
            limits = DownloadLimits(max_bytes, 150, 3, [each.host for each in servers])
            made = open_source_fetcher(
                limits,
                x_syndication_url="https://x.invalid",
                fxtwitter_url="https://x.invalid",
                x_url="https://x.invalid",
                max_duration_seconds=max_duration_seconds,
            )
            stack.push_async_callback(made.aclose)
            return made

        yield open_one


async def test_a_file_comes_with_its_progress(serve: Serve, fetcher: Opened, target: Path) -> None:
    film = VIDEO * 50
    server = await serve({"/match.mp4": Reply(film)})
    told: list[float] = []
    assert await fetcher(server).fetch(f"{server.url}/match.mp4", target, told.append) == ""
    assert saved(target) == film
    assert told == sorted(told)
    assert told[-1] == 1.0


async def test_a_file_of_unknown_length_has_no_progress(serve: Serve, fetcher: Opened, target: Path) -> None:
    server = await serve({"/match.mp4": Reply(VIDEO, unmeasured=True)})
    told: list[float] = []
    await fetcher(server).fetch(f"{server.url}/match.mp4", target, told.append)
    assert (saved(target), told) == (VIDEO, [])


async def test_a_page_supported_only_by_yt_dlp_has_its_title(serve: Serve, fetcher: Opened, target: Path) -> None:
    server = await serve({})
    server.answers = {"/page": html(PLAYER % f"{server.url}/v.mp4"), "/v.mp4": Reply(VIDEO)}
    told: list[float] = []
    assert await fetcher(server).fetch(f"{server.url}/page", target, told.append) == "A whole match"
    assert saved(target) == VIDEO
    assert all(0 <= share <= 1 for share in told)
    assert names_in(target.parent) == [target.name]


@pytest.mark.parametrize(
    "url",
    [
        "folder:film.mp4",
        "file:///etc/passwd",
        "ftp://example.org/film.mp4",
        "not a link",
        "https://user:secret@example.org/film.mp4",
        "http://127.0.0.1:80/film.mp4",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/film.mp4",
        "https://" + "a" * 5000,
    ],
)
async def test_a_forbidden_address_is_a_bad_request(fetcher: Opened, target: Path, url: str) -> None:
    with pytest.raises(BadRequest) as refused:
        await fetcher().fetch(url, target, lambda share: None)
    assert "secret" not in str(refused.value)
    assert names_in(target.parent) == []


async def test_redirects_to_private_addresses_are_refused(serve: Serve, fetcher: Opened, target: Path) -> None:
    server = await serve({"/film": redirect("http://127.0.0.1:22/film.mp4")})
    with pytest.raises(BadRequest):
        await fetcher(server).fetch(f"{server.url}/film", target, lambda share: None)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(VIDEO * 200), RejectionReason.TOO_LARGE),
        (Reply(VIDEO, then=bytes(10_000), unmeasured=True), RejectionReason.TOO_LARGE),
        (Reply(status=404), RejectionReason.GONE),
        (Reply(b"{}", kind="application/json"), RejectionReason.NOT_A_VIDEO),
        (Reply(b""), RejectionReason.NOT_A_VIDEO),
    ],
)
async def test_a_loss_has_its_class(
    serve: Serve, fetcher: Opened, target: Path, reply: Reply, reason: RejectionReason
) -> None:
    server = await serve(reply)
    with pytest.raises(CandidateRejected) as raised:
        await fetcher(server).fetch(f"{server.url}/film.mp4?key=secret", target, lambda share: None)
    assert raised.value.reason == reason
    assert "secret" not in str(raised.value)
    assert names_in(target.parent) == []


async def test_a_server_that_fails_may_be_better_later(serve: Serve, fetcher: Opened, target: Path) -> None:
    server = await serve(Reply(status=503))
    with pytest.raises(DownloadUnavailable):
        await fetcher(server).fetch(f"{server.url}/film.mp4", target, lambda share: None)


async def test_a_film_that_is_too_long_is_not_even_fetched(serve: Serve, fetcher: Opened, target: Path) -> None:
    part = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + "#EXTINF:4.0,\na.ts\n" * 3 + "#EXT-X-ENDLIST\n"
    page = PLAYER.replace('"title"', '"duration": 7201, "title"')
    server = await serve({})
    server.answers = {
        "/page": html(page % f"{server.url}/list.m3u8"),
        "/list.m3u8": Reply(part.encode(), kind="application/vnd.apple.mpegurl"),
        "/a.ts": Reply(b"G" + bytes(187)),
    }
    with pytest.raises(CandidateRejected) as raised:
        await fetcher(server, max_duration_seconds=7200).fetch(f"{server.url}/page", target, lambda share: None)
    assert raised.value.reason == RejectionReason.TOO_LONG
    assert not any(request.path == "/a.ts" for request in server.requests)


MPD = """<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S"><Period>
<AdaptationSet mimeType="video/mp4"><Representation id="v/../1" codecs="avc1.42c00d" width="320" height="180"
bandwidth="100000"><BaseURL>v.mp4</BaseURL></Representation></AdaptationSet>
<AdaptationSet mimeType="audio/mp4"><Representation id="a" codecs="mp4a.40.2" bandwidth="64000"
audioSamplingRate="48000"><BaseURL>a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>"""


def parted(tmp_path: Path) -> tuple[bytes, bytes]:
    """Pictures and sound of one film, each in a file of its own: a flash and a beep at the same moments."""
    whole = tmp_path / "whole.mp4"
    write_film(whole, numbered(100, flashes=[25, 60]), beeps(4, [1.0, 2.4]))
    parts = []
    for kind in ("video", "audio"):
        path = tmp_path / f"{kind}.mp4"
        with av.open(str(whole)) as film, av.open(str(path), "w") as out:
            (stream,) = getattr(film.streams, kind)
            into = out.add_stream_from_template(stream)
            for packet in film.demux(stream):
                if packet.dts is not None:
                    packet.stream = into
                    out.mux(packet)
        parts.append(path.read_bytes())
    return parts[0], parts[1]


async def test_separate_video_and_audio_streams_are_merged(
    serve: Serve, fetcher: Opened, target: Path, tmp_path: Path
) -> None:
    video, audio = parted(tmp_path)
    playlist = Reply(MPD.encode(), kind="application/dash+xml")
    server = await serve({"/film.mpd": playlist, "/v.mp4": Reply(video), "/a.mp4": Reply(audio)})
    await fetcher(server).fetch(f"{server.url}/film.mpd", target, lambda share: None)
    assert len(times(target)) == 100
    flashes = flashes_in(target)
    assert flashes == pytest.approx([1.0, 2.4], abs=0.03), "no time below 0 in this container: all of it may be late"
    assert beeps_in(target) == pytest.approx(flashes, abs=0.005), "and the sound in step with it"
    assert names_in(target.parent) == [target.name]


@pytest.mark.parametrize("broken", [b"ffconcat version 1.0\nfile /etc/passwd\n", bytes(5000)])
async def test_a_part_that_is_something_else_is_a_loss(
    serve: Serve, fetcher: Opened, target: Path, tmp_path: Path, broken: bytes
) -> None:
    video, _ = parted(tmp_path)
    playlist = Reply(MPD.encode(), kind="application/dash+xml")
    server = await serve({"/film.mpd": playlist, "/v.mp4": Reply(video), "/a.mp4": Reply(broken)})
    with pytest.raises(CandidateRejected) as raised:
        await fetcher(server).fetch(f"{server.url}/film.mpd", target, lambda share: None)
    assert raised.value.reason == RejectionReason.NOT_A_VIDEO
    assert names_in(target.parent) == []
