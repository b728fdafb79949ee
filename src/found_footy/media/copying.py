"""H.264 pictures from one film into another as they are: which ones can be, and with which numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from av.packet import Packet
from av.video.stream import VideoStream
from numpy.typing import NDArray

from found_footy.media.film_writing import AnyPacket, packet_of

Ints = NDArray[np.int64]

CONFIGURED = 1
"""The first byte of H.264's set-up as MP4 and Matroska store it; transport streams have another form."""
_SLICE, _IDR = 1, 5


def ranks(moments: Ints) -> Ints:
    """For packets in the order of decoding: the place of each among them in the order of showing."""
    placed = np.empty(moments.size, dtype=np.int64)
    placed[np.argsort(moments, kind="stable")] = np.arange(moments.size)
    return placed


def copied_video(packets: Iterable[Packet[VideoStream]], shown: Ints, into: Any, rate: Fraction) -> Iterator[AnyPacket]:
    """These packets, `shown` being their numbers in the new film. Frame n is shown at n / rate from now on."""
    waits = int(np.max(np.arange(shown.size) - shown))
    for place, (packet, number) in enumerate(zip(packets, shown.tolist(), strict=True)):
        yield packet_of(bytes(packet), into, number, place - waits, 1 / rate, packet.is_keyframe)


def span(numbers: Ints, keyframe: NDArray[np.bool_], first: int, end: int) -> tuple[int, int] | None:
    """From which packet to which one must copy to get just these frames; None where that cannot be.

    `numbers` are the frames' own, in the order of decoding. The stretch has to begin with a keyframe, and nothing
    that is decoded within it may be shown outside of it. So nothing in it refers to what is left out.
    """
    begin = np.flatnonzero((numbers == first) & keyframe)
    if not begin.size:
        return None
    start, stop = int(begin[0]), int(begin[0]) + end - first
    if not np.array_equal(np.sort(numbers[start:stop]), np.arange(first, end)):
        return None
    return start, stop


def stored_length(extradata: bytes | None) -> int | None:
    """How many bytes tell the length of each unit of a packet; None where units are told apart in another way."""
    if not extradata or len(extradata) < 7 or extradata[0] != CONFIGURED:
        return None
    return (extradata[4] & 3) + 1


def begins_anew(data: bytes, length_bytes: int) -> bool:
    """Whether a picture makes the decoder forget all before it (IDR): a mere keyframe need not."""
    at = 0
    while at + length_bytes < len(data):
        size = int.from_bytes(data[at : at + length_bytes], "big")
        kind = data[at + length_bytes] & 31
        if kind in (_SLICE, _IDR):
            return kind == _IDR
        at += length_bytes + size
    return False
