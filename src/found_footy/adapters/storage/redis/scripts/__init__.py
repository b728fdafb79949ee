"""What has to happen all at once inside the server, in Lua: `script("take_turn")` is `take_turn.lua`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def script(name: str) -> str:
    return (files(__package__) / f"{name}.lua").read_text(encoding="utf-8")
