"""Style sheets and scripts under an address that holds their version.

Browsers keep them for good, and modules that import each other by `./name.js` always get one another's version.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).parent.parent / "static"


@cache
def version() -> str:
    """Of all files together: one that changes is reason enough to fetch them anew."""
    content = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            content.update(path.relative_to(STATIC).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return content.hexdigest()[:12]


@cache
def static(name: str) -> str:
    """The address of a file. Raises FileNotFoundError: a template named one that is not there."""
    if not (STATIC / name).is_file():
        raise FileNotFoundError(name)
    return f"/static/{version()}/{name}"


class Assets(StaticFiles):
    """A page that was drawn before an upgrade asks for the version of then, and gets today's."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        first, _, rest = path.partition("/")
        named = rest if rest and re.fullmatch(r"[0-9a-f]{12}", first) else path
        response = await super().get_response(named, scope)
        kept = "public, max-age=31536000, immutable" if first == version() else "no-cache"
        response.headers.setdefault("Cache-Control", kept)
        return response
