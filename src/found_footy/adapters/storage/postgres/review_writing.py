"""What an action, its undo and its settling have in common: the locks, the rows and the news."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.adapters.storage.postgres import library_rows as rows
from found_footy.adapters.storage.postgres.database import Connection, fetch
from found_footy.adapters.storage.postgres.library_news import clip_news
from found_footy.adapters.storage.postgres.news import announce
from found_footy.domain.clips.review import Outcome, Reviewer, Standing
from found_footy.domain.clips.states import ClipState
from found_footy.domain.clips.undo import Done
from found_footy.domain.clips.values import Clip


async def lock_clips(connection: Connection, ids: Iterable[int]) -> dict[int, Clip]:
    """Those of them that there are, as they are now: their sources are locked first, so that nobody else edits them."""
    wanted = {"ids": sorted(set(ids))}
    await fetch(connection, "review.lock_sources", wanted)
    return {row["id"]: rows.clip_of(row) for row in await fetch(connection, "review.lock_clips", wanted)}


async def lock_action(connection: Connection, action_id: int) -> tuple[Done, dict[int, Clip]] | None:
    """With all clips that it changed or made."""
    found = await fetch(connection, "review.action", {"id": action_id})
    if not found:
        return None
    # Which clips it is about never changes, so that they can be locked first, in the order that everybody keeps to.
    seen = rows.done_of(found[0])
    clips = await lock_clips(connection, (*seen.after, *seen.made))
    locked = await fetch(connection, "review.lock_action", {"id": action_id})
    return rows.done_of(locked[0]), clips


async def write_outcome(connection: Connection, outcome: Outcome, clips: Mapping[int, Clip], who: Reviewer) -> Done:
    """The rows, the journal and the news of an action."""
    journal = {
        "kind": outcome.kind,
        "reviewer": who.id,
        "name": who.name,
        "at": who.now,
        "settles_at": outcome.settles_at,
        "before": Jsonb(rows.standings_row(outcome.before)),
        "after": Jsonb(rows.standings_row(outcome.after)),
    }
    done = rows.done_of((await fetch(connection, "review.add_action", journal))[0])
    await write_standings(connection, clips, outcome.after, who.now)
    made: list[int] = []
    for stretch in outcome.made:
        tile: dict[str, Any] = {"source_id": stretch.source_id, "first": stretch.first, "end": stretch.end}
        tile |= {"group": stretch.grouped_with, "settles_at": outcome.settles_at, "by": done.id, "now": who.now}
        made.append((await fetch(connection, "review.make_clip", tile))[0]["id"])
    if made:
        done = rows.done_of((await fetch(connection, "review.note_made", {"id": done.id, "made": made}))[0])
    by: dict[str, Any] = {"action": done.id, "kind": str(outcome.kind), "by": who.name}
    await tell_of_clips(connection, clips, outcome.after, **by)
    new = [
        clip_news(id_, stretch.source_id, ClipState.EDIT_PENDING, **by)
        for id_, stretch in zip(made, outcome.made, strict=True)
    ]
    await announce(connection, new)
    return done


async def write_standings(
    connection: Connection, clips: Mapping[int, Clip], standings: Mapping[int, Standing], now: datetime
) -> None:
    """`clips` as they were. A claim ends with it: whoever held the clip has acted."""
    if not standings:
        return
    written = [{"id": id_, **rows.standing_row(standing)} for id_, standing in standings.items()]
    await fetch(connection, "review.write_standings", {"rows": Jsonb(written), "now": now})
    for live in (False, True):
        ids = [id_ for id_, new in standings.items() if new.live is live and clips[id_].live is not live]
        if ids:  # the tiling of a source is judged whenever this is written
            await fetch(connection, "review.set_live", {"ids": ids, "live": live})


async def tell_of_clips(
    connection: Connection, clips: Mapping[int, Clip], standings: Mapping[int, Standing], **more: Any
) -> None:
    news = [
        clip_news(id_, clips[id_].source_id, standing.state, standing.live, **more)
        for id_, standing in standings.items()
    ]
    await announce(connection, news)
