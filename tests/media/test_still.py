"""Pictures of strangers, decoded in a process with limits."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator

import cv2
import numpy as np
import pytest

from found_footy.errors import MediaError, MediaTooLarge, NotAVideo
from found_footy.media.processor import MediaProcessor
from tests.library.scene_pictures import draw_scene


@pytest.fixture
async def stills() -> AsyncIterator[MediaProcessor]:
    opened = MediaProcessor(512, 10)
    yield opened
    await opened.aclose()


def encoded(kind: str, seed: int = 1) -> bytes:
    return cv2.imencode(kind, draw_scene(seed))[1].tobytes()


def png(width: int, height: int, data: bytes) -> bytes:
    """Whatever it claims to be."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data, 1)) + chunk(b"IEND", b"")


async def test_pictures_of_each_kind_are_read(stills: MediaProcessor) -> None:
    kinds = [".jpg", ".png", ".webp", ".bmp"]
    found = await asyncio.gather(*(stills.decode_image(encoded(kind)) for kind in kinds))
    for picture in found:
        assert picture.shape == (360, 640, 3)
        assert float(np.abs(picture.astype(int) - draw_scene(1)).mean()) < 12


async def test_a_large_picture_is_handed_on_small(stills: MediaProcessor) -> None:
    large = cv2.imencode(".jpg", np.zeros((3000, 4000, 3), np.uint8))[1].tobytes()
    assert (await stills.decode_image(large)).shape == (960, 1280, 3)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        b"no picture",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"#EXTM3U\nhttp://127.0.0.1/\n",
        b"\xff\xd8\xff\xe0" + b"\0" * 500,
        encoded(".png")[:60],
        b"%PDF-1.7\n",
    ],
    ids=["empty", "a zero", "text", "a drawing", "a playlist", "a JPEG of nothing", "the head of a PNG", "a PDF"],
)
async def test_other_files_than_images_are_rejected(stills: MediaProcessor, content: bytes) -> None:
    with pytest.raises(MediaError):
        await stills.decode_image(content)


@pytest.mark.parametrize(
    "content",
    [png(30_000, 30_000, bytes(1000)), png(65_000, 1, bytes(10)), png(12_000, 12_000, bytes(12_000 * 36_001))],
    ids=["claims much", "claims a long line", "a bomb"],
)
async def test_a_picture_of_too_many_pixels_is_refused_before_they_are_made(
    stills: MediaProcessor, content: bytes
) -> None:
    with pytest.raises((MediaTooLarge, NotAVideo)):
        await stills.decode_image(content)
