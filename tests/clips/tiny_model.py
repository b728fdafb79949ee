"""A language model and a vision projector with random weights, in llama.cpp's GGUF format.

They say nothing sensible, and say it through the real server: the protocol, the images and the grammar are tested,
the reading is not. Under 1 MB together, and written here so that no test has to download a model.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WIDTH, FEED, LAYERS = 64, 128, 2
IMAGE, PATCH, VISION_WIDTH = 112, 14, 32
_ALIGNMENT = 32

Value = bool | int | float | str | list[str] | list[float] | list[int]
Tensors = Mapping[str, NDArray[np.float32]]


def write_language_model(path: Path) -> None:
    # Three control tokens, the 256 bytes, and the piece for a blank: any text can be written with them.
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
    noise = _Noise(0.05)
    tensors = {
        "token_embd.weight": noise(len(tokens), WIDTH),
        "output_norm.weight": np.ones(WIDTH, np.float32),
        "output.weight": noise(len(tokens), WIDTH),
    }
    for layer in range(LAYERS):
        for name, shape in {
            **{f"attn_{part}": (WIDTH, WIDTH) for part in ("q", "k", "v", "output")},
            "ffn_gate": (FEED, WIDTH),
            "ffn_up": (FEED, WIDTH),
            "ffn_down": (WIDTH, FEED),
        }.items():
            tensors[f"blk.{layer}.{name}.weight"] = noise(*shape)
        for name in ("attn_norm", "ffn_norm"):
            tensors[f"blk.{layer}.{name}.weight"] = np.ones(WIDTH, np.float32)
    head: dict[str, Value] = {
        "general.architecture": "llama",
        "general.name": "tiny-random",
        "general.file_type": 0,
        "llama.context_length": 4096,
        "llama.embedding_length": WIDTH,
        "llama.block_count": LAYERS,
        "llama.feed_forward_length": FEED,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 4,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // 4,
        "llama.vocab_size": len(tokens),
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * 259 + [-1.0],
        "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.chat_template": "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:",
    }
    _write(path, head, tensors)


def write_projector(path: Path) -> None:
    width, noise = VISION_WIDTH, _Noise(0.02)
    tensors = {
        "v.patch_embd.weight": noise(width, 3, PATCH, PATCH),
        "v.patch_embd.bias": noise(width),
        "v.position_embd.weight": noise((IMAGE // PATCH) ** 2, width),
        "v.post_ln.weight": np.ones(width, np.float32),
        "v.post_ln.bias": noise(width),
        "mm.0.weight": noise(WIDTH, width),
        "mm.0.bias": noise(WIDTH),
        "mm.2.weight": noise(WIDTH, WIDTH),
        "mm.2.bias": noise(WIDTH),
    }
    for layer in range(LAYERS):
        block = f"v.blk.{layer}."
        parts = {f"attn_{part}": (width, width) for part in ("q", "k", "v", "out")}
        parts |= {"ffn_up": (FEED, width), "ffn_down": (width, FEED)}
        for name, shape in parts.items():
            tensors |= {f"{block}{name}.weight": noise(*shape), f"{block}{name}.bias": noise(shape[0])}
        for name in ("ln1", "ln2"):
            tensors |= {f"{block}{name}.weight": np.ones(width, np.float32), f"{block}{name}.bias": noise(width)}
    head: dict[str, Value] = {
        "general.architecture": "clip",
        "general.file_type": 0,
        "clip.has_vision_encoder": True,
        "clip.has_text_encoder": False,
        "clip.projector_type": "mlp",
        "clip.vision.projector_type": "mlp",
        "clip.vision.image_size": IMAGE,
        "clip.vision.patch_size": PATCH,
        "clip.vision.embedding_length": width,
        "clip.vision.feed_forward_length": FEED,
        "clip.vision.projection_dim": WIDTH,
        "clip.vision.block_count": LAYERS,
        "clip.vision.attention.head_count": 2,
        "clip.vision.attention.layer_norm_epsilon": 1e-5,
        "clip.vision.image_mean": [0.5, 0.5, 0.5],
        "clip.vision.image_std": [0.5, 0.5, 0.5],
        "clip.use_gelu": True,
    }
    _write(path, head, tensors)


class _Noise:
    def __init__(self, scale: float) -> None:
        self._generator = np.random.default_rng(0)
        self._scale = scale

    def __call__(self, *shape: int) -> NDArray[np.float32]:
        return (self._generator.standard_normal(shape) * self._scale).astype(np.float32)


def _write(path: Path, head: Mapping[str, Value], tensors: Tensors) -> None:
    """GGUF 3, little-endian: counts, typed key-value pairs, one entry a tensor, then the aligned numbers."""
    out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(head)))
    for key, value in head.items():
        out += _text(key) + _typed(value)
    offset = 0
    for name, tensor in tensors.items():
        sizes = tensor.shape[::-1]  # the innermost dimension comes first
        out += _text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, 0, offset)
        offset += _padded(tensor.nbytes)
    out += bytes(_padded(len(out)) - len(out))
    for tensor in tensors.values():
        out += tensor.tobytes() + bytes(_padded(tensor.nbytes) - tensor.nbytes)
    path.write_bytes(out)


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _typed(value: Value) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + _text(value)
        case [str(), *_]:
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(_text(str(each)) for each in value)
        case [int(), *_]:
            return struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
    return struct.pack(f"<IIQ{len(value)}f", 9, 6, len(value), *value)
