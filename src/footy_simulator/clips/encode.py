"""Render clips to files: masters, copies and broken files, through PyAV (H.264, AAC)."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from secrets import token_hex

import av
import cv2
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer

from footy_simulator.clips.alter import FilmedScreen, YuvFrame, alteration, frame_size, from_bgr, unpacked, width_of
from footy_simulator.clips.camera import Image
from footy_simulator.clips.cricket_scene import CricketScene
from footy_simulator.clips.figures import seeded_rng
from footy_simulator.clips.football_scene import FootballScene
from footy_simulator.clips.models import ClipSpec, Footage, MasterSpec, Scene
from footy_simulator.clips.other_scenes import BasketballScene, LandscapeScene, StudioScene

MASTER_QUALITY = {"crf": "24"}
_AUDIO_RATE = 8_000
"""Samples per second: low, because encoding costs time."""
_SPEED = {"preset": "ultrafast", "threads": "1"}
"""One thread: more of them would change the bytes with the number of cores."""


def write_video(
    path: Path, frames: Iterable[YuvFrame], size: tuple[int, int], fps: int, *, kbit: int | None, audible: bool = True
) -> None:
    """Encode frames to an MP4 file: to a bitrate for a copy, to a quality for a master."""
    quality = MASTER_QUALITY if kbit is None else {}
    with av.open(str(path), "w", format="mp4") as container:
        video = container.add_stream("libx264", rate=fps, options=_SPEED | quality)
        video.width, video.height = size
        video.pix_fmt = "yuv420p"
        video.gop_size = fps if kbit is None else 2 * fps
        video.thread_count = 1
        if kbit is not None:
            video.bit_rate = kbit * 1000
        sound = _CrowdNoise(container) if audible else None
        number = 0
        for number, picture in enumerate(frames, start=1):
            frame = av.VideoFrame.from_ndarray(picture.packed(), format="yuv420p")
            frame.pts, frame.time_base = number - 1, Fraction(1, fps)
            container.mux(video.encode(frame))
            if sound is not None:
                sound.up_to(number / fps)
        container.mux(video.encode())
        if sound is not None:
            sound.end()


def read_video(path: Path, start: float) -> Iterator[tuple[float, YuvFrame]]:
    """(second, picture) of each frame of a master, from the last key frame before `start` on."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_count = 1
        if start > 0 and stream.time_base is not None:
            container.seek(int(start / stream.time_base), stream=stream)
        for frame in container.decode(stream):
            yield float(frame.time or 0.0), unpacked(np.asarray(frame.to_ndarray(), np.uint8))


class _CrowdNoise:
    """A crowd far away: a low tone that swells slowly."""

    def __init__(self, container: OutputContainer) -> None:
        self._container = container
        self._stream: AudioStream = container.add_stream("aac", rate=_AUDIO_RATE, options={"aac_coder": "fast"})
        self._stream.layout = "mono"
        self._written = 0

    def up_to(self, second: float) -> None:
        step = 1024
        while (self._written + step) / _AUDIO_RATE <= second:
            at = np.arange(self._written, self._written + step) / _AUDIO_RATE
            wave = (0.05 + 0.03 * np.sin(at * 0.9)) * np.sin(2 * np.pi * 180 * at)
            frame = av.AudioFrame.from_ndarray(wave.astype(np.float32)[None], format="fltp", layout="mono")
            frame.sample_rate, frame.pts = _AUDIO_RATE, self._written
            self._container.mux(self._stream.encode(frame))
            self._written += step

    def end(self) -> None:
        self._container.mux(self._stream.encode())


# --- The master of a footage: rendered once, from which all copies are made.


_GRAINS = 5
_GRAIN = 4
"""How far the grain lifts a pixel at most, in steps of brightness."""

AnyScene = FootballScene | CricketScene | StudioScene | BasketballScene | LandscapeScene

_SCENES: dict[Scene, type[AnyScene]] = {
    "match": FootballScene,
    "cricket": CricketScene,
    "studio": StudioScene,
    "basketball": BasketballScene,
    "landscape": LandscapeScene,
}


def scene_of(footage: Footage, width: int, height: int) -> AnyScene:
    return _SCENES[footage.scene](footage, width, height)


def write_master(master: MasterSpec, path: Path) -> None:
    size = (width_of(master.height), master.height)
    write_video(path, _frames(master, size), size, master.fps, kbit=None, audible=False)


def _frames(master: MasterSpec, size: tuple[int, int]) -> Iterator[YuvFrame]:
    scene = scene_of(master.footage, *size)
    grains = _grains(master.footage, size)
    for number in range(round((master.end - master.start) * master.fps)):
        # The grain belongs to the moment, not to the file: a master that starts later shows the same.
        moment = round(master.start * master.fps) + number
        picture = from_bgr(scene.draw(moment / master.fps))
        yield YuvFrame(
            np.asarray(cv2.add(picture.y, grains[moment % _GRAINS]), np.uint8),
            picture.u,
            picture.v,
        )


def _grains(footage: Footage, size: tuple[int, int]) -> list[Image]:
    chance = seeded_rng(f"grain {footage.moment}")
    return [chance.integers(0, _GRAIN, (size[1], size[0]), dtype=np.uint8) for _ in range(_GRAINS)]


# --- From a spec to a file: cached by content, written aside and renamed, so that processes may render side by side.


_TRUNCATED = 0.6
"""How much of a truncated file has arrived; its index, at the end, has not."""
_PAGE = """<!DOCTYPE html>
<html><head><title>Video unavailable</title></head>
<body><p>This video is no longer available.</p></body></html>
"""
PARTIAL_FILES: set[Path] = set()
"""Files being written, to be removed if the process is stopped."""
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def render(spec: ClipSpec, folder: Path) -> Path:
    """The clip's file in a cache folder; rendered only if it is missing."""
    if not spec.has_file:
        raise ValueError(f"{spec.kind}: a link that leads to no file")
    match spec.kind:
        case "zip":
            return _cached(folder / spec.file_name, _write_zip)
        case "html":
            return _cached(folder / spec.file_name, lambda path: path.write_text(_PAGE, encoding="utf-8"))
        case "truncated":
            return _cached(folder / spec.file_name, lambda path: _write_truncated(spec, folder, path))
        case _:
            return _cached(folder / spec.file_name, lambda path: _write_copy(spec, folder, path))


def master_of(spec: ClipSpec, folder: Path) -> Path:
    """The file of the clip's master, which all copies of the goal share."""
    return _cached(folder / f"master-{spec.master.key}.mp4", lambda path: write_master(spec.master, path))


def _cached(path: Path, write: Callable[[Path], object]) -> Path:
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.stem}-{token_hex(4)}.part")
    PARTIAL_FILES.add(aside)  # before it exists: the process may be stopped at any moment
    try:
        aside.touch(exist_ok=False)
        with _one_core():
            write(aside)
        aside.chmod(0o644)  # also a decoder without privileges reads it, whatever the umask
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
        PARTIAL_FILES.discard(aside)
    return path


@contextmanager
def _one_core() -> Iterator[None]:
    """OpenCV's threads gain little on frames of this size and burn a second core."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


def _write_copy(spec: ClipSpec, folder: Path, path: Path) -> None:
    frames = _copy_frames(spec, master_of(spec, folder))
    audible = spec.kind != "too_long"
    write_video(path, frames, frame_size(spec), spec.fps, kbit=spec.kbit, audible=audible)


def _copy_frames(spec: ClipSpec, master: Path) -> Iterator[YuvFrame]:
    """Each frame of the copy is the master's frame that is on at its time; the last one stays if there are no more."""
    alter = alteration(spec)
    phone = FilmedScreen(frame_size(spec), spec.key) if spec.kind == "filmed" else None
    begin = spec.start - spec.master.start
    source = read_video(master, begin)
    _, picture = next(source)
    upcoming = next(source, None)
    made: YuvFrame | None = None
    for number in range(round(spec.length * spec.fps)):
        # Half a frame of tolerance: times in files are rounded.
        wanted = begin + number / spec.fps + 0.5 / spec.master.fps
        while upcoming is not None and upcoming[0] <= wanted:
            picture, made = upcoming[1], None
            upcoming = next(source, None)
        if made is None:
            made = alter(picture)
        yield made if phone is None else phone.film(made, number / spec.fps, number)


def _write_truncated(spec: ClipSpec, folder: Path, path: Path) -> None:
    _write_copy(spec, folder, path)
    os.truncate(path, int(path.stat().st_size * _TRUNCATED))


def _write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("readme.txt", _ZIP_DATE), "The goal is in the other file.\n" * 200)
