"""Scrub sprites: seconds per minute of video, compared with one `ffmpeg` call with its `tile` filter

The video is H.264 with a keyframe every two seconds, default B-frames and a moving scene, generated here; a clip of 60
s, and one of 10 s from its middle. The peer produces the same images of the same frames, scales them with the same
filter, seeks to the clip's start and writes WebP with the same effort. "Processor" is the CPU time of all threads: on a
busy machine, it is more meaningful than wall time.
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import imageio_ffmpeg  # type: ignore[import-untyped]

from bench.hashing import FPS, SIZES, _write
from bench.table import table
from found_footy.media.container import DecodeLimits
from found_footy.media.master import make_master
from found_footy.media.sprites import COLUMNS, METHOD, QUALITY, make_sprite_sheet, plan_layout

CLIPS = {"60 s": (0, 60 * FPS), "10 s": (25 * FPS, 35 * FPS)}
ROUNDS = 3


async def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (width, height) in SIZES.items():
            made, master = Path(folder) / f"{name}.mp4", Path(folder) / f"{name}.master.mp4"
            _write(made, width, height)
            make_master(made, master, lambda _: None, DecodeLimits())
            for clip, (first, end) in CLIPS.items():
                rows.append([f"{name}, {clip}", *_row(master, first, end, width, height, Path(folder))])
    head = ["clip", "tiles", "ours", "processor", "ffmpeg", "processor", "ours / ffmpeg", "sheet", "ffmpeg's"]
    table(head, rows)


def _row(master: Path, first: int, end: int, width: int, height: int, folder: Path) -> list[str]:
    ours, theirs = folder / "ours.webp", folder / "theirs.webp"
    sheet = plan_layout(end - first, width, height, Fraction(FPS))
    command = _peer(master, first, end, sheet.every, (sheet.width, sheet.height), sheet.rows, theirs)
    # Alternate the two, so that other load on the machine affects both alike.
    rounds = [
        (
            _timed(lambda: make_sprite_sheet(master, first, end, ours)),
            _timed(lambda: subprocess.run(command, check=True, stdin=subprocess.DEVNULL)),
        )
        for _ in range(ROUNDS)
    ]
    minutes = (end - first) / FPS / 60
    (clock, cpu), (peer_clock, peer_cpu) = (
        tuple(min(each[who][what] for each in rounds) / minutes for what in (0, 1)) for who in (0, 1)
    )
    sizes = [f"{path.stat().st_size // 1000} kB" for path in (ours, theirs)]
    times = [f"{each:.2f} s" for each in (clock, cpu, peer_clock, peer_cpu)]
    return [str(sheet.count), *times, f"{clock / peer_clock:.2f}", *sizes]


def _peer(master: Path, first: int, end: int, every: int, size: tuple[int, int], rows: int, to: Path) -> list[str]:
    width, height = size
    filters = f"select='not(mod(n\\,{every}))',scale={width}:{height}:flags=area,tile={COLUMNS}x{rows}"
    return [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", "-nostdin"),
        *("-ss", f"{first / FPS}", "-t", f"{(end - first) / FPS}", "-i", str(master), "-an"),
        *("-vf", filters, "-frames:v", "1", "-c:v", "libwebp"),
        *("-quality", str(QUALITY), "-compression_level", str(METHOD), str(to)),
    ]


def _timed(run: Callable[[], object]) -> tuple[float, float]:
    """Return wall time and CPU time in seconds, including child processes."""
    began, used = time.perf_counter(), _used()
    run()
    return time.perf_counter() - began, _used() - used


def _used() -> float:
    mine, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum((mine.ru_utime, mine.ru_stime, theirs.ru_utime, theirs.ru_stime))
