"""The decision over the measured frames, and over the pictures of a slow change, without any file."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from found_footy.media.scenes import (
    HEIGHT,
    WIDTH,
    SceneSignal,
    SignalMeter,
    Tiny,
    TransitionWindow,
    choose_cuts,
    transition_strength,
)

LAGS = 5


def signal_of(frames: int, **given: list[float]) -> SceneSignal:
    """Nothing happens but what is given."""
    columns = {"spread": 0.5, "light": 100.0, "contrast": 40.0, "transition": 0.0, "half": 8.0}
    rows = {name: np.array(given.get(name, [usual] * frames), np.float32) for name, usual in columns.items()}
    near = np.tile(np.array(given.get("near", [0.0] * frames), np.float32)[:, None], (1, LAGS))
    return SceneSignal(
        near, rows["spread"], rows["light"], rows["contrast"], rows["transition"], rows["half"].astype(np.uint8)
    )


@st.composite
def any_signal(draw: st.DrawFn) -> SceneSignal:
    """Mostly calm, so that what happens in it counts."""
    frames = draw(st.integers(0, 60))
    level = st.floats(0, 255, width=32)
    values = draw(arrays(np.float32, (frames, LAGS + 4), elements=level, fill=st.sampled_from([0.0, 1.0, 100.0])))
    half = draw(arrays(np.uint8, frames, elements=st.integers(1, 64), fill=st.just(8)))
    spread, light, contrast, transition = values[:, LAGS:].T
    return SceneSignal(values[:, :LAGS], spread / 255, light, contrast, transition, half)


@given(any_signal(), st.integers(0, 40))
def test_cuts_are_ascending_inside_and_leave_no_short_scene(signal: SceneSignal, least: int) -> None:
    cuts = choose_cuts(signal, least)
    edges = [0, *cuts, signal.frames]
    assert list(cuts) == sorted(set(cuts))
    assert all(0 < cut < signal.frames for cut in cuts)
    assert not cuts or min(np.diff(edges)) >= max(1, least)


@given(st.integers(0, 80), st.floats(0, 255, width=32), st.floats(0, 255, width=32), st.integers(0, 30))
def test_still_footage_has_no_cut(frames: int, light: float, contrast: float, least: int) -> None:
    signal = signal_of(frames, light=[light] * frames, contrast=[contrast] * frames)
    assert choose_cuts(signal, least) == ()


@given(st.integers(0, 40), st.integers(0, 255), st.floats(1, 240))
def test_a_still_picture_has_no_cut_at_any_rate(frames: int, shade: int, rate: float) -> None:
    meter = SignalMeter(rate)
    for _ in range(frames):
        meter.take(np.full((3, HEIGHT, WIDTH), shade, np.uint8))
    assert choose_cuts(meter.done(), 1) == ()


def at(frames: int, **places: float) -> list[float]:
    """Zero but at these frames: `at(60, f30=20.0)`."""
    values = [0.0] * frames
    for name, value in places.items():
        values[int(name[1:])] = value
    return values


def leap(frames: int, cut: int, height: float) -> SceneSignal:
    """A cut as it is measured: each frame after it is far from each before it, and near to its own."""
    signal = signal_of(frames)
    for lag in range(LAGS):
        signal.near[cut : cut + lag + 1, lag] = height
    return signal


JUMPS: list[tuple[str, SceneSignal, tuple[int, ...]]] = [
    ("a leap", leap(60, 30, 20.0), (30,)),
    ("a small one", leap(60, 30, 3.9), ()),
    ("at the first frame", leap(60, 0, 20.0), ()),
    ("too near to the start", leap(60, 9, 20.0), ()),
    ("as near as it may be", leap(60, 10, 20.0), (10,)),
    ("too near to the end", leap(60, 51, 20.0), ()),
    ("as near to the end as it may be", leap(60, 50, 20.0), (50,)),
]


@pytest.mark.parametrize(("signal", "cuts"), [row[1:] for row in JUMPS], ids=[row[0] for row in JUMPS])
def test_a_leap_is_a_cut(signal: SceneSignal, cuts: tuple[int, ...]) -> None:
    assert choose_cuts(signal, 10) == cuts


def test_a_leap_in_one_spot_is_none() -> None:
    signal = leap(60, 30, 20.0)
    signal.spread[30] = 0.1
    assert choose_cuts(signal, 10) == ()


def test_a_leap_among_others_is_motion() -> None:
    signal = leap(60, 30, 20.0)
    signal.near[28, 0] = 12.0
    assert choose_cuts(signal, 10) == ()


def dark(frames: int, first: int, end: int, level: float) -> SceneSignal:
    """Flat between these frames, a picture before and after."""
    light, contrast = [100.0] * frames, [40.0] * frames
    light[first:end], contrast[first:end] = [level] * (end - first), [0.0] * (end - first)
    return signal_of(frames, light=light, contrast=contrast)


FADES: list[tuple[str, SceneSignal, tuple[int, ...]]] = [
    ("through black", dark(60, 25, 31, 16.0), (30,)),
    ("through white", dark(60, 25, 31, 240.0), (30,)),
    ("through grey", dark(60, 25, 31, 120.0), ()),
    ("from black at the start", dark(60, 0, 20, 16.0), ()),
    ("to black at the end", dark(60, 40, 60, 16.0), ()),
    ("all black", dark(60, 0, 60, 16.0), ()),
]


@pytest.mark.parametrize(("signal", "cuts"), [row[1:] for row in FADES], ids=[row[0] for row in FADES])
def test_a_fade_is_cut_at_the_last_flat_frame(signal: SceneSignal, cuts: tuple[int, ...]) -> None:
    assert choose_cuts(signal, 10) == cuts


TRANSITIONS: list[tuple[str, list[float], tuple[int, ...]]] = [
    ("one frame", at(60, f30=10.0), (30,)),
    ("a group", at(60, f28=10.0, f30=10.0, f32=10.0), (30,)),
    ("the heavier side", at(60, f28=1.0, f32=3.0), (31,)),
    ("two groups", at(60, f15=10.0, f40=10.0), (15, 40)),
    ("two groups too near to one another", at(60, f25=10.0, f32=20.0), (32,)),
]


@pytest.mark.parametrize(("transition", "cuts"), [row[1:] for row in TRANSITIONS], ids=[row[0] for row in TRANSITIONS])
def test_a_slow_change_is_cut_in_its_middle(transition: list[float], cuts: tuple[int, ...]) -> None:
    assert choose_cuts(signal_of(60, transition=transition), 10) == cuts


def test_a_slow_change_with_a_leap_in_it_is_that_leap() -> None:
    signal = leap(60, 30, 20.0)
    signal.transition[37] = 25.0
    assert choose_cuts(signal, 4) == (30,)


def picture(seed: int, contrast: int = 255) -> Tiny:
    chance = np.random.default_rng(seed)
    coarse = chance.integers(0, contrast, (3, 6, 10), dtype=np.uint8)
    return np.stack([cv2.resize(plane, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC) for plane in coarse])


def mixed(share: float) -> Tiny:
    return np.asarray(cv2.addWeighted(picture(1), 1 - share, picture(2), share, 0), np.uint8)


def swept(share: float) -> Tiny:
    edge = round(WIDTH * share)
    return np.concatenate((picture(2)[:, :, :edge], picture(1)[:, :, edge:]), axis=2)


def hidden(share: float) -> Tiny:
    return np.full((3, HEIGHT, WIDTH), 250, np.uint8) if 0.1 < share < 0.9 else mixed(float(share > 0.5))


def another_light(share: float) -> Tiny:
    return cv2.convertScaleAbs(picture(1), alpha=1 - 0.6 * share).reshape(3, HEIGHT, WIDTH)


def to_nothing(share: float) -> Tiny:
    return cv2.convertScaleAbs(picture(1), alpha=1 - share).reshape(3, HEIGHT, WIDTH)


def turning(share: float) -> Tiny:
    """A camera that turns all the time."""
    wide = np.concatenate([picture(seed) for seed in (1, 2, 3, 4, 5, 6)], axis=2)
    left = round(2 * WIDTH + 2 * WIDTH * share)
    return np.ascontiguousarray(wide[:, :, left : left + WIDTH])


def flashing(share: float) -> Tiny:
    return np.full((3, HEIGHT, WIDTH), 250, np.uint8) if 0.45 < share < 0.55 else mixed(float(share > 0.7))


SLOW: list[tuple[Callable[[float], Tiny], bool]] = [
    (mixed, True),
    (swept, True),
    (hidden, True),
    (another_light, False),
    (to_nothing, False),
    (turning, False),
    (flashing, False),
    (lambda share: picture(1), False),
]


@pytest.mark.parametrize(
    ("way", "expected"), SLOW, ids=[*(way.__name__ for way, _ in SLOW[:-1]), "a picture that stays"]
)
def test_a_slow_transition_is_distinguished_from_camera_motion(way: Callable[[float], Tiny], expected: bool) -> None:
    inside = [0.0, 0.25, 0.49, 0.5, 0.51, 0.75, 1.0]
    outside = (-0.5, 1.5) if way is turning else (0.0, 1.0)
    around = TransitionWindow(*(way(share) for share in (outside[0], *inside, outside[1])))
    assert (transition_strength(around) > 0) is expected
