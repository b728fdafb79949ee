"""From a spec to a file: cached by content, written aside and renamed, so that processes may render side by side."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

import cv2

from found_footy.simulator.clips.alterations import alteration, frame_size
from found_footy.simulator.clips.encoder import read_video, write_video
from found_footy.simulator.clips.filming import Phone
from found_footy.simulator.clips.master import write_master
from found_footy.simulator.clips.planes import Planes
from found_footy.simulator.clips.spec import ClipSpec

_TRUNCATED = 0.6
"""How much of a truncated file has arrived; its index, at the end, has not."""
_PAGE = """<!DOCTYPE html>
<html><head><title>Video unavailable</title></head>
<body><p>This video is no longer available.</p></body></html>
"""
HALF_MADE: set[Path] = set()
"""What this process is writing, for whoever has to end it in the middle."""
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def render(spec: ClipSpec, folder: Path) -> Path:
    """The clip's file in a folder of clips; made only if it is not there yet."""
    if not spec.has_file:
        raise ValueError(f"{spec.kind}: a link that leads to no file")
    match spec.kind:
        case "zip":
            return _kept(folder / spec.file_name, _write_zip)
        case "html":
            return _kept(folder / spec.file_name, lambda path: path.write_text(_PAGE, encoding="utf-8"))
        case "truncated":
            return _kept(folder / spec.file_name, lambda path: _write_truncated(spec, folder, path))
        case _:
            return _kept(folder / spec.file_name, lambda path: _write_copy(spec, folder, path))


def master_of(spec: ClipSpec, folder: Path) -> Path:
    """The file of the clip's master, which all copies of the goal share."""
    return _kept(folder / f"master-{spec.master.key}.mp4", lambda path: write_master(spec.master, path))


def _kept(path: Path, write: Callable[[Path], object]) -> Path:
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = mkstemp(prefix=f".{path.stem}-", suffix=".part", dir=path.parent)
    os.close(handle)
    aside = Path(name)
    HALF_MADE.add(aside)
    try:
        with _one_core():
            write(aside)
        aside.chmod(0o644)  # A temporary file is its owner's alone; a clip is not.
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
        HALF_MADE.discard(aside)
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
    frames = _frames(spec, master_of(spec, folder))
    audible = spec.kind != "too_long"
    write_video(path, frames, frame_size(spec), spec.fps, kbit=spec.kbit, audible=audible)


def _frames(spec: ClipSpec, master: Path) -> Iterator[Planes]:
    """Each frame of the copy is the master's frame that is on at its time; the last one stays if there are no more."""
    alter = alteration(spec)
    phone = Phone(frame_size(spec), spec.key) if spec.kind == "filmed" else None
    begin = spec.start - spec.master.start
    source = read_video(master, begin)
    _, picture = next(source)
    upcoming = next(source, None)
    made: Planes | None = None
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
        archive.writestr(zipfile.ZipInfo("readme.txt", _LONG_AGO), "The goal is in the other file.\n" * 200)
