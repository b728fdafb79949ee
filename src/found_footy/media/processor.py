"""Decodes and edits untrusted media in sandboxed processes. A file that crashes its process affects no other."""

from __future__ import annotations

import asyncio
import hashlib
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from found_footy.errors import (
    DecoderUnavailable,
    FootyError,
    MediaBroken,
    MediaError,
    MediaTooLarge,
    NotAVideo,
    NotFound,
)
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.keyframes import parse_rules
from found_footy.media.models import Frame, Keyframe, MasterVideo, SpriteSheet
from found_footy.media.probe import VideoInfo
from found_footy.media.scenes import DETECTOR
from found_footy.runtime.sandbox import Progress, Sandbox, SandboxEnd, SandboxError, SandboxLimits, SandboxReply
from found_footy.text import clean_text

OPERATIONS = "found_footy.media.operations"
IMAGE_SECONDS, IMAGE_PROCESSES = 10.0, 2
"""Limits for images that users search with."""
FILE_BYTES = 1024 * 1024
"""Default limit of a file that an operation writes."""
SPRITE_SHEET_BYTES = 64 * 1024 * 1024
KEYFRAME_BYTES = 16 * 1024 * 1024
READ_BYTES = 1024 * 1024
MAX_FILES = 8
"""Files of the maximum size in a folder that an operation writes to."""
MAX_SIDE_PX = 8192
MAX_SHEET_SIDE_PX = 16_383
"""The limit of WebP."""
MAX_RATE_TERM = 10_000_000
"""Maximum numerator and denominator of a frame rate."""
MAX_FRAMES = 2**31 - 1

T = TypeVar("T")

_ERRORS: Mapping[str, type[FootyError]] = {
    kind.__name__: kind for kind in (MediaError, NotAVideo, MediaBroken, MediaTooLarge, NotFound, DecoderUnavailable)
}
_FIELD_TYPES: Mapping[Any, type[Any]] = {"int": int, "float": float, "str": str, "bool": bool}


class MediaProcessor:
    """All methods raise MediaError, or DecoderUnavailable if no process can be started."""

    def __init__(
        self,
        memory_mb: int,
        seconds: float,
        *,
        max_processes: int | None = None,
        max_video_seconds: float = 3600.0,
        max_video_bytes: int = 1024**3,
    ) -> None:
        """`memory_mb` and `seconds` limit each operation, the last two the input of a master and the master itself."""
        self._sandbox = Sandbox([OPERATIONS], max_processes=max_processes)
        self._limits = SandboxLimits(seconds=seconds, memory_mb=memory_mb)
        self._max_video_seconds = max_video_seconds
        self._max_video_bytes = max_video_bytes

    async def probe(self, path: Path) -> VideoInfo:
        reply = await self._run("probe_video", path)
        return _validate_result(path, lambda: parse_video_info(reply.header))

    async def frames_at(self, path: Path, fractions: Sequence[float]) -> list[Frame]:
        """Frames at these fractions of the video's duration."""
        reply = await self._run("decode_frames", path, list(fractions))
        return _validate_result(path, lambda: parse_frames(reply.header, reply.payload, len(fractions)))

    async def fingerprint(self, path: Path) -> Fingerprint:
        reply = await self._run("fingerprint", path)
        return _validate_result(path, lambda: Fingerprint.from_bytes(bytes(reply.payload)))

    async def decode_image(self, content: bytes) -> NDArray[np.uint8]:
        """BGR pixels."""
        with tempfile.TemporaryDirectory(prefix="footy-image-", ignore_cleanup_errors=True) as folder:
            path = Path(folder, "image")
            await asyncio.to_thread(path.write_bytes, content)
            reply = await self._run("decode_image", path)
        return _validate_result(Path("image"), lambda: parse_frames(reply.header, reply.payload, 1)[0].pixels)

    async def make_master(self, path: Path, to: Path, progress: Progress) -> MasterVideo:
        if (size := await asyncio.to_thread(_size, path)) > self._max_video_bytes:
            raise MediaTooLarge(f"{path}: {size} bytes exceed the maximum of {self._max_video_bytes}")
        with _delete_on_failure(to):
            reply = await self._run(
                "make_master",
                path,
                str(to),
                self._max_video_seconds,
                file_bytes=self._max_video_bytes,
                progress=progress,
                writes=to,
            )
            master = _validate_result(path, lambda: parse_master(reply.header, self._max_video_seconds))
            # Computed here: results are cached by this hash, and the sandboxed process is not trusted.
            size, md5 = await asyncio.to_thread(_size_and_md5, to)
            return replace(master, size=size, md5=md5)

    @property
    def scene_detector(self) -> str:
        return DETECTOR

    async def find_scene_cuts(self, path: Path, min_seconds: float, progress: Progress) -> Sequence[int]:
        reply = await self._run("find_scene_cuts", path, min_seconds, self._max_video_seconds, progress=progress)
        return _validate_result(path, lambda: parse_cuts(bytes(reply.payload)))

    async def cut_clip(self, path: Path, first: int, end: int, to: Path, progress: Progress | None = None) -> None:
        with _delete_on_failure(to):
            arguments = (str(to), first, end)
            await self._run(
                "cut_clip", path, *arguments, file_bytes=self._max_video_bytes, progress=progress, writes=to
            )

    async def can_copy(self, path: Path, first: int, end: int) -> bool:
        """Whether `cut_clip` copies these frames instead of encoding them."""
        return (await self._run("can_copy", path, first, end)).header.get("copies") is True

    async def encode_piece(self, path: Path, first: int, end: int, to: Path, progress: Progress) -> None:
        """Encode a part of a clip for `join_pieces`."""
        with _delete_on_failure(to):
            arguments = (str(to), first, end)
            await self._run(
                "encode_piece", path, *arguments, file_bytes=self._max_video_bytes, progress=progress, writes=to
            )

    async def join_pieces(self, path: Path, pieces: Sequence[Path], first: int, end: int, to: Path) -> None:
        """Write a clip of the master at `path` from its consecutive pieces."""
        with _delete_on_failure(to):
            arguments = ([str(piece) for piece in pieces], str(to), first, end)
            await self._run("join_pieces", path, *arguments, file_bytes=self._max_video_bytes, reads=pieces, writes=to)

    async def make_sprite_sheet(
        self, path: Path, first: int, end: int, to: Path, progress: Progress | None = None
    ) -> SpriteSheet:
        with _delete_on_failure(to):
            arguments = (str(to), first, end)
            reply = await self._run(
                "make_sprite_sheet", path, *arguments, file_bytes=SPRITE_SHEET_BYTES, progress=progress, writes=to
            )
            return _validate_result(path, lambda: parse_sprite(reply.header, end - first))

    async def extract_keyframes(
        self, path: Path, first: int, end: int, rules: Sequence[str], folder: Path
    ) -> list[Keyframe]:
        """Raises SettingsError for an unknown rule."""
        parse_rules(rules)
        reply = await self._run(
            "extract_keyframes",
            path,
            str(folder),
            first,
            end,
            list(rules),
            file_bytes=KEYFRAME_BYTES,
            writes=folder,
        )
        return _validate_result(path, lambda: parse_keyframes(reply.header, first, end, rules))

    async def fingerprint_range(self, path: Path, first: int, end: int) -> Fingerprint:
        reply = await self._run("fingerprint_range", path, first, end)
        return _validate_result(path, lambda: Fingerprint.from_bytes(bytes(reply.payload)))

    async def aclose(self) -> None:
        await self._sandbox.aclose()

    async def _run(
        self,
        operation: str,
        path: Path,
        *arguments: Any,
        file_bytes: int = FILE_BYTES,
        progress: Progress | None = None,
        reads: Sequence[Path] = (),
        writes: Path | None = None,
    ) -> SandboxReply:
        """`reads` are further files that the process may read.

        `writes` is a folder, or a file that is created here: the process cannot create one beside others.
        """
        limits = replace(self._limits, file_bytes=file_bytes, reads=(path, *reads))
        if writes is not None:
            if not await asyncio.to_thread(writes.is_dir):
                await asyncio.to_thread(_create, writes)
            limits = replace(limits, writes=(writes,), total_bytes=file_bytes * MAX_FILES)
        try:
            return await self._sandbox.run(f"{OPERATIONS}:{operation}", [str(path), *arguments], limits, progress)
        except SandboxError as error:
            raise media_error(error, path, limits) from None


def media_error(error: SandboxError, path: Path, limits: SandboxLimits) -> FootyError:
    match error.end:
        case SandboxEnd.TIMEOUT:
            return MediaTooLarge(f"{path}: decoding took longer than {limits.seconds:g} s")
        case SandboxEnd.TOO_MANY_BYTES:
            return MediaTooLarge(f"{path}: {error.detail}")
        case SandboxEnd.CPU_TIME:
            return MediaTooLarge(f"{path}: decoding took more CPU time than {limits.seconds:g} s allow")
        case SandboxEnd.OUT_OF_MEMORY:
            return MediaTooLarge(f"{path}: decoding needs more than {limits.memory_mb} MB of memory")
        case SandboxEnd.KILLED:
            return MediaTooLarge(
                f"{path}: the decoder was killed, probably for lack of memory ({limits.memory_mb} MB allowed)"
            )
        case SandboxEnd.CRASHED:
            return MediaBroken(f"{path}: the decoder crashed with {error.detail}")
        case SandboxEnd.EXITED:
            return MediaBroken(f"{path}: the decoder exited without a reply ({error.detail})")
        case SandboxEnd.INVALID_REPLY:
            return _invalid_reply(path, error.detail)
        case SandboxEnd.RAISED:
            kind = _ERRORS.get(error.raised)
            return kind(error.detail) if kind is not None else MediaBroken(f"{error.detail} ({error.raised})")
        case SandboxEnd.UNAVAILABLE:
            return DecoderUnavailable(error.detail)


def _validate_result(path: Path, parse: Callable[[], T]) -> T:
    try:
        return parse()
    except ValueError as error:
        raise _invalid_reply(path, str(error)) from None


def _invalid_reply(path: Path, detail: str) -> MediaBroken:
    return MediaBroken(f"{path}: invalid reply from the decoder: {detail}")


# --- Replies of sandboxed processes, validated field by field: a hostile file may control them. All raise ValueError.


def parse_video_info(header: Mapping[str, Any]) -> VideoInfo:
    info = header.get("info")
    if not isinstance(info, dict) or set(info) != {field.name for field in fields(VideoInfo)}:
        raise ValueError("wrong fields of a video")
    for field in fields(VideoInfo):
        value = info[field.name]
        if type(value) is not _FIELD_TYPES[field.type]:
            raise ValueError(f"wrong type of {field.name}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{field.name} is not finite")
        if isinstance(value, str):
            info[field.name] = clean_text(value, 100)
    return VideoInfo(**info)


def parse_frames(header: Mapping[str, Any], payload: bytearray, count: int) -> list[Frame]:
    """Views into the payload."""
    sizes = header.get("frames")
    if not isinstance(sizes, list) or len(sizes) != count:
        raise ValueError(f"expected {count} frames")
    frames, start = [], 0
    for each in sizes:
        seconds, height, width = each if isinstance(each, list) and len(each) == 3 else (0, 0, 0)
        sides = all(type(side) is int and 0 < side <= MAX_SIDE_PX for side in (height, width))
        if not sides or not isinstance(seconds, int | float) or not math.isfinite(seconds):
            raise ValueError("invalid size or time of a frame")
        size = height * width * 3
        if start + size > len(payload):
            raise ValueError("too few bytes for the frames")
        pixels = np.frombuffer(payload, dtype=np.uint8, count=size, offset=start)
        frames.append(Frame(float(seconds), pixels.reshape(height, width, 3)))
        start += size
    if start != len(payload):
        raise ValueError("too many bytes for the frames")
    return frames


def parse_master(header: Mapping[str, Any], max_seconds: float) -> MasterVideo:
    """Without size and hash, which the caller computes."""
    values = _object(header, "master")
    master = MasterVideo(
        frames=_integer(values, "frames", 1, MAX_FRAMES),
        rate=_rate(values),
        width=_integer(values, "width", 2, MAX_SIDE_PX),
        height=_integer(values, "height", 2, MAX_SIDE_PX),
        audio=values.get("audio") is True,
        size=0,
        md5="",
    )
    if master.seconds > max_seconds + 1:
        raise ValueError(f"a master of {master.seconds:.0f} s")
    return master


def parse_sprite(header: Mapping[str, Any], frames: int) -> SpriteSheet:
    values = _object(header, "sprite")
    sprite = SpriteSheet(
        columns=_integer(values, "columns", 1, MAX_SHEET_SIDE_PX),
        rows=_integer(values, "rows", 1, MAX_SHEET_SIDE_PX),
        width=_integer(values, "width", 1, MAX_SHEET_SIDE_PX),
        height=_integer(values, "height", 1, MAX_SHEET_SIDE_PX),
        count=_integer(values, "count", 1, frames),
        every=_integer(values, "every", 1, frames),
        frames=frames,
        rate=_rate(values),
    )
    if max(sprite.columns * sprite.width, sprite.rows * sprite.height) > MAX_SHEET_SIDE_PX:
        raise ValueError("the sprite sheet is too large")
    if (
        sprite.count != -(-frames // sprite.every)
        or not 0 <= sprite.columns * sprite.rows - sprite.count < sprite.columns
    ):
        raise ValueError("wrong number of thumbnails in the sprite sheet")
    return sprite


def parse_keyframes(header: Mapping[str, Any], first: int, end: int, rules: Sequence[str]) -> list[Keyframe]:
    values = header.get("keyframes")
    if not isinstance(values, list) or not 0 < len(values) <= len(rules):
        raise ValueError("wrong number of keyframes")
    found = []
    for number, each in enumerate(values):
        frame, chosen_by, width, height = each if isinstance(each, list) and len(each) == 4 else (None,) * 4
        named = {"frame": frame, "width": width, "height": height}
        if not isinstance(chosen_by, str) or chosen_by not in rules:
            raise ValueError("a keyframe without a rule")
        place = _integer(named, "frame", first, end - 1)
        sides = _integer(named, "width", 1, MAX_SIDE_PX), _integer(named, "height", 1, MAX_SIDE_PX)
        found.append(Keyframe(number, place, chosen_by, *sides))
    if len({each.frame for each in found}) < len(found):
        raise ValueError("the same keyframe twice")
    return found


def parse_cuts(payload: bytes) -> list[int]:
    if len(payload) % 4:
        raise ValueError("truncated scene cuts")
    cuts = np.frombuffer(payload, dtype="<u4").astype(np.int64)
    if cuts.size and (cuts[0] < 1 or cuts[-1] > MAX_FRAMES or np.any(np.diff(cuts) <= 0)):
        raise ValueError("scene cuts are not increasing from 1")
    return [int(each) for each in cuts]


def _object(header: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    values = header.get(name)
    if not isinstance(values, dict):
        raise ValueError(f"no {name}")
    return values


def _integer(values: Mapping[str, Any], name: str, low: int, high: int) -> int:
    value = values.get(name)
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name} is not an integer from {low} to {high}")
    return value


def _rate(values: Mapping[str, Any]) -> Fraction:
    terms = values.get("rate")
    if not isinstance(terms, list) or len(terms) != 2:
        raise ValueError("the rate is not a pair")
    named = dict(zip(("numerator", "denominator"), terms, strict=True))
    return Fraction(_integer(named, "numerator", 1, MAX_RATE_TERM), _integer(named, "denominator", 1, MAX_RATE_TERM))


@contextmanager
def _delete_on_failure(to: Path) -> Iterator[None]:
    complete = False
    try:
        yield
        complete = True
    finally:
        if not complete:
            to.unlink(missing_ok=True)


def _create(path: Path) -> None:
    try:
        path.touch(mode=0o600)
    except OSError as error:
        raise MediaError(f"{path} cannot be written: {error.strerror}") from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise NotFound(f"{path}: {error.strerror}") from None


def _size_and_md5(path: Path) -> tuple[int, str]:
    try:
        with path.open("rb") as file:
            digest = hashlib.md5(usedforsecurity=False)
            while piece := file.read(READ_BYTES):
                digest.update(piece)
            return file.tell(), digest.hexdigest()
    except OSError as error:
        raise MediaBroken(f"{path} was not written: {error.strerror}") from None
