"""Between rows and the values of the clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.domain.discovery.goal import SoughtGoal
from found_footy.domain.discovery.posts import Post
from found_footy.domain.fixtures.model import Innings, League, Minute, Score, Side, Team, kind_of
from found_footy.domain.videos.dedup import Video
from found_footy.domain.videos.keeping import Copy
from found_footy.domain.videos.verification import Verification
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.probe import VideoInfo
from found_footy.ports import Pool, SourceReport

Row = dict[str, Any]


def goal_of(row: Mapping[str, Any]) -> SoughtGoal:
    return SoughtGoal(
        id=row["id"],
        fixture_id=row["fixture_id"],
        side=Side(row["side"]),
        player=row["player_name"],
        kind=kind_of(row["type"], row["kind"]),
        minute=Minute(row["elapsed"], row["extra"], row["of_innings"]),
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


def look_row(seen: Verification | None) -> Row:
    if seen is None:
        return {"status": None, "reason": None, "minute": None, "proof": None}
    proof = Jsonb(seen.proof.to_json()) if seen.proof else None
    return {"status": seen.status, "reason": seen.reason, "minute": seen.minute, "proof": proof}


def copy_row(copy: Copy) -> Row:
    return {"md5": copy.id, "of": copy.of, "offset_seconds": copy.offset, "mirrored": copy.mirrored}


def pool_of(name: str, found: Sequence[Mapping[str, Any]]) -> Pool:
    videos = {row["md5"]: Video(row["md5"], name, row["duration"], row["file_size"]) for row in found}
    state = {row["md5"]: row["state"] for row in found}
    return Pool(
        kept=tuple(video for video in videos.values() if state[video.id] == "kept"),
        new=tuple(video for video in videos.values() if state[video.id] == "hashed"),
        copies=tuple(
            Copy(row["md5"], row["replaced_by"], row["offset_seconds"], row["mirrored"])
            for row in found
            if row["state"] == "replaced"
        ),
        fingerprints={
            row["md5"]: Fingerprint.from_bytes(row["fingerprint"]) for row in found if row["state"] != "replaced"
        },
    )
