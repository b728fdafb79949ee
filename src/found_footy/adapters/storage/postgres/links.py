"""Where links lead, for as long as there is anything to tell of them."""

from __future__ import annotations

from collections.abc import Mapping

from found_footy.adapters.storage.postgres.database import Database
from found_footy.domain.errors import LinkEnded, NotFound
from found_footy.domain.fixtures.model import Minute
from found_footy.domain.videos.readings import Proof
from found_footy.domain.videos.video_link import VideoLink
from found_footy.media.fingerprint import Fingerprint


class PostgresLinks:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def video(self, video_id: str) -> VideoLink:
        found = await self._db.fetch("links.video", id=video_id)
        if not found:
            await self.require_not_ended(f"v/{video_id}")
        # What was never published has no link, whatever became of its goal.
        if not found or found[0]["state"] != "kept":
            raise NotFound(f"there is no video {video_id}")
        row = found[0]
        if row["removed_at"] is not None:
            raise LinkEnded(f"the goal was withdrawn ({row['removed_reason']}), and its clips with it")
        return VideoLink(
            id=row["id"],
            event_id=row["event_id"],
            fixture_id=row["fixture_id"],
            md5=row["md5"],
            size=row["file_size"],
            duration=row["duration"],
            moved=row["moved"],
            proof=Proof.from_json(row["proof"]) if row["proof"] else None,
            player=row["player_name"],
            minute=Minute(row["elapsed"], row["extra"]),
            home=row["home_name"],
            away=row["away_name"],
        )

    async def require_not_ended(self, path: str) -> None:
        found = await self._db.fetch("links.ended", path=path)
        if found:
            raise LinkEnded(found[0]["reason"])

    async def fingerprints(self, event_id: str) -> Mapping[str, Fingerprint]:
        found = await self._db.fetch("links.fingerprints", id=event_id)
        return {row["md5"]: Fingerprint.from_bytes(row["fingerprint"]) for row in found}
