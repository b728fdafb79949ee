"""Audio in sync with the video: AAC packets are copied, other codecs are re-encoded.

Times are seconds of the input; `start` is the time of its first shown frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import av.error
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from numpy.typing import NDArray

from found_footy.media.container import DecodeDeadline, DecodeLimits, open_video
from found_footy.media.mp4 import AnyPacket, build_packet

SAMPLES_PER_PACKET = 1024
"""Samples per AAC packet."""
MAX_LATE_SECONDS = 0.01
"""Maximum delay of copied audio after the first frame; a longer one is filled with silence and so needs encoding."""
MAX_UNEVEN_SECONDS = 0.03
"""Maximum deviation of a packet from the time that its predecessors imply."""
SEEK_SECONDS = 0.25
SUPPORTED_RATES = (48_000, 44_100)
BIT_RATE = 160_000
GAP_SECONDS = 0.04
"""Deviation at which silence is inserted or samples are dropped."""

Samples = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class AudioTrack:
    """Properties of an audio track, read from its packets."""

    is_copyable: bool
    """Whether the packets can be copied instead of re-encoded."""


def probe_audio(path: Path, start: float, limits: DecodeLimits) -> AudioTrack | None:
    """Read all audio packets without decoding. Return None if there is no usable audio."""
    with open_video(path, limits) as source:
        stream = find_audio_stream(source.container)
        if stream is None:
            return None
        deadline = DecodeDeadline(path, limits.wall_seconds)
        can_copy, expected = _is_copyable(stream), None
        count = 0
        for packet in source.container.demux(stream):
            if not packet.size:
                continue
            count += 1
            if count % 256 == 0:
                deadline.check()
            if packet.pts is None:
                can_copy = False
            elif can_copy:
                at = float(packet.pts * packet.time_base)
                excess = (
                    at - (start + MAX_LATE_SECONDS) if expected is None else abs(at - expected) - MAX_UNEVEN_SECONDS
                )
                can_copy = excess <= 0
                base = at if expected is None else expected
                expected = base + SAMPLES_PER_PACKET / stream.codec_context.sample_rate
        return AudioTrack(can_copy) if count else None


def find_audio_stream(container: InputContainer) -> AudioStream | None:
    """Return the first audio stream that can be decoded."""
    found = [
        each for each in container.streams.audio if each.codec_context is not None and each.codec_context.sample_rate
    ]
    return found[0] if found else None


def _is_copyable(stream: AudioStream) -> bool:
    context = stream.codec_context
    is_plain_aac = context.codec.canonical_name == "aac" and context.profile == "LC"
    return is_plain_aac and bool(context.extradata) and context.channels <= 2


def copy_audio(
    container: InputContainer, stream: AudioStream, into: Any, start: float, end: float, deadline: DecodeDeadline
) -> Iterator[AnyPacket]:
    """Yield the packets from `start` to `end`, and the packet before them, which the AAC decoder needs.

    Packets before `start` get negative times, which players skip sample-accurately.
    """
    rate = stream.codec_context.sample_rate
    base, packet_seconds = Fraction(1, rate), SAMPLES_PER_PACKET / rate
    _seek(container, stream, start)
    first: float | None = None
    count = 0
    for packet in container.demux(stream):
        deadline.check()
        if not packet.size or packet.pts is None:
            continue
        at = float(packet.pts * packet.time_base)
        if first is None:
            if at + 2 * packet_seconds <= start:
                continue
            first = at
        # Count samples, because some containers round times to milliseconds.
        position = round((first - start) * rate) + count * SAMPLES_PER_PACKET
        count += 1
        remaining = round((end - start) * rate) - position
        if remaining <= 0:
            return
        # Shorten the last packet to the length of the video.
        yield build_packet(bytes(packet), into, position, position, base, True, min(SAMPLES_PER_PACKET, remaining))


def encode_audio(
    container: InputContainer, stream: AudioStream, into: Any, start: float, end: float, deadline: DecodeDeadline
) -> Iterator[AnyPacket]:
    """Encode as AAC from the start of the video: gaps become silence, overlaps are dropped."""
    context = into.codec_context
    total = round((end - start) * context.sample_rate)
    at = 0
    for chunk in _fill_gaps(container, stream, context, start, total, deadline):
        frame = AudioFrame.from_ndarray(np.ascontiguousarray(chunk), format="fltp", layout=context.layout.name)
        frame.sample_rate, frame.pts, frame.time_base = context.sample_rate, at, Fraction(1, context.sample_rate)
        at += chunk.shape[1]
        yield from _assign_stream(into, context.encode(frame))
    yield from _assign_stream(into, context.encode(None))


def add_stream(out: OutputContainer, stream: AudioStream, copy: bool) -> Any:
    if copy:
        return out.add_stream_from_template(stream)
    rate = stream.codec_context.sample_rate
    encoded = out.add_stream("aac", rate=rate if rate in SUPPORTED_RATES else SUPPORTED_RATES[0])
    encoded.codec_context.layout = "mono" if stream.codec_context.channels == 1 else "stereo"
    encoded.codec_context.bit_rate = BIT_RATE
    return encoded


def none_if_empty(packets: Iterator[AnyPacket]) -> Iterator[AnyPacket] | None:
    """Return the same packets, or None if there are none."""
    first = next(packets, None)
    return chain([first], packets) if first is not None else None


def _seek(container: InputContainer, stream: AudioStream, start: float) -> None:
    assert stream.time_base is not None
    if start > SEEK_SECONDS:
        container.seek(int((start - SEEK_SECONDS) / stream.time_base), stream=stream)


def _assign_stream(stream: Any, packets: list[AnyPacket]) -> list[AnyPacket]:
    for packet in packets:
        packet.stream = stream
    return packets


def _fill_gaps(
    container: InputContainer, stream: AudioStream, context: Any, start: float, total: int, deadline: DecodeDeadline
) -> Iterator[Samples]:
    """Yield arrays of channels × samples without gaps, from the first frame on."""
    rate = context.sample_rate
    silence = np.zeros((context.layout.nb_channels, rate), np.float32)
    at = 0
    for seconds, samples in _resample(container, stream, context, deadline):
        position = round((seconds - start) * rate)
        # Small deviations are rounding of timestamps; correcting each would be audible.
        if at and abs(position - at) <= GAP_SECONDS * rate:
            position = at
        samples = samples[:, max(0, at - position) :]
        while at < min(position, total):
            chunk = silence[:, : min(position, total) - at]
            yield chunk
            at += chunk.shape[1]
        samples = samples[:, : total - at]
        if samples.shape[1]:
            yield samples
            at += samples.shape[1]
        if at >= total:
            return


def _resample(
    container: InputContainer, stream: AudioStream, context: Any, deadline: DecodeDeadline
) -> Iterator[tuple[float, Samples]]:
    resampler = AudioResampler(format="fltp", layout=context.layout.name, rate=context.sample_rate)
    previous_format: tuple[object, ...] | None = None
    seconds = 0.0
    for packet in container.demux(stream):
        deadline.check()
        for frame in _decode_packet(stream, packet):
            if frame.pts is not None and frame.time_base is not None:
                seconds = float(frame.pts * frame.time_base)
            current_format = (frame.sample_rate, frame.layout.name, frame.format.name)
            if previous_format not in (None, current_format):
                resampler = AudioResampler(format="fltp", layout=context.layout.name, rate=context.sample_rate)
            previous_format = current_format
            frame.pts = None
            for resampled in resampler.resample(frame):
                yield seconds, np.asarray(resampled.to_ndarray(), dtype=np.float32)
            seconds += frame.samples / frame.sample_rate


def _decode_packet(stream: AudioStream, packet: AnyPacket) -> list[AudioFrame]:
    try:
        return stream.decode(packet)
    except av.error.InvalidDataError:
        return []
