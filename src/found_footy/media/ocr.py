"""Text recognition with RapidOCR on ONNX Runtime, using the models in its wheel."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from found_footy.errors import VisionUnavailable
from found_footy.media.models import TextLine

MIN_CONFIDENCE = 0.5
"""Confidence (0 to 1) below which a text counts as noise."""
_PARAMETERS = {
    "Global.use_cls": False,
    "Global.width_height_ratio": -1,
    "Global.log_level": "critical",
    # By default, the short side of an image is scaled to 736 pixels, which takes seconds for a flat strip.
    "Det.limit_type": "max",
    "Det.limit_side_len": 1280,
    # By default, each call returns its memory to the system: a fifth of the CPU time of a detection.
    "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
}


class OcrEngine:
    """Loaded on first use. Any number of threads may read at once, each on one processor core.

    A second ONNX Runtime thread per call gains little with such small models, and on a busy processor waiting for it
    doubles the time.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._ocr: dict[bool, Any] = {}
        """With and without detection, on the same models: a RapidOCR object stores the options of the last call."""

    def read_lines(self, image: NDArray[np.uint8]) -> list[TextLine]:
        """Return all texts of an image with their positions, in no particular order."""
        answer = self._call(image, detect=True)
        if answer.txts is None or answer.boxes is None:
            return []
        return [
            TextLine(text, *_bounding_box(np.asarray(box)))
            for text, score, box in zip(answer.txts, answer.scores, answer.boxes, strict=True)
            if score >= MIN_CONFIDENCE
        ]

    def read_text(self, strip: NDArray[np.uint8]) -> str:
        """Return the single row of text in a strip; empty if there is none."""
        answer = self._call(strip, detect=False)
        return str(answer.txts[0]) if answer.txts and answer.scores[0] >= MIN_CONFIDENCE else ""

    def _call(self, image: NDArray[np.uint8], *, detect: bool) -> Any:
        with self._lock:
            if not self._ocr:
                self._ocr = self._build()
        return self._ocr[detect](image, **_options(detect))

    def _build(self) -> dict[bool, Any]:
        try:
            from rapidocr import RapidOCR
        except ImportError as error:
            raise VisionUnavailable(f"the embedded OCR cannot be loaded: {error}") from error
        threads = {"EngineConfig.onnxruntime.intra_op_num_threads": self._threads}
        ocr = RapidOCR(params={**_PARAMETERS, **threads})
        blank = np.full((48, 96, 3), 255, np.uint8)
        for detect in (True, False):  # loads the models, which the copy shares
            ocr(blank, **_options(detect))
        return {True: ocr, False: copy(ocr)}


def _options(detect: bool) -> dict[str, bool]:
    return {"use_det": detect, "use_rec": True, "use_cls": False}


def _bounding_box(corners: NDArray[np.floating]) -> tuple[float, float, float, float]:
    left, top = corners.min(axis=0)
    right, bottom = corners.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


# --- Regions of a frame (BGR) that may contain a scoreboard, scaled for recognition.


Frame = NDArray[np.uint8]

SEARCH_WIDTH = 1280
"""Width in pixels to which frames are scaled, so that letters have the size that is detected best."""
MAX_ZOOM = 3.0
REGIONS = ((0.0, 0.23), (0.7, 1.0))
"""Vertical ranges as shares of the height. Most scoreboards are at the top, some, which are taller, at the bottom."""
MIDDLE = (0.2, 0.5)
"""Where a caption above the picture moves the scoreboard."""
HALF_WIDTH = 0.55
"""Share of the width of a close-up: a scoreboard in the middle is complete in one of the two."""
CLOSER = 1.5
ROW_HEIGHT = 48
"""Input height of the recognition model in pixels."""
BAR_SEARCH_WIDTH = 192
MAX_BAR_BRIGHTNESS, BRIGHT_PERCENTILE = 24, 95
"""A row or column is a bar if 95 % of it are no brighter than 24 of 255, which leaves room for a logo."""
MIN_CONTENT_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class ImageCrop:
    """Part of a frame, scaled by `scale`."""

    image: Frame
    left: int
    top: int
    scale: float

    def covers(self, line: TextLine, area: TextLine | None) -> bool:
        """Whether a text of this crop lies in an area of the whole frame."""
        if area is None:
            return False
        x = self.left + (line.left + line.right) / 2 / self.scale
        y = self.top + line.middle / self.scale
        return area.left <= x <= area.right and area.top <= y <= area.bottom


def find_content_area(frame: Frame) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of the content inside black bars; the whole frame if little would be left."""
    height, width = frame.shape[:2]
    small = cv2.resize(
        frame, (BAR_SEARCH_WIDTH, max(8, round(height * BAR_SEARCH_WIDTH / width))), interpolation=cv2.INTER_AREA
    )
    light = small.max(axis=2)
    (top, bottom), (left, right) = (
        _content_range(np.percentile(light, BRIGHT_PERCENTILE, axis=axis)) for axis in (1, 0)
    )
    if bottom - top < MIN_CONTENT_SHARE or right - left < MIN_CONTENT_SHARE:
        return 0, 0, width, height
    return round(left * width), round(top * height), round(right * width), round(bottom * height)


def scoreboard_crops(frame: Frame, regions: Sequence[tuple[float, float]] = REGIONS) -> list[ImageCrop]:
    """Return the regions that may contain a scoreboard, likeliest first."""
    left, top, right, bottom = find_content_area(frame)
    scale = min(MAX_ZOOM, SEARCH_WIDTH / (right - left))
    parts = []
    for begin, end in regions:
        upper = min(top + round(begin * (bottom - top)), bottom - 1)
        lower = max(top + round(end * (bottom - top)), upper + 1)
        parts.append(ImageCrop(resize_image(frame[upper:lower, left:right], scale), left, upper, scale))
    return parts


def closer_crops(frame: Frame) -> list[ImageCrop]:
    """Return the middle, and the left and right halves of the regions, enlarged further, for small scoreboards."""
    crops = scoreboard_crops(frame, [MIDDLE])
    for part in scoreboard_crops(frame):
        height, width = part.image.shape[:2]
        left_half, right_start = round(HALF_WIDTH * width), round((1 - HALF_WIDTH) * width)
        for begin, end in ((0, left_half), (right_start, width)):
            x0, x1 = part.left + round(begin / part.scale), part.left + round(end / part.scale)
            area = frame[part.top : part.top + round(height / part.scale), x0:x1]
            crops.append(ImageCrop(resize_image(area, part.scale * CLOSER), x0, part.top, part.scale * CLOSER))
    return crops


def row_strip(frame: Frame, left: float, top: float, right: float, bottom: float) -> Frame:
    """Crop one row of text and scale it to the height of the recognition model."""
    height, width = frame.shape[:2]
    x0, x1 = max(0, round(left)), min(width, round(right))
    y0, y1 = max(0, round(top)), min(height, round(bottom))
    if x1 - x0 < 2 or y1 - y0 < 2:
        return np.zeros((ROW_HEIGHT, ROW_HEIGHT, 3), np.uint8)
    return resize_image(frame[y0:y1, x0:x1], max(1.0, ROW_HEIGHT / (y1 - y0)))


def resize_image(image: Frame, scale: float) -> Frame:
    if abs(scale - 1) < 0.05:
        return np.ascontiguousarray(image)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    enlarged = cv2.resize(image, None, fx=scale, fy=scale, interpolation=how)
    return np.asarray(enlarged, np.uint8)


def _content_range(brightness: NDArray[np.floating]) -> tuple[float, float]:
    """Return the first and last line of the content, as shares of all lines."""
    bright = np.flatnonzero(brightness > MAX_BAR_BRIGHTNESS)
    return (
        (float(bright[0]) / brightness.size, (float(bright[-1]) + 1) / brightness.size) if bright.size else (0.0, 0.0)
    )
