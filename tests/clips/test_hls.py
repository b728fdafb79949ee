"""HLS without an ffmpeg program: yt-dlp fetches the segments, PyAV makes an mp4 of them."""

from __future__ import annotations

from pathlib import Path

import av
import pytest

from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected
from tests.clips.conftest import Open, Serve, names_in
from tests.clips.hostile_server import Answers, Reply, redirect
from tests.media.numbered_films import beeps, beeps_in, flashes_in, numbered, times, write_film

# v.redd.it: HLSPlaylist.m3u8 is a master playlist with the sound in a group of its own; its media playlists name
# transport streams, and AAC for the sound [jacobhl3ca/nospoilerscores, 22 Sep 2026].
REDDIT_MASTER = """#EXTM3U
#EXT-X-VERSION:4
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="6",NAME="audio",AUTOSELECT=YES,DEFAULT=YES,URI="HLS_AUDIO_128.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c00d,mp4a.40.2",RESOLUTION=320x180,AUDIO="6"
HLS_180.m3u8
"""
# video.bsky.app: a master playlist whose variants hold transport streams with pictures and sound
# [bluesky-social/social-app#5267, danbooru/danbooru#5814].
BLUESKY_MASTER = """#EXTM3U
#EXT-X-VERSION:3
#EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c00d,mp4a.40.2",RESOLUTION=320x180
180p/video.m3u8?session_id=x
"""
KIND = "application/vnd.apple.mpegurl"


def master(text: str) -> Reply:
    return Reply(text.encode(), kind=KIND)


def playlist(*segments: str) -> Reply:
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:2", "#EXT-X-PLAYLIST-TYPE:VOD"]
    lines += [line for segment in segments for line in ("#EXTINF:2.0,", segment)]
    return Reply("\n".join([*lines, "#EXT-X-ENDLIST", ""]).encode(), kind=KIND)


def streams(tmp_path: Path) -> dict[str, bytes]:
    """One film as transport streams with and without sound, and its sound as bare AAC."""
    whole = tmp_path / "whole.mp4"
    write_film(whole, numbered(100, flashes=[25, 60]), beeps(4, [1.0, 2.4]))
    made = {}
    for name, kind, wanted in (("both", "mpegts", "va"), ("film", "mpegts", "v"), ("sound", "adts", "a")):
        path = tmp_path / name
        with av.open(str(whole)) as film, av.open(str(path), "w", format=kind) as out:
            chosen = [each for each in (*film.streams.video, *film.streams.audio) if each.type[0] in wanted]
            into = {each.index: out.add_stream_from_template(each) for each in chosen}
            for packet in film.demux(chosen):
                if packet.dts is not None:
                    packet.stream = into[packet.stream.index]
                    out.mux(packet)
        made[name] = path.read_bytes()
    return made


def cut(data: bytes, pieces: int = 3) -> list[bytes]:
    """Segments at the borders of transport stream packets."""
    size = -(-len(data) // 188 // pieces) * 188
    return [data[start : start + size] for start in range(0, len(data), size)]


def segments(name: str, data: bytes) -> dict[str, Reply]:
    return {f"{name}{number}.ts": Reply(piece, kind="video/mp2t") for number, piece in enumerate(cut(data))}


def check(target: Path) -> None:
    with av.open(str(target)) as film:
        assert "mp4" in film.format.name
    assert len(times(target)) == 100
    assert times(target)[0] == pytest.approx(0, abs=0.1), "transport streams start at any time; the clip starts at 0"
    flashes = flashes_in(target)
    assert flashes == pytest.approx([1.0, 2.4], abs=0.1)
    assert beeps_in(target) == pytest.approx(flashes, abs=0.06)


async def test_reddits_pictures_and_sound_become_one_mp4(
    serve: Serve, opened: Open, target: Path, tmp_path: Path
) -> None:
    made = streams(tmp_path)
    base = "/hosts/v.redd.it/20tv4kea1joh1"
    parts = segments("film", made["film"])
    server = await serve(
        {
            f"{base}/HLSPlaylist.m3u8": master(REDDIT_MASTER),
            f"{base}/HLS_180.m3u8": playlist(*parts),
            f"{base}/HLS_AUDIO_128.m3u8": playlist("sound.aac"),
            f"{base}/sound.aac": Reply(made["sound"], kind="audio/aac"),
            **{f"{base}/{name}": reply for name, reply in parts.items()},
        }
    )
    await opened(server, max_bytes=2_000_000).fetch(f"{server.url}{base}", target)
    check(target)
    assert names_in(target.parent) == [target.name]


async def test_a_variant_with_sound_becomes_an_mp4(serve: Serve, opened: Open, target: Path, tmp_path: Path) -> None:
    parts = segments("video", streams(tmp_path)["both"])
    server = await serve(
        {
            "/playlist.m3u8": master(BLUESKY_MASTER),
            "/180p/video.m3u8": playlist(*parts),
            **{f"/180p/{name}": reply for name, reply in parts.items()},
        }
    )
    await opened(server, max_bytes=2_000_000).fetch(f"{server.url}/playlist.m3u8", target)
    check(target)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"/a.ts": Reply(b"G" + bytes(200_000), kind="video/mp2t")}, RejectionReason.TOO_LARGE),
        ({"/a.ts": Reply(status=404)}, RejectionReason.GONE),
        ({"/a.ts": redirect("http://127.0.0.1:9/a.ts")}, RejectionReason.FORBIDDEN_ADDRESS),
        ({"/a.ts": Reply((b"G" + bytes(187)) * 20, kind="video/mp2t")}, RejectionReason.NOT_A_VIDEO),
    ],
)
async def test_the_bounds_hold_for_segments(
    serve: Serve, opened: Open, target: Path, answers: dict[str, Reply], reason: RejectionReason
) -> None:
    given: Answers = {"/list.m3u8": playlist("a.ts"), **answers}
    server = await serve(given)
    with pytest.raises(CandidateRejected) as raised:
        await opened(server, max_bytes=150_000).fetch(f"{server.url}/list.m3u8", target)
    assert raised.value.reason == reason
    assert names_in(target.parent) == []
