"""One picture out of a stranger's file: a photograph or a screenshot, as people paste it into a search."""

from __future__ import annotations

from pathlib import Path

import av
import av.error
import cv2
import numpy as np
from numpy.typing import NDArray

from found_footy.domain.errors import MediaBroken, MediaError, MediaTooLarge, NotAVideo
from found_footy.media.opening import Limits, check_size

DEMUXERS = "jpeg_pipe,png_pipe,webp_pipe,bmp_pipe,gif"
"""What browsers paste. None of them can name another file."""
LIMITS = Limits(side_pixels=12_000, frame_pixels=50_000_000, wall_seconds=10)
LONGEST_SIDE = 1280
"""Pixels of what is handed on: nobody looks closer."""


def still_picture(path: Path, limits: Limits = LIMITS) -> NDArray[np.uint8]:
    """Height x width x 3 in the order blue, green, red. Raises NotAVideo for what is no picture, and a MediaError."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise NotAVideo(f"the picture cannot be read: {error.strerror}") from None
    with file:
        if not file.read(1):
            raise NotAVideo("the picture is empty")
        file.seek(0)
        try:
            return _fitted(_first_frame(file, limits))
        except av.error.ExitError:
            raise MediaTooLarge(f"the picture was not read within {limits.wall_seconds:g} s") from None
        except av.error.MemoryError:
            raise MediaTooLarge("the picture needs more memory than there is") from None
        except (av.error.InvalidDataError, av.error.ArgumentError, av.error.EOFError):
            raise NotAVideo("this is no JPEG, PNG, WebP, GIF or BMP that can be read") from None
        except av.error.FFmpegError as error:
            raise MediaBroken(f"the picture cannot be decoded: {error.strerror}") from None


def _first_frame(file: object, limits: Limits) -> NDArray[np.uint8]:
    with av.open(
        file,
        "r",
        options={"max_pixels": str(limits.frame_pixels)},
        container_options={"format_whitelist": DEMUXERS, "probesize": "5000000"},
        metadata_errors="replace",
        timeout=limits.wall_seconds,
    ) as container:
        if not container.streams.video:
            raise NotAVideo("there is no picture in this file")
        stream = container.streams.video[0]
        context = stream.codec_context
        if context is None or not context.width or not context.height:
            raise NotAVideo("there is no picture in this file")
        check_size(Path("the picture"), context.width, context.height, limits)
        context.options = {**context.options, "max_pixels": str(limits.frame_pixels)}
        context.thread_count = 1
        for frame in container.decode(stream):
            check_size(Path("the picture"), frame.width, frame.height, limits)
            return np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
    raise MediaError("no picture of it can be decoded")


def _fitted(bgr: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = bgr.shape[:2]
    scale = LONGEST_SIDE / max(height, width)
    if scale >= 1:
        return np.ascontiguousarray(bgr)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.ascontiguousarray(cv2.resize(bgr, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
