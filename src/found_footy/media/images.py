"""Images: JPEG encoding, poster selection, annotated proofs, and decoding of uploaded images. Frames are BGR."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import av
import av.error
import cv2
import numpy as np
from numpy.typing import NDArray

from found_footy.errors import MediaBroken, MediaError, MediaTooLarge, NotAVideo
from found_footy.media.container import DecodeLimits, check_size
from found_footy.media.models import RelativeBox


def to_jpeg(frame: NDArray[np.uint8], longest_side: int, quality: int = 90) -> bytes:
    """Encode as JPEG, reduced to `longest_side` if larger."""
    height, width = frame.shape[:2]
    scale = min(1.0, longest_side / max(height, width))
    if scale < 1:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        frame = np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
    _, jpeg = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return jpeg.tobytes()


# --- Poster: the first of a few frames with visible content.


FRACTIONS = (0.5, 0.4, 0.6, 0.25, 0.75)
"""Fractions of the clip's duration, best first: posts are usually cut with the goal in the middle."""

DARKEST = 24.0
"""Mean brightness (0-255) below which a frame counts as black."""
BRIGHTEST = 235.0
FLATTEST = 12.0
"""Standard deviation of brightness below which a frame counts as flat: a fade, or a title without its text."""

Picture = NDArray[np.uint8]


def best_poster(pictures: Sequence[Picture]) -> int:
    """Return the index of the best frame; without visible content in any, the one with the most contrast."""
    measured = [_brightness_and_contrast(picture) for picture in pictures]
    for place, (brightness, contrast) in enumerate(measured):
        if DARKEST <= brightness <= BRIGHTEST and contrast >= FLATTEST:
            return place
    return max(range(len(measured)), key=lambda place: measured[place][1])


def _brightness_and_contrast(picture: Picture) -> tuple[float, float]:
    # Every eighth pixel is enough.
    grey = picture[::8, ::8].mean(axis=2)
    return float(grey.mean()), float(grey.std())


# --- Proof: a frame with the clock's box and a caption, as PNG.


COLOUR = (60, 220, 255)
INK = (240, 240, 240)
MARGIN = 0.006
"""Margin between the clock and its box, as a share of the width."""


def draw_proof(frame: NDArray[np.uint8], box: RelativeBox | None, caption: Sequence[str] = ()) -> bytes:
    """Draw the box and a caption below the frame, so that it hides nothing. Return a PNG."""
    height, width = frame.shape[:2]
    line = max(16, height // 24)
    canvas = np.zeros((height + line * len(caption) + (line // 2 if caption else 0), width, 3), np.uint8)
    canvas[:height] = frame
    if box is not None:
        margin = max(2, round(MARGIN * width))
        first = (round(box.left * width) - margin, round(box.top * height) - margin)
        last = (round(box.right * width) + margin, round(box.bottom * height) + margin)
        cv2.rectangle(canvas, first, last, COLOUR, max(2, height // 240))
    for number, text in enumerate(caption):
        place = (line // 2, height + line * (number + 1) - line // 8)
        # OpenCV's fonts are ASCII only; other characters would become one question mark per byte.
        plain = text.encode("ascii", "replace").decode()
        cv2.putText(canvas, plain, place, cv2.FONT_HERSHEY_SIMPLEX, line / 36, INK, max(1, line // 18), cv2.LINE_AA)
    _, png = cv2.imencode(".png", canvas)
    return png.tobytes()


# --- Untrusted images, such as a photo or a screenshot pasted into a search.


DEMUXERS = "jpeg_pipe,png_pipe,webp_pipe,bmp_pipe,gif"
"""Formats that browsers paste. None of them can reference another file."""
LIMITS = DecodeLimits(side_pixels=12_000, frame_pixels=50_000_000, wall_seconds=10)
MAX_SIDE_PX = 1280
"""Maximum side in pixels of the result, enough for every use."""


def decode_image(path: Path, limits: DecodeLimits = LIMITS) -> NDArray[np.uint8]:
    """Return BGR pixels, height × width × 3. Raises NotAVideo if it is not an image, or another MediaError."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise NotAVideo(f"cannot read the image: {error.strerror}") from None
    with file:
        if not file.read(1):
            raise NotAVideo("the image is empty")
        file.seek(0)
        try:
            return _fit_image(_first_frame(file, limits))
        except av.error.ExitError:
            raise MediaTooLarge(f"the image was not decoded within {limits.wall_seconds:g} s") from None
        except av.error.MemoryError:
            raise MediaTooLarge("not enough memory to decode the image") from None
        except (av.error.InvalidDataError, av.error.ArgumentError, av.error.EOFError):
            raise NotAVideo("not a readable JPEG, PNG, WebP, GIF or BMP") from None
        except av.error.FFmpegError as error:
            raise MediaBroken(f"cannot decode the image: {error.strerror}") from None


def _first_frame(file: object, limits: DecodeLimits) -> NDArray[np.uint8]:
    with av.open(
        file,
        "r",
        options={"max_pixels": str(limits.frame_pixels)},
        container_options={"format_whitelist": DEMUXERS, "probesize": "5000000"},
        metadata_errors="replace",
        timeout=limits.wall_seconds,
    ) as container:
        if not container.streams.video:
            raise NotAVideo("the file contains no image")
        stream = container.streams.video[0]
        context = stream.codec_context
        if context is None or not context.width or not context.height:
            raise NotAVideo("the file contains no image")
        check_size(Path("the image"), context.width, context.height, limits)
        context.options = {**context.options, "max_pixels": str(limits.frame_pixels)}
        context.thread_count = 1
        for frame in container.decode(stream):
            check_size(Path("the image"), frame.width, frame.height, limits)
            return np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
    raise MediaError("no decodable frames")


def _fit_image(bgr: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = bgr.shape[:2]
    scale = MAX_SIDE_PX / max(height, width)
    if scale >= 1:
        return np.ascontiguousarray(bgr)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.ascontiguousarray(cv2.resize(bgr, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
