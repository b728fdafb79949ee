"""Opens the recordings of an installation, or one by fixture id, exported file or folder; and exports one."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from found_footy.config import Settings
from found_footy.errors import EngineError, NotFound, ObjectMissing
from found_footy.feeds.registry import declared_feeds
from found_footy.recordings.file_format import pack
from found_footy.recordings.models import Recording, recording_key
from found_footy.recordings.playback import load_recording
from found_footy.recordings.recorder import MatchRecorder, recorded_rules
from found_footy.recordings.store import RecordingStore
from found_footy.runtime.data_folder import with_running_engines
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.postgres import open_database
from found_footy.storage.stores import build_objects


@dataclass(frozen=True, slots=True)
class Recordings:
    """Recordings of an installation."""

    store: RecordingStore
    recorder: MatchRecorder


@asynccontextmanager
async def open_recordings(settings: Settings) -> AsyncIterator[Recordings]:
    async with open_database(settings) as database, aclosing(build_objects(settings)) as objects:
        store = RecordingStore(database)
        yield Recordings(store, MatchRecorder(store, objects, recorded_rules(settings)))


@dataclass(frozen=True, slots=True)
class OpenRecording:
    recording: Recording
    clips: ObjectStore
    """Store of its clip files, as far as they still exist."""


@asynccontextmanager
async def open_recording(settings: Settings, file_or_fixture_id: str) -> AsyncIterator[OpenRecording]:
    """Open a recording. Raises NotFound and RecordingBroken."""
    objects = build_objects(settings)
    try:
        path = Path(file_or_fixture_id)
        if await asyncio.to_thread(path.exists):
            recording = await asyncio.to_thread(load_recording, path)
        elif file_or_fixture_id.isascii() and file_or_fixture_id.isdecimal():
            recording = await _recording_of_fixture(settings, objects, int(file_or_fixture_id))
        else:
            raise NotFound(f"{file_or_fixture_id!r} is not a file, a folder or a fixture id")
        yield OpenRecording(recording, objects)
    finally:
        await objects.aclose()


async def _recording_of_fixture(settings: Settings, objects: ObjectStore, fixture_id: int) -> Recording:
    with tempfile.TemporaryDirectory(prefix="footy-recording-") as folder:
        path = Path(folder, "recording")
        try:
            await objects.get(recording_key(fixture_id), path)
            return await asyncio.to_thread(load_recording, path)
        except ObjectMissing:
            pass
    return await _current_recording(settings, fixture_id)


async def _current_recording(settings: Settings, fixture_id: int) -> Recording:
    """Build the recording of an unfinished match, which has no file yet, from the database."""
    try:
        located = settings if settings.database_url else with_running_engines(settings)
    except EngineError as error:
        raise NotFound(f"fixture {fixture_id} has no finished recording, and {error}") from error
    precedences = {source.id: source.precedence for source in declared_feeds(located)()}
    async with open_recordings(located) as recordings:
        recording = await recordings.recorder.current_recording(fixture_id, precedences)
    if recording is None:
        raise NotFound(f"fixture {fixture_id} was not recorded")
    return recording


async def export(settings: Settings, fixture_id: int, to: Path) -> int:
    """Write a portable file and return its size in bytes."""
    async with open_recording(settings, str(fixture_id)) as found:
        packed = await asyncio.to_thread(pack, found.recording)
    part = to.with_name(f".{to.name}.part")
    try:
        await asyncio.to_thread(part.write_bytes, packed)
        await asyncio.to_thread(part.replace, to)
    except OSError as error:
        raise EngineError(f"cannot write {to}: {error.strerror}") from error
    return len(packed)
