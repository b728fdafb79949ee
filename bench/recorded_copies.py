"""Altered copies of the recorded clips, as posters make them, and how many are found."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from bench.table import share, table
from found_footy.media.fingerprint import Fingerprint, hash_video
from found_footy.media.hash_match import match, match_mirrored

RECORDINGS = Path(__file__).parents[2] / "shared" / "testdata" / "video"
FOLDERS = ("broadcasts", "football", "near-duplicates", "scenes")
COPIES_OF_OTHERS = ("riv-boc-sub-", "dunk-banner", "chair-1", "chair-2", "cat.2", "cat.3")
"""Recorded clips that are copies themselves; one of each source is altered."""
LONGEST_SECONDS = 13.0
"""Of each recorded clip."""
OFFSET_TOLERANCE = 0.25
"""Seconds. A copy found at another offset counts as missed."""
_SCENES = ("testvideo", "fades", "counter")
"""Not looked at while the method was developed."""

Picture = NDArray[np.uint8]
Alter = Callable[[Picture], Picture]

LONGEST_SIDE_PX = 320
"""Copies are made from frames of this size: the fingerprint reduces them further, and encoding is expensive."""
RATE = 50
"""Frames a second of the material that copies are cut from: a trim is exact to a fiftieth of a second."""


@dataclass(frozen=True, slots=True)
class Alteration:
    group: str
    """The row of the table that counts it."""
    alter: Alter = lambda picture: picture
    start: float = 0.0
    """Seconds removed at the start."""
    share: float = 1.0
    """Share of the clip that is kept, at most `seconds`."""
    seconds: float = 60.0
    rate: int = 25
    crf: int = 26


def resized(longest: int, stretch: float = 1.0) -> Alter:
    def alter(picture: Picture) -> Picture:
        scale = longest / max(picture.shape[:2])
        size = (round(picture.shape[1] * scale * stretch), round(picture.shape[0] * scale))
        return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)

    return alter


def barred(down: float, across: float, colour: int = 0) -> Alter:
    def alter(picture: Picture) -> Picture:
        high, wide = round(down * picture.shape[0]), round(across * picture.shape[1])
        edges = (high, high, wide, wide)
        return np.asarray(cv2.copyMakeBorder(picture, *edges, cv2.BORDER_CONSTANT, value=(colour,) * 3), np.uint8)

    return alter


def blurred_bars(picture: Picture) -> Picture:
    """Fill the frame above and below with an enlarged, blurred copy of the picture."""
    height, width = picture.shape[:2]
    frame = cv2.resize(picture, (width, round(height * 1.6)), interpolation=cv2.INTER_LINEAR)
    frame = cv2.GaussianBlur(frame, (0, 0), width / 32)
    top = (frame.shape[0] - height) // 2
    frame[top : top + height] = picture
    return np.asarray(frame, np.uint8)


def logo(picture: Picture) -> Picture:
    made = picture.copy()
    height, width = made.shape[:2]
    cv2.rectangle(
        made,
        (round(width * 0.78), round(height * 0.04)),
        (round(width * 0.97), round(height * 0.14)),
        (30, 30, 230),
        -1,
    )
    place = (round(width * 0.79), round(height * 0.12))
    cv2.putText(made, "GOALS", place, cv2.FONT_HERSHEY_SIMPLEX, width / 400, (255, 255, 255), 1)
    return made


def banner(picture: Picture) -> Picture:
    """A wide opaque band over the lower fifth."""
    made = picture.copy()
    height, width = made.shape[:2]
    made[round(height * 0.76) : round(height * 0.96)] = (40, 20, 60)
    cv2.putText(
        made,
        "FOLLOW FOR MORE",
        (width // 10, round(height * 0.89)),
        cv2.FONT_HERSHEY_SIMPLEX,
        width / 400,
        (255,) * 3,
        2,
    )
    return made


def gained(gains: tuple[float, float, float], lift: float = 0.0) -> Alter:
    return lambda picture: np.clip(picture * np.array(gains) + lift, 0, 255).astype(np.uint8)


def cropped(share: float) -> Alter:
    def alter(picture: Picture) -> Picture:
        down, across = round(share * picture.shape[0]), round(share * picture.shape[1])
        return picture[down : picture.shape[0] - down, across : picture.shape[1] - across]

    return alter


def mirror(picture: Picture) -> Picture:
    return picture[:, ::-1]


ALTERATIONS: dict[str, Alteration] = {
    "small": Alteration("same part", resized(160)),
    "stretched": Alteration("same part", resized(400, 0.8)),
    "30 frames a second": Alteration("same part", rate=30),
    "15 frames a second": Alteration("same part", rate=15),
    "low bitrate": Alteration("same part", crf=42),
    "logo": Alteration("same part", logo),
    "sepia": Alteration("same part", gained((0.6, 0.9, 1.1), 10)),
    "dark": Alteration("same part", gained((0.55, 0.55, 0.55))),
    "letterbox": Alteration("bars", barred(0.17, 0)),
    "white frame": Alteration("bars", barred(0.04, 0.04, 255)),
    "blurred bars": Alteration("bars", blurred_bars),
    "starts later": Alteration("part of the clip", start=1.13),
    "first 60 %": Alteration("part of the clip", share=0.6),
    "last 60 %": Alteration("part of the clip", start=-0.6),
    "3 s": Alteration("part of the clip", start=2.37, seconds=3.0),
    "letterbox, logo, later": Alteration(
        "part of the clip", lambda picture: barred(0.17, 0)(logo(picture)), start=0.9, rate=30
    ),
    "banner": Alteration("banner", banner),
    "crop 5 %": Alteration("crop 5 %", cropped(0.05)),
    "crop 12 %": Alteration("crop 12 %", cropped(0.12)),
    "mirrored": Alteration("mirrored", mirror),
}


def frames_of(path: Path, longest: float) -> Iterator[Picture]:
    """The reduced frames (BGR) of the first `longest` seconds, at `RATE` a second whatever the file's rate is."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_count = 1
        scale = min(1.0, LONGEST_SIDE_PX / max(stream.width, stream.height))
        size = {"width": round(stream.width * scale / 2) * 2, "height": round(stream.height * scale / 2) * 2}
        number, begin = 0, None
        for frame in container.decode(stream):
            begin = frame.time if begin is None else begin
            second = frame.time - begin
            if second > longest:
                return
            if number <= second * RATE:
                picture = np.asarray(frame.reformat(**size, format="bgr24").to_ndarray(), np.uint8)
            while number <= second * RATE:
                yield picture
                number += 1


def write_copy(path: Path, frames: Sequence[Picture], how: Alteration) -> tuple[float, float]:
    """Write the copy; return the start and length of the part it shows, in seconds of the original."""
    whole = len(frames) / RATE
    start = whole * (1 + how.start) if how.start < 0 else min(how.start, whole / 2)
    seconds = min(whole - start, whole * how.share, how.seconds)
    with av.open(str(path), "w") as container:
        stream: Any = None
        for number in range(int(seconds * how.rate)):
            made = how.alter(frames[min(len(frames) - 1, round((start + number / how.rate) * RATE))])
            made = np.ascontiguousarray(made[: made.shape[0] // 2 * 2, : made.shape[1] // 2 * 2])
            if stream is None:
                stream = container.add_stream("libx264", rate=how.rate)
                stream.height, stream.width = made.shape[:2]
                stream.pix_fmt, stream.options = "yuv420p", {"preset": "ultrafast", "crf": str(how.crf)}
            container.mux(stream.encode(av.VideoFrame.from_ndarray(made, format="bgr24")))
        if stream is not None:
            container.mux(stream.encode(None))
    return start, seconds


@dataclass(frozen=True, slots=True)
class AlteredCopy:
    fingerprint: Fingerprint
    start: float
    """Second of the original at which it starts."""


@dataclass(frozen=True, slots=True)
class Source:
    name: str
    original: Fingerprint
    copies: dict[str, AlteredCopy]


def altered_copies(path: Path) -> Source:
    frames, copies = list(frames_of(path, LONGEST_SECONDS)), {}
    with tempfile.TemporaryDirectory() as folder:
        for name, how in ALTERATIONS.items():
            file = Path(folder) / "copy.mp4"
            start, _ = write_copy(file, frames, how)
            copies[name] = AlteredCopy(hash_video(file), start)
    return Source(path.stem, hash_video(path), copies)


def is_found(source: Source, name: str) -> bool:
    copy = source.copies[name]
    if ALTERATIONS[name].group == "mirrored":
        return match_mirrored(copy.fingerprint, source.original) is not None
    found = match(copy.fingerprint, source.original)
    return found is not None and abs(found.offset_seconds - copy.start) <= OFFSET_TOLERANCE


def false_pairs(sources: Sequence[Source]) -> tuple[int, int]:
    """Return false matches and all pairs between originals and copies of different sources."""
    clips = [(source.name, each) for source in sources for each in _clips(source)]
    pairs = [(a, b) for (one, a), (other, b) in combinations(clips, 2) if one != other]
    return sum(match(a, b) is not None for a, b in pairs), len(pairs)


def _clips(source: Source) -> list[Fingerprint]:
    return [source.original, *(copy.fingerprint for copy in source.copies.values())]


def halves_of(clip: Fingerprint) -> tuple[Fingerprint, Fingerprint]:
    """Two parts of one clip that share no frame: one match and one camera, but other moments."""
    middle = int(clip.places[-1]) // 2
    first, second = clip.places < middle, clip.places >= middle
    return (
        Fingerprint(clip.places[first], clip.hashes[first]),
        Fingerprint(clip.places[second] - middle, clip.hashes[second]),
    )


def main() -> None:
    if not RECORDINGS.is_dir():
        print("!" * 100)
        print("RECORDED DATA IS MISSING: ../shared/testdata/video. Nothing below was measured on real clips.")
        print("!" * 100)
        return
    files = (file for folder in FOLDERS for file in sorted((RECORDINGS / folder).iterdir()))
    paths = [file for file in files if not file.name.startswith(COPIES_OF_OTHERS)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        sources = sorted(pool.map(altered_copies, paths), key=lambda source: source.name)
    tuned = [source for source in sources[::2] if source.name not in _SCENES]
    held_out = [source for source in sources if source not in tuned]
    print(f"Tuned: {', '.join(source.name for source in tuned)}.")
    print(f"Held out: {', '.join(source.name for source in held_out)}.\n")
    rows = []
    for group in dict.fromkeys(how.group for how in ALTERATIONS.values()):
        names = [name for name, how in ALTERATIONS.items() if how.group == group]
        found = [[is_found(source, name) for source in half for name in names] for half in (tuned, held_out)]
        rows.append([group, *(share(sum(each), len(each)) for each in found)])
    rows.append(["unrelated clips merged", *(share(*false_pairs(half)) for half in (tuned, held_out))])
    parts = [
        [match(*halves_of(source.original)) is not None for source in half if len(source.original)]
        for half in (tuned, held_out)
    ]
    rows.append(["two parts of one clip merged", *(share(sum(each), len(each)) for each in parts)])
    table(["alteration", "tuned", "held out"], rows)
