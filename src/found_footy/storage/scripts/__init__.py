"""Lua scripts, which Redis runs atomically: `script("acquire_lease")` reads `acquire_lease.lua`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def script(name: str) -> str:
    return (files(__package__) / f"{name}.lua").read_text(encoding="utf-8")
