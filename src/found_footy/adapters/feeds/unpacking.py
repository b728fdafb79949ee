"""The bytes of an answer, unpacked, and never more of them than are allowed: a few packed bytes can be gigabytes."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

from found_footy.domain.errors import FeedMalformed

MAX_BYTES = 32 * 1024 * 1024
ACCEPTED = "gzip"
"""What we ask for, and the only packing that is opened."""


async def unpacked(chunks: AsyncIterator[bytes], encoding: str, where: str, most: int | None = None) -> bytes:
    most = MAX_BYTES if most is None else most
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return await _plain(chunks, where, most)
    if encoding == ACCEPTED:
        return await _gzip(chunks, where, most)
    raise FeedMalformed(f"{where} packed its answer as {encoding[:40]!r}, which was not asked for")


async def _plain(chunks: AsyncIterator[bytes], where: str, most: int) -> bytes:
    parts, size = [], 0
    async for chunk in chunks:
        size += len(chunk)
        if size > most:
            raise _too_large(where, most)
        parts.append(chunk)
    return b"".join(parts)


async def _gzip(chunks: AsyncIterator[bytes], where: str, most: int) -> bytes:
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    parts, size, packed = [], 0, 0
    async for chunk in chunks:
        packed += len(chunk)
        if packed > most:
            raise _too_large(where, most)
        if unpacker.eof:
            continue  # whatever follows belongs to no answer
        try:
            part = unpacker.decompress(chunk, most - size + 1)
        except zlib.error as error:
            raise FeedMalformed(f"{where} sent something that is not gzip: {error}") from error
        size += len(part)
        if size > most:
            raise _too_large(where, most)
        parts.append(part)
    if not unpacker.eof:
        raise FeedMalformed(f"{where} sent an answer that is cut off")
    return b"".join(parts)


def _too_large(where: str, most: int) -> FeedMalformed:
    return FeedMalformed(f"{where}: the answer is larger than {most} bytes")
