"""What feeds tell that people like to read, and nothing depends on."""

from __future__ import annotations


def told(**texts: str | None) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}


def place(ground: str | None, town: str | None) -> str | None:
    """`Anfield, Liverpool`; a town that the ground's name already has is not said twice."""
    if ground and town and town.casefold() not in ground.casefold():
        return f"{ground}, {town}"
    return ground or town
