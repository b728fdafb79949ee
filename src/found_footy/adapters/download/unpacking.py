"""Bodies that a server compressed although it was asked not to, in pieces of bounded size.

A kilobyte can unpack to a megabyte: whoever reads counts both, and stops in between.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

from found_footy.domain.errors import ClipLost
from found_footy.domain.videos.losses import Loss

PIECE_BYTES = 65_536
GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS

Unpack = Callable[[bytes], Iterator[bytes]]


def unpacker(encoding: str) -> Unpack | None:
    """For a Content-Encoding; None where there is nothing to unpack."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    if name not in ("gzip", "x-gzip", "deflate"):
        raise ClipLost(Loss.UNSUPPORTED, "the server packs its answer in a way that was not asked for")
    return _zlib_unpacker()


def _zlib_unpacker() -> Unpack:
    stream = zlib.decompressobj(GZIP_OR_ZLIB)

    def unpack(data: bytes) -> Iterator[bytes]:
        while data:
            try:
                piece = stream.decompress(data, PIECE_BYTES)
            except zlib.error:
                raise ClipLost(Loss.BROKEN, "the answer is packed and damaged") from None
            data = stream.unconsumed_tail
            if piece:
                yield piece

    return unpack
