"""Scene detection: gradual transitions, per-frame measurements, and the choice of cuts.

Camera motion resembles a gradual transition, so the frames in between are analysed: in a dissolve each is a mixture of
the frames before and after; in a wipe each pixel belongs to one or the other; a frame that covers the change is like
neither.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane
from numpy.typing import NDArray

from found_footy.errors import MediaBroken
from found_footy.media.container import (
    DecodeDeadline,
    DecodeLimits,
    check_size,
    decode_packet,
    open_video,
    timeline_from_packets,
)

Tiny = NDArray[np.uint8]
"""A small frame: 3 × height × width, brightness and two colour planes."""

MIN_CHANGE = 8.0
"""Minimum mean difference of two frames that may belong to two scenes."""
MAX_OUTSIDE_SHARE = 0.45
"""Maximum share of the change just before and just after a transition; with more, all of it is motion."""
MAX_CORRELATION = 0.85
"""Correlation of brightness above which two frames are the same picture in different light."""
MIN_DEVIATION = 9.0
"""Standard deviation of brightness below which a frame is nearly empty; a transition there is a fade."""
MAX_MIXTURE_RESIDUAL = 0.36
"""Maximum residual of a frame that is a mixture of the two, as a share of their difference."""
MAX_PIXEL_RESIDUAL = 0.2
"""Maximum residual if each pixel may have its own mixture."""
MAX_UNDECIDED_SHARE = 0.25
"""Maximum share of a wipe's change on pixels that belong to neither frame."""
MIN_COVER_RATIO = 1.03
"""Minimum distance of a covering frame from both others, as a multiple of their difference."""
MAX_COVER_MOTION = 0.3
"""Maximum motion between frames while all is covered, as a share of that distance. A panning camera never rests."""
MIDDLE_SHARES = (0.25, 0.75)
"""Range of the share of the change that has happened at the middle."""
MIN_MIDDLE_SHARE = 0.2
"""Distance below which the middle frame equals one of the two. This cheap check rejects most windows."""


class TransitionWindow(NamedTuple):
    """Frames around the middle of a possible transition: two halves, a half, a quarter and one frame to each side."""

    long_before: Tiny
    before: Tiny
    early: Tiny
    just_before: Tiny
    middle: Tiny
    just_after: Tiny
    late: Tiny
    after: Tiny
    long_after: Tiny


class _Mixture(NamedTuple):
    """Decomposition of a frame into those before and after."""

    share: float
    """Share of the frame after."""
    rest: float
    """Residual with one share for all pixels, relative to the whole change."""
    pixel_rest: float
    """Residual with one share per pixel."""
    undecided: float
    """Share of the change on pixels that belong to neither frame."""


def frame_distance(a: Tiny, b: Tiny) -> float:
    """Return the mean difference of two frames, 0 to 255."""
    return float(cv2.norm(a, b, cv2.NORM_L1)) / a.size


def transition_strength(window: TransitionWindow) -> float:
    """Return the size and clarity of a transition, 0 if there is none."""
    change = frame_distance(window.before, window.after)
    if change < MIN_CHANGE:
        return 0.0
    away = min(frame_distance(window.middle, window.before), frame_distance(window.middle, window.after))
    if away < MIN_MIDDLE_SHARE * change:
        return 0.0
    motion = frame_distance(window.just_before, window.just_after)
    covered = away >= MIN_COVER_RATIO * change and motion <= MAX_COVER_MOTION * away
    scale = max(change, away) if covered else change
    change_before = frame_distance(window.long_before, window.before)
    change_after = frame_distance(window.after, window.long_after)
    outside = max(change_before, change_after) / scale
    if outside >= MAX_OUTSIDE_SHARE or not _show_different_content(window.before[0], window.after[0]):
        return 0.0
    middle = _mixture(window, window.middle, change)
    is_halfway = _is_halfway(middle)
    if not (covered or is_halfway):
        return 0.0
    on_path = (_mixture(window, window.early, change), middle, _mixture(window, window.late, change))
    # A cover is also present a quarter before and after: it lasts longer than a flash.
    hidden = covered and all(part.pixel_rest >= 2 * MAX_PIXEL_RESIDUAL for part in on_path)
    return scale * (1.0 - outside) if hidden or (is_halfway and _is_mixed(*on_path)) else 0.0


def _is_mixed(early: _Mixture, middle: _Mixture, late: _Mixture) -> bool:
    parts = (early, middle, late)
    if not early.share < middle.share < late.share:
        return False
    return all(part.rest <= MAX_MIXTURE_RESIDUAL for part in parts) or all(_is_wipe(part) for part in parts)


def _is_halfway(middle: _Mixture) -> bool:
    low, high = MIDDLE_SHARES
    return low <= middle.share <= high and (middle.rest <= MAX_MIXTURE_RESIDUAL or _is_wipe(middle))


def _is_wipe(part: _Mixture) -> bool:
    return part.pixel_rest <= MAX_PIXEL_RESIDUAL and part.undecided <= MAX_UNDECIDED_SHARE


def _show_different_content(a: Tiny, b: Tiny) -> bool:
    """Whether both frames have content, and it differs."""
    deviations = float(a.std()), float(b.std())
    if min(deviations) < MIN_DEVIATION:
        return False
    covariance = float(((a - a.mean()) * (b - b.mean())).mean())
    return covariance / (deviations[0] * deviations[1]) <= MAX_CORRELATION


def _mixture(window: TransitionWindow, picture: Tiny, change: float) -> _Mixture:
    before = window.before.astype(np.float32)
    change_vector, offset_vector = window.after - before, picture - before
    length = (change_vector * change_vector).sum(axis=0) + 1e-3
    projection = (offset_vector * change_vector).sum(axis=0)
    whole = float(length.sum())
    share = float(projection.sum()) / whole
    rest = float(np.sqrt(((offset_vector - share * change_vector) ** 2).sum() / whole))
    shares = np.clip(projection / length, 0.0, 1.0)
    pixel_rest = float(np.abs(offset_vector - shares * change_vector).mean()) / change
    undecided = float(length[(shares > 0.2) & (shares < 0.8)].sum()) / whole
    return _Mixture(share, rest, pixel_rest, undecided)


# --- Measurements per frame, from small frames.


WIDTH, HEIGHT = 32, 18
PLANAR = frozenset({"yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p"})
"""Formats whose three planes can be reduced directly."""
MAX_PLANE_ROWS = 288
"""Rows of a plane that are enough; some rows of larger planes are skipped before reducing."""

FLASH_SECONDS = 0.12
"""Maximum duration of a disturbance after which the same picture returns: a flash, a damaged frame."""
HALF_SECONDS = (0.12, 0.2, 0.32, 0.48, 0.64)
"""Half the durations of the gradual transitions to detect."""
MAX_LAGS, MAX_HALF_FRAMES = 11, 64
"""Limits in frames, whatever the declared rate."""
MAX_BAR_BRIGHTNESS = 24
"""Maximum brightness of black bars at the sides, which are not part of the picture."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class SceneSignal:
    """One row per frame. Distances are means over brightness and colour of the picture without bars, 0 to 255."""

    near: Floats
    """Column k: distance from the frame k + 1 earlier; 0 if there is none."""
    spread: Floats
    """Uniformity of the change since the previous frame: 1 if it is even, near 0 if it is in one spot."""
    light: Floats
    """Mean brightness."""
    contrast: Floats
    """Standard deviation of brightness."""
    transition: Floats
    """Strength of a gradual transition with its middle at this frame; 0 if there is none."""
    half: NDArray[np.uint8]
    """Frames from the start of the transition to its middle."""

    @property
    def frames(self) -> int:
        return len(self.light)


class SignalMeter:
    """Measures frames one by one in display order."""

    def __init__(self, rate: float) -> None:
        self._lags = min(MAX_LAGS, 2 * max(2, round(FLASH_SECONDS * rate)) - 1)
        self._halves = sorted({max(1, min(MAX_HALF_FRAMES, round(half * rate))) for half in HALF_SECONDS})
        self._size = max(4 * self._halves[-1], self._lags) + 1
        self._ring: list[Tiny] = []
        self._count = 0
        self._picture_area = _PictureArea()
        self._near, self._spread = array("f"), array("f")
        self._light, self._contrast = array("f"), array("f")
        self._transition, self._half = array("f"), array("B")

    def take(self, tiny: Tiny) -> None:
        """Measure one frame, reduced by `shrink_frame`."""
        at = self._count
        if at < self._size:
            self._ring.append(tiny)
        else:
            self._ring[at % self._size] = tiny
        self._count += 1
        self._picture_area.extend_to(tiny[0])
        near = [frame_distance(self._tiny(at - lag), tiny) if lag <= at else 0.0 for lag in range(1, self._lags + 1)]
        self._near.extend(each / self._picture_area.share for each in near)
        self._spread.append(_spread(self._tiny(at - 1), tiny, near[0]) / self._picture_area.share if near[0] else 0.0)
        mean, deviation = cv2.meanStdDev(tiny[0])
        self._light.append(float(mean[0, 0]))
        self._contrast.append(float(deviation[0, 0]))
        self._transition.append(0.0)
        self._half.append(0)
        for half in self._halves:
            self._test_transition(at - 2 * half, half)

    def done(self) -> SceneSignal:
        """Finish after the last frame. Call once."""
        for half in self._halves:
            for middle in range(self._count - 2 * half, self._count - half):
                self._test_transition(middle, half)
        return SceneSignal(
            near=np.array(self._near, dtype=np.float32).reshape(self._count, self._lags),
            spread=np.array(self._spread, dtype=np.float32),
            light=np.array(self._light, dtype=np.float32),
            contrast=np.array(self._contrast, dtype=np.float32),
            transition=np.array(self._transition, dtype=np.float32),
            half=np.array(self._half, dtype=np.uint8),
        )

    def _test_transition(self, middle: int, half: int) -> None:
        """Test for a gradual transition around this frame."""
        if middle < half:
            return
        change = frame_distance(self._tiny(middle - half), self._tiny(middle + half))
        if change < MIN_CHANGE * self._picture_area.share:
            return
        quarter = max(1, half // 2)
        steps = (-2 * half, -half, -quarter, -1, 0, 1, quarter, half, 2 * half)
        places = (min(max(0, middle + step), self._count - 1) for step in steps)
        window = TransitionWindow(*(self._picture_area.crop(self._tiny(place)) for place in places))
        strength = transition_strength(window)
        if strength > self._transition[middle]:
            self._transition[middle], self._half[middle] = strength, half

    def _tiny(self, frame: int) -> Tiny:
        return self._ring[frame % self._size]


class _PictureArea:
    """Area of the picture without black bars, as seen so far."""

    def __init__(self) -> None:
        self._brightest = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
        self._cells = 0
        self._rows, self._columns = slice(0, HEIGHT), slice(0, WIDTH)
        self.share = 1.0
        """Share of the whole frame."""

    def extend_to(self, brightness: Tiny) -> None:
        if self._cells == WIDTH * HEIGHT:
            return
        np.maximum(self._brightest, brightness, out=self._brightest)
        lit = self._brightest > MAX_BAR_BRIGHTNESS
        cells = int(np.count_nonzero(lit))
        if cells > self._cells:
            self._cells = cells
            rows, columns = np.flatnonzero(lit.any(axis=1)), np.flatnonzero(lit.any(axis=0))
            self._rows = slice(int(rows[0]), int(rows[-1]) + 1)
            self._columns = slice(int(columns[0]), int(columns[-1]) + 1)
            self.share = (int(np.ptp(rows)) + 1) * (int(np.ptp(columns)) + 1) / (WIDTH * HEIGHT)

    def crop(self, tiny: Tiny) -> Tiny:
        return tiny if self.share == 1.0 else np.ascontiguousarray(tiny[:, self._rows, self._columns])


def _spread(before: Tiny, tiny: Tiny, change: float) -> float:
    return change * change * tiny.size / float(cv2.norm(before, tiny, cv2.NORM_L2SQR))


def shrink_frame(frame: VideoFrame) -> Tiny:
    """Return brightness and colour of a frame as 3 × HEIGHT × WIDTH."""
    if frame.format.name not in PLANAR:
        width, height = min(frame.width, 16 * WIDTH), min(frame.height, 16 * HEIGHT)
        frame = frame.reformat(width, height, format="yuv420p")
    tiny = np.empty((3, HEIGHT, WIDTH), dtype=np.uint8)
    for place, plane in enumerate(frame.planes[:3]):
        tiny[place] = _shrink_plane(_plane_pixels(plane))
    return tiny


def _shrink_plane(plane: Tiny) -> Tiny:
    """Halve repeatedly, which is many times faster than one step to this size, with nearly the same result."""
    plane = plane[:: max(1, plane.shape[0] // MAX_PLANE_ROWS)]
    while plane.shape[0] >= 4 * HEIGHT and plane.shape[1] >= 4 * WIDTH:
        height, width = plane.shape[0] // 2, plane.shape[1] // 2
        plane = _resize_plane(plane[: 2 * height, : 2 * width], width, height)
    return _resize_plane(plane, WIDTH, HEIGHT)


def _resize_plane(plane: Tiny, width: int, height: int) -> Tiny:
    return np.asarray(cv2.resize(plane, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _plane_pixels(plane: VideoPlane) -> Tiny:
    rows: Tiny = np.frombuffer(memoryview(plane), dtype=np.uint8)
    return rows.reshape(-1, plane.line_size)[: plane.height, : plane.width]


# --- Choosing cuts from the measurements.


MIN_JUMP = 4.0
"""Minimum distance between frames of two scenes."""
MIN_SPREAD = 0.22
"""Minimum uniformity: a new scene changes everywhere, an appearing caption does not."""
JUMP_RATIO = 2.0
"""Minimum ratio of a jump to the largest change between adjacent frames beside it."""
NEIGHBOURS = 3
"""Number of frames on each side."""

BLACK, DARK = 24.0, 32.0
"""Brightness (16 is black on television) below which a frame is black, and above which it no longer is."""
FLAT, DETAILED = 6.0, 12.0
"""The same thresholds for the standard deviation."""
MAX_ABOVE_DARKEST = 0.75
"""Maximum brightness above the darkest frame for black frames that count as the bottom of a fade."""
MIN_FLASH_CHANGE = 15.0
"""Minimum change between adjacent frames that is a flash and not a fade."""
MAX_JUMP_SHARE = 0.4
"""Maximum share of a gradual change that a single jump may have."""

HARD, FADE, TRANSITION = 3, 2, 1
"""Precedence of cuts that are closer together than the minimum scene length: the more exact kind wins."""


class SceneCut(NamedTuple):
    """A candidate for a cut."""

    kind: int
    strength: float
    frame: int


def choose_cuts(signal: SceneSignal, min_scene_frames: int) -> tuple[int, ...]:
    """Return the first frame of each scene but the first; no scene is shorter than `min_scene_frames`."""
    min_frames = max(1, min_scene_frames)
    jump_sizes = _jump_sizes(signal.near)
    jumps = [SceneCut(HARD, float(jump_sizes[at]), at) for at in _places(jump_sizes, signal.spread >= MIN_SPREAD)]
    found = [*jumps, *_fades(signal, jumps), *_transitions(signal, jump_sizes, min_frames)]
    free = np.zeros(signal.frames + 1, dtype=bool)
    free[min_frames : max(min_frames, signal.frames - min_frames + 1)] = True
    taken: list[int] = []
    for each in sorted(found, key=lambda cut: (-cut.kind, -cut.strength, cut.frame)):
        if free[each.frame]:
            taken.append(each.frame)
            free[max(0, each.frame - min_frames + 1) : each.frame + min_frames] = False
    return tuple(sorted(taken))


def _jump_sizes(near: Floats) -> Floats:
    """Return the distance across each frame if much changes at once and stays changed, otherwise 0.

    A flash is over within the compared frames.
    """
    frames, lags = near.shape
    reach = (lags + 1) // 2
    between = np.full(frames, np.inf, dtype=np.float32)
    for before in range(1, reach + 1):
        for after in range(min(reach, frames)):
            # From `before` frames before the cut to `after` frames after it, if both exist.
            distances = near[after:, before + after - 1]
            part = between[: len(distances)]
            part[before:] = np.minimum(part[before:], distances[before:])
    between[:1] = 0
    steps = np.pad(near[:, 0], NEIGHBOURS)
    shifts = [shift for shift in range(-NEIGHBOURS, NEIGHBOURS + 1) if shift]
    beside = np.stack([steps[NEIGHBOURS + shift :][:frames] for shift in shifts]).max(axis=0)
    between[(between < MIN_JUMP) | (between < JUMP_RATIO * beside)] = 0
    return between


def _places(values: Floats, condition: NDArray[np.bool_]) -> list[int]:
    places: list[int] = np.flatnonzero((values > 0) & condition).tolist()
    return places


def _fades(signal: SceneSignal, jumps: list[SceneCut]) -> list[SceneCut]:
    """Return cuts at the last flat frame between two pictures, from which the next one fades in.

    A jump into or out of black needs no second cut. White counts only between frames with content, because some videos
    consist of flat colours.
    """
    found = []
    jumped = np.zeros(signal.frames + 1, dtype=bool)
    jumped[[jump.frame for jump in jumps]] = True
    for light, white in ((signal.light, False), (255.0 - signal.light, True)):
        runs = _dark_runs(light, signal.contrast)
        ends = [0, *(end for _, end in runs)]
        starts = [*(start for start, _ in runs), signal.frames]
        for place, (start, end) in enumerate(runs):
            if start == 0 or end == signal.frames or jumped[start : end + 1].any():
                continue
            if float(signal.near[start : end + 1, 0].max()) > MIN_FLASH_CHANGE:
                continue
            sides = signal.contrast[ends[place] : start], signal.contrast[end : starts[place + 1]]
            if white and min(float(side.max(initial=0)) for side in sides) < DETAILED:
                continue
            part = light[start:end]
            last = int(np.flatnonzero(part <= part.min() + MAX_ABOVE_DARKEST)[-1])
            found.append(SceneCut(FADE, float(end - start), start + last))
    return found


def _dark_runs(light: Floats, contrast: Floats) -> list[tuple[int, int]]:
    """Return ranges from the first to the last black frame, without a visible picture in between."""
    black: NDArray[np.int64] = np.flatnonzero((light < BLACK) & (contrast < FLAT))
    bright = np.cumsum((light > DARK) | (contrast > DETAILED))
    runs: list[tuple[int, int]] = []
    for at in black.tolist():
        if runs and bright[at] == bright[runs[-1][1] - 1]:
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
    return runs


def _transitions(signal: SceneSignal, jump_sizes: Floats, min_frames: int) -> list[SceneCut]:
    """Return the middle of each group of possible transition middles, without transitions that contain a jump."""
    transition = signal.transition.copy()
    for middle in np.flatnonzero(transition).tolist():
        half = int(signal.half[middle])
        on_path = jump_sizes[max(0, middle - half + 1) : middle + half + 1]
        if float(on_path.max(initial=0)) > MAX_JUMP_SHARE * transition[middle]:
            transition[middle] = 0
    places = np.flatnonzero(transition)
    if not places.size:
        return []
    groups = np.split(places, np.flatnonzero(np.diff(places) > max(1, min_frames // 2)) + 1)
    found = []
    for group in groups:
        weights = transition[group]
        middle = round(float((group * weights).sum() / weights.sum()))
        found.append(SceneCut(TRANSITION, float(weights.max()), middle))
    return found


# --- Scene detection for a file.


DETECTOR = "tiny-yuv/1"
"""Name and version; results of different detectors are not comparable."""
MIN_SCENE_SECONDS = 0.6
FILM_LIMITS = DecodeLimits(frames=6 * 3600 * 120, seconds=6 * 3600.0 + 60, wall_seconds=18_000.0)
"""Limits for sources of several hours."""
PROGRESS_FRAMES = 64
"""Frames between two progress reports."""


@dataclass(frozen=True, slots=True)
class SceneList:
    fps: float
    """Average frames per second."""
    cuts: tuple[int, ...]
    """First frame of each scene but the first, counted from 0 in display order."""
    frames: int


def find_cuts(
    path: Path,
    min_seconds: float = MIN_SCENE_SECONDS,
    limits: DecodeLimits | None = None,
    progress: Callable[[float], None] | None = None,
) -> SceneList:
    """Decode every frame once. No scene is shorter than `min_seconds`. Raises MediaError."""
    limits = limits or FILM_LIMITS
    timeline = timeline_from_packets(path, limits)
    meter, count = SignalMeter(timeline.rate), 0
    for frame in _frames(path, limits):
        meter.take(shrink_frame(frame))
        count += 1
        if progress is not None and count % PROGRESS_FRAMES == 0:
            progress(min(1.0, count / timeline.frames))
    if not count:
        raise MediaBroken(f"{path}: no decodable frames")
    if progress is not None:
        progress(1.0)
    min_frames = max(1, math.ceil(min_seconds * timeline.rate - 1e-6))
    return SceneList(round(timeline.rate, 6), choose_cuts(meter.done(), min_frames), count)


def _frames(path: Path, limits: DecodeLimits) -> Iterator[VideoFrame]:
    with open_video(path, limits) as source:
        source.stream.thread_type = "AUTO"
        context = source.stream.codec_context
        # Loop filtering of unreferenced frames costs time and does not affect the measurements.
        context.options = {**context.options, "skip_loop_filter": "noref"}
        deadline = DecodeDeadline(path, limits.wall_seconds)
        for packet in source.container.demux(source.stream):
            deadline.check()
            for frame in decode_packet(context, packet):
                check_size(path, frame.width, frame.height, limits)
                yield frame
