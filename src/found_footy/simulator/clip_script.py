"""The part of the scenario format that says what is posted: clips, and how the broadcast looks."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeInt

from found_footy.simulator.clips.kinds import Alteration, PostKind
from found_footy.simulator.clips.notation import checked_height, checked_rate, read_clip
from found_footy.simulator.script_model import Model


class Clip(Model):
    """What is posted of a goal or a wicket: a file, or a dead link. What is left out follows from its place."""

    kind: PostKind
    also: tuple[Alteration, ...] = ()
    """How a copy is altered."""
    start: Annotated[float, Field(ge=-12, le=20)] | None = None
    """Seconds from it to the clip's first picture."""
    length: Annotated[float, Field(ge=3, le=36)] | None = None
    height: Annotated[int, AfterValidator(checked_height)] | None = None
    fps: Annotated[int, AfterValidator(checked_rate)] | None = None
    kbit: Annotated[int, Field(ge=100, le=8000)] | None = None
    """Kilobits of picture a second."""
    after: NonNegativeInt = 1
    """When it is posted."""


PostedClip = Annotated[Clip, BeforeValidator(read_clip)]
