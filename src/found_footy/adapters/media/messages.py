"""What a decoding process says to the one that asked: a header in JSON, then plain bytes of a known number.

The decoder has read a stranger's file and may do what that stranger wants. So nothing of it is unpickled, and every
number of it is checked before memory is taken for it.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import (
    DecoderUnavailable,
    FootyError,
    MediaBroken,
    MediaError,
    MediaTooLarge,
    NotAVideo,
    NotFound,
)
from found_footy.media.probe import VideoInfo
from found_footy.ports import Picture

LENGTH = struct.Struct("!I")
LONGEST_HEADER = 65_536
LONGEST_PAYLOAD = 256 * 1024 * 1024
"""Some thirty pictures of 1080p, or nine of 2160p."""
LONGEST_SIDE = 8192

ERRORS: Mapping[str, type[FootyError]] = {
    kind.__name__: kind for kind in (MediaError, NotAVideo, MediaBroken, MediaTooLarge, NotFound, DecoderUnavailable)
}
_KINDS: Mapping[Any, type[Any]] = {"int": int, "float": float, "str": str, "bool": bool}


def parse_header(data: bytes) -> dict[str, Any]:
    """Raises ValueError."""
    header = json.loads(data)
    if not isinstance(header, dict) or not isinstance(size := header.get("bytes"), int):
        raise ValueError("a header is an object that tells the number of bytes")
    if not 0 <= size <= LONGEST_PAYLOAD:
        raise ValueError(f"{size} bytes are more than may come")
    return header


def progress_of(header: Mapping[str, Any]) -> float | None:
    """How much is done, 0 to 1, where this is no answer yet. Raises ValueError."""
    share = header.get("progress")
    if share is None:
        return None
    if not isinstance(share, float) or not 0 <= share <= 1 or header["bytes"]:
        raise ValueError("no sensible share of the work")
    return share


def error_of(header: Mapping[str, Any]) -> FootyError | None:
    """The error that was met while decoding, as the same class with the same text."""
    if "error" not in header:
        return None
    text = clean_text(str(header.get("text", "")), 400)
    kind = ERRORS.get(str(header["error"]))
    return kind(text) if kind is not None else MediaBroken(f"{text} ({clean_text(str(header['error']), 60)})")


def video_info(header: Mapping[str, Any]) -> VideoInfo:
    """Raises ValueError."""
    info = header.get("info")
    if not isinstance(info, dict) or set(info) != {field.name for field in fields(VideoInfo)}:
        raise ValueError("not what is known of a video")
    for field in fields(VideoInfo):
        value, kind = info[field.name], _KINDS[field.type]
        if type(value) is not kind:
            raise ValueError(f"{field.name} is not of its kind")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{field.name} is no number")
        if isinstance(value, str):
            info[field.name] = clean_text(value, 100)
    return VideoInfo(**info)


def pictures_of(header: Mapping[str, Any], payload: bytearray, count: int) -> list[Picture]:
    """Views into the payload, one after the other. Raises ValueError."""
    told = header.get("pictures")
    if not isinstance(told, list) or len(told) != count:
        raise ValueError(f"not {count} pictures")
    found, start = [], 0
    for each in told:
        at, height, width = each if isinstance(each, list) and len(each) == 3 else (0, 0, 0)
        sides = all(type(side) is int and 0 < side <= LONGEST_SIDE for side in (height, width))
        if not sides or not isinstance(at, int | float) or not math.isfinite(at):
            raise ValueError("a picture of no sensible size")
        size = height * width * 3
        if start + size > len(payload):
            raise ValueError("fewer bytes than the pictures need")
        pixels = np.frombuffer(payload, dtype=np.uint8, count=size, offset=start)
        found.append(Picture(float(at), pixels.reshape(height, width, 3)))
        start += size
    if start != len(payload):
        raise ValueError("more bytes than the pictures need")
    return found
