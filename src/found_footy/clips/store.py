"""PostgreSQL store of the clips feature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.clips.dedup import DedupCandidate, DedupPlan, Duplicate
from found_footy.clips.models import Proof, PublishedVideo, RejectionReason
from found_footy.clips.ranking import RankedClip, rank_clips
from found_footy.clips.verification import Verification, VerificationStatus
from found_footy.discovery.goal import SoughtGoal
from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.selection import Choice, Waiting
from found_footy.errors import LinkEnded, NotFound
from found_footy.fixtures.models import Innings, League, MatchMinute, OutboxEvent, Score, Side, Team, kind_of
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.probe import VideoInfo
from found_footy.ports import CandidateState, OpenWork, Pool, SourceReport, TeamToName
from found_footy.storage.outbox import append_outbox
from found_footy.storage.postgres import Connection, Database, Query, fetch, load_queries

SQL = load_queries(__package__, "store")

Row = dict[str, Any]


def goal_of(row: Mapping[str, Any]) -> SoughtGoal:
    return SoughtGoal(
        id=row["id"],
        fixture_id=row["fixture_id"],
        side=Side(row["side"]),
        player=row["player_name"],
        kind=kind_of(row["type"], row["kind"]),
        minute=MatchMinute(row["elapsed"], row["extra"], row["of_innings"]),
        before=Score(row["home_before"], row["away_before"]),
        after=Score(row["home_after"], row["away_after"]),
        home=Team(row["home_id"], row["home_name"], row["home_short"]),
        away=Team(row["away_id"], row["away_name"], row["away_short"]),
        league=League(0, row["league_name"], row["country"]),
        home_aliases=tuple(row["home_aliases"]),
        away_aliases=tuple(row["away_aliases"]),
        stable=row["stable_at"] is not None,
        removed_at=row["removed_at"],
        complete=row["download_complete"],
        type=row["type"],
        assist=row["assist_name"],
        innings=tuple(Innings(**{**each, "batting": Side(each["batting"])}) for each in row["innings"]),
    )


def report_row(report: SourceReport) -> Row:
    error = report.error
    return {
        "source": report.source,
        "found": report.found,
        "error_kind": error.kind if error else None,
        "error_message": str(error) if error else None,
    }


def post_row(post: Post) -> Row:
    return {
        "key": post.key,
        "source": post.source,
        "url": post.url,
        "media_url": post.media_url,
        "author": post.author,
        "text": post.text,
        "posted_at": post.posted_at.isoformat(),
        "duration": post.duration,
    }


def info_row(info: VideoInfo) -> Row:
    names = ("duration", "width", "height", "aspect", "fps", "bit_rate", "file_size", "codec")
    return {name: getattr(info, name) for name in names}


def verification_row(seen: Verification | None) -> Row:
    if seen is None:
        return {"status": None, "reason": None, "minute": None, "proof": None}
    proof = Jsonb(seen.proof.to_json()) if seen.proof else None
    return {"status": seen.status, "reason": seen.reason, "minute": seen.minute, "proof": proof}


def copy_row(copy: Duplicate) -> Row:
    return {"md5": copy.id, "of": copy.of, "offset_seconds": copy.offset, "mirrored": copy.mirrored}


def pool_of(name: str, found: Sequence[Mapping[str, Any]]) -> Pool:
    videos = {row["md5"]: DedupCandidate(row["md5"], name, row["duration"], row["file_size"]) for row in found}
    state = {row["md5"]: row["state"] for row in found}
    return Pool(
        kept=tuple(video for video in videos.values() if state[video.id] == "kept"),
        new=tuple(video for video in videos.values() if state[video.id] == "hashed"),
        copies=tuple(
            Duplicate(row["md5"], row["replaced_by"], row["offset_seconds"], row["mirrored"])
            for row in found
            if row["state"] == "replaced"
        ),
        fingerprints={
            row["md5"]: Fingerprint.from_bytes(row["fingerprint"]) for row in found if row["state"] != "replaced"
        },
    )


# --- Searches, candidates, rejections and clips. All writes are idempotent.


class ClipStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def goal(self, event_id: str) -> SoughtGoal:
        return goal_of(await self._one(SQL["goal"], f"there is no event {event_id!r}", id=event_id))

    # --- Search.

    async def touch(self, event_id: str, now: datetime) -> None:
        await self._db.fetch(SQL["note_sign_of_life"], id=event_id, now=now)

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
            goal = await fetch(connection, SQL["note_search"], search)
            attempted = {"id": event_id, "attempt": attempt, "now": now}
            reported = Jsonb([report_row(report) for report in reports])
            added = await fetch(connection, SQL["add_searches"], attempted | {"rows": reported})
            if posts:
                found = Jsonb([post_row(post) for post in posts])
                await fetch(connection, SQL["add_candidates"], {"id": event_id, "now": now, "rows": found})
            if any(row["is_new"] for row in added) or not reports:  # a repeated search has already been published
                told = {"attempt": attempt, "found": sum(report.found or 0 for report in reports)}
                await append_outbox(
                    connection, [OutboxEvent("goal.searched", row["fixture_id"], event_id, told) for row in goal]
                )

    async def take(self, event_id: str, attempt: int, choose: Callable[[Sequence[Waiting]], Choice]) -> Sequence[str]:
        async with self._db.connection() as connection:
            await fetch(connection, SQL["lock_goal"], {"id": event_id})
            mine = {"id": event_id, "attempt": attempt}
            taken = [row["key"] for row in await fetch(connection, SQL["candidates_of_attempt"], mine)]
            if taken:
                return taken
            waiting = [Waiting(**row) for row in await fetch(connection, SQL["waiting"], {"id": event_id})]
            choice = choose(waiting)
            if choice.taken:
                await fetch(connection, SQL["take"], mine | {"keys": list(choice.taken)})
            if choice.too_old:
                await _lose(connection, event_id, choice.too_old, RejectionReason.PASSED_OVER, "longer ones were taken")
            return choice.taken

    # --- Download.

    async def register_download(self, event_id: str, workflow_id: str) -> bool:
        async with self._db.connection() as connection:
            await fetch(connection, SQL["add_download"], {"event_id": event_id, "workflow_id": workflow_id})
            found = await fetch(connection, SQL["lock_goal"], {"id": event_id})
        return bool(found) and found[0]["removed_at"] is None

    async def candidate(self, event_id: str, key: str) -> CandidateState:
        row = await self._one(SQL["candidate"], f"{event_id} has no candidate {key!r}", id=event_id, key=key)
        return CandidateState(row["key"], row["media_url"], row["md5"], row["loss"])

    async def reject_candidate(self, event_id: str, key: str, loss: str, detail: str) -> None:
        async with self._db.connection() as connection:
            await _lose(connection, event_id, [key], loss, detail)

    async def video_state(self, event_id: str, md5: str) -> str | None:
        found = await self._db.fetch(SQL["video"], id=event_id, md5=md5)
        return found[0]["state"] if found else None

    async def add_video(self, event_id: str, key: str, md5: str, info: VideoInfo | None, now: datetime) -> str:
        video = {"id": event_id, "md5": md5}
        async with self._db.connection() as connection:
            if info is not None:
                await fetch(connection, SQL["add_video"], video | info_row(info) | {"now": now})
            await fetch(connection, SQL["link_candidate"], video | {"key": key})
            state: str = (await fetch(connection, SQL["video"], video))[0]["state"]
        return state

    # --- Verification.

    async def save_verification(self, event_id: str, md5: str, seen: Verification) -> None:
        await self._db.fetch(SQL["save_look"], id=event_id, md5=md5, **verification_row(seen))

    async def reject_video(
        self, event_id: str, md5: str, loss: str, detail: str, seen: Verification | None = None
    ) -> None:
        refusal = {"md5s": [md5], "loss": loss, "detail": detail, **verification_row(seen)}
        await self._db.fetch(SQL["refuse_videos"], id=event_id, **refusal)

    async def save_fingerprint(self, event_id: str, md5: str, fingerprint: Fingerprint) -> None:
        await self._db.fetch(SQL["save_fingerprint"], id=event_id, md5=md5, fingerprint=fingerprint.to_bytes())

    # --- Publishing.

    async def pool(self, event_id: str, name: str) -> Pool:
        return pool_of(name, await self._db.fetch(SQL["pool"], id=event_id, pool=name))

    async def settle(self, event_id: str, settlements: Sequence[DedupPlan], now: datetime) -> bool:
        async with self._db.connection() as connection:
            goal = (await fetch(connection, SQL["lock_goal"], {"id": event_id}))[0]
            if goal["removed_at"] is not None:
                return False
            before = {row["md5"]: row for row in await fetch(connection, SQL["to_settle"], {"id": event_id})}
            copies = [copy for settlement in settlements for copy in settlement.copies if copy.id in before]
            if copies:
                copied = Jsonb([copy_row(copy) for copy in copies])
                await fetch(connection, SQL["replace"], {"id": event_id, "rows": copied})
            posts = {row["md5"]: row["posts"] for row in await fetch(connection, SQL["popularity"], {"id": event_id})}
            stays = {name for settlement in settlements for name in settlement.stays if name in before}
            videos = [
                RankedClip(
                    name,
                    before[name]["status"] == VerificationStatus.VERIFIED,
                    posts.get(name, 0),
                    before[name]["file_size"],
                )
                for name in stays
            ]
            places = rank_clips(videos)
            kept = [{"md5": video.id, "rank": places[video.id], "popularity": video.popularity} for video in videos]
            changed = [row for row in kept if any(before[row["md5"]][name] != row[name] for name in row)]
            if changed or copies:
                await fetch(connection, SQL["clear_ranks"], {"id": event_id})
                await fetch(connection, SQL["keep"], {"id": event_id, "now": now, "rows": Jsonb(kept)})
            news = [_published(goal, before[video.id], places[video.id]) for video in videos]
            gone = {copy.id: copy.of for copy in copies if before[copy.id]["state"] == "kept"}
            await append_outbox(
                connection,
                [
                    *(item for item in news if before[item.payload["md5"]]["state"] == "hashed"),
                    *(
                        OutboxEvent("clip.replaced", goal["fixture_id"], event_id, {"md5": old, "by": new})
                        for old, new in sorted(gone.items())
                    ),
                    *([OutboxEvent("clips.ranked", goal["fixture_id"], event_id, {"clips": kept})] if changed else []),
                ],
            )
        return True

    async def video_states(self, event_id: str) -> Mapping[str, str]:
        return {row["md5"]: row["state"] for row in await self._db.fetch(SQL["states"], id=event_id)}

    async def open_work(self, event_id: str) -> OpenWork:
        return OpenWork(**(await self._db.fetch(SQL["open_work"], id=event_id))[0])

    async def close(self, event_id: str, detail: str) -> None:
        async with self._db.connection() as connection:
            goal = await fetch(connection, SQL["lock_goal"], {"id": event_id})
            withdrawn = bool(goal) and goal[0]["removed_at"] is not None
            lost = {"loss": RejectionReason.WITHDRAWN if withdrawn else RejectionReason.FAILED, "detail": detail}
            await fetch(connection, SQL["lose_open"], {"id": event_id, **lost})
            states = await fetch(connection, SQL["states"], {"id": event_id})
            for state, loss in (
                ("staged", RejectionReason.NOT_CHECKED),
                ("checked", RejectionReason.FAILED),
                ("hashed", RejectionReason.FAILED),
            ):
                left = [row["md5"] for row in states if row["state"] == state]
                if left:
                    refusal = {
                        **lost,
                        "loss": RejectionReason.WITHDRAWN if withdrawn else loss,
                        **verification_row(None),
                    }
                    await fetch(connection, SQL["refuse_videos"], {"id": event_id, "md5s": left, **refusal})
            saved = await fetch(connection, SQL["set_download_complete"], {"id": event_id})
            news = [
                OutboxEvent("goal.complete", row["fixture_id"], event_id) for row in saved if not row["was_complete"]
            ]
            await append_outbox(connection, [] if withdrawn else news)

    # --- Team aliases.

    async def aliases(self, team_ids: Sequence[int]) -> Mapping[int, tuple[str, ...]]:
        found = await self._db.fetch(SQL["aliases"], ids=list(team_ids))
        return {row["team_id"]: tuple(row["aliases"]) for row in found}

    async def save_aliases(self, team_id: int, name: str, aliases: Sequence[str], now: datetime) -> None:
        await self._db.fetch(SQL["save_aliases"], team_id=team_id, team_name=name, aliases=list(aliases), now=now)

    async def teams_without_aliases(self, limit: int) -> Sequence[TeamToName]:
        found = await self._db.fetch(SQL["teams_without_aliases"], limit=limit)
        return [TeamToName(row["team_id"], row["name"], row["league"], row["country"]) for row in found]

    # --- Reads for pages.

    async def clips(
        self, *, fixture: int | None = None, event: str | None = None, verified: bool = False, limit: int = 200
    ) -> list[dict[str, Any]]:
        wanted = {"fixture": fixture, "event": event, "verified": verified, "limit": limit}
        return [row["document"] for row in await self._db.fetch(SQL["list"], **wanted)]

    async def _one(self, query: Query, missing: str, **params: Any) -> dict[str, Any]:
        found = await self._db.fetch(query, **params)
        if not found:
            raise NotFound(missing)
        return found[0]


async def _lose(connection: Connection, event_id: str, keys: Sequence[str], loss: str, detail: str) -> None:
    lost = {"id": event_id, "keys": list(keys), "loss": loss, "detail": detail}
    await fetch(connection, SQL["lose_candidates"], lost)


def _published(goal: Mapping[str, Any], video: Mapping[str, Any], rank: int) -> OutboxEvent:
    payload = {
        "md5": video["md5"],
        "rank": rank,
        "verified": video["status"] == VerificationStatus.VERIFIED,
        "player": goal["player_name"],
        "team": goal["team_name"],
    }
    return OutboxEvent("clip.published", goal["fixture_id"], goal["id"], payload)


# --- Link targets, kept while the clip or its goal is known.


class PostgresLinks:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def video(self, video_id: str) -> PublishedVideo:
        found = await self._db.fetch(SQL["linked_video"], id=video_id)
        if not found:
            await self.require_not_ended(f"v/{video_id}")
        # An unpublished video has no link, whatever happened to its goal.
        if not found or found[0]["state"] != "kept":
            raise NotFound(f"there is no video {video_id}")
        row = found[0]
        if row["removed_at"] is not None:
            raise LinkEnded(f"the goal was withdrawn ({row['removed_reason']}), and its clips with it")
        return PublishedVideo(
            id=row["id"],
            event_id=row["event_id"],
            fixture_id=row["fixture_id"],
            md5=row["md5"],
            size=row["file_size"],
            duration=row["duration"],
            moved=row["moved"],
            proof=Proof.from_json(row["proof"]) if row["proof"] else None,
            player=row["player_name"],
            minute=MatchMinute(row["elapsed"], row["extra"]),
            home=row["home_name"],
            away=row["away_name"],
        )

    async def require_not_ended(self, path: str) -> None:
        found = await self._db.fetch(SQL["ended"], path=path)
        if found:
            raise LinkEnded(found[0]["reason"])

    async def fingerprints(self, event_id: str) -> Mapping[str, Fingerprint]:
        found = await self._db.fetch(SQL["linked_fingerprints"], id=event_id)
        return {row["md5"]: Fingerprint.from_bytes(row["fingerprint"]) for row in found}
