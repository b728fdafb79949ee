"""PostgreSQL store of searches, candidates, rejections and clips. All writes are idempotent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from found_footy.clips.common_frames import COMMON_FIXTURES, MAX_SIGHTINGS, distinct_hashes
from found_footy.clips.dedup import DedupCandidate
from found_footy.clips.models import REVERIFIABLE, DedupPlan, Duplicate, Proof, PublishedVideo, RejectionReason
from found_footy.clips.ranking import RankedClip, rank_clips
from found_footy.clips.verification import Verification, VerificationStatus
from found_footy.discovery.models import Post, SearchProgress, SourceReport, TargetGoal, TeamRef
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.selection import PendingPost, Selection
from found_footy.errors import LinkGone, NotFound
from found_footy.fixtures.models import Innings, League, MatchMinute, OutboxEvent, Score, Side, Team, kind_of
from found_footy.media.fingerprint import Fingerprint, Hashes
from found_footy.media.probe import VideoInfo
from found_footy.notifications.outbox import append_outbox
from found_footy.storage.postgres import Connection, Database, Query, fetch, load_queries

SQL = load_queries(__package__, "store")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CandidateState:
    key: str
    media_url: str
    md5: str | None
    rejection_reason: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Videos of one pool of an event, with their fingerprints."""

    kept: tuple[DedupCandidate, ...]
    new: tuple[DedupCandidate, ...]
    copies: tuple[Duplicate, ...]
    fingerprints: Mapping[str, Fingerprint]
    """Of both kept and new videos."""


@dataclass(frozen=True, slots=True)
class OpenWork:
    downloading: int
    checking: int
    waiting: int

    @property
    def any(self) -> bool:
        return bool(self.downloading or self.checking or self.waiting)


def goal_from_row(row: Mapping[str, Any]) -> TargetGoal:
    return TargetGoal(
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
        kickoff=row["kickoff"],
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


def verification_row(verification: Verification | None) -> Row:
    if verification is None:
        return {"status": None, "reason": None, "minute": None, "proof": None}
    proof = Jsonb(verification.proof.to_json()) if verification.proof else None
    return {
        "status": verification.status,
        "reason": verification.reason,
        "minute": verification.minute,
        "proof": proof,
    }


def duplicate_row(duplicate: Duplicate) -> Row:
    return {
        "md5": duplicate.md5,
        "of": duplicate.of,
        "offset_seconds": duplicate.offset,
        "mirrored": duplicate.mirrored,
    }


def pool_from_rows(name: str, rows: Sequence[Mapping[str, Any]]) -> Pool:
    videos = {row["md5"]: DedupCandidate(row["md5"], name, row["duration"], row["file_size"]) for row in rows}
    state = {row["md5"]: row["state"] for row in rows}
    return Pool(
        kept=tuple(video for video in videos.values() if state[video.id] == "kept"),
        new=tuple(video for video in videos.values() if state[video.id] == "hashed"),
        copies=tuple(
            Duplicate(row["md5"], row["replaced_by"], row["offset_seconds"], row["mirrored"])
            for row in rows
            if row["state"] == "replaced"
        ),
        fingerprints={
            row["md5"]: Fingerprint.from_bytes(row["fingerprint"]) for row in rows if row["state"] != "replaced"
        },
    )


class ClipStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def goal(self, event_id: str) -> TargetGoal:
        """Raises NotFound."""
        return goal_from_row(await self._one(SQL["goal"], f"event {event_id!r} not found", id=event_id))

    # --- Search.

    async def touch(self, event_id: str, now: datetime) -> None:
        """Record that the search is running, so that no poll restarts it."""
        await self._db.fetch(SQL["touch"], id=event_id, now=now)

    async def save_search(
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
            goal = await fetch(connection, SQL["save_search"], search)
            attempted = {"id": event_id, "attempt": attempt, "now": now}
            reported = Jsonb([report_row(report) for report in reports])
            added = await fetch(connection, SQL["add_searches"], attempted | {"rows": reported})
            if posts:
                found = Jsonb([post_row(post) for post in posts])
                await fetch(connection, SQL["add_candidates"], {"id": event_id, "now": now, "rows": found})
                await fetch(connection, SQL["block_candidates"], {"id": event_id})
            if any(row["is_new"] for row in added) or not reports:  # a repeated search has already been published
                summary = {"attempt": attempt, "found": sum(report.found or 0 for report in reports)}
                await append_outbox(
                    connection, [OutboxEvent("goal.searched", row["fixture_id"], event_id, summary) for row in goal]
                )

    async def search_progress(self, event_id: str, before: int | None = None) -> SearchProgress:
        """Return the searches made so far, or those before an attempt."""
        row = (await self._db.fetch(SQL["search_progress"], id=event_id, before=before))[0]
        return SearchProgress(row["attempts"], row["answered"])

    async def take_candidates(
        self, event_id: str, attempt: int, select: Callable[[Sequence[PendingPost]], Selection]
    ) -> Sequence[str]:
        """Return the posts that this attempt downloads. Idempotent: a repeated attempt returns the same posts.

        They include the posts of earlier attempts that have no download, because the search failed after taking them.
        """
        async with self._db.connection() as connection:
            await fetch(connection, SQL["lock_goal"], {"id": event_id})
            attempt_key = {"id": event_id, "attempt": attempt}
            taken = [row["key"] for row in await fetch(connection, SQL["candidates_of_attempt"], attempt_key)]
            if taken:
                return taken
            abandoned = [row["key"] for row in await fetch(connection, SQL["abandoned_candidates"], attempt_key)]
            pending = [PendingPost(**row) for row in await fetch(connection, SQL["pending_posts"], {"id": event_id})]
            selection = select(pending)
            keys = [*abandoned, *selection.selected]
            if keys:
                await fetch(connection, SQL["take_candidates"], attempt_key | {"keys": keys})
            if selection.too_old:
                await _reject_candidates(
                    connection,
                    event_id,
                    selection.too_old,
                    RejectionReason.PASSED_OVER,
                    "longer videos were taken first",
                )
            return keys

    # --- Download.

    async def register_download(self, event_id: str, workflow_id: str) -> bool:
        """Return False if the goal is withdrawn."""
        async with self._db.connection() as connection:
            await fetch(connection, SQL["add_download"], {"event_id": event_id, "workflow_id": workflow_id})
            found = await fetch(connection, SQL["lock_goal"], {"id": event_id})
        return bool(found) and found[0]["removed_at"] is None

    async def candidate(self, event_id: str, key: str) -> CandidateState:
        row = await self._one(SQL["candidate"], f"{event_id} has no candidate {key!r}", id=event_id, key=key)
        return CandidateState(row["key"], row["media_url"], row["md5"], row["rejection_reason"])

    async def reject_candidate(self, event_id: str, key: str, reason: str, detail: str) -> None:
        async with self._db.connection() as connection:
            await _reject_candidates(connection, event_id, [key], reason, detail)

    async def video_state(self, event_id: str, md5: str) -> str | None:
        found = await self._db.fetch(SQL["video"], id=event_id, md5=md5)
        return found[0]["state"] if found else None

    async def first_posted_at(self, event_id: str, md5: str) -> datetime | None:
        """Time of the earliest post of this event that links to the file."""
        (row,) = await self._db.fetch(SQL["first_posted_at"], id=event_id, md5=md5)
        posted_at: datetime | None = row["posted_at"]
        return posted_at

    async def add_video(self, event_id: str, key: str, md5: str, info: VideoInfo | None, now: datetime) -> str:
        """Link a post to its file and return the file's state. A new file needs `info`."""
        video = {"id": event_id, "md5": md5}
        async with self._db.connection() as connection:
            if info is not None:
                await fetch(connection, SQL["add_video"], video | info_row(info) | {"now": now})
            await fetch(connection, SQL["link_candidate"], video | {"key": key})
            state: str = (await fetch(connection, SQL["video"], video))[0]["state"]
        return state

    # --- Verification.

    async def save_verification(self, event_id: str, md5: str, verification: Verification) -> None:
        await self._db.fetch(SQL["save_verification"], id=event_id, md5=md5, **verification_row(verification))

    async def reject_video(
        self, event_id: str, md5: str, reason: str, detail: str, verification: Verification | None = None
    ) -> None:
        async with self._db.connection() as connection:
            await _reject_videos(connection, event_id, [md5], reason, detail, verification)

    async def outdated_rejections(self, completed_since: datetime) -> list[str]:
        """Return the events whose goal changed after clips were rejected by the feed's data."""
        found = await self._db.fetch(SQL["outdated_rejections"], since=completed_since, reasons=list(REVERIFIABLE))
        return [row["id"] for row in found]

    async def reverifiable_videos(self, event_id: str) -> Mapping[str, Proof]:
        """Return the videos that were rejected by the feed's data, with their readings."""
        found = await self._db.fetch(SQL["reverifiable_videos"], id=event_id, reasons=list(REVERIFIABLE))
        return {row["md5"]: Proof.from_json(row["proof"]) for row in found}

    async def accept_rejected_video(self, event_id: str, md5: str, verification: Verification) -> None:
        await self._db.fetch(SQL["accept_rejected_video"], id=event_id, md5=md5, **verification_row(verification))

    async def update_rejection(
        self, event_id: str, md5: str, reason: str, detail: str, verification: Verification
    ) -> None:
        rejected = {"rejection": reason, "detail": detail} | verification_row(verification)
        await self._db.fetch(SQL["update_rejection"], id=event_id, md5=md5, **rejected)

    async def save_fingerprint(self, event_id: str, md5: str, fingerprint: Fingerprint) -> None:
        hashes = np.array(distinct_hashes(fingerprint), dtype=np.uint64).view(np.int64).tolist()
        async with self._db.connection() as connection:
            values = {"id": event_id, "md5": md5, "fingerprint": fingerprint.to_bytes(), "hashes": hashes}
            await fetch(connection, SQL["save_fingerprint"], values)
            await fetch(connection, SQL["record_frames"], values)
            await fetch(connection, SQL["trim_frames"], {"limit": MAX_SIGHTINGS})

    async def common_frames(self) -> Hashes:
        """Return the hashes of pictures that clips of several fixtures share."""
        found = await self._db.fetch(SQL["common_frames"], fixtures=COMMON_FIXTURES)
        return np.array([row["hash"] for row in found], dtype=np.int64).view(np.uint64)

    # --- Publishing.

    async def reject_blocked(self, event_id: str) -> None:
        """Reject files that a takedown covers: of a blocked account or goal, or with the same content."""
        async with self._db.connection() as connection:
            await fetch(connection, SQL["lock_goal"], {"id": event_id})
            for row in await fetch(connection, SQL["blocked_videos"], {"id": event_id}):
                await _reject_videos(connection, event_id, [row["md5"]], RejectionReason.TAKEN_DOWN, row["reason"])

    async def taken_down(self, event_id: str) -> Mapping[str, tuple[Fingerprint, str]]:
        """Fingerprints of the goal's clips that are taken down, and the reasons."""
        found = await self._db.fetch(SQL["taken_down_fingerprints"], id=event_id)
        return {row["md5"]: (Fingerprint.from_bytes(row["fingerprint"]), row["reason"]) for row in found}

    async def pool(self, event_id: str, name: str) -> Pool:
        return pool_from_rows(name, await self._db.fetch(SQL["pool"], id=event_id, pool=name))

    async def settle(self, event_id: str, plans: Sequence[DedupPlan], now: datetime) -> bool:
        """Save the published clips and duplicates, popularity, ranks and outbox entries; False if withdrawn."""
        async with self._db.connection() as connection:
            goal = (await fetch(connection, SQL["lock_goal"], {"id": event_id}))[0]
            if goal["removed_at"] is not None:
                return False
            before = {row["md5"]: row for row in await fetch(connection, SQL["videos_to_settle"], {"id": event_id})}
            # A takedown may have withdrawn clips since the plan was made.
            copies = [copy for plan in plans for copy in plan.copies if copy.md5 in before and copy.of in before]
            orphans = {
                copy.md5 for plan in plans for copy in plan.copies if copy.md5 in before and copy.of not in before
            }
            if copies:
                duplicates = Jsonb([duplicate_row(copy) for copy in copies])
                await fetch(connection, SQL["replace"], {"id": event_id, "rows": duplicates})
            stays = {name for plan in plans for name in plan.stays if name in before}
            stays |= {name for name in orphans if before[name]["state"] == "kept"}
            kept, changed = await save_ranks(connection, event_id, before, stays, now, always=bool(copies))
            published = [_published(goal, before[row["md5"]], row["rank"]) for row in kept]
            replaced = {copy.md5: copy.of for copy in copies if before[copy.md5]["state"] == "kept"}
            await append_outbox(
                connection,
                [
                    *(item for item in published if before[item.payload["md5"]]["state"] == "hashed"),
                    *(
                        OutboxEvent("clip.replaced", goal["fixture_id"], event_id, {"md5": old, "by": new})
                        for old, new in sorted(replaced.items())
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
        """Close all open work with a reason per post, and mark the event complete."""
        async with self._db.connection() as connection:
            goal = await fetch(connection, SQL["lock_goal"], {"id": event_id})
            withdrawn = bool(goal) and goal[0]["removed_at"] is not None
            reason = RejectionReason.WITHDRAWN if withdrawn else RejectionReason.FAILED
            await fetch(connection, SQL["reject_open"], {"id": event_id, "rejection": reason, "detail": detail})
            states = await fetch(connection, SQL["states"], {"id": event_id})
            for state in ("staged", "checked", "hashed"):
                left = [row["md5"] for row in states if row["state"] == state]
                unchecked = state == "staged" and not withdrawn
                await _reject_videos(
                    connection, event_id, left, RejectionReason.NOT_CHECKED if unchecked else reason, detail
                )
            saved = await fetch(connection, SQL["set_download_complete"], {"id": event_id})
            completed = [
                OutboxEvent("goal.complete", row["fixture_id"], event_id) for row in saved if not row["was_complete"]
            ]
            await append_outbox(connection, [] if withdrawn else completed)

    # --- Team aliases.

    async def aliases(self, team_ids: Sequence[int]) -> Mapping[int, tuple[str, ...]]:
        found = await self._db.fetch(SQL["aliases"], ids=list(team_ids))
        return {row["team_id"]: tuple(row["aliases"]) for row in found}

    async def save_aliases(self, team_id: int, name: str, aliases: Sequence[str], now: datetime) -> None:
        await self._db.fetch(SQL["save_aliases"], team_id=team_id, team_name=name, aliases=list(aliases), now=now)

    async def teams_without_aliases(self, limit: int) -> list[TeamRef]:
        found = await self._db.fetch(SQL["teams_without_aliases"], limit=limit)
        return [TeamRef(row["team_id"], row["name"], row["league"], row["country"]) for row in found]

    # --- Lists for the command line.

    async def clips(
        self, *, fixture: int | None = None, event: str | None = None, verified: bool = False, limit: int = 200
    ) -> list[dict[str, Any]]:
        filters = {"fixture": fixture, "event": event, "verified": verified, "limit": limit}
        return [row["document"] for row in await self._db.fetch(SQL["list"], **filters)]

    async def _one(self, query: Query, missing: str, **params: Any) -> dict[str, Any]:
        found = await self._db.fetch(query, **params)
        if not found:
            raise NotFound(missing)
        return found[0]


async def save_ranks(
    connection: Connection,
    event_id: str,
    before: Mapping[str, Mapping[str, Any]],
    stays: Iterable[str],
    now: datetime,
    *,
    always: bool,
) -> tuple[list[Row], bool]:
    """Rank the published clips of a goal; return their ranks, and whether any has changed."""
    posts = {row["md5"]: row["posts"] for row in await fetch(connection, SQL["popularity"], {"id": event_id})}
    videos = [
        RankedClip(
            name, before[name]["status"] == VerificationStatus.VERIFIED, posts.get(name, 0), before[name]["file_size"]
        )
        for name in stays
    ]
    ranks = rank_clips(videos)
    kept: list[Row] = [{"md5": video.id, "rank": ranks[video.id], "popularity": video.popularity} for video in videos]
    changed = any(before[row["md5"]][name] != row[name] for row in kept for name in row)
    if changed or always:
        await fetch(connection, SQL["clear_ranks"], {"id": event_id})
        await fetch(connection, SQL["keep"], {"id": event_id, "now": now, "rows": Jsonb(kept)})
    return kept, changed


async def _reject_candidates(
    connection: Connection, event_id: str, keys: Sequence[str], reason: str, detail: str
) -> None:
    rejected = {"id": event_id, "keys": list(keys), "rejection": reason, "detail": detail}
    await fetch(connection, SQL["reject_candidates"], rejected)


async def _reject_videos(
    connection: Connection,
    event_id: str,
    md5s: Sequence[str],
    reason: str,
    detail: str,
    verification: Verification | None = None,
) -> None:
    if md5s:
        rejected = {"id": event_id, "md5s": list(md5s), "rejection": reason, "detail": detail}
        await fetch(connection, SQL["reject_videos"], rejected | verification_row(verification))


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


class LinkStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def video(self, video_id: str) -> PublishedVideo:
        found = await self._db.fetch(SQL["linked_video"], id=video_id)
        if not found:
            await self.require_not_ended(f"v/{video_id}")
        # An unpublished video has no link, whatever happened to its goal.
        if found and found[0]["rejection_reason"] == RejectionReason.TAKEN_DOWN:
            raise LinkGone(f"taken down: {found[0]['rejection_detail']}")
        if not found or found[0]["state"] != "kept":
            raise NotFound(f"video {video_id} not found")
        row = found[0]
        if row["removed_at"] is not None:
            raise LinkGone(f"the goal was withdrawn ({row['removed_reason']}), and its clips with it")
        return PublishedVideo(
            id=row["id"],
            event_id=row["event_id"],
            fixture_id=row["fixture_id"],
            md5=row["md5"],
            size=row["file_size"],
            duration=row["duration"],
            offset_seconds=row["total_offset"],
            proof=Proof.from_json(row["proof"]) if row["proof"] else None,
            player=row["player_name"],
            minute=MatchMinute(row["elapsed"], row["extra"]),
            home=row["home_name"],
            away=row["away_name"],
        )

    async def require_not_ended(self, path: str) -> None:
        found = await self._db.fetch(SQL["ended"], path=path)
        if found:
            raise LinkGone(found[0]["reason"])

    async def fingerprints(self, event_id: str) -> Mapping[str, Fingerprint]:
        found = await self._db.fetch(SQL["linked_fingerprints"], id=event_id)
        return {row["md5"]: Fingerprint.from_bytes(row["fingerprint"]) for row in found}
