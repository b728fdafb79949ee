"""Writing and reading video files: H.264 with a murmur in AAC, through PyAV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer

from found_footy.simulator.clips.planes import Planes, unpacked

MASTER_QUALITY = {"crf": "24"}
_AUDIO_RATE = 8_000
"""Samples a second: nobody listens, and encoding them costs."""
_SPEED = {"preset": "ultrafast", "threads": "1"}
"""One thread: more of them would change the bytes with the number of cores."""


def write_video(
    path: Path, frames: Iterable[Planes], size: tuple[int, int], fps: int, *, kbit: int | None, audible: bool = True
) -> None:
    """Encode frames to an MP4 file: to a bitrate for a copy, to a quality for a master."""
    quality = MASTER_QUALITY if kbit is None else {}
    with av.open(str(path), "w", format="mp4") as container:
        video = container.add_stream("libx264", rate=fps, options=_SPEED | quality)
        video.width, video.height = size
        video.pix_fmt = "yuv420p"
        video.gop_size = fps if kbit is None else 2 * fps
        video.thread_count = 1
        if kbit is not None:
            video.bit_rate = kbit * 1000
        sound = _Murmur(container) if audible else None
        number = 0
        for number, picture in enumerate(frames, start=1):
            frame = av.VideoFrame.from_ndarray(picture.packed(), format="yuv420p")
            frame.pts, frame.time_base = number - 1, Fraction(1, fps)
            container.mux(video.encode(frame))
            if sound is not None:
                sound.up_to(number / fps)
        container.mux(video.encode())
        if sound is not None:
            sound.end()


def read_video(path: Path, start: float) -> Iterator[tuple[float, Planes]]:
    """(second, picture) of each frame of a master, from the last key frame before `start` on."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_count = 1
        if start > 0 and stream.time_base is not None:
            container.seek(int(start / stream.time_base), stream=stream)
        for frame in container.decode(stream):
            yield float(frame.time or 0.0), unpacked(np.asarray(frame.to_ndarray(), np.uint8))


class _Murmur:
    """A crowd far away: a low tone that swells slowly."""

    def __init__(self, container: OutputContainer) -> None:
        self._container = container
        self._stream: AudioStream = container.add_stream("aac", rate=_AUDIO_RATE, options={"aac_coder": "fast"})
        self._stream.layout = "mono"
        self._written = 0

    def up_to(self, second: float) -> None:
        step = 1024
        while (self._written + step) / _AUDIO_RATE <= second:
            at = np.arange(self._written, self._written + step) / _AUDIO_RATE
            wave = (0.05 + 0.03 * np.sin(at * 0.9)) * np.sin(2 * np.pi * 180 * at)
            frame = av.AudioFrame.from_ndarray(wave.astype(np.float32)[None], format="fltp", layout="mono")
            frame.sample_rate, frame.pts = _AUDIO_RATE, self._written
            self._container.mux(self._stream.encode(frame))
            self._written += step

    def end(self) -> None:
        self._container.mux(self._stream.encode())
