"""Pictures that differ as scenes do, by large shapes and colours, and what people do to pictures."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
WIDTH, HEIGHT = 640, 360


def draw_scene(seed: int) -> Picture:
    chance = np.random.default_rng(seed)
    picture = np.full((HEIGHT, WIDTH, 3), chance.integers(0, 255, 3), np.uint8)
    picture[HEIGHT // 3 :] = chance.integers(0, 255, 3)
    for shape in chance.integers(3, size=14).tolist():
        colour = tuple(chance.integers(0, 255, 3).tolist())
        (x, far), (y, deep) = chance.integers(WIDTH, size=2).tolist(), chance.integers(HEIGHT, size=2).tolist()
        size = int(chance.integers(20, 110))
        if shape == 0:
            cv2.rectangle(picture, (x - size, y - size // 2), (x + size, y + size // 2), colour, -1)
        elif shape == 1:
            cv2.circle(picture, (x, y), size, colour, -1 if far % 2 else 6)
        else:
            cv2.line(picture, (x, y), (far, deep), colour, 8)
    return picture


def same(picture: Picture) -> Picture:
    return picture


def cropped(picture: Picture) -> Picture:
    """Two thirds of it are left."""
    height, width = picture.shape[:2]
    return np.ascontiguousarray(picture[height // 10 : -height // 10, width // 10 : -width // 10])


def mirrored(picture: Picture) -> Picture:
    return np.ascontiguousarray(picture[:, ::-1])


def compressed(picture: Picture) -> Picture:
    small = cv2.resize(picture, (WIDTH // 2, HEIGHT // 2), interpolation=cv2.INTER_AREA)
    _, jpeg = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 30])
    return np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_COLOR), np.uint8)
