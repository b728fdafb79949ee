"""The wipe before and after a replay: slanted bands with a badge that sweep over the picture and cover the cut."""

from __future__ import annotations

import random

import cv2
import numpy as np

from found_footy.simulator.clips.camera import Image

_SLANT = 0.35
"""How far a band leans, as a share of the frame's height."""


class Wipe:
    def __init__(self, venue: str, width: int, height: int) -> None:
        chance = random.Random(f"wipe {venue}")
        self._width, self._height = width, height
        self._colours = [tuple(chance.randrange(20, 236) for _ in range(3)) for _ in range(3)]
        self._to_left = chance.random() < 0.5
        self._letter = chance.choice("ABCEFKLMRSTV")

    def put(self, frame: Image, share: float) -> None:
        """Cover the frame (BGR) as far as it goes: nothing at 0 and 1, all of it in the middle."""
        width, height = self._width, self._height
        lean = _SLANT * height
        span = width + 2 * lean
        for place, colour in enumerate(self._colours):
            delay = 0.07 * place
            head = min(1.0, max(0.0, (share - delay) / 0.36)) * span - lean
            tail = min(1.0, max(0.0, (share - 0.5 - 0.07 * (2 - place)) / 0.36)) * span - lean
            if head <= tail:
                continue
            corners = np.array([(tail, height), (tail + lean, 0), (head + lean, 0), (head, height)])
            corners[:, 0] -= lean / 2
            if self._to_left:
                corners[:, 0] = width - corners[:, 0]
            cv2.fillPoly(frame, [np.round(corners).astype(np.int32)], colour, cv2.LINE_AA)
        self._badge(frame, share)

    def _badge(self, frame: Image, share: float) -> None:
        radius = round(self._height * 0.24 * max(0.0, 1 - abs(share - 0.5) * 4))
        if radius < 3:
            return
        centre = (self._width // 2, self._height // 2)
        cv2.circle(frame, centre, radius, (245, 245, 245), -1, cv2.LINE_AA)
        cv2.circle(frame, centre, round(radius * 0.86), self._colours[0], -1, cv2.LINE_AA)
        size = radius / 22
        (wide, high), _ = cv2.getTextSize(self._letter, cv2.FONT_HERSHEY_TRIPLEX, size, 2)
        place = (centre[0] - wide // 2, centre[1] + high // 2)
        thick = max(2, radius // 14)
        cv2.putText(frame, self._letter, place, cv2.FONT_HERSHEY_TRIPLEX, size, (245,) * 3, thick, cv2.LINE_AA)
