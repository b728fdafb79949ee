"""A library with two films in it, as its pages and its API show it."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from found_footy.access.models import Role
from found_footy.library.review import Reviewer
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.library_world import CutSource, film
from tests.support.web_access import bearer, make_token
from tests.support.web_world import NOW

WHO = Reviewer("window", "Ada", NOW)
MATCH = 7002
"""Whose result the second film tells."""


@dataclass(frozen=True)
class Library:
    web: httpx.AsyncClient
    services: WebServices
    first: CutSource
    """Of four scenes, each of a second."""
    whole: CutSource
    """Of one, so that its clip has no file of its own."""
    token: str
    """Of an editor."""

    @property
    def editor(self) -> dict[str, str]:
        return bearer(self.token)


async def filled_library(services: WebServices, web: httpx.AsyncClient, world: SampleDataCopy) -> Library:
    store, objects = services.library.store, world.world.objects
    first = await film(store, objects, (1.0, 1.0, 1.0, 1.0))
    facts = {
        "competition": "La Liga",
        "player": "Robert Lewandowski",
        "home": "Barcelona",
        "away": "Sevilla",
        "fixture_id": MATCH,
    }
    whole = await film(store, objects, (1.0,), seed=2, title="Łódź 1:0", facts=facts)
    return Library(web, services, first, whole, await make_token(world.store, Role.EDITOR, name="Ada"))
