"""Pictures made for tests. All are BGR."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]


def noise(width: int, height: int, seed: int = 0) -> Frame:
    return np.random.default_rng(seed).integers(30, 255, (height, width, 3)).astype(np.uint8)


def grass(width: int, height: int, seed: int = 0) -> Frame:
    """Mown in stripes, and a little uneven."""
    shade = np.where(np.arange(width) // 40 % 2, 8, -8)[None, :, None]
    grain = np.random.default_rng(seed).normal(0, 4, (height, width, 1))
    return np.clip(np.array((40, 130, 60)) + shade + grain, 0, 255).astype(np.uint8)


def match_picture(width: int = 1280, height: int = 720, board: str = "67:23 ARS 2-1 CHE", top: float = 0.06) -> Frame:
    """A pitch under a stand, with a scoreboard in one row; `top` is its place in shares of the height."""
    frame = grass(width, height)
    frame[: height // 3] = noise(width, height // 3) // 4 + 40
    tall = height // 16
    left, upper = round(0.05 * width), round(top * height)
    size, thick = tall / 42, max(1, tall // 16)
    (wide, high), _ = cv2.getTextSize(board, cv2.FONT_HERSHEY_DUPLEX, size, thick)
    cv2.rectangle(frame, (left, upper), (left + wide + tall, upper + tall), (60, 30, 20), -1)
    place = (left + tall // 2, upper + (tall + high) // 2)
    cv2.putText(frame, board, place, cv2.FONT_HERSHEY_DUPLEX, size, (245, 245, 245), thick, cv2.LINE_AA)
    return frame


def filmed(frame: Frame, *, moire: float, bezel: float, seed: int = 0) -> Frame:
    """Filmed from a screen: leaning in a dark room, with a frame of that width and a pattern of that strength."""
    chance = np.random.default_rng(seed)
    height, width = frame.shape[:2]
    edge = round(bezel * width)
    screen = cv2.copyMakeBorder(frame, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=(16, 16, 16))
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * (screen.shape[1], screen.shape[0])
    leaning = np.array([(0.07, 0.09), (0.93, 0.06), (0.94, 0.92), (0.06, 0.95)]) * (width, height)
    leaning += chance.uniform(-0.008, 0.008, (4, 2)) * (width, height)
    turn = cv2.getPerspectiveTransform(corners.astype(np.float32), leaning.astype(np.float32))
    room = np.full_like(frame, 34)
    film = cv2.warpPerspective(screen, turn, (width, height), room, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)
    y, x = np.mgrid[:height, :width]
    wave = 1 + moire * np.sin(2 * np.pi * (0.11 * x + 0.07 * y))
    return np.clip(film * wave[:, :, None] + chance.normal(0, 3, film.shape), 0, 255).astype(np.uint8)
