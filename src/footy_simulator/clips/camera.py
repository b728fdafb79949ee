"""A camera with a position and a target: projects metres on the pitch to a flat picture plane.

The world: x along the touchline from 0 to 105, y across from 0 to 68, z up. The plane: one unit is the height of the
picture at zoom 1, u to the right and v down, (0, 0) at its target. Panning and zooming move a window over that
plane, so everything that stands still is drawn once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Image = npt.NDArray[np.uint8]

PITCH_LENGTH, PITCH_WIDTH = 105.0, 68.0


@dataclass(frozen=True, slots=True)
class Camera:
    position: tuple[float, float, float]
    target: tuple[float, float, float]
    focal: float
    """In picture heights."""

    def matrix(self) -> Floats:
        """3x4: homogeneous world metres to homogeneous plane units; the third row is the depth in metres."""
        eye, target = np.array(self.position), np.array(self.target)
        forward = (target - eye) / np.linalg.norm(target - eye)
        right = np.cross(forward, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        down = np.cross(forward, right)
        rotation = np.stack((right * self.focal, down * self.focal, forward))
        matrix: Floats = np.column_stack((rotation, -rotation @ eye))
        return matrix

    def horizon(self) -> float:
        """The v above which there is no ground."""
        down = self.position[2] - self.target[2]
        across = float(np.hypot(self.target[0] - self.position[0], self.target[1] - self.position[1]))
        return -self.focal * down / across


def project(matrix: Floats, points: Any) -> tuple[Floats, Floats]:
    """(u, v) and depth of each of N points (x, y, z)."""
    world = np.asarray(points, dtype=np.float64)
    flat = world @ matrix[:, :3].T + matrix[:, 3]
    depth: Floats = flat[:, 2]
    return flat[:, :2] / np.maximum(depth, 0.1)[:, None], depth


@dataclass(frozen=True, slots=True)
class CameraView:
    """All that stands still before one camera, as a picture (BGR) of a part of its plane."""

    image: Image
    matrix: Floats
    left: float
    top: float
    scale: float
    """Pixels of the picture for a unit of the plane."""

    def pixels(self, plane: Floats) -> Floats:
        pixels: Floats = (plane - (self.left, self.top)) * self.scale
        return pixels


def mirrored(camera: Camera) -> Camera:
    """The same camera for the goal at the other end."""
    (x, y, z), (tx, ty, tz) = camera.position, camera.target
    return Camera((PITCH_LENGTH - x, y, z), (PITCH_LENGTH - tx, ty, tz), camera.focal)
