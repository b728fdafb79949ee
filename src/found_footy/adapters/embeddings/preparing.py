"""Pictures as a model wants to see them, and vectors as everybody else wants to see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from found_footy.domain.errors import EmbeddingError

Pixels = NDArray[np.uint8]
Vectors = NDArray[np.float32]

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
LONGEST_SIDE = 16_384
SHORTEST_LENGTH = 1e-6
"""Of a vector: what is shorter has no direction."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """How a picture becomes a model's input. Mean and deviation are those of red, green and blue, from 0 to 1."""

    side: int = 224
    mean: tuple[float, float, float] = IMAGENET[0]
    deviation: tuple[float, float, float] = IMAGENET[1]
    fit: Literal["squash", "crop"] = "squash"
    """A wide picture is pressed into the square as a whole, or loses its sides."""

    def batch(self, bgr: Sequence[Pixels]) -> NDArray[np.float32]:
        """Number x 3 x side x side. Raises EmbeddingError for what is no picture."""
        return np.stack([self._one(picture) for picture in bgr])

    def _one(self, bgr: Pixels) -> NDArray[np.float32]:
        if bgr.ndim != 3 or bgr.shape[2] != 3 or bgr.dtype != np.uint8 or not min(bgr.shape[:2]) > 0:
            raise EmbeddingError(f"an array of {bgr.dtype} and the shape {bgr.shape} is no picture")
        if max(bgr.shape[:2]) > LONGEST_SIDE:
            raise EmbeddingError(f"a picture of {bgr.shape[1]}x{bgr.shape[0]} is too large")
        square = _square(bgr) if self.fit == "crop" else bgr
        larger = min(square.shape[:2]) < self.side
        way = cv2.INTER_LINEAR if larger else cv2.INTER_AREA
        small = np.asarray(cv2.resize(square, (self.side, self.side), interpolation=way), dtype=np.float32)
        rgb = (small[:, :, ::-1] / 255.0 - np.array(self.mean, np.float32)) / np.array(self.deviation, np.float32)
        return np.ascontiguousarray(rgb.transpose(2, 0, 1))


def unit(vectors: NDArray[np.floating], rows: int, dimensions: int) -> Vectors:
    """Each row of length one. Raises EmbeddingError for anything else than so many vectors of so many numbers."""
    found = np.asarray(vectors, dtype=np.float32)
    if found.shape != (rows, dimensions):
        raise EmbeddingError(f"the model answers with the shape {found.shape} instead of {(rows, dimensions)}")
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(found).all() or not np.isfinite(lengths).all() or (lengths < SHORTEST_LENGTH).any():
        raise EmbeddingError("the model answers with a vector that has no direction")
    return np.asarray(found / lengths, dtype=np.float32)


def _square(bgr: Pixels) -> Pixels:
    height, width = bgr.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return bgr[top : top + side, left : left + side]
