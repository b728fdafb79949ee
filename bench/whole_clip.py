"""One clip through probe, vision and hash: CPU seconds per second of clip

A clip of the simulator in three sizes. The baseline is PyAV decoding the whole clip on one thread.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import av

from bench.table import table
from footy_simulator.clips.encode import render
from footy_simulator.clips.plan import all_clips
from footy_simulator.loader import load_scenario
from found_footy.clips.frame_selection import read_clip
from found_footy.clips.ocr_vision import OcrVision
from found_footy.media.fingerprint import hash_video
from found_footy.media.probe import probe


async def main() -> None:
    vision = OcrVision()
    await vision.check()  # models are loaded once per process, not per clip
    spec = next(clip for clip in all_clips(load_scenario("matchday")) if clip.kind == "copy")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for height in (360, 720, 1080):
            master = replace(spec.master, height=height)
            path = render(replace(spec, master=master, height=height, kbit=height * 4), Path(folder))
            seconds = probe(path).duration
            steps = []
            began = time.process_time()
            probe(path)
            steps.append(time.process_time() - began)
            began = time.process_time()
            await read_clip(vision, path)
            steps.append(time.process_time() - began)
            began = time.process_time()
            hash_video(path)
            steps.append(time.process_time() - began)
            floor = _decode(path)
            shares = [f"{step / seconds:.3f}" for step in steps]
            rows.append([f"{height}p", *shares, f"{sum(steps) / seconds:.2f}", f"{floor / seconds:.3f}"])
    await vision.aclose()
    table(["size", "probe", "vision", "hash", "together", "decoding alone"], rows)


def _decode(path: Path) -> float:
    began = time.process_time()
    with av.open(str(path)) as container:
        container.streams.video[0].thread_type = "NONE"
        for _ in container.decode(video=0):
            pass
    return time.process_time() - began
