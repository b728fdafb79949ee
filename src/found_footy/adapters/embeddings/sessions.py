"""ONNX Runtime on a file of weights: bounded threads, one name for each content, and its failures in our words."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as states

from found_footy.domain.errors import EmbeddingError, SettingsError

THREADS = 1
"""More gain little on so small models, and where the processor is busy, waiting for each other costs double."""
PIECE = 1 << 20

_FAILURES: tuple[type[BaseException], ...] = (
    states.Fail,
    states.InvalidArgument,
    states.InvalidGraph,
    states.InvalidProtobuf,
    states.NoSuchFile,
    states.NotImplemented,
    states.RuntimeException,
)


def open_session(path: Path, threads: int = THREADS) -> ort.InferenceSession:
    """Raises SettingsError."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised; warnings about graphs are for who made them
    try:
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except _FAILURES as error:
        raise SettingsError(f"{path.name} is no ONNX model that can be run here: {_first_line(error)}") from None


def run(session: ort.InferenceSession, output: str, inputs: dict[str, NDArray[Any]]) -> NDArray[np.floating]:
    """Raises EmbeddingError."""
    try:
        (found,) = session.run([output], inputs)
    except _FAILURES as error:
        raise EmbeddingError(f"the model failed: {_first_line(error)}") from None
    return np.asarray(found)


def content_name(*paths: Path) -> str:
    """A short name of what stands in these files, and in the `.data` files that ONNX puts weights into."""
    digest = hashlib.sha256()
    for path in paths:
        for part in (path, path.with_name(path.name + ".data")):
            if part is path or part.is_file():
                _read_into(digest, part)
    return digest.hexdigest()[:12]


def _read_into(digest: Any, path: Path) -> None:
    try:
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from None


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
