"""What the stages ask for and write: who may take an item, and the steps from state to state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from psycopg import sql
from psycopg.rows import DictRow

from found_footy.adapters.storage.postgres.database import Connection, fetch
from found_footy.adapters.storage.postgres.library_news import clip_news, source_news
from found_footy.adapters.storage.postgres.library_part import LibraryPart
from found_footy.adapters.storage.postgres.library_rows import storable
from found_footy.adapters.storage.postgres.news import announce
from found_footy.domain.clips.stages import STAGES, Condition, Item, Lane, Stage, retry_after
from found_footy.domain.clips.states import (
    ClipState,
    SourceState,
    State,
    Step,
    after_clip_step,
    after_source_step,
    words_for,
)
from found_footy.domain.errors import BadRequest, EditRefused, NotFound

LONGEST_ERROR = 1000
WITHOUT_TILE = frozenset({ClipState.REVIEW_ARCHIVED, ClipState.CLEANING, ClipState.CLEANING_FAILED})
"""The states of the clean-up, which is all that a clip still goes through when it was split or merged away."""

_MODEL = re.compile(r"[a-z][a-z0-9_]{0,50}")


class LibraryStages(LibraryPart):
    async def work_for(
        self, stage: Stage, models: Mapping[str, str], now: datetime, most: int, lane: Lane | None = None
    ) -> list[int]:
        wanted = {
            "states": [str(state) for state in (*stage.takes, stage.working, stage.failed)],
            "takes": [str(state) for state in stage.takes],
            "working": str(stage.working),
            "failed": str(stage.failed),
            "stage": stage.name,
            "now": now,
            "most": most,
            "of_goals": None if lane is None else lane is Lane.GOALS,
        }
        if stage.condition is Condition.ALWAYS:
            found = await self._db.fetch(f"library_stages.{stage.item}s_for", **wanted)
            return [row["id"] for row in found]
        async with self._db.connection() as connection:
            begun = await fetch(connection, "library_stages.begun_clips_for", wanted)
            lacking = await _lacking_vectors(connection, models, wanted)
        return sorted({row["id"] for row in (*begun, *lacking)})[:most]

    async def begin(self, stage: Stage, item: int, now: datetime) -> bool:
        async with self._db.connection() as connection:
            row = await _locked(connection, stage.item, item)
            if row is None or not may_take(stage, row, now):
                return False
            failures = row["failures"] if row["stage"] == stage.name else 0
            again = row["state"] == stage.working
            stepped(stage.item, row["state"], Step.BEGIN)
            await _move(connection, stage, row, stage.working, now, failures, tell=not again)
        return True

    async def finish(self, stage: Stage, item: int, now: datetime) -> bool:
        async with self._db.connection() as connection:
            row = await _locked(connection, stage.item, item)
            if row is None or not _is_at_work(stage, row):
                return False
            stepped(stage.item, row["state"], Step.SUCCEED)
            await _move(connection, stage, row, stage.done, now, 0, ended=True)
            if stage.done is ClipState.EMBEDDED:
                await fetch(connection, "library_stages.note_embedded", {"id": item})
            if stage.done is SourceState.DOWNLOADED and row["upload_key"] is not None:
                # From now on the master is the source.
                await fetch(connection, "library.ask_deletions", {"keys": [row["upload_key"]]})
        return True

    async def fail(self, stage: Stage, item: int, error: str, kind: str, retryable: bool, now: datetime) -> None:
        async with self._db.connection() as connection:
            row = await _locked(connection, stage.item, item)
            # Also one that could not even begin comes to rest; one that failed already is told of for the second time.
            if row is None or row["state"] == stage.failed or not may_take(stage, row, now):
                return
            failures = (row["failures"] if row["stage"] == stage.name else 0) + 1
            rest = retry_after(failures, retryable)
            told = {"error": storable(error)[:LONGEST_ERROR], "kind": kind, "retry_at": rest and now + rest}
            stepped(stage.item, stepped(stage.item, row["state"], Step.BEGIN), Step.FAIL)
            await _move(connection, stage, row, stage.failed, now, failures, **told)

    async def retry(self, source_id: int | None, clip_id: int | None, now: datetime) -> None:
        if (source_id is None) == (clip_id is None):
            raise BadRequest("name a source or a clip")
        item, id_ = (Item.SOURCE, source_id) if source_id is not None else (Item.CLIP, clip_id)
        assert id_ is not None
        async with self._db.connection() as connection:
            row = await _locked(connection, item, id_)
            if row is None:
                raise NotFound(f"there is no {item} {id_}")
            stage = _failed_stage(item, row)
            told = {"error": row["error"], "kind": row["error_kind"], "retry_at": now}
            await _move(connection, stage, row, stage.failed, now, 0, **told)


def may_take(stage: Stage, row: Mapping[str, Any], now: datetime) -> bool:
    """Whether a stage may begin with an item as it is now. When a failed one has rested is for `work_for` to say."""
    if row["settles_at"] is not None and row["settles_at"] > now:
        return False
    if not row["live"] and row["state"] not in WITHOUT_TILE:
        return False
    mine = row["stage"] in (None, stage.name)
    return row["state"] in stage.takes or (mine and row["state"] in (stage.working, stage.failed))


def stepped(item: Item, state: str, step: Step) -> State:
    """Raises EditRefused."""
    if item is Item.SOURCE:
        return after_source_step(SourceState(state), step)
    return after_clip_step(ClipState(state), step)


def _is_at_work(stage: Stage, row: Mapping[str, Any]) -> bool:
    return row["state"] == stage.working and row["stage"] in (None, stage.name)


def _failed_stage(item: Item, row: Mapping[str, Any]) -> Stage:
    stages = [each for each in STAGES if each.item is item and each.failed == row["state"]]
    for stage in stages:
        if row["stage"] in (None, stage.name):
            return stage
    state = SourceState(row["state"]) if item is Item.SOURCE else ClipState(row["state"])
    raise EditRefused(f"{item} {row['id']} is {words_for(state)}: there is nothing to try again")


async def _locked(connection: Connection, item: Item, id_: int) -> DictRow | None:
    found = await fetch(connection, f"library_stages.lock_{item}", {"id": id_})
    return found[0] if found else None


async def _move(
    connection: Connection,
    stage: Stage,
    row: Mapping[str, Any],
    state: State,
    now: datetime,
    failures: int,
    *,
    ended: bool = False,
    tell: bool = True,
    error: str | None = None,
    kind: str | None = None,
    retry_at: datetime | None = None,
) -> None:
    written = {
        "id": row["id"],
        "state": str(state),
        "stage": None if ended else stage.name,
        "failures": failures,
        "error": error,
        "kind": kind,
        "retry_at": retry_at,
        "now": now,
    }
    await fetch(connection, f"library_stages.move_{stage.item}", written)
    if tell and stage.item is Item.SOURCE:
        await announce(connection, [source_news(row["id"], state)])
    elif tell:
        await announce(connection, [clip_news(row["id"], row["source_id"], state, row["live"])])


async def _lacking_vectors(
    connection: Connection, models: Mapping[str, str], wanted: Mapping[str, Any]
) -> list[DictRow]:
    """Clips in a state that the stage takes, without a vector of one of these models in just this version."""
    if not models:
        return []
    columns = {row["name"] for row in await fetch(connection, "library_stages.vector_columns", {})}
    lacks: list[sql.Composable] = []
    for model in sorted(models):
        if not _MODEL.fullmatch(model):
            raise BadRequest(f"{model[:60]!r} cannot name a model")
        if f"{model}_version" not in columns:
            lacks.append(sql.SQL("true"))  # nobody has made its column yet
            continue
        said, column = sql.Placeholder(f"version_of_{model}"), sql.Identifier(f"{model}_version")
        # Written so that an index of the versions is enough.
        lacks.append(sql.SQL("e.{0} is null or e.{0} < {1} or e.{0} > {1}").format(column, said))
    statement = sql.SQL(
        "select c.id from library_embeddings e join library_clips c on c.id = e.clip_id"
        " join library_sources s on s.id = c.source_id and (s.kind = 'goal') = coalesce(%(of_goals)s, s.kind = 'goal')"
        " where ({}) and c.live and c.state = any(%(takes)s) and (c.settles_at is null or c.settles_at <= %(now)s)"
        " order by c.id limit %(most)s"
    ).format(sql.SQL(" or ").join(lacks))
    versions = {f"version_of_{model}": version for model, version in models.items()}
    return await (await connection.execute(statement, {**wanted, **versions})).fetchall()
