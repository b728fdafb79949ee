"""A goal as its page shows it: from the stored document to what is said. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from found_footy.domain.fixtures.model import WICKET
from found_footy.domain.videos.goal_way import source_failures, way, why_no_clip
from found_footy.domain.videos.readings import Proof
from found_footy.web.answers.rendering import minute
from found_footy.web.goal.alignment import Aligned, By
from found_footy.web.goal.loss_words import LossCount, losses_by_class
from found_footy.web.goal.posts import MOST_POSTS, PostView, post_view, source_words
from found_footy.web.goal.proof import ProofView, proof_view, verdict
from found_footy.web.matches.cricket import how_out, ordinal
from found_footy.web.matches.words import Chip, Standing, chip, standing
from found_footy.web.services import WebRules

NOTES = {"Penalty": "penalty", "Own Goal": "own goal"}
ALIGNED = {
    By.REFERENCE: "",
    By.PICTURES: "aligned by its pictures",
    By.CLOCK: "aligned by its clock",
    By.NOTHING: "not aligned",
}
LIMITED = 2
"""Innings of a match that is limited in overs."""
CHANGES = {"player": "scorer", "assist": "assist", "kind": "kind of goal", "minute": "minute", "score": "score"}


@dataclass(frozen=True, slots=True)
class MergedView:
    """A copy that gave way; its link leads to the one that stays."""

    id: str
    offset: float | None
    mirrored: bool
    duration: float
    size: int


@dataclass(frozen=True, slots=True)
class CopyView:
    id: str
    rank: int
    verified: bool
    popularity: int
    width: int
    height: int
    fps: float
    duration: float
    size: int
    source: str
    offset: float | None
    aligned: str
    verdict: str
    proof: ProofView | None
    merged: tuple[MergedView, ...]


@dataclass(frozen=True, slots=True)
class SearchView:
    attempt: int
    at: str
    answers: tuple[tuple[str, str, bool], ...]
    """The source, what came of it, and whether that was a failure."""


@dataclass(frozen=True, slots=True)
class GoalPage:
    """Of a goal, or of a wicket: then the side that it counts for was in the field, and the assist bowled."""

    id: str
    fixture_id: int
    home: str
    away: str
    league: str
    kickoff: datetime
    minute: str
    player: str | None
    assist: str | None
    note: str | None
    team: str
    side: str
    before: tuple[int, int]
    after: tuple[int, int]
    chip: Chip
    status: str
    first_seen: str
    withdrawn_at: str | None
    withdrawn_why: str | None
    copies: tuple[CopyView, ...]
    way: str
    why: str
    """Why it has no clip; empty where it has one, or before the search begins."""
    posts: tuple[PostView, ...]
    """Those that became a clip, or are on the way to one."""
    lost: tuple[PostView, ...]
    left_out: int
    """Posts that the page has no room for."""
    losses: tuple[LossCount, ...]
    searches: tuple[SearchView, ...]
    query: str | None
    failures: tuple[tuple[str, int, str], ...]
    """Source, how often it failed, and what it said last."""
    history: tuple[tuple[str, str], ...]
    """When, and what changed."""
    feeds: tuple[str, ...] = ()
    """Those that listed it last."""
    wicket: str | None = None
    """Which one of its innings it is, such as 3rd, or just `out`; None for a goal."""
    innings: str = ""
    """Which innings of the match, such as 2nd."""
    heard_at: str | None = None
    """When a match that is under way was last heard of."""

    @property
    def noun(self) -> str:
        return "goal" if self.wicket is None else "wicket"

    @property
    def unknown(self) -> str:
        return "Scorer unknown" if self.wicket is None else "Batter unknown"

    @property
    def polled(self) -> int | None:
        """The same in seconds since 1970."""
        return int(datetime.fromisoformat(self.heard_at).timestamp()) if self.heard_at else None

    @property
    def day(self) -> str:
        return self.kickoff.astimezone(UTC).date().isoformat()

    @property
    def best(self) -> CopyView | None:
        return self.copies[0] if self.copies else None


def goal_page(event: Mapping[str, Any], aligned: Mapping[str, Aligned], rules: WebRules) -> GoalPage:
    fixture, time = event["_fixture"], event["time"]
    ranks = {video["md5"]: video["rank"] for video in event["_s3_videos"]}
    posts = [post_view(each, ranks) for each in event["_discovered_videos"]]
    used = sorted((post for post in posts if post.loss is None), key=lambda post: (post.rank or 99, post.posted_at))
    lost = [post for post in posts if post.loss is not None]
    before, after = event["_score_before"], event["_score_after"]
    is_wicket = event["type"] == WICKET
    return GoalPage(
        id=event["_event_id"],
        fixture_id=fixture["id"],
        home=fixture["home"],
        away=fixture["away"],
        league=fixture["league"],
        kickoff=datetime.fromisoformat(fixture["date"]),
        minute=minute(time["elapsed"], time["extra"], time["innings"]),
        player=event["player"]["name"],
        assist=event["assist"]["name"],
        note=how_out(event["detail"], event["assist"]["name"]) if is_wicket else NOTES.get(event["detail"]),
        team=event["team"]["name"],
        side=event["_scoring_team"],
        before=(before["home"], before["away"]),
        after=(after["home"], after["away"]),
        chip=chip(
            event["status"],
            seen=event["_stable_count"],
            debounce=rules.debounce_polls,
            searches=len(event["_searches"]),
            attempts=rules.search_attempts,
            clips=len(event["_s3_videos"]),
        ),
        status=event["status"],
        first_seen=event["_first_seen"],
        withdrawn_at=event["_removed_at"],
        withdrawn_why=event["_removed_reason"],
        copies=tuple(_copy(video, event, aligned, rules.clock_tolerance_minutes) for video in event["_s3_videos"]),
        way=way(event, rules.search_attempts),
        why=_sentence(why_no_clip(event)),
        posts=tuple(used[:MOST_POSTS]),
        lost=tuple(lost[:MOST_POSTS]),
        left_out=max(0, len(used) - MOST_POSTS) + max(0, len(lost) - MOST_POSTS),
        losses=losses_by_class(post.loss for post in lost if post.loss is not None),
        searches=tuple(_search(each) for each in event["_searches"]),
        query=event["_search_query"],
        failures=tuple((source_words(source), times, said) for source, (times, said) in source_failures(event).items()),
        history=tuple((change["at"], _change(change["changed"])) for change in event["_attributions"]),
        feeds=tuple(event["_feeds"]),
        wicket=_wicket(event) if is_wicket else None,
        innings=ordinal(time["innings"] or 1) if is_wicket else "",
        heard_at=fixture["heard_at"] if _is_followed(fixture) else None,
    )


def _is_followed(fixture: Mapping[str, Any]) -> bool:
    return fixture["stage"] == "active" and standing(fixture["status"], fixture["stage"]) is Standing.LIVE


def _wicket(event: Mapping[str, Any]) -> str:
    """A side takes wickets in one innings, or in two: only of the first can one tell the number from the total."""
    innings, taken = event["time"]["innings"] or 1, event["_score_after"][event["_scoring_team"]]
    return ordinal(taken) if innings <= LIMITED else "out"


def _sentence(told: str) -> str:
    """Without what the heading above it says already."""
    rest = re.sub(r"^No clips?( yet)?: ", "", told)
    return rest[:1].upper() + rest[1:]


def _copy(
    video: Mapping[str, Any], event: Mapping[str, Any], aligned: Mapping[str, Aligned], tolerance: int
) -> CopyView:
    stored = event["_proofs"].get(video["md5"])
    proof = Proof.from_json(stored) if stored else None
    place = aligned.get(video["md5"], Aligned(None, By.NOTHING))
    sources = sorted({each["source"] for each in event["_discovered_videos"] if each["clip"] == video["md5"]})
    return CopyView(
        id=video["id"],
        rank=video["rank"],
        verified=video["timestamp_verified"],
        popularity=video["popularity"],
        width=video["width"],
        height=video["height"],
        fps=video["fps"],
        duration=video["duration"],
        size=video["file_size"],
        source=", ".join(source_words(source) for source in sources),
        offset=place.offset,
        aligned=ALIGNED[place.by],
        verdict=verdict(video["timestamp_verified"], video["reason"], proof, tolerance),
        proof=proof_view(video, proof, tolerance) if proof else None,
        merged=tuple(
            MergedView(each["id"], each["offset_seconds"], each["mirrored"], each["duration"], each["file_size"])
            for each in video["copies"]
        ),
    )


def _search(search: Mapping[str, Any]) -> SearchView:
    answers = []
    for source, answer in search["sources"].items():
        failed = "error" in answer
        said = f"{answer['error']['class']}: {answer['error']['message']}" if failed else f"{answer['found']} found"
        answers.append((source_words(source), said, failed))
    return SearchView(search["attempt"], search["at"], tuple(answers))


def _change(changed: Mapping[str, Any]) -> str:
    """A number says nothing where the name has changed as well."""
    told = [
        f"{CHANGES[name]}: {changed[name]['from'] or 'unknown'} → {changed[name]['to'] or 'unknown'}"
        for name in CHANGES
        if name in changed
    ]
    return "; ".join(told) or "the feed gave it to another number of the same name"
