"""Payloads are encrypted when a key is set."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import SecretStr
from temporalio import activity, workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowFailureError

from found_footy.config import Settings, load_settings
from found_footy.errors import EngineError, SettingsError, StoreRejected
from found_footy.runtime.payload_codec import ENCODING, EncryptionCodec, data_converter
from found_footy.runtime.temporal import connect_temporal, restore_error
from found_footy.runtime.worker import pipeline_worker

OLD, NEW = "11" * 32, "22" * 32
WORDS = "Wirtz, 23rd minute"


@activity.defn
async def repeat_words(words: str) -> str:
    if words == "fail":
        raise StoreRejected(f"rejected: {WORDS}")
    return words * 2


@workflow.defn
class EchoWorkflow:
    @workflow.run
    async def run(self, words: str) -> str:
        return await workflow.execute_activity(repeat_words, words, start_to_close_timeout=timedelta(seconds=30))


async def test_temporal_stores_no_readable_payload_when_a_key_is_set(temporal_settings: dict[str, str]) -> None:
    settings = Settings(**temporal_settings, temporal_payload_keys=SecretStr(NEW))  # type: ignore[arg-type]
    client = await connect_temporal(settings)
    async with pipeline_worker(client, "encrypted", [EchoWorkflow], [repeat_words]):
        done = await client.start_workflow(EchoWorkflow.run, WORDS, id="encrypted-1", task_queue="encrypted")
        assert await done.result() == WORDS * 2
        failed = await client.start_workflow(EchoWorkflow.run, "fail", id="encrypted-2", task_queue="encrypted")
        with pytest.raises(WorkflowFailureError) as raised:
            await failed.result()
        assert str(restore_error(raised.value)) == f"rejected: {WORDS}"
    for handle in (done, failed):
        history = (await handle.fetch_history()).to_json()
        raw = b"".join(each.SerializeToString() for each in (await handle.fetch_history()).events)
        assert WORDS not in history
        assert WORDS.encode() not in raw
        assert b"binary/encrypted" in raw


async def decoded(keys: list[str], *payloads: Payload) -> list[Payload]:
    return await EncryptionCodec([bytes.fromhex(each) for each in keys]).decode(payloads)


async def test_a_key_can_be_replaced() -> None:
    plain = Payload(metadata={ENCODING: b"json/plain"}, data=b'"x"')
    (old,) = await EncryptionCodec([bytes.fromhex(OLD)]).encode([plain])
    assert await decoded([NEW, OLD], old, plain) == [plain, plain], "also what was stored before there was a key"
    with pytest.raises(EngineError, match="not in FOOTY_TEMPORAL_PAYLOAD_KEYS"):
        await decoded([NEW], old)
    (new,) = await EncryptionCodec([bytes.fromhex(NEW), bytes.fromhex(OLD)]).encode([plain])
    assert await decoded([NEW], new) == [plain]


async def test_a_changed_payload_is_refused() -> None:
    (payload,) = await EncryptionCodec([bytes.fromhex(NEW)]).encode([Payload(data=b"x")])
    payload.data = payload.data[:-1] + bytes([payload.data[-1] ^ 1])
    with pytest.raises(EngineError, match="was modified"):
        await decoded([NEW], payload)


def test_without_a_key_payloads_stay_readable() -> None:
    assert data_converter([]).payload_codec is None


@pytest.mark.parametrize("keys", ["short", "zz" * 32, f"{NEW},", f"{NEW};{OLD}"])
def test_a_malformed_key_stops_the_start(monkeypatch: pytest.MonkeyPatch, keys: str) -> None:
    monkeypatch.setenv("FOOTY_TEMPORAL_PAYLOAD_KEYS", keys)
    with pytest.raises(SettingsError, match="FOOTY_TEMPORAL_PAYLOAD_KEYS") as raised:
        load_settings()
    assert keys not in str(raised.value)
