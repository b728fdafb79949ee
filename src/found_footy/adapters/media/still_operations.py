"""What a decoding process can be asked for with a picture: the file in, a header and plain bytes out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2

from found_footy.media.still import LIMITS, still_picture


def still(path: Path, seconds: float, most: int) -> tuple[dict[str, Any], list[memoryview]]:
    cv2.setNumThreads(1)
    pixels = still_picture(path, replace(LIMITS, wall_seconds=seconds))
    return {"pictures": [(0.0, *pixels.shape[:2])]}, [pixels.data.cast("B")]
