"""Generated requests, valid and invalid: no internal error, and every response matches the schema."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from pydantic import SecretStr
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from found_footy.access.models import Role
from found_footy.fixtures.store import open_store
from found_footy.web.openapi import document
from tests.support.databases import Databases
from tests.support.web_access import bearer, make_token
from tests.support.web_world import served, settings_for

pytestmark = [
    # Of the library's own making.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:schemathesis"),
    pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning"),
]

EXAMPLES = 10
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]
EXCLUDED = (
    "/api/v1/stream",  # has no end
    "/health",  # whose answer is 503 where something is missing, as it is here
    "/health/ready",
)

config = schemathesis.Config()
config.projects.default.generation.modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
schema = schemathesis.openapi.from_dict(document(), config=config).exclude(path=list(EXCLUDED))


@dataclass(frozen=True)
class Running:
    url: str
    headers: dict[str, str]


@pytest.fixture(scope="module")
def running(
    worlds: tuple[Databases, Path], valkey_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A server in a thread of its own: the cases come one after the other, from outside of any loop."""
    copies, _ = worlds
    ready, stop = threading.Event(), asyncio.Event()
    found: list[Running] = []

    async def serve(url: str) -> None:
        settings = settings_for(url, tmp_path_factory.mktemp("served"), redis_url=SecretStr(valkey_server))
        async with open_store(settings) as store, served(settings) as (server, _):
            found.append(Running(server.url, bearer(await make_token(store, Role.OPERATOR))))
            ready.set()
            await stop.wait()

    with copies.borrowed() as url:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=lambda: loop.run_until_complete(serve(url)))
        thread.start()
        try:
            assert ready.wait(60)
            yield found[0]
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(30)
            loop.close()


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_generated_request_causes_an_internal_error(case: schemathesis.Case, running: Running) -> None:
    """With a token that opens every route."""
    case.call_and_validate(base_url=running.url, headers=running.headers, checks=CHECKS)
