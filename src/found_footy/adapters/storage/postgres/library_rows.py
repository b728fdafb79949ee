"""Between rows and the values of the clip library."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from found_footy.domain.clips.review import ActionKind, Standing
from found_footy.domain.clips.states import ClipState, SourceState
from found_footy.domain.clips.undo import Done
from found_footy.domain.clips.values import Clip, Master, Source, SourceKind, Sprite

Row = dict[str, Any]


def source_of(row: Mapping[str, Any]) -> Source:
    return Source(
        id=row["id"],
        kind=SourceKind(row["kind"]),
        state=SourceState(row["state"]),
        title=row["title"],
        facts=row["facts"],
        event_id=row["event_id"],
        video_md5=row["video_md5"],
        url=row["url"],
        upload_key=row["upload_key"],
        master=master_of(row),
        progress=row["progress"],
        error=row["error"],
        error_kind=row["error_kind"],
        failures=row["failures"],
        retry_at=row["retry_at"],
        submitted_by=row["submitted_by"],
        created_at=row["created_at"],
        film_deleted_at=row["film_deleted_at"],
    )


def master_of(row: Mapping[str, Any]) -> Master | None:
    if row["frames"] is None:
        return None
    return Master(
        frames=row["frames"],
        rate=Fraction(row["rate_num"], row["rate_den"]),
        width=row["width"],
        height=row["height"],
        audio=row["audio"],
        size=row["file_size"],
        md5=row["file_md5"],
    )


def master_row(master: Master) -> Row:
    return {
        "frames": master.frames,
        "rate_num": master.rate.numerator,
        "rate_den": master.rate.denominator,
        "width": master.width,
        "height": master.height,
        "audio": master.audio,
        "file_size": master.size,
        "file_md5": master.md5,
    }


def clip_of(row: Mapping[str, Any]) -> Clip:
    return Clip(
        id=row["id"],
        source_id=row["source_id"],
        first=row["first_frame"],
        end=row["end_frame"],
        state=ClipState(row["state"]),
        live=row["live"],
        grouped_with=row["grouped_with"],
        settles_at=row["settles_at"],
        made_by=row["made_by"],
        reviewed_by=row["reviewed_by"],
        reviewed_at=row["reviewed_at"],
        claimed_by=row["claimed_by"],
        claimed_until=row["claimed_until"],
        has_file=row["has_file"],
        sprite=sprite_of(row["sprite"]),
        error=row["error"],
        error_kind=row["error_kind"],
        failures=row["failures"],
        retry_at=row["retry_at"],
    )


def sprite_of(document: Mapping[str, Any] | None) -> Sprite | None:
    if document is None:
        return None
    given = dict(document)
    return Sprite(rate=Fraction(given.pop("rate_num"), given.pop("rate_den")), **given)


def sprite_row(sprite: Sprite) -> Row:
    return {
        "columns": sprite.columns,
        "rows": sprite.rows,
        "width": sprite.width,
        "height": sprite.height,
        "count": sprite.count,
        "every": sprite.every,
        "frames": sprite.frames,
        "rate_num": sprite.rate.numerator,
        "rate_den": sprite.rate.denominator,
    }


def standing_of(document: Mapping[str, Any]) -> Standing:
    return Standing(
        state=ClipState(document["state"]),
        live=document["live"],
        grouped_with=document["grouped_with"],
        settles_at=_moment(document["settles_at"]),
        reviewed_by=document["reviewed_by"],
        reviewed_at=_moment(document["reviewed_at"]),
    )


def standing_row(standing: Standing) -> Row:
    return {
        "state": standing.state,
        "live": standing.live,
        "grouped_with": standing.grouped_with,
        "settles_at": standing.settles_at and standing.settles_at.isoformat(),
        "reviewed_by": standing.reviewed_by,
        "reviewed_at": standing.reviewed_at and standing.reviewed_at.isoformat(),
    }


def standings_row(standings: Mapping[int, Standing]) -> Row:
    return {str(id_): standing_row(standing) for id_, standing in standings.items()}


def done_of(row: Mapping[str, Any]) -> Done:
    return Done(
        id=row["id"],
        kind=ActionKind(row["kind"]),
        reviewer=row["reviewer"],
        name=row["name"],
        at=row["at"],
        settles_at=row["settles_at"],
        before={int(id_): standing_of(each) for id_, each in row["before"].items()},
        after={int(id_): standing_of(each) for id_, each in row["after"].items()},
        made=tuple(row["made"]),
        undone_at=row["undone_at"],
        settled_at=row["settled_at"],
    )


def storable(value: Any) -> Any:
    """Words of strangers, without what PostgreSQL cannot hold; also within lists and objects."""
    match value:
        case str():
            return value.replace("\x00", "").encode(errors="replace").decode()
        case Mapping():
            return {str(storable(str(key))): storable(each) for key, each in value.items()}
        case list() | tuple():
            return [storable(each) for each in value]
    return value


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
