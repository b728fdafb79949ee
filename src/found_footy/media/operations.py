"""Media operations that run in the sandbox: a file in, a JSON object and raw bytes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import cv2
import numpy as np

from found_footy.errors import MediaTooLarge
from found_footy.media import cut, images, keyframes, master, probe, sprites
from found_footy.media.container import DecodeLimits
from found_footy.media.fingerprint import hash_range, hash_video
from found_footy.media.frames import frames_at
from found_footy.media.scenes import find_cuts
from found_footy.runtime.sandbox_child import Reply, SandboxContext

MAX_FRAME_RATE = 120

# The pool runs one process per core; more threads would only compete.
cv2.setNumThreads(1)


def probe_video(context: SandboxContext, path: str) -> Reply:
    return {"info": asdict(probe.probe(Path(path), DecodeLimits(wall_seconds=context.seconds)))}, ()


def decode_frames(context: SandboxContext, path: str, fractions: Sequence[float]) -> Reply:
    frames = frames_at(Path(path), fractions, DecodeLimits(wall_seconds=context.seconds))
    if sum(frame.pixels.nbytes for frame in frames) > context.max_reply_bytes:
        raise MediaTooLarge(f"{path}: its frames exceed {context.max_reply_bytes} bytes")
    sizes = [(frame.seconds, *frame.pixels.shape[:2]) for frame in frames]
    return {"frames": sizes}, [np.ascontiguousarray(frame.pixels).data.cast("B") for frame in frames]


def fingerprint(context: SandboxContext, path: str) -> Reply:
    return {}, [hash_video(Path(path), DecodeLimits(wall_seconds=context.seconds)).to_bytes()]


def decode_image(context: SandboxContext, path: str) -> Reply:
    pixels = images.decode_image(Path(path), replace(images.LIMITS, wall_seconds=context.seconds))
    return {"frames": [(0.0, *pixels.shape[:2])]}, [pixels.data.cast("B")]


def make_master(context: SandboxContext, path: str, to: str, max_seconds: float) -> Reply:
    info = master.make_master(Path(path), Path(to), context.report, video_limits(context.seconds, max_seconds))
    return {"master": {**asdict(info), "rate": [info.rate.numerator, info.rate.denominator]}}, ()


def find_scene_cuts(context: SandboxContext, path: str, min_seconds: float, max_seconds: float) -> Reply:
    found = find_cuts(Path(path), min_seconds, video_limits(context.seconds, max_seconds), context.report)
    return {}, [np.asarray(found.cuts, dtype="<u4").tobytes()]


def cut_clip(context: SandboxContext, path: str, to: str, first: int, end: int) -> Reply:
    cut.cut(Path(path), first, end, Path(to), DecodeLimits(wall_seconds=context.seconds), context.report)
    return {}, ()


def can_copy(context: SandboxContext, path: str, first: int, end: int) -> Reply:
    return {"copies": cut.can_copy(Path(path), first, end, DecodeLimits(wall_seconds=context.seconds))}, ()


def encode_piece(context: SandboxContext, path: str, to: str, first: int, end: int) -> Reply:
    cut.encode_piece(Path(path), first, end, Path(to), DecodeLimits(wall_seconds=context.seconds), context.report)
    return {}, ()


def join_pieces(context: SandboxContext, path: str, pieces: Sequence[str], to: str, first: int, end: int) -> Reply:
    limits = DecodeLimits(wall_seconds=context.seconds)
    cut.join_pieces(Path(path), [Path(piece) for piece in pieces], first, end, Path(to), limits)
    return {}, ()


def make_sprite_sheet(context: SandboxContext, path: str, to: str, first: int, end: int) -> Reply:
    limits = DecodeLimits(wall_seconds=context.seconds)
    sheet = sprites.make_sprite_sheet(Path(path), first, end, Path(to), limits, context.report)
    return {"sprite": {**asdict(sheet), "rate": [sheet.rate.numerator, sheet.rate.denominator]}}, ()


def extract_keyframes(
    context: SandboxContext, path: str, folder: str, first: int, end: int, rules: Sequence[str]
) -> Reply:
    limits = DecodeLimits(wall_seconds=context.seconds)
    taken = keyframes.extract_keyframes(Path(path), first, end, rules, Path(folder), limits)
    return {"keyframes": [[each.frame, each.chosen_by, each.width, each.height] for each in taken]}, ()


def fingerprint_range(context: SandboxContext, path: str, first: int, end: int) -> Reply:
    return {}, [hash_range(Path(path), first, end, DecodeLimits(wall_seconds=context.seconds)).to_bytes()]


def video_limits(wall_seconds: float, max_seconds: float) -> DecodeLimits:
    return DecodeLimits(frames=int(max_seconds * MAX_FRAME_RATE), seconds=max_seconds, wall_seconds=wall_seconds)
