"""What a decoding process can be asked for: a file in, a header and plain bytes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from found_footy.domain.errors import MediaTooLarge
from found_footy.media.frames import frames_at
from found_footy.media.opening import Limits
from found_footy.media.phash import hash_video
from found_footy.media.probe import probe as probe_file

Said = tuple[dict[str, Any], Sequence[memoryview | bytes]]


def probe(path: Path, seconds: float, most: int) -> Said:
    return {"info": asdict(probe_file(path, Limits(wall_seconds=seconds)))}, ()


def pictures(path: Path, seconds: float, most: int, fractions: Sequence[float]) -> Said:
    _one_thread()
    frames = frames_at(path, fractions, Limits(wall_seconds=seconds))
    if sum(frame.pixels.nbytes for frame in frames) > most:
        raise MediaTooLarge(f"{path}: its pictures are larger than {most} bytes")
    told = [(frame.seconds, *frame.pixels.shape[:2]) for frame in frames]
    return {"pictures": told}, [np.ascontiguousarray(frame.pixels).data.cast("B") for frame in frames]


def fingerprint(path: Path, seconds: float, most: int) -> Said:
    _one_thread()
    return {}, [hash_video(path, Limits(wall_seconds=seconds)).to_bytes()]


def _one_thread() -> None:
    """As many files are decoded at once as there are processors; more threads would only wait for each other."""
    cv2.setNumThreads(1)
