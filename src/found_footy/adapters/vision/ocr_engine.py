"""The text recogniser: RapidOCR on ONNX Runtime, with models that come in its wheel."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from found_footy.domain.errors import VisionUnavailable
from found_footy.domain.videos.board_place import TextLine

SURE = 0.5
"""Below this confidence, of 1, a text is noise."""
_PARAMETERS = {
    "Global.use_cls": False,
    "Global.width_height_ratio": -1,
    "Global.log_level": "critical",
    # By default each picture's short side is brought to 736 pixels, which takes seconds for a flat strip.
    "Det.limit_type": "max",
    "Det.limit_side_len": 1280,
}


class OcrEngine:
    """Built when it is first needed, once, and used by one thread at a time: its calls leave flags behind.

    One thread of ONNX Runtime does: a second one gains little on so small models, and where the processor is busy,
    waiting for it doubles the time.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._ocr: Any = None

    def lines(self, image: NDArray[np.uint8]) -> list[TextLine]:
        """All texts of a picture with their places, in no certain order."""
        answer = self._call(image, detect=True)
        if answer.txts is None or answer.boxes is None:
            return []
        return [
            TextLine(text, *_hull(np.asarray(box)))
            for text, score, box in zip(answer.txts, answer.scores, answer.boxes, strict=True)
            if score >= SURE
        ]

    def text(self, strip: NDArray[np.uint8]) -> str:
        """The one row of text that a strip shows; empty where it shows none."""
        answer = self._call(strip, detect=False)
        return str(answer.txts[0]) if answer.txts and answer.scores[0] >= SURE else ""

    def _call(self, image: NDArray[np.uint8], *, detect: bool) -> Any:
        with self._lock:
            if self._ocr is None:
                self._ocr = self._build()
            return self._ocr(image, use_det=detect, use_rec=True, use_cls=False)

    def _build(self) -> Any:
        try:
            from rapidocr import RapidOCR
        except ImportError as error:
            raise VisionUnavailable(f"the embedded OCR cannot be loaded: {error}") from error
        threads = {"EngineConfig.onnxruntime.intra_op_num_threads": self._threads}
        return RapidOCR(params={**_PARAMETERS, **threads})


def _hull(corners: NDArray[np.floating]) -> tuple[float, float, float, float]:
    left, top = corners.min(axis=0)
    right, bottom = corners.max(axis=0)
    return float(left), float(top), float(right), float(bottom)
