"""A frame as a JPEG, for whoever looks at it elsewhere. Frames are BGR."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray


def to_jpeg(frame: NDArray[np.uint8], longest_side: int, quality: int = 90) -> bytes:
    """For sending: no larger than that, and never enlarged."""
    height, width = frame.shape[:2]
    scale = min(1.0, longest_side / max(height, width))
    if scale < 1:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        frame = np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
    _, jpeg = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return jpeg.tobytes()
