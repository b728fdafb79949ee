"""`footy migrate` prepares external engines: schema, bucket, schedules, first ingest."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from uuid import uuid4

import obstore
import pytest
from temporalio.client import Client

from found_footy.app import schedules
from found_footy.config import load_settings
from found_footy.runtime.schedules import missing_schedules
from tests.cli.conftest import Footy
from tests.conftest import SharedEngines
from tests.support.seaweed import SeaweedServer


@pytest.fixture
def engines(empty_database: str, temporal_address: str, shared_engines: SharedEngines) -> Mapping[str, str]:
    server = SeaweedServer.from_json(shared_engines.address("seaweed"))
    namespace = f"migrate-{uuid4()}"
    return {
        "DATABASE_URL": empty_database,
        "TEMPORAL_ADDRESS": temporal_address,
        "REDIS_URL": "redis://127.0.0.1:9",
        "FOOTY_TEMPORAL_NAMESPACE": namespace,
        "FOOTY_OBJECT_STORE_URL": f"s3://{uuid4()}/clips",
        "FOOTY_S3_ENDPOINT": server.endpoint,
        "FOOTY_S3_REGION": server.region,
        "FOOTY_S3_ACCESS_KEY": server.access_key,
        "FOOTY_S3_SECRET_KEY": server.secret_key,
    }


async def _missing_schedules(engines: Mapping[str, str]) -> set[str]:
    client = await Client.connect(engines["TEMPORAL_ADDRESS"], namespace=engines["FOOTY_TEMPORAL_NAMESPACE"])
    async with asyncio.timeout(30):  # visibility is eventually consistent
        while missing := await missing_schedules(client, schedules(load_settings())):
            await asyncio.sleep(0.1)
    return missing


def test_migrate_prepares_empty_engines_once(
    footy: Footy, engines: Mapping[str, str], shared_engines: SharedEngines
) -> None:
    first = footy("migrate", **engines)
    assert (first.code, first.out.splitlines()) == (
        0,
        [
            "schema: 0001_baseline, documents",
            "object store: bucket created",
            "schedules: registered, first ingest started",
        ],
    ), first.err
    assert asyncio.run(_missing_schedules(engines)) == set()
    bucket = engines["FOOTY_OBJECT_STORE_URL"].split("/")[2]
    server = SeaweedServer.from_json(shared_engines.address("seaweed"))
    server.bucket = bucket
    obstore.put(server.raw(), "object", b"content")
    again = footy("migrate", **engines)
    assert again.out.splitlines() == ["schema: up to date", "object store: ready", "schedules: up to date"]


def test_migrate_names_a_missing_engine(footy: Footy) -> None:
    nowhere = {"TEMPORAL_ADDRESS": "127.0.0.1:9", "REDIS_URL": "redis://127.0.0.1:9"}
    ended = footy("migrate", DATABASE_URL="postgresql://nobody@127.0.0.1:9/none", **nowhere)
    assert (ended.code, "127.0.0.1:9" in ended.words) == (4, True)


def test_missing_permission_to_create_a_bucket_is_an_error(footy: Footy, engines: Mapping[str, str]) -> None:
    ended = footy("migrate", **{**engines, "FOOTY_S3_SECRET_KEY": "another"})
    assert (ended.code, "FOOTY_S3_SECRET_KEY" in ended.words) == (4, True)
