"""A frame with the clock's box and what was read beside what was expected, as a PNG for people."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from found_footy.domain.videos.readings import Box

COLOUR = (60, 220, 255)
INK = (240, 240, 240)
MARGIN = 0.006
"""Of the width, between the clock and the box around it."""


def draw_proof(frame: NDArray[np.uint8], box: Box | None, caption: Sequence[str] = ()) -> bytes:
    """The caption stands below the picture, so that it hides nothing. Returns the bytes of a PNG."""
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
        # OpenCV's letters are ASCII only; anything else would become question marks, one for each byte.
        plain = text.encode("ascii", "replace").decode()
        cv2.putText(canvas, plain, place, cv2.FONT_HERSHEY_SIMPLEX, line / 36, INK, max(1, line // 18), cv2.LINE_AA)
    _, png = cv2.imencode(".png", canvas)
    return png.tobytes()
