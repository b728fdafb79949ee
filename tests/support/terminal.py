from __future__ import annotations

from rich.console import Console, RenderableType


def plain_text(view: RenderableType, width: int = 300) -> str:
    """What a wide terminal shows, with single spaces."""
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(view)
    return " ".join(capture.get().split())
