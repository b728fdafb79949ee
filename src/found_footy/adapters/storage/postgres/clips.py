"""What was searched, found, refused and kept. Every change is safe to repeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.adapters.storage.postgres import clip_rows as rows
from found_footy.adapters.storage.postgres.database import Connection, Database, fetch
from found_footy.adapters.storage.postgres.news import announce
from found_footy.domain.discovery.choosing import Choice, Waiting
from found_footy.domain.discovery.goal import SoughtGoal
from found_footy.domain.discovery.posts import Post
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.errors import NotFound
from found_footy.domain.fixtures.polling import News
from found_footy.domain.videos.keeping import Settlement
from found_footy.domain.videos.losses import Loss
from found_footy.domain.videos.ranking import Ranked, ranks
from found_footy.domain.videos.verification import Status, Verification
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.probe import VideoInfo
from found_footy.ports import CandidateState, OpenWork, Pool, SourceReport, TeamToName


class PostgresClips:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def goal(self, event_id: str) -> SoughtGoal:
        return rows.goal_of(await self._one("clips.goal", f"there is no event {event_id!r}", id=event_id))

    # --- searching

    async def note_sign_of_life(self, event_id: str, now: datetime) -> None:
        await self._db.fetch("clips.note_sign_of_life", id=event_id, now=now)

    async def note_search(
        self,
        event_id: str,
        attempt: int,
        query: SearchQuery,
        reports: Sequence[SourceReport],
        posts: Sequence[Post],
        now: datetime,
    ) -> None:
        async with self._db.connection() as connection:
            search = {"id": event_id, "now": now, "query": query.text, "aliases": list(query.teams)}
            goal = await fetch(connection, "clips.note_search", search)
            attempted = {"id": event_id, "attempt": attempt, "now": now}
            reported = Jsonb([rows.report_row(report) for report in reports])
            added = await fetch(connection, "clips.add_searches", attempted | {"rows": reported})
            if posts:
                found = Jsonb([rows.post_row(post) for post in posts])
                await fetch(connection, "clips.add_candidates", {"id": event_id, "now": now, "rows": found})
            if any(row["is_new"] for row in added) or not reports:  # a search that is repeated was told of before
                told = {"attempt": attempt, "found": sum(report.found or 0 for report in reports)}
                await announce(connection, [News("goal.searched", row["fixture_id"], event_id, told) for row in goal])

    async def take(self, event_id: str, attempt: int, choose: Callable[[Sequence[Waiting]], Choice]) -> Sequence[str]:
        async with self._db.connection() as connection:
            await fetch(connection, "clips.lock_goal", {"id": event_id})
            mine = {"id": event_id, "attempt": attempt}
            taken = [row["key"] for row in await fetch(connection, "clips.candidates_of_attempt", mine)]
            if taken:
                return taken
            waiting = [Waiting(**row) for row in await fetch(connection, "clips.waiting", {"id": event_id})]
            choice = choose(waiting)
            if choice.taken:
                await fetch(connection, "clips.take", mine | {"keys": list(choice.taken)})
            if choice.too_old:
                await _lose(connection, event_id, choice.too_old, Loss.PASSED_OVER, "longer ones were taken")
            return choice.taken

    # --- downloading

    async def register_download(self, event_id: str, workflow_id: str) -> bool:
        async with self._db.connection() as connection:
            workflow = {"event_id": event_id, "kind": "download", "workflow_id": workflow_id}
            await fetch(connection, "events.add_workflows", {"rows": Jsonb([workflow])})
            found = await fetch(connection, "clips.lock_goal", {"id": event_id})
        return bool(found) and found[0]["removed_at"] is None

    async def candidate(self, event_id: str, key: str) -> CandidateState:
        row = await self._one("clips.candidate", f"{event_id} has no candidate {key!r}", id=event_id, key=key)
        return CandidateState(row["key"], row["media_url"], row["md5"], row["loss"])

    async def lose_candidate(self, event_id: str, key: str, loss: str, detail: str) -> None:
        async with self._db.connection() as connection:
            await _lose(connection, event_id, [key], loss, detail)

    async def video_state(self, event_id: str, md5: str) -> str | None:
        found = await self._db.fetch("clips.video", id=event_id, md5=md5)
        return found[0]["state"] if found else None

    async def add_video(self, event_id: str, key: str, md5: str, info: VideoInfo | None, now: datetime) -> str:
        video = {"id": event_id, "md5": md5}
        async with self._db.connection() as connection:
            if info is not None:
                await fetch(connection, "clips.add_video", video | rows.info_row(info) | {"now": now})
            await fetch(connection, "clips.link_candidate", video | {"key": key})
            state: str = (await fetch(connection, "clips.video", video))[0]["state"]
        return state

    # --- looking

    async def save_look(self, event_id: str, md5: str, seen: Verification) -> None:
        await self._db.fetch("clips.save_look", id=event_id, md5=md5, **rows.look_row(seen))

    async def refuse_video(
        self, event_id: str, md5: str, loss: str, detail: str, seen: Verification | None = None
    ) -> None:
        refusal = {"md5s": [md5], "loss": loss, "detail": detail, **rows.look_row(seen)}
        await self._db.fetch("clips.refuse_videos", id=event_id, **refusal)

    async def save_fingerprint(self, event_id: str, md5: str, fingerprint: Fingerprint) -> None:
        await self._db.fetch("clips.save_fingerprint", id=event_id, md5=md5, fingerprint=fingerprint.to_bytes())

    # --- keeping

    async def pool(self, event_id: str, name: str) -> Pool:
        return rows.pool_of(name, await self._db.fetch("clips.pool", id=event_id, pool=name))

    async def settle(self, event_id: str, settlements: Sequence[Settlement], now: datetime) -> bool:
        async with self._db.connection() as connection:
            goal = (await fetch(connection, "clips.lock_goal", {"id": event_id}))[0]
            if goal["removed_at"] is not None:
                return False
            before = {row["md5"]: row for row in await fetch(connection, "clips.to_settle", {"id": event_id})}
            copies = [copy for settlement in settlements for copy in settlement.copies if copy.id in before]
            if copies:
                copied = Jsonb([rows.copy_row(copy) for copy in copies])
                await fetch(connection, "clips.replace", {"id": event_id, "rows": copied})
            posts = {row["md5"]: row["posts"] for row in await fetch(connection, "clips.popularity", {"id": event_id})}
            stays = {name for settlement in settlements for name in settlement.stays if name in before}
            videos = [
                Ranked(name, before[name]["status"] == Status.VERIFIED, posts.get(name, 0), before[name]["file_size"])
                for name in stays
            ]
            places = ranks(videos)
            kept = [{"md5": video.id, "rank": places[video.id], "popularity": video.popularity} for video in videos]
            changed = [row for row in kept if any(before[row["md5"]][name] != row[name] for name in row)]
            if changed or copies:
                await fetch(connection, "clips.clear_ranks", {"id": event_id})
                await fetch(connection, "clips.keep", {"id": event_id, "now": now, "rows": Jsonb(kept)})
            news = [_published(goal, before[video.id], places[video.id]) for video in videos]
            gone = {copy.id: copy.of for copy in copies if before[copy.id]["state"] == "kept"}
            await announce(
                connection,
                [
                    *(item for item in news if before[item.payload["md5"]]["state"] == "hashed"),
                    *(
                        News("clip.replaced", goal["fixture_id"], event_id, {"md5": old, "by": new})
                        for old, new in sorted(gone.items())
                    ),
                    *([News("clips.ranked", goal["fixture_id"], event_id, {"clips": kept})] if changed else []),
                ],
            )
        return True

    async def video_states(self, event_id: str) -> Mapping[str, str]:
        return {row["md5"]: row["state"] for row in await self._db.fetch("clips.states", id=event_id)}

    async def open_work(self, event_id: str) -> OpenWork:
        return OpenWork(**(await self._db.fetch("clips.open_work", id=event_id))[0])

    async def close(self, event_id: str, detail: str) -> None:
        async with self._db.connection() as connection:
            goal = await fetch(connection, "clips.lock_goal", {"id": event_id})
            withdrawn = bool(goal) and goal[0]["removed_at"] is not None
            lost = {"loss": Loss.WITHDRAWN if withdrawn else Loss.FAILED, "detail": detail}
            await fetch(connection, "clips.lose_open", {"id": event_id, **lost})
            states = await fetch(connection, "clips.states", {"id": event_id})
            for state, loss in (("staged", Loss.NOT_CHECKED), ("checked", Loss.FAILED), ("hashed", Loss.FAILED)):
                left = [row["md5"] for row in states if row["state"] == state]
                if left:
                    refusal = {**lost, "loss": Loss.WITHDRAWN if withdrawn else loss, **rows.look_row(None)}
                    await fetch(connection, "clips.refuse_videos", {"id": event_id, "md5s": left, **refusal})
            saved = await fetch(connection, "events.set_download_complete", {"id": event_id})
            news = [News("goal.complete", row["fixture_id"], event_id) for row in saved if not row["was_complete"]]
            await announce(connection, [] if withdrawn else news)

    # --- what teams are called

    async def aliases(self, team_ids: Sequence[int]) -> Mapping[int, tuple[str, ...]]:
        found = await self._db.fetch("clips.aliases", ids=list(team_ids))
        return {row["team_id"]: tuple(row["aliases"]) for row in found}

    async def save_aliases(self, team_id: int, name: str, aliases: Sequence[str], now: datetime) -> None:
        await self._db.fetch("clips.save_aliases", team_id=team_id, team_name=name, aliases=list(aliases), now=now)

    async def teams_without_aliases(self, limit: int) -> Sequence[TeamToName]:
        found = await self._db.fetch("clips.teams_without_aliases", limit=limit)
        return [TeamToName(row["team_id"], row["name"], row["league"], row["country"]) for row in found]

    # --- what people look at

    async def clips(
        self, *, fixture: int | None = None, event: str | None = None, verified: bool = False, limit: int = 200
    ) -> list[dict[str, Any]]:
        wanted = {"fixture": fixture, "event": event, "verified": verified, "limit": limit}
        return [row["document"] for row in await self._db.fetch("clips.list", **wanted)]

    async def _one(self, name: str, missing: str, **params: Any) -> dict[str, Any]:
        found = await self._db.fetch(name, **params)
        if not found:
            raise NotFound(missing)
        return found[0]


async def _lose(connection: Connection, event_id: str, keys: Sequence[str], loss: str, detail: str) -> None:
    lost = {"id": event_id, "keys": list(keys), "loss": loss, "detail": detail}
    await fetch(connection, "clips.lose_candidates", lost)


def _published(goal: Mapping[str, Any], video: Mapping[str, Any], rank: int) -> News:
    payload = {
        "md5": video["md5"],
        "rank": rank,
        "verified": video["status"] == Status.VERIFIED,
        "player": goal["player_name"],
        "team": goal["team_name"],
    }
    return News("clip.published", goal["fixture_id"], goal["id"], payload)
