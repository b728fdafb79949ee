"""What people do to a copy before they post it: crop, resize, colours, logos, mirror, bars; always in this order."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

from found_footy.simulator.clips.camera import Image
from found_footy.simulator.clips.framing import BOARDS, PORTRAIT, kept
from found_footy.simulator.clips.kinds import Alteration
from found_footy.simulator.clips.logos import Overlay, logo, watermark
from found_footy.simulator.clips.planes import Planes, cut, even, padded, resized, width_of
from found_footy.simulator.clips.spec import ClipSpec

Alter = Callable[[Planes], Planes]

_LETTERBOX = 4 / 3
_PILLARBOX = 21 / 9
_LEVELS = np.arange(256, dtype=np.float64)


def picture_size(spec: ClipSpec) -> tuple[int, int]:
    """Width and height of the picture, without bars."""
    if spec.kind == "portrait":
        return even(spec.height * PORTRAIT), spec.height
    return width_of(spec.height), spec.height


def frame_size(spec: ClipSpec) -> tuple[int, int]:
    """Width and height of the file: bars are put around the picture and take nothing from it."""
    width, height = picture_size(spec)
    if "letterbox" in spec.also:
        return width, even(width / _LETTERBOX)
    if "pillarbox" in spec.also:
        return even(height * _PILLARBOX), height
    return width, height


def alteration(spec: ClipSpec) -> Alter:
    """The one function from a frame of the master to a frame of the copy."""
    part, picture, frame = kept(spec.kind, spec.also, spec.footage.style), picture_size(spec), frame_size(spec)
    overlays = _overlays(spec, picture)
    colours = [_COLOURS[name] for name in spec.also if name in _COLOURS]

    def alter(master: Planes) -> Planes:
        copy = resized(cut(master, part), picture)
        for colour in colours:
            copy = colour(copy)
        for overlay in overlays:
            copy = overlay.put(copy)
        if "mirrored" in spec.also:
            copy = copy.each(lambda plane: np.ascontiguousarray(plane[:, ::-1]))
        return padded(copy, frame) if frame != picture else copy

    return alter


def _overlays(spec: ClipSpec, size: tuple[int, int]) -> list[Overlay]:
    board = BOARDS[spec.footage.style]
    at_left = board.left > 0.5
    overlays = []
    if "logo" in spec.also:
        overlays.append(logo(size, at_left, spec.key))
    if "watermark" in spec.also:
        overlays.append(watermark(size, spec.key))
    return overlays


def _curve(curve: npt.NDArray[np.float64]) -> Image:
    return np.clip(curve, 0, 255).astype(np.uint8)


def _light(gain: float, lift: float) -> Alter:
    curve = _curve(_LEVELS * gain + lift)
    return lambda picture: Planes(np.asarray(cv2.LUT(picture.y, curve), np.uint8), picture.u, picture.v)


def _saturation(gain: float, blue: int = 128, red: int = 128) -> Alter:
    """Colour differences stretched around neutral, and moved towards a tint."""
    of_blue, of_red = (_curve((_LEVELS - 128) * gain + tint) for tint in (blue, red))

    def change(picture: Planes) -> Planes:
        return Planes(
            picture.y,
            np.asarray(cv2.LUT(picture.u, of_blue), np.uint8),
            np.asarray(cv2.LUT(picture.v, of_red), np.uint8),
        )

    return change


_COLOURS: dict[Alteration, Alter] = {
    "bright": _light(1.1, 18),
    "dark": _light(0.72, 4),
    "vivid": _saturation(1.5),
    "sepia": _saturation(0.12, 112, 142),
    "grey": _saturation(0.0),
}
