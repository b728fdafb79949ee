"""`footy media probe|hash|compare|duplicates`: what a file is, and which files show the same."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from found_footy.command import AsJson
from found_footy.console import err, out, print_json
from found_footy.domain.errors import FootyError, NotFound
from found_footy.domain.videos.dedup import Video, better, clusters

if TYPE_CHECKING:
    from found_footy.media.fingerprint import Fingerprint
    from found_footy.media.hash_match import Match

ENDINGS = frozenset({".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".flv", ".ts", ".mpg", ".mpeg", ".wmv", ".ogv"})
"""Of the files in a folder that are looked at; a file named by itself is always."""

File = Annotated[Path, typer.Argument(metavar="FILE", show_default=False)]


@dataclass(frozen=True, slots=True)
class Hashed:
    """A file as it is compared with others."""

    video: Video
    fingerprint: Fingerprint


def register(app: typer.Typer) -> None:
    app.command("probe")(probe)
    app.command("hash")(hash_)
    app.command("compare")(compare)
    app.command("duplicates")(duplicates)


def probe(file: File, as_json: AsJson = False) -> None:
    """Show what a video file is: size, length, frame rate, codec."""
    from found_footy.media.probe import probe as look

    info = asdict(look(file))
    if as_json:
        print_json(info)
        return
    for name, value in info.items():
        out.print(f"{name.replace('_', ' ')}: {value}", markup=False, soft_wrap=True)


def hash_(file: File, as_json: AsJson = False) -> None:
    """Print the perceptual hash of a video, for exchange with other systems."""
    from found_footy.media.phash import hash_video

    with err.status("hashing …"):
        found = hash_video(file)
    if as_json:
        print_json({"hash": found.to_text(), "frames": len(found), "step": found.step})
    else:
        typer.echo(found.to_text())


def compare(
    a: Annotated[Path, typer.Argument(show_default=False)],
    b: Annotated[Path, typer.Argument(show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Say whether two videos show the same moment, how far apart they start, and which one to keep."""

    with err.status("hashing …"):
        one, other = _read(a, "a"), _read(b, "b")
    found = _match(one.fingerprint, other.fingerprint)
    keep = better(one.video, other.video).id if found else None
    if as_json:
        print_json({**_answer(found), "keep": keep})
    elif found is None:
        out.print("not the same")
    else:
        out.print(f"the same{_how(found)}; keep {a if keep == 'a' else b}", markup=False, soft_wrap=True)


def duplicates(
    files: Annotated[list[Path], typer.Argument(metavar="FILE_OR_FOLDER...", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Compare all videos with one another and list the groups that show the same."""

    read, errors = _read_all(list(_named(files)))
    pairs = [(a, b, _match(a.fingerprint, b.fingerprint)) for a, b in combinations(read, 2)]
    grouped = clusters([each.video for each in read], [(a.video.id, b.video.id) for a, b, found in pairs if found])
    groups = [cluster for cluster in grouped if cluster.others]
    if as_json:
        print_json(
            {
                "pairs": [{"a": a.video.id, "b": b.video.id, **_answer(found)} for a, b, found in pairs],
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
    out.print(f"{len(read)} files, {len(groups)} groups of duplicates, {len(errors)} not readable")


def _answer(found: Match | None) -> dict[str, Any]:
    return {
        "duplicate": found is not None,
        "offset_seconds": found.offset_seconds if found else None,
        "matched_frames": found.matched_frames if found else 0,
    }


def _how(found: Match) -> str:
    mirrored = ", mirrored" if found.mirrored else ""
    return f"{mirrored}: the first starts at {found.offset_seconds:+.2f} s of the second; {found.matched_frames} frames"


def _match(a: Fingerprint, b: Fingerprint) -> Match | None:
    """A mirrored copy is a duplicate too."""
    from found_footy.media.hash_match import match, match_mirrored

    return match(a, b) or match_mirrored(a, b)


def _named(given: Sequence[Path]) -> Iterator[Path]:
    """The files, and those of the folders in the order of their names, each once."""
    seen: set[Path] = set()
    for path in given:
        if not path.exists():
            raise NotFound(f"{path} does not exist")
        inside = sorted(each for each in path.rglob("*") if each.suffix.lower() in ENDINGS and each.is_file())
        for each in inside if path.is_dir() else [path]:
            if each.resolve() not in seen:
                seen.add(each.resolve())
                yield each


def _read(path: Path, name: str) -> Hashed:
    from found_footy.media.phash import hash_with_duration

    fingerprint, duration = hash_with_duration(path)
    return Hashed(Video(name, "files", duration, path.stat().st_size), fingerprint)


def _read_or_error(path: Path) -> Hashed | FootyError:
    try:
        return _read(path, str(path))
    except FootyError as error:
        return error


def _read_all(paths: Sequence[Path]) -> tuple[list[Hashed], list[tuple[str, FootyError]]]:
    """Every file once, on all cores; what cannot be read is set aside."""
    from rich.progress import Progress

    read: list[Hashed] = []
    errors: list[tuple[str, FootyError]] = []
    # Not forked: decoders keep threads, which a fork would leave behind half-way.
    with (
        ProcessPoolExecutor(min(os.cpu_count() or 1, max(1, len(paths))), mp_context=get_context("spawn")) as pool,
        Progress(console=err, transient=True) as progress,
    ):
        results = progress.track(pool.map(_read_or_error, paths), total=len(paths), description="hashing")
        for path, done in zip(paths, results, strict=True):
            if isinstance(done, FootyError):
                errors.append((str(path), done))
            else:
                read.append(done)
    return read, errors
