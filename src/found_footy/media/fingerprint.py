"""A clip as a row of 64-bit picture hashes at even steps, and its two written forms.

Places without a hash are pictures that say nothing, or that could not be decoded: both forms keep the gaps.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEP = 0.25
"""Seconds between two hashes."""

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]

_HEADER = struct.Struct("<2sHI")
_MAGIC = b"F1"
_TEXT = re.compile(r"dense:(\d+(?:\.\d+)?):(.*)")
_PAIR = re.compile(r"(\d+(?:\.\d+)?)=([0-9a-f]{16})")
_MIRRORED = np.array([int(f"{byte:08b}"[::-1], 2) ^ 0xFF for byte in range(256)], dtype=np.uint8)
MOST_PLACES = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    places: Places
    """Rising from 0; place n is at n * step seconds."""
    hashes: Hashes
    step: float = STEP

    def __post_init__(self) -> None:
        if self.places.shape != self.hashes.shape or self.places.ndim != 1:
            raise ValueError("each place needs one hash")
        if not 0.001 <= self.step <= 60:
            raise ValueError(f"a step of {self.step} s makes no sense")
        if self.places.size and (
            self.places[0] < 0 or self.places[-1] >= MOST_PLACES or np.any(np.diff(self.places) <= 0)
        ):
            raise ValueError(f"places rise from 0 to less than {MOST_PLACES}")

    def __len__(self) -> int:
        return int(self.hashes.size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fingerprint) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def to_text(self) -> str:
        pairs = zip(self.places.tolist(), self.hashes.tolist(), strict=True)
        return f"dense:{_number(self.step)}:" + ",".join(f"{_number(n * self.step)}={h:016x}" for n, h in pairs)

    @classmethod
    def from_text(cls, text: str) -> Fingerprint:
        whole = _TEXT.fullmatch(text.strip())
        if whole is None:
            raise ValueError("a hash begins with dense:<step>:")
        step = float(whole[1])
        pairs = [_PAIR.fullmatch(part) for part in whole[2].split(",")] if whole[2] else []
        if not all(pairs):
            raise ValueError("each entry of a hash is <seconds>=<16 hexadecimal digits>")
        places = [round(float(pair[1]) / step) for pair in pairs if pair] if step else []
        hashes = [int(pair[2], 16) for pair in pairs if pair]
        return cls(np.array(places, dtype=np.int64), np.array(hashes, dtype=np.uint64), step)

    def to_bytes(self) -> bytes:
        """The step in milliseconds, the number of places, one bit a place for "has a hash", then the hashes."""
        count = int(self.places[-1]) + 1 if self.places.size else 0
        present = np.zeros(count, dtype=np.bool_)
        present[self.places] = True
        header = _HEADER.pack(_MAGIC, round(self.step * 1000), count)
        return header + np.packbits(present).tobytes() + self.hashes.astype("<u8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Fingerprint:
        if len(data) < _HEADER.size or data[:2] != _MAGIC:
            raise ValueError("these bytes are no stored hash")
        _, milliseconds, count = _HEADER.unpack_from(data)
        begin = _HEADER.size + (count + 7) // 8
        if count > MOST_PLACES or len(data) < begin:
            raise ValueError("a stored hash is cut off")
        present = np.unpackbits(np.frombuffer(data[_HEADER.size : begin], dtype=np.uint8), count=count)
        places = np.flatnonzero(present)
        if len(data) != begin + 8 * places.size:
            raise ValueError("a stored hash is cut off")
        return cls(places, np.frombuffer(data, dtype="<u8", offset=begin).astype(np.uint64), milliseconds / 1000)


def mirrored(fingerprint: Fingerprint) -> Fingerprint:
    """As if every picture were seen in a mirror.

    A bit says whether its right neighbour is brighter. In a mirror the bits of a row come in the other order and
    say the opposite; so no second hash has to be kept.
    """
    rows = np.ascontiguousarray(fingerprint.hashes).view(np.uint8)
    return Fingerprint(fingerprint.places, _MIRRORED[rows].view(np.uint64), fingerprint.step)


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
