"""A CLIP or SigLIP model out of the operator's own files: pictures and words in one space.

The files are those that the usual exports write: one ONNX file a side, `tokenizer.json` for the words, and where it
lies beside the picture side, `preprocessor_config.json` for how pictures are prepared.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from found_footy.adapters.embeddings.preparing import CLIP, Pixels, Preparation, Vectors, unit
from found_footy.adapters.embeddings.sessions import THREADS, content_name, open_session, run
from found_footy.domain.errors import EmbeddingError, SettingsError

NAME = "clip_file"
LONGEST_TEXT = 77
"""Tokens, where the model does not say: as many as CLIP was trained with."""
LONGEST_CONFIG = 100_000
MOST_CHARACTERS = 1000
SIDES = range(16, 1025)
AT_ONCE = 8

PICTURE_OUTPUTS = ("image_embeds", "image_embeddings", "pooler_output")
TEXT_OUTPUTS = ("text_embeds", "text_embeddings", "pooler_output")


class OnnxClip:
    """Fills `Embedder`. Files are read when they are first needed; `check` does it at once."""

    name = NAME

    def __init__(
        self, pictures: Path, text: Path | None = None, tokenizer: Path | None = None, threads: int = THREADS
    ) -> None:
        if (text is None) != (tokenizer is None):
            raise SettingsError("the text side of a model needs both its ONNX file and its tokenizer.json")
        self._picture_file, self._text_file, self._tokenizer_file = pictures, text, tokenizer
        self._threads = threads
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raises SettingsError where a file is missing, or is not what it should be."""
        _ = (self.version, self.dimensions)
        if self.has_text:
            _ = self._tokens("goal")
            width = _width(self._text_session, _output(self._text_session, TEXT_OUTPUTS))
            if width is not None and width != self.dimensions:
                raise SettingsError(f"the two sides differ: vectors of {self.dimensions} and of {width} numbers")

    @property
    def has_text(self) -> bool:
        return self._text_file is not None

    @cached_property
    def version(self) -> str:
        files = [self._picture_file, self._text_file, self._tokenizer_file]
        return f"{content_name(*(file for file in files if file is not None))}-1"

    @cached_property
    def dimensions(self) -> int:
        told = _width(self._picture_session, self._picture_output)
        if told is not None:
            return told
        seen = self._seen([np.zeros((64, 64, 3), dtype=np.uint8)])
        return int(seen.shape[-1])

    @cached_property
    def _picture_session(self) -> ort.InferenceSession:
        return open_session(_existing(self._picture_file), self._threads)

    @cached_property
    def _text_session(self) -> ort.InferenceSession:
        assert self._text_file is not None
        return open_session(_existing(self._text_file), self._threads)

    @cached_property
    def _picture_output(self) -> str:
        return _output(self._picture_session, PICTURE_OUTPUTS)

    @cached_property
    def _preparation(self) -> Preparation:
        side = self._picture_session.get_inputs()[0].shape[-1]
        told = _told_preparation(self._picture_file.with_name("preprocessor_config.json"))
        return _preparation(told, side if isinstance(side, int) else None)

    @cached_property
    def _tokenizer(self) -> Any:
        assert self._tokenizer_file is not None
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise SettingsError("the text side of a model needs the package tokenizers") from None
        try:
            return Tokenizer.from_buffer(_existing(self._tokenizer_file).read_bytes())
        except ValueError as error:
            raise SettingsError(f"{self._tokenizer_file.name} is no tokenizer: {str(error)[:200]}") from None

    async def pictures(self, bgr: Sequence[Pixels]) -> Vectors:
        return await asyncio.to_thread(self._pictures, list(bgr))

    async def text(self, words: str) -> Vectors:
        if not self.has_text:
            raise EmbeddingError(f"the model {NAME} has no text side: its files are not set")
        return await asyncio.to_thread(self._text, words[:MOST_CHARACTERS])

    async def aclose(self) -> None:
        return None

    def _pictures(self, bgr: list[Pixels]) -> Vectors:
        with self._lock:
            parts = [self._seen(bgr[at : at + AT_ONCE]) for at in range(0, len(bgr), AT_ONCE)]
            found = np.concatenate(parts) if parts else np.empty((0, self.dimensions), dtype=np.float32)
            return unit(found, len(bgr), self.dimensions)

    def _seen(self, bgr: list[Pixels]) -> NDArray[np.floating]:
        name = self._picture_session.get_inputs()[0].name
        return run(self._picture_session, self._picture_output, {name: self._preparation.batch(bgr)})

    def _text(self, words: str) -> Vectors:
        with self._lock:
            session = self._text_session
            found = run(session, _output(session, TEXT_OUTPUTS), self._tokens(words))
            vector: Vectors = unit(found, 1, self.dimensions)[0]
            return vector

    def _tokens(self, words: str) -> dict[str, NDArray[np.int64]]:
        wanted = {each.name: each.shape[-1] for each in self._text_session.get_inputs()}
        length = next((size for size in wanted.values() if isinstance(size, int)), None)
        tokenizer = self._tokenizer
        if length is not None or tokenizer.truncation is None:
            tokenizer.enable_truncation(length or LONGEST_TEXT)
        if length is not None:
            padding = tokenizer.padding or {}
            tokenizer.enable_padding(
                length=length, pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]")
            )
        coded = tokenizer.encode(words)
        given = {"input_ids": coded.ids, "attention_mask": coded.attention_mask, "token_type_ids": coded.type_ids}
        if unknown := set(wanted) - set(given):
            raise SettingsError(f"the text side asks for {', '.join(sorted(unknown))}, which nobody knows")
        return {name: np.array([given[name]], dtype=np.int64) for name in wanted}


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise SettingsError(f"{path} is no file")
    return path


def _output(session: ort.InferenceSession, known: Sequence[str]) -> str:
    """By its name, or the first one that has one vector for each input."""
    outputs = session.get_outputs()
    names = [each.name for each in outputs]
    flat = [each.name for each in outputs if len(each.shape) == 2]
    chosen = next((name for name in known if name in names), flat[0] if flat else None)
    if chosen is None:
        raise SettingsError(f"none of the model's outputs ({', '.join(names)[:200]}) is one vector for each input")
    return chosen


def _width(session: ort.InferenceSession, output: str) -> int | None:
    shape = next(each.shape for each in session.get_outputs() if each.name == output)
    return shape[-1] if isinstance(shape[-1], int) else None


def _told_preparation(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(LONGEST_CONFIG))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    if not isinstance(told, dict):
        raise SettingsError(f"{path} is no object")
    return told


def _preparation(told: dict[str, Any], side: int | None) -> Preparation:
    """As the export tells it; where it tells nothing, as CLIP was trained."""
    size = told.get("size", {})
    named = size.get("shortest_edge", size.get("height")) if isinstance(size, dict) else size
    chosen = side or (named if isinstance(named, int) else 224)
    if chosen not in SIDES:
        raise SettingsError(f"pictures of {chosen} pixels are none that a model asks for")
    crops = told.get("do_center_crop", not told)
    return Preparation(
        side=chosen,
        mean=_three(told.get("image_mean", CLIP[0]), "image_mean"),
        deviation=_three(told.get("image_std", CLIP[1]), "image_std"),
        fit="crop" if crops else "squash",
    )


def _three(value: Any, name: str) -> tuple[float, float, float]:
    try:
        red, green, blue = (float(each) for each in value)
    except (TypeError, ValueError):
        raise SettingsError(f"{name} in preprocessor_config.json is not three numbers") from None
    if name == "image_std" and min(red, green, blue) <= 0:
        raise SettingsError("image_std in preprocessor_config.json is not above zero")
    return red, green, blue
