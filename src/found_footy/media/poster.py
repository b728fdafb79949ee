"""Which of a few pictures stands for a clip: the first that shows something. Frames are BGR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FRACTIONS = (0.5, 0.4, 0.6, 0.25, 0.75)
"""Shares of the clip's length, the most wanted first: posts are cut so that the goal is in the middle."""

DARKEST = 24.0
"""Mean brightness, of 255. Below it a picture is black, or as good as."""
BRIGHTEST = 235.0
FLATTEST = 12.0
"""Standard deviation of the brightness. Below it a picture is one colour: a fade, or a title without its text."""

Picture = NDArray[np.uint8]


def best_of(pictures: Sequence[Picture]) -> int:
    """Its place. Where none shows anything, it is the one with the most contrast."""
    judged = [_brightness_and_contrast(picture) for picture in pictures]
    for place, (brightness, contrast) in enumerate(judged):
        if DARKEST <= brightness <= BRIGHTEST and contrast >= FLATTEST:
            return place
    return max(range(len(judged)), key=lambda place: judged[place][1])


def _brightness_and_contrast(picture: Picture) -> tuple[float, float]:
    # Every eighth pixel says as much as all of them.
    grey = picture[::8, ::8].mean(axis=2)
    return float(grey.mean()), float(grey.std())
