"""Recordings that somebody dropped into a folder: copied from there, and from nowhere else."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote_to_bytes

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import ClipLost
from found_footy.domain.videos.losses import Loss

SCHEME = "folder:"
CHUNK = 4 * 1024 * 1024


async def copy_from_folder(folder: Path | None, link: str, to: BinaryIO, max_bytes: int) -> None:
    if folder is None:
        raise ClipLost(Loss.UNSUPPORTED, "there is no drop folder; FOOTY_DROP_FOLDER names one")
    with await asyncio.to_thread(_opened, folder, link.removeprefix(SCHEME)) as source:
        have = 0
        # In pieces, so that a copy that is cancelled ends soon: a thread cannot be stopped.
        while piece := await asyncio.to_thread(source.read, CHUNK):
            have += len(piece)
            if have > max_bytes:
                raise ClipLost(Loss.TOO_LARGE, f"{clean_text(link, 120)} is larger than {max_bytes} bytes")
            await asyncio.to_thread(to.write, piece)
    if not have:
        raise ClipLost(Loss.NOT_A_VIDEO, f"{clean_text(link, 120)} is empty")


def _opened(folder: Path, relative: str) -> BinaryIO:
    shown = clean_text(relative, 120)
    name = os.fsdecode(unquote_to_bytes(relative))
    if not name or "\0" in name:
        raise ClipLost(Loss.UNSUPPORTED, f"{shown!r} names no file")
    try:
        root = folder.resolve(strict=True)
        path = (root / name).resolve(strict=True)
        if not path.is_relative_to(root) or path == root:
            raise ClipLost(Loss.FORBIDDEN_ADDRESS, f"{shown} is not inside of the drop folder")
        # Without waiting for somebody to write into a pipe; and should a link be put there now, it is not followed.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise ClipLost(Loss.GONE, f"{shown} is not in the drop folder any more") from None
    except PermissionError:
        raise ClipLost(Loss.PRIVATE, f"{shown} may not be read") from None
    except (OSError, RuntimeError, ValueError) as error:
        # A loop of links, a name that is too long, or a socket.
        raise ClipLost(Loss.NOT_A_VIDEO, f"{shown} cannot be opened: {type(error).__name__}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ClipLost(Loss.NOT_A_VIDEO, f"{shown} is no file of its own")
    return os.fdopen(handle, "rb")
