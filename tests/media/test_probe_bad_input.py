"""Files that are wrong end in an error of their own class, in bounded time and memory, whatever function meets them."""

from __future__ import annotations

import os
import resource
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from found_footy.errors import FootyError, MediaBroken, MediaError, MediaTooLarge, NotAVideo, NotFound
from found_footy.media.container import DecodeLimits
from found_footy.media.fingerprint import hash_video
from found_footy.media.frames import frames_at
from found_footy.media.probe import probe
from tests.media.made_clips import remux, scene, write, write_scene


def a_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("goal.txt", "no video" * 1000)


def nothing(path: Path) -> None:
    path.write_bytes(b"")


def text(path: Path) -> None:
    path.write_text("<!doctype html><title>Not found</title>" * 50)


def noise(path: Path) -> None:
    path.write_bytes(np.random.default_rng(1).integers(0, 256, 200_000, dtype=np.uint8).tobytes())


def image(path: Path) -> None:
    path.write_bytes(cv2.imencode(".jpg", next(scene(1)))[1].tobytes())


def animation(path: Path) -> None:
    path.write_bytes(b"GIF89a" + bytes(300))


def sound(path: Path) -> None:
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=44100, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), dtype=np.float32), format="fltp", layout="mono")
        frame.sample_rate = 44100
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def playlist(path: Path) -> None:
    other = write_scene(path.with_name("other.ts"), 1)
    path.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{other}\n#EXT-X-ENDLIST\n")


def concat_script(path: Path) -> None:
    other = write_scene(path.with_name("other.mp4"), 1)
    path.write_text(f"ffconcat version 1.0\nfile {other.name}\n")


def no_index(path: Path) -> None:
    """The index of an MP4 comes last: the end of the download is missing."""
    write_scene(path, 2)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


def cut_off(path: Path) -> None:
    """The index comes first, and announces pictures that have not arrived."""
    write_scene(path, 8, muxer={"movflags": "faststart"})
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_off_matroska(path: Path) -> None:
    write_scene(path, 8, format="matroska")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def no_pictures(path: Path) -> None:
    """A video stream that is announced and never comes."""
    with av.open(str(path), "w", format="matroska") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        container.start_encoding()


def garbage_pictures(path: Path) -> None:
    """The index is right, the pictures are noise."""
    write_scene(path, 3)
    data = bytearray(path.read_bytes())
    begin = data.index(b"mdat") + 4
    end = data.index(b"moov") - 4
    data[begin:end] = np.random.default_rng(2).integers(0, 256, end - begin, dtype=np.uint8).tobytes()
    path.write_bytes(bytes(data))


def wide(path: Path) -> None:
    write(path, [np.zeros((16, 30_000, 3), np.uint8)] * 3, codec="mjpeg", format="mov")


def claims_to_be_huge(path: Path) -> None:
    """The container says 320 x 180; the pictures' own headers speak of 30,000 x 30,000 pixels."""
    write(path, [next(scene(1))] * 3, codec="mjpeg", format="avi")
    data = path.read_bytes()
    size = (180).to_bytes(2, "big") + (320).to_bytes(2, "big")
    assert size in data
    path.write_bytes(data.replace(size, (30_000).to_bytes(2, "big") * 2))


def many_frames(path: Path) -> None:
    """More than there can be in ten minutes, in almost no bytes each."""
    small = write(path.with_name("small.mp4"), [np.zeros((16, 16, 3), np.uint8)] * 2)
    remux(small, path, repeat=50_000, format="mp4", shift=1)


def long(path: Path) -> None:
    small = write(path.with_name("small.mp4"), [np.zeros((16, 16, 3), np.uint8)] * 2)
    remux(small, path, repeat=10, format="mp4", shift=60_000)


BAD: list[tuple[Callable[[Path], None], type[FootyError]]] = [
    (a_zip, NotAVideo),
    (nothing, NotAVideo),
    (text, NotAVideo),
    (noise, NotAVideo),
    (image, NotAVideo),
    (animation, NotAVideo),
    (sound, NotAVideo),
    (playlist, NotAVideo),
    (concat_script, NotAVideo),
    (no_index, MediaBroken),
    (cut_off, MediaBroken),
    (cut_off_matroska, MediaBroken),
    (no_pictures, MediaBroken),
    (garbage_pictures, MediaBroken),
    (wide, MediaTooLarge),
    (claims_to_be_huge, MediaBroken),
    (many_frames, MediaTooLarge),
    (long, MediaTooLarge),
]


@pytest.mark.parametrize(("make", "kind"), BAD, ids=[make.__name__ for make, _ in BAD])
def test_a_wrong_file_ends_in_its_own_error_soon_and_small(
    tmp_path: Path, make: Callable[[Path], None], kind: type[FootyError]
) -> None:
    path = tmp_path / "goal.mp4"
    make(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for use in (probe, hash_video, lambda file: frames_at(file, [0.25, 0.75])):
        began = time.monotonic()
        with pytest.raises(kind) as caught:
            use(path)
        assert str(path) in str(caught.value)
        assert time.monotonic() - began < 10
    # In kilobytes; the largest frame that is allowed has 35 million pixels.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="cannot be read"):
        probe(tmp_path / "none.mp4")


def test_a_folder_or_a_pipe_is_not_a_video(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp4")
    for path in (tmp_path, tmp_path / "pipe.mp4"):
        with pytest.raises(NotAVideo, match="is not a regular file"):
            probe(path)


def test_the_name_of_an_address_is_never_opened_as_one() -> None:
    for name in ("http://127.0.0.1:9/goal.mp4", "concat:a.mp4|b.mp4", "file:/etc/hostname"):
        with pytest.raises(NotFound):
            probe(Path(name))


@pytest.mark.parametrize(
    "limits",
    [
        DecodeLimits(frames=20),
        DecodeLimits(seconds=1.5),
        DecodeLimits(side_pixels=300),
        DecodeLimits(frame_pixels=10_000),
        DecodeLimits(wall_seconds=0),
    ],
    ids=str,
)
def test_each_limit_holds(tmp_path: Path, limits: DecodeLimits) -> None:
    path = write_scene(tmp_path / "clip.mp4", 11)
    with pytest.raises(MediaTooLarge):
        probe(path, limits)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95, 0.999])
def test_a_truncated_stream_without_an_index_is_a_value_or_broken(tmp_path: Path, share: float) -> None:
    path = write_scene(tmp_path / "clip.ts", 4)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with suppress(MediaBroken):
        assert probe(path).duration == pytest.approx(4 * share, abs=0.7)


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bytes_end_in_a_value_or_a_media_error(tmp_path: Path, seed: int) -> None:
    path = write_scene(tmp_path / "clip.mp4", 1)
    data = bytearray(path.read_bytes())
    chance = np.random.default_rng(seed)
    for place in chance.integers(0, len(data), 40):
        data[place] = int(chance.integers(0, 256))
    path.write_bytes(bytes(data))
    with suppress(MediaError):
        probe(path)
        hash_video(path)
