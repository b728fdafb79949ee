"""ONNX models of a few numbers, written byte by byte: a picture's colour and a word's colour in one space.

The format is Protocol Buffers; the numbers of the fields are those of `onnx.proto`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FLOAT, INT64 = 1, 7
COLOURS = ("red", "green", "blue")
DIMENSIONS = 8
SIDE = 32


def picture_model(path: Path, output: str = "image_embeds") -> Path:
    """A picture's mean red, green and blue, as the first three of eight numbers."""
    weights = np.zeros((3, DIMENSIONS), dtype=np.float32)
    weights[:, :3] = np.eye(3)
    nodes = [
        _node("GlobalAveragePool", ["pixel_values"], "pooled"),
        _node("Flatten", ["pooled"], "flat"),
        _node("MatMul", ["flat", "weights"], output),
    ]
    inputs = [_value("pixel_values", FLOAT, ["batch", 3, SIDE, SIDE])]
    outputs = [_value(output, FLOAT, ["batch", DIMENSIONS])]
    path.write_bytes(_model(nodes, [_tensor("weights", weights)], inputs, outputs))
    return path


def text_model(path: Path, length: int | str = "length", dimensions: int = DIMENSIONS) -> Path:
    """The mean of its words; word 0 says nothing, the others are the colours."""
    words = np.full((len(COLOURS) + 1, dimensions), 1e-3, dtype=np.float32)
    words[1:, :3] = 2 * np.eye(3) - 1
    nodes = [
        _node("Gather", ["words", "input_ids"], "looked_up"),
        _node("ReduceMean", ["looked_up"], "text_embeds", _ints("axes", [1]), _int("keepdims", 0)),
    ]
    inputs = [_value("input_ids", INT64, ["batch", length])]
    outputs = [_value("text_embeds", FLOAT, ["batch", dimensions])]
    path.write_bytes(_model(nodes, [_tensor("words", words)], inputs, outputs))
    return path


def tokenizer_file(path: Path) -> Path:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = {"[UNK]": 0, **{colour: number for number, colour in enumerate(COLOURS, 1)}}
    made = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.save(str(path))
    return path


# --- Protocol Buffers


def _model(
    nodes: Sequence[bytes], tensors: Sequence[bytes], inputs: Sequence[bytes], outputs: Sequence[bytes]
) -> bytes:
    graph = b"".join(
        [
            *(_field(1, node) for node in nodes),
            _field(2, b"tiny"),
            *(_field(5, tensor) for tensor in tensors),
            *(_field(11, value) for value in inputs),
            *(_field(12, value) for value in outputs),
        ]
    )
    return _number(1, 8) + _field(7, graph) + _field(8, _number(2, 13))


def _node(kind: str, inputs: Sequence[str], output: str, *attributes: bytes) -> bytes:
    named = b"".join(_field(1, name.encode()) for name in inputs)
    told = b"".join(_field(5, attribute) for attribute in attributes)
    return named + _field(2, output.encode()) + _field(4, kind.encode()) + told


def _int(name: str, value: int) -> bytes:
    return _field(1, name.encode()) + _number(3, value) + _number(20, 2)


def _ints(name: str, values: Sequence[int]) -> bytes:
    return _field(1, name.encode()) + b"".join(_number(8, value) for value in values) + _number(20, 7)


def _tensor(name: str, values: NDArray[np.float32]) -> bytes:
    sizes = b"".join(_number(1, size) for size in values.shape)
    return sizes + _number(2, FLOAT) + _field(8, name.encode()) + _field(9, values.astype("<f4").tobytes())


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    sizes = b"".join(
        _field(1, _number(1, size) if isinstance(size, int) else _field(2, size.encode())) for size in shape
    )
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, kind) + _field(2, sizes)))


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
