"""A model out of the operator's own files: its two sides meet, and what is wrong with a file is said at the start."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from found_footy.config import Settings
from found_footy.errors import EmbeddingError, SettingsError
from found_footy.library.embedders import build_embedders
from found_footy.library.onnx_embedders import ClipEmbedder
from tests.library.tiny_onnx import COLOURS, DIMENSIONS, picture_model, text_model, tokenizer_file


def plain(colour: str, height: int = 90, width: int = 160) -> NDArray[np.uint8]:
    picture = np.zeros((height, width, 3), np.uint8)
    picture[:, :, 2 - COLOURS.index(colour)] = 255
    return picture


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "preprocessor_config.json").write_text(
        json.dumps({"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "size": {"height": 32, "width": 32}})
    )
    return {
        "pictures": picture_model(tmp_path / "picture.onnx"),
        "text": text_model(tmp_path / "text.onnx"),
        "tokenizer": tokenizer_file(tmp_path / "tokenizer.json"),
    }


def opened(files: dict[str, Path]) -> ClipEmbedder:
    return ClipEmbedder(files["pictures"], files["text"], files["tokenizer"])


async def test_text_and_images_share_one_vector_space(files: dict[str, Path]) -> None:
    model = opened(files)
    model.check()
    assert (model.name, model.dimensions, model.supports_text) == ("clip_file", DIMENSIONS, True)
    seen = await model.embed_images([plain(colour) for colour in COLOURS])
    for place, colour in enumerate(COLOURS):
        said = await model.embed_text(colour)
        assert said.shape == (DIMENSIONS,)
        assert np.argmax(seen @ said) == place
    assert np.allclose(np.linalg.norm(seen, axis=1), 1)


async def test_a_text_model_of_fixed_length_is_padded(files: dict[str, Path], tmp_path: Path) -> None:
    files["text"] = text_model(tmp_path / "fixed.onnx", length=6)
    model = opened(files)
    assert (await model.embed_text("red")).shape == (DIMENSIONS,)
    assert (await model.embed_text("red " * 500)).shape == (DIMENSIONS,)


async def test_text_is_rejected_without_a_text_model(files: dict[str, Path]) -> None:
    model = ClipEmbedder(files["pictures"])
    assert not model.supports_text
    with pytest.raises(EmbeddingError, match="does not support text"):
        await model.embed_text("red")


async def test_batches_of_any_size(files: dict[str, Path]) -> None:
    model = opened(files)
    assert (await model.embed_images([plain("red")] * 19)).shape == (19, DIMENSIONS)
    assert (await model.embed_images([])).shape == (0, DIMENSIONS)


def test_other_model_files_have_another_version(files: dict[str, Path], tmp_path: Path) -> None:
    first = opened(files).version
    assert opened(files).version == first
    files["text"] = text_model(tmp_path / "other.onnx", length=6)
    assert opened(files).version != first


def test_settings_enable_several_models(files: dict[str, Path]) -> None:
    settings = Settings(
        embedding_models=("mobilenet_v3_small", "clip_file"),
        embedding_file=files["pictures"],
        embedding_text_file=files["text"],
        embedding_tokenizer_file=files["tokenizer"],
    )
    assert [(each.name, each.dimensions) for each in build_embedders(settings)] == [
        ("mobilenet_v3_small", 576),
        ("clip_file", DIMENSIONS),
    ]


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (("vit",), "'vit' in FOOTY_EMBEDDING_MODELS: choose from mobilenet_v3_small, clip_file, server"),
        (("clip_file",), "FOOTY_EMBEDDING_FILE is not set"),
        (("server",), "FOOTY_EMBEDDING_URL is not set"),
        (("mobilenet_v3_small", "mobilenet_v3_small"), "twice"),
    ],
)
def test_invalid_settings_are_named(models: tuple[str, ...], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        build_embedders(Settings(embedding_models=models))


@pytest.mark.parametrize("side", ["pictures", "text", "tokenizer"])
@pytest.mark.parametrize("content", [None, b"", b"no model at all", b"\x08\x08" + b"\xff" * 200])
def test_a_missing_or_invalid_model_file_is_rejected(files: dict[str, Path], side: str, content: bytes | None) -> None:
    if content is None:
        files[side].unlink()
    else:
        files[side].write_bytes(content)
    with pytest.raises(SettingsError):
        opened(files).check()


def test_models_with_different_dimensions_are_rejected(files: dict[str, Path], tmp_path: Path) -> None:
    files["text"] = text_model(tmp_path / "wide.onnx", dimensions=16)
    with pytest.raises(SettingsError, match="different dimensions"):
        opened(files).check()


def test_a_text_model_without_a_tokenizer_is_rejected(files: dict[str, Path]) -> None:
    with pytest.raises(SettingsError, match="together"):
        ClipEmbedder(files["pictures"], files["text"])


def test_a_missing_tokenizers_package_is_named(files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(SettingsError, match="package tokenizers"):
        opened(files).check()


@pytest.mark.parametrize(
    "told", ["[]", "{", '{"image_mean": [1]}', '{"image_std": [0, 1, 1]}', '{"image_mean": "abc"}']
)
def test_an_unreadable_preprocessor_file_is_rejected(files: dict[str, Path], told: str) -> None:
    (files["pictures"].parent / "preprocessor_config.json").write_text(told)
    model = opened(files)
    with pytest.raises(SettingsError):
        model._embed([plain("red")])
