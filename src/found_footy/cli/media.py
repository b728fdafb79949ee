"""`footy media`: inspect, hash, compare and verify video files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from found_footy.cli.common import AsJson, err, out, print_json
from found_footy.config import load_settings
from found_footy.errors import FootyError, NotFound

if TYPE_CHECKING:
    from found_footy.clips.dedup import DedupCandidate
    from found_footy.clips.frame_selection import ClipReadings, Vision
    from found_footy.clips.models import Expectation, FrameReading
    from found_footy.fixtures.models import Score
    from found_footy.media.fingerprint import Fingerprint
    from found_footy.media.hash_match import HashMatch
    from found_footy.media.models import RelativeBox
    from found_footy.media.scenes import SceneList


SaveProof = Annotated[
    Path | None, typer.Option("--save-proof", help="Write a PNG of the deciding frame with the clock marked.")
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="Video file.", show_default=False)]
FRAME_FIELDS = ("at", "clock", "added", "stoppage_clock", "teams", "score")
STYLES = {"verified": "green", "unverified": "yellow", "rejected": "red"}


media = typer.Typer(
    name="media", help="Inspect video files: properties, hashes, duplicates, scenes, match clock.", no_args_is_help=True
)


# --- `footy media clock`, `verify` and `parse-clock`


def open_vision() -> Vision:
    from found_footy.clips.activities import build_vision

    return build_vision(load_settings())


@media.command()
def clock(file: File, save_proof: SaveProof = None, as_json: AsJson = False) -> None:
    """Read the match clock, the teams and the score in a video."""
    show_clock(file, save_proof=save_proof, as_json=as_json)


@media.command()
def verify(
    file: File,
    elapsed: Annotated[int, typer.Option(min=0, max=150, help="Match minute of the goal, as in the feed.")],
    extra: Annotated[int | None, typer.Option(min=0, max=30, help="Minute of stoppage time: 3 in 90+3.")] = None,
    home: Annotated[str | None, typer.Option(help="Name of the home team.")] = None,
    away: Annotated[str | None, typer.Option(help="Name of the away team.")] = None,
    score_before: Annotated[str | None, typer.Option(help="Score before the goal, such as 0-0.")] = None,
    score_after: Annotated[str | None, typer.Option(help="Score after the goal, such as 1-0.")] = None,
    save_proof: SaveProof = None,
    as_json: AsJson = False,
) -> None:
    """Check whether a video shows a goal: verified, unverified or rejected, with the reason."""
    from found_footy.clips.models import Expectation
    from found_footy.fixtures.models import MatchMinute

    before, after = (
        _parse_score_option("--score-before", score_before),
        _parse_score_option("--score-after", score_after),
    )
    expectation = Expectation(MatchMinute(elapsed, extra), home, away, before, after)
    show_verification(file, expectation, save_proof=save_proof, as_json=as_json)


@media.command("parse-clock")
def parse_clock(
    text: Annotated[str, typer.Argument(help="Text of a clock, such as 45+2:10.")], as_json: AsJson = False
) -> None:
    """Convert the text of a match clock to a match minute."""
    from found_footy.clips.match_clock import parse_clock as parse

    minute = parse(text)
    if as_json:
        print_json({"minute": minute})
    else:
        _out().print("not a match clock" if minute is None else f"minute {minute}")


def show_clock(file: Path, *, save_proof: Path | None, as_json: bool) -> None:
    from found_footy.clips.verification import clip_minute, is_other_sport, is_screen, minute_of, shows_sport

    clip = _read_frames(file, quiet=as_json)
    readings = clip.readings
    minute = clip_minute(readings)
    soccer = shows_sport(readings) is not False and not is_other_sport(readings)
    screen = is_screen(readings) is True
    if save_proof is not None:
        shown_reading = next(
            (each for each in readings if minute is not None and minute_of(each) == minute), readings[0]
        )
        _save_proof(save_proof, clip, shown_reading.at, shown_reading.box, [_reading_line(shown_reading)])
    if as_json:
        frames = [_frame_fields(reading) for reading in readings]
        print_json({"soccer": soccer, "screen": screen, "minute": minute, "frames": frames})
        return
    out = _out()
    out.print(f"minute {'not readable' if minute is None else minute}", style="bold")
    out.print(f"{'soccer' if soccer else 'not soccer'}, {'a filmed screen' if screen else 'no filmed screen'}")
    out.print(_readings_table(readings))


def show_verification(file: Path, expectation: Expectation, *, save_proof: Path | None, as_json: bool) -> None:
    from found_footy.clips.verification import validate_timestamp

    clip = _read_frames(file, quiet=as_json)
    result = validate_timestamp(clip.readings, expectation)
    if save_proof is not None and result.proof is not None:
        deciding = next(each for each in result.proof.readings if each.at == result.proof.at)
        expected = f"expected {expectation.minute} {expectation.home or ''} - {expectation.away or ''}".rstrip(" -")
        verdict = f"{result.status}: {result.reason}" if result.reason else str(result.status)
        _save_proof(save_proof, clip, result.proof.at, result.proof.box, [_reading_line(deciding), expected, verdict])
    if as_json:
        print_json({"status": result.status, "minute": result.minute, "reason": result.reason})
        return
    out = _out()
    out.print(str(result.status), style=f"bold {STYLES[result.status]}", end="")
    seen = "" if result.minute is None else f" (the clock shows minute {result.minute})"
    out.print(f": {result.reason}{seen}" if result.reason else seen)
    out.print(_readings_table(clip.readings))


def _read_frames(file: Path, *, quiet: bool) -> ClipReadings:
    from found_footy.clips.frame_selection import read_clip

    async def body() -> ClipReadings:
        vision = open_vision()
        try:
            return await read_clip(vision, file)
        finally:
            await vision.aclose()

    waiting: AbstractContextManager[object] = nullcontext() if quiet else err.status("reading frames …")
    with waiting:
        return asyncio.run(body())


def _save_proof(path: Path, clip: ClipReadings, at: float, box: RelativeBox | None, caption: Sequence[str]) -> None:
    from found_footy.media.images import draw_proof

    png = draw_proof(clip.frame_at(at).pixels, box, caption)
    try:
        path.write_bytes(png)
    except OSError as error:
        raise typer.BadParameter(f"cannot write {path}: {error.strerror}", param_hint="--save-proof") from None


def _frame_fields(reading: FrameReading) -> dict[str, Any]:
    fields = reading.to_json()
    return {name: fields[name] for name in FRAME_FIELDS} | {"at": round(reading.at, 3)}


def _reading_line(reading: FrameReading) -> str:
    parts = [f"{reading.at:.2f} s", reading.clock or "no clock", reading.added, reading.stoppage_clock]
    teams = reading.teams or ("", "")
    parts += [f"{teams[0]} {reading.score or ''} {teams[1]}".strip()]
    return "  ".join(part for part in parts if part)


def _readings_table(readings: Sequence[FrameReading]) -> Table:
    from found_footy.cli.match_view import printable

    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("at", "clock", "added", "stoppage", "teams", "score"):
        table.add_column(column)
    for reading in readings:
        teams = " – ".join(reading.teams) if reading.teams else None
        score = str(reading.score) if reading.score else None
        cells = (reading.clock, reading.added, reading.stoppage_clock, teams, score)
        table.add_row(f"{reading.at:.2f} s", *(printable(cell) if cell else "–" for cell in cells))
    return table


def _parse_score_option(option: str, text: str | None) -> Score | None:
    from found_footy.clips.models import parse_score

    try:
        return parse_score(text) if text is not None else None
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _out() -> Console:
    return Console(highlight=False, markup=False)


# --- `footy media probe`, `hash`, `compare` and `duplicates`


VIDEO_SUFFIXES = frozenset(
    {".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".flv", ".ts", ".mpg", ".mpeg", ".wmv", ".ogv"}
)
"""Suffixes of videos in a folder; files given by name may have any suffix."""


@dataclass(frozen=True, slots=True)
class HashedVideo:
    video: DedupCandidate
    fingerprint: Fingerprint


@media.command()
def probe(file: File, as_json: AsJson = False) -> None:
    """Show size, duration, frame rate and codec of a video."""
    from found_footy.media.probe import probe as probe_file

    info = asdict(probe_file(file))
    if as_json:
        print_json(info)
        return
    for name, value in info.items():
        out.print(f"{name.replace('_', ' ')}: {value}", markup=False, soft_wrap=True)


@media.command("hash")
def hash_(file: File, as_json: AsJson = False) -> None:
    """Print the perceptual hash of a video."""
    from found_footy.media.fingerprint import hash_video

    with err.status("hashing …"):
        found = hash_video(file)
    if as_json:
        print_json({"hash": found.to_text(), "frames": len(found), "step": found.step})
    else:
        typer.echo(found.to_text())


@media.command()
def compare(
    a: Annotated[Path, typer.Argument(help="First video file.", show_default=False)],
    b: Annotated[Path, typer.Argument(help="Second video file.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Compare two videos: whether they show the same moment, at which offset, and which one to keep."""
    from found_footy.clips.dedup import best_copy

    with err.status("hashing …"):
        first, second = _hash_file(a, "a"), _hash_file(b, "b")
    found = _match(first.fingerprint, second.fingerprint)
    keep = best_copy((first.video, second.video)).id if found else None
    if as_json:
        print_json({**_match_fields(found), "keep": keep})
    elif found is None:
        out.print("different")
    else:
        out.print(f"same moment{_describe_match(found)}; keep {a if keep == 'a' else b}", markup=False, soft_wrap=True)


@media.command()
def duplicates(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE_OR_FOLDER...", help="Video files and folders.", show_default=False),
    ],
    as_json: AsJson = False,
) -> None:
    """Find groups of videos that show the same moment."""
    from found_footy.clips.dedup import cluster_videos

    read, errors = _hash_all(list(_video_files(files)))
    pairs = [(a, b, _match(a.fingerprint, b.fingerprint)) for a, b in combinations(read, 2)]
    grouped = cluster_videos(
        [each.video for each in read], [(a.video.id, b.video.id) for a, b, found in pairs if found]
    )
    groups = [cluster for cluster in grouped if cluster.others]
    if as_json:
        print_json(
            {
                "pairs": [{"a": a.video.id, "b": b.video.id, **_match_fields(found)} for a, b, found in pairs],
                "groups": [[video.id for video in cluster.members] for cluster in groups],
                "errors": [{"file": name, "class": error.kind, "message": str(error)} for name, error in errors],
            }
        )
        return
    for cluster in groups:
        out.print(f"keep {cluster.best.id}", markup=False, soft_wrap=True)
        for video in cluster.others:
            out.print(f"     {video.id}", markup=False, soft_wrap=True, style="dim")
    for name, error in errors:
        out.print(f"{name}: {error.kind}: {error}", markup=False, soft_wrap=True, style="red")
    out.print(f"{len(read)} files, {len(groups)} groups of duplicates, {len(errors)} unreadable")


def _match_fields(found: HashMatch | None) -> dict[str, Any]:
    return {
        "duplicate": found is not None,
        "offset_seconds": found.offset_seconds if found else None,
        "matched_frames": found.matched_frames if found else 0,
    }


def _describe_match(found: HashMatch) -> str:
    mirrored = ", mirrored" if found.mirrored else ""
    frames = f"{found.matched_frames} frames match"
    return f"{mirrored}: the first starts at {found.offset_seconds:+.2f} s of the second; {frames}"


def _match(a: Fingerprint, b: Fingerprint) -> HashMatch | None:
    """Match two clips directly or mirrored: a mirrored copy is also a duplicate."""
    from found_footy.media.hash_match import match, match_mirrored

    return match(a, b) or match_mirrored(a, b)


def _video_files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files, and those of the folders, sorted by name and without duplicates."""
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise NotFound(f"{path} not found")
        videos = sorted(each for each in path.rglob("*") if each.suffix.lower() in VIDEO_SUFFIXES and each.is_file())
        for each in videos if path.is_dir() else [path]:
            if each.resolve() not in seen:
                seen.add(each.resolve())
                yield each


def _hash_file(path: Path, name: str) -> HashedVideo:
    from found_footy.clips.dedup import DedupCandidate
    from found_footy.media.fingerprint import hash_with_duration

    fingerprint, duration = hash_with_duration(path)
    return HashedVideo(DedupCandidate(name, "files", duration, path.stat().st_size), fingerprint)


def _hash_or_error(path: Path) -> HashedVideo | FootyError:
    try:
        return _hash_file(path, str(path))
    except FootyError as error:
        return error


def _hash_all(paths: Sequence[Path]) -> tuple[list[HashedVideo], list[tuple[str, FootyError]]]:
    """Hash all files on all cores; collect the errors of unreadable ones."""
    from rich.progress import Progress

    if len(paths) == 1:  # without the start-up of a process pool
        only = _hash_or_error(paths[0])
        return ([], [(str(paths[0]), only)]) if isinstance(only, FootyError) else ([only], [])
    read: list[HashedVideo] = []
    errors: list[tuple[str, FootyError]] = []
    # Spawned, not forked: the decoders' threads do not survive a fork.
    with (
        ProcessPoolExecutor(min(os.cpu_count() or 1, max(1, len(paths))), mp_context=get_context("spawn")) as pool,
        Progress(console=err, transient=True) as progress,
    ):
        results = progress.track(pool.map(_hash_or_error, paths), total=len(paths), description="hashing")
        for path, done in zip(paths, results, strict=True):
            if isinstance(done, FootyError):
                errors.append((str(path), done))
            else:
                read.append(done)
    return read, errors


# --- `footy media scenes`


MIN_SCENE_SECONDS = 0.6
"""Default of the library's setting."""


@media.command()
def scenes(
    file: File,
    least: Annotated[
        float, typer.Option(min=0, max=60, help="Minimum scene length in seconds; earlier cuts are ignored.")
    ] = MIN_SCENE_SECONDS,
    as_json: AsJson = False,
) -> None:
    """List the scenes of a video with their frames: cuts, fades, dissolves and wipes."""
    found = _find_scenes(file, least)
    if as_json:
        print_json({"fps": found.fps, "cuts": list(found.cuts)})
    else:
        out.print(_scenes_table(found))


def _find_scenes(file: Path, min_seconds: float) -> SceneList:
    from rich.progress import Progress

    from found_footy.media.scenes import find_cuts

    with Progress(console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("finding cuts", total=1.0)
        return find_cuts(file, min_seconds, progress=lambda share: progress.update(task, completed=share))


def _scenes_table(found: SceneList) -> Table:
    """Show the scenes. Frames count from 0; `to` is the scene's last frame."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("scene", "from", "to", "frames", "at"):
        table.add_column(column, justify="right")
    for number, (first, end) in enumerate(pairwise((0, *found.cuts, found.frames)), start=1):
        table.add_row(str(number), str(first), str(end - 1), str(end - first), _time(first / found.fps))
    return table


def _time(seconds: float) -> str:
    """Format a time as `1:02:03.04`."""
    hundredths = round(seconds * 100)
    minutes, rest = divmod(hundredths, 6000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest // 100:02}.{rest % 100:02}"
