"""`footy media`: what can be asked of a video file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from found_footy import cli_media_clock, cli_media_files, cli_media_scenes
from found_footy.config import load_settings

if TYPE_CHECKING:
    from found_footy.ports import Vision

media = typer.Typer(
    name="media", help="Look at video files: what they are, what they show, which are the same.", no_args_is_help=True
)


def _vision() -> Vision:
    from found_footy.bootstrap import build_vision

    return build_vision(load_settings())


cli_media_files.register(media)
cli_media_scenes.register(media)
cli_media_clock.register(media, _vision)
