"""Values of the clips feature, and object store keys, which depend only on the event id and the file's content."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from found_footy.fixtures.models import MatchMinute, Score, Side
from found_footy.media.models import RelativeBox

STAGING = "staging/"


def staging_key(event_id: str, md5: str) -> str:
    return f"{staging_prefix(event_id)}{md5}.mp4"


def staging_prefix(event_id: str) -> str:
    return f"{STAGING}{event_id}/"


def clip_key(fixture_id: int, event_id: str, md5: str) -> str:
    return f"{clip_prefix(fixture_id, event_id)}{md5}.mp4"


def poster_key(fixture_id: int, event_id: str, md5: str, width: int) -> str:
    """Key of a clip's poster, stored and deleted with the clip."""
    return f"{clip_prefix(fixture_id, event_id)}{md5}.poster-{width}.jpg"


def proof_key(fixture_id: int, event_id: str, md5: str, at: float) -> str:
    """Key of a proof frame. `at` is in seconds from the clip's start."""
    return f"{clip_prefix(fixture_id, event_id)}{md5}.proof-{round(at * 1000)}.jpg"


def clip_prefix(fixture_id: int, event_id: str) -> str:
    return f"{fixture_prefix(fixture_id)}{event_id}/"


def fixture_prefix(fixture_id: int) -> str:
    return f"{fixture_id}/"


def md5_of(key: str) -> str:
    """MD5 in the key of a clip, or of an image that belongs to a clip."""
    return key.rpartition("/")[2].partition(".")[0]


# --- Rejection reasons: each rejected candidate has exactly one.


class RejectionReason(StrEnum):
    # Post.
    PASSED_OVER = "passed over"
    """Longer videos were downloaded first until this post was too old."""
    # Download.
    GONE = "gone"
    GEO_BLOCKED = "geo-blocked"
    PRIVATE = "private"
    UNREACHABLE = "unreachable"
    """The host does not respond, or only with errors."""
    UNSUPPORTED = "unsupported"
    """No known way to get a video from this site."""
    FORBIDDEN_ADDRESS = "forbidden address"
    """A private, loopback or otherwise blocked address."""
    TOO_LARGE = "too large"
    TOO_SLOW = "too slow"
    # File.
    NOT_A_VIDEO = "not a video"
    BROKEN = "broken"
    TOO_SHORT = "too short"
    TOO_LONG = "too long"
    PORTRAIT = "portrait"
    # Content.
    NOT_SOCCER = "not soccer"
    FILMED_SCREEN = "filmed screen"
    WRONG_MINUTE = "wrong minute"
    OTHER_MATCH = "other match"
    NOT_CRICKET = "not cricket"
    """Counterpart of `NOT_SOCCER` for a wicket."""
    WRONG_OVER = "wrong over"
    NOT_CHECKED = "not checked"
    """Verification stayed unavailable until the goal was closed."""
    # Goal, and internal failures.
    WITHDRAWN = "withdrawn"
    TAKEN_DOWN = "taken down"
    """An operator removed or hid it, its account, its goal or the same content elsewhere."""
    FAILED = "failed"
    """Internal failure; its message is stored."""


REVERIFIABLE = frozenset({RejectionReason.WRONG_MINUTE, RejectionReason.OTHER_MATCH, RejectionReason.WRONG_OVER})
"""Rejections based on feed data. The feed may correct it, so their files stay in staging for a while."""


# --- Takedowns.


HIDDEN = "hidden/"
"""Prefix of the files of hidden clips: moving them invalidates signed URLs issued earlier."""


@dataclass(frozen=True, slots=True)
class WithdrawnClips:
    """What a takedown covers, for features that keep copies of clips."""

    clips: tuple[tuple[str, str], ...]
    """Event id and MD5 of each."""
    reason: str
    goal: str | None = None
    """Event id, if all clips of the goal are covered."""
    account: str | None = None
    source: str | None = None


# --- Verification: frame readings, the expectation from the feed, and the proof that compares them.


@dataclass(frozen=True, slots=True)
class FrameReading:
    """Readings of one frame. None means unreadable, which is different from "no"."""

    at: float
    """Seconds from the clip's start."""
    soccer: bool | None
    """Whether the frame shows the expected sport: football, or cricket for a wicket. None if unclear, as in a close-up
    next to a scoreboard or a frame without colour.
    """
    screen: bool
    """Whether the frame was filmed from a screen."""
    clock: str | None = None
    """For cricket, the overs, as 12.3."""
    added: str | None = None
    stoppage_clock: str | None = None
    teams: tuple[str, str] | None = None
    """Left and right, as displayed."""
    score: Score | None = None
    """For cricket, runs and wickets in displayed order."""
    box: RelativeBox | None = None
    """Position of the clock; for cricket, of the score."""
    batting: str | None = None
    """Batting side as displayed; cricket only."""
    other_sport: str | None = None
    """Text that only the scoreboard of another sport shows, such as Q3."""
    video_game: bool = False
    """Whether the frame shows a video game's menu or controller prompts. A weak sign."""

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self)
        fields["teams"] = list(self.teams) if self.teams else None
        fields["score"] = str(self.score) if self.score else None
        fields["soccer"], fields["soccer_unclear"] = bool(self.soccer), self.soccer is None
        for name in ("batting", "other_sport", "video_game", "soccer_unclear"):
            if not fields[name]:
                del fields[name]
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> FrameReading:
        teams, score, box = fields["teams"], fields["score"], fields["box"]
        return cls(
            at=fields["at"],
            soccer=None if fields.get("soccer_unclear") else fields["soccer"],
            screen=fields["screen"],
            clock=fields["clock"],
            added=fields["added"],
            stoppage_clock=fields["stoppage_clock"],
            teams=(teams[0], teams[1]) if teams else None,
            score=parse_score(score) if score else None,
            box=RelativeBox(**box) if box else None,
            batting=fields.get("batting"),
            other_sport=fields.get("other_sport"),
            video_game=fields.get("video_game", False),
        )


@dataclass(frozen=True, slots=True)
class WicketExpectation:
    """Additional feed data about a wicket. None means unknown, and neither proves nor refutes anything."""

    batting: Side
    before: int | None = None
    """Wickets fallen in this innings before this one."""
    after: int | None = None
    home_code: str | None = None
    away_code: str | None = None
    """Feed abbreviations: IND, AUS."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> WicketExpectation:
        return cls(**{**fields, "batting": Side(fields["batting"])})


@dataclass(frozen=True, slots=True)
class Expectation:
    """Data of the feed about a goal. Names and scores are optional; without them they neither prove nor refute
    anything.
    """

    minute: MatchMinute
    home: str | None = None
    away: str | None = None
    score_before: Score | None = None
    score_after: Score | None = None
    wicket: WicketExpectation | None = None
    """Set for a wicket, whose minute is an over and a ball, and which has no scores."""
    posted_after_minutes: float | None = None
    """Minutes from the scheduled kick-off to the post. They distinguish a stoppage-time clock without its first digits
    from the same clock in the first minutes of the match (ADR 7).
    """

    @property
    def names(self) -> tuple[str, str] | None:
        return (self.home, self.away) if self.home and self.away else None

    @property
    def scores(self) -> tuple[Score, Score] | None:
        return (self.score_before, self.score_after) if self.score_before and self.score_after else None

    def to_json(self) -> dict[str, Any]:
        before, after = self.score_before, self.score_after
        wicket_fields = {"innings": self.minute.innings, "wicket": self.wicket.to_json()} if self.wicket else {}
        posted = self.posted_after_minutes
        post_fields = {"posted_after_minutes": posted} if posted is not None else {}
        return {
            "elapsed": self.minute.elapsed,
            "extra": self.minute.extra,
            "home": self.home,
            "away": self.away,
            "score_before": str(before) if before else None,
            "score_after": str(after) if after else None,
            **wicket_fields,
            **post_fields,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Expectation:
        before, after = fields["score_before"], fields["score_after"]
        return cls(
            minute=MatchMinute(fields["elapsed"], fields["extra"], fields.get("innings")),
            home=fields["home"],
            away=fields["away"],
            score_before=parse_score(before) if before else None,
            score_after=parse_score(after) if after else None,
            wicket=WicketExpectation.from_json(fields["wicket"]) if fields.get("wicket") else None,
            posted_after_minutes=fields.get("posted_after_minutes"),
        )


@dataclass(frozen=True, slots=True)
class Proof:
    """Evidence that a person can inspect and that can be verified again without the clip."""

    at: float
    """Position of the deciding frame, in seconds from the clip's start."""
    box: RelativeBox | None
    readings: tuple[FrameReading, ...]
    expectation: Expectation

    def to_json(self) -> dict[str, Any]:
        return {
            "at": self.at,
            "box": asdict(self.box) if self.box else None,
            "readings": [reading.to_json() for reading in self.readings],
            "expectation": self.expectation.to_json(),
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Proof:
        return cls(
            at=fields["at"],
            box=RelativeBox(**fields["box"]) if fields["box"] else None,
            readings=tuple(FrameReading.from_json(reading) for reading in fields["readings"]),
            expectation=Expectation.from_json(fields["expectation"]),
        )


def parse_score(text: str) -> Score:
    """Parse `2-1`. Raises ValueError."""
    home, dash, away = text.partition("-")
    if not (dash and home.strip().isdecimal() and away.strip().isdecimal()):
        raise ValueError(f"invalid score {text!r}: expected 2-1")
    return Score(int(home), int(away))


# --- Published videos: link targets and download file names.


MAX_FILE_NAME_LENGTH = 80


@dataclass(frozen=True, slots=True)
class PublishedVideo:
    """The published clip behind a link, after all merges."""

    id: str
    """Id of the kept clip; differs from the requested id if that one was merged."""
    event_id: str
    fixture_id: int
    md5: str
    size: int
    duration: float
    offset_seconds: float
    """Seconds to add to a time in the requested video to get the time in this one."""
    proof: Proof | None
    player: str | None
    minute: MatchMinute
    home: str
    away: str

    @property
    def key(self) -> str:
        return clip_key(self.fixture_id, self.event_id, self.md5)

    @property
    def file_name(self) -> str:
        """File name without extension; valid on every file system."""
        words = f"{self.player or 'Goal'} {self.minute} {self.home} {self.away}"
        plain = re.sub(r"[^\w\s+-]", "", unicodedata.normalize("NFC", words))
        return " ".join(plain.split())[:MAX_FILE_NAME_LENGTH].strip(" -+") or "Goal"


# --- Inputs and results of workflows and activities. They carry ids; the database and the object store hold the rest.


def download_workflow_id(event_id: str, attempt: int) -> str:
    return f"download-{event_id}-{attempt}"


def upload_workflow_id(event_id: str) -> str:
    return f"upload-{event_id}"


def reverify_workflow_id(event_id: str) -> str:
    return f"reverify-{event_id}"


# --- Download.


@dataclass(frozen=True)
class DownloadInput:
    event_id: str
    attempt: int
    keys: list[str]
    vision_retry_seconds: float


@dataclass(frozen=True)
class DownloadResult:
    fetched: int = 0
    rejected: int = 0
    verified: int = 0
    """Files that the vision check ran on."""
    withdrawn: bool = False


@dataclass(frozen=True)
class CandidateRef:
    event_id: str
    key: str


@dataclass(frozen=True)
class FetchResult:
    md5: str = ""
    """Empty if the candidate was rejected."""
    state: str = ""
    """State of the file: `staged` needs the vision check, `checked` needs a hash; all others are final."""


@dataclass(frozen=True)
class CandidateFailure:
    event_id: str
    key: str
    error: str
    """Class of the error."""
    detail: str


@dataclass(frozen=True)
class VideoRef:
    event_id: str
    md5: str


@dataclass(frozen=True)
class VideoStatus:
    state: str


@dataclass(frozen=True)
class VideoFailure:
    event_id: str
    md5: str
    error: str
    detail: str


# --- Reverification.


@dataclass(frozen=True)
class OutdatedQuery:
    completed_since: datetime
    """Include matches that were completed since then."""


@dataclass(frozen=True)
class OutdatedRejections:
    """Events whose goal the feed has corrected since clips were rejected."""

    event_ids: list[str]


@dataclass(frozen=True)
class ReverifyInput:
    event_id: str


@dataclass(frozen=True)
class ReverifyResult:
    accepted: list[str]
    """Files that still need a hash."""


# --- Upload.


@dataclass(frozen=True)
class UploadBatch:
    attempt: int


@dataclass(frozen=True)
class UploadInput:
    event_id: str
    idle_seconds: float
    waiting: list[UploadBatch] = field(default_factory=list)


@dataclass(frozen=True)
class PoolRef:
    event_id: str
    pool: str


@dataclass(frozen=True)
class Duplicate:
    """A video replaced by another, with the offset to find its moments there."""

    md5: str
    of: str
    offset: float
    """Seconds to add to a time in this video to get the time in the one that stays."""
    mirrored: bool = False


@dataclass(frozen=True)
class DedupPlan:
    """Result of deduplicating one pool. Videos are ordered by their MD5."""

    stays: tuple[str, ...]
    copies: tuple[Duplicate, ...]
    """Videos replaced now, and earlier copies whose winner is replaced now."""
    publish: tuple[str, ...] = ()
    """Members of `stays` that are not published yet."""


@dataclass(frozen=True)
class SettleRequest:
    event_id: str
    plans: list[DedupPlan]
    at: datetime
