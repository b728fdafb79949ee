"""Reading the clock by OCR: milliseconds per frame, first and later frames

The first frame is searched for the scoreboard; in later ones only its region is read. The baseline is RapidOCR with
default settings on the whole frame, the common approach. Frames are generated here; medians of several runs.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from bench.table import table
from found_footy.clips.ocr_vision import OcrClip
from found_footy.clips.verification import minute_of
from found_footy.media.frame_features import is_filmed_screen, pitch_share
from found_footy.media.models import Frame
from found_footy.media.ocr import OcrEngine

SIZES = ((640, 360), (1280, 720), (1920, 1080))
RUNS = 7


async def main() -> None:
    engine = OcrEngine()
    began = time.perf_counter()
    engine.read_text(np.full((48, 160, 3), 255, np.uint8))
    loading = time.perf_counter() - began
    rows = [_measured(engine, *size) for size in SIZES]
    table(
        ["frame", "first frame", "later frames", "of which pitch and screen", "RapidOCR defaults", "first / later"],
        rows,
    )
    print(f"\nMilliseconds. The models are loaded once, in {loading:.1f} s.")


def _measured(engine: OcrEngine, width: int, height: int) -> list[str]:
    moments = [[Frame(second, _picture(width, height, f"67:{20 + second} ARS 2-1 CHE"))] for second in range(RUNS)]

    def first(number: int) -> None:
        assert minute_of(OcrClip(engine).read_frames_now(moments[number])) == 67

    clip = OcrClip(engine)
    clip.read_frames_now(moments[0])

    def later(number: int) -> None:
        assert minute_of(clip.read_frames_now(moments[number])) == 67

    def signs(number: int) -> None:
        pitch_share(moments[number][0].pixels)
        is_filmed_screen(moments[number][0].pixels)

    common = _default_engine()
    found, read, seen = (_median(step, RUNS) for step in (first, later, signs))
    whole = _median(lambda number: common(moments[number][0].pixels), 2)
    return [f"{width}x{height}", f"{found:.0f}", f"{read:.0f}", f"{seen:.0f}", f"{whole:.0f}", f"{found / read:.1f}"]


def _median(step: Callable[[int], None], runs: int) -> float:
    times = []
    for number in range(runs):
        began = time.perf_counter()
        step(number)
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def _default_engine() -> Callable[[np.ndarray], Any]:
    from rapidocr import RapidOCR

    ocr: Callable[[np.ndarray], Any] = RapidOCR(params={"Global.log_level": "critical"})
    return ocr


def _picture(width: int, height: int, board: str) -> np.ndarray:
    """Draw a pitch and a stand, with a scoreboard of the size that broadcasters use."""
    random = np.random.default_rng(0)
    frame = np.clip(np.array((40, 130, 60)) + random.normal(0, 5, (height, width, 1)), 0, 255).astype(np.uint8)
    frame[: height // 3] = random.integers(40, 110, (height // 3, width, 3))
    board_height = height // 16
    left, top, size = width // 20, height // 16, board_height / 42
    cv2.rectangle(frame, (left, top), (left + 9 * board_height, top + board_height), (60, 30, 20), -1)
    place, font = (left + board_height // 2, top + board_height * 3 // 4), cv2.FONT_HERSHEY_DUPLEX
    cv2.putText(frame, board, place, font, size, (245, 245, 245), max(1, board_height // 16), cv2.LINE_AA)
    return frame
