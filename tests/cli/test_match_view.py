"""Terminal output of fixtures and goals, with hostile names."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console, RenderableType

from found_footy.cli.match_view import (
    clips_view,
    fixture_view,
    fixtures_view,
    goal_line,
    goal_state,
    goal_view,
    matchday_table,
    printable,
)
from found_footy.clips.progress import progress_line, why_no_clip
from found_footy.fixtures.documents import GoalDetails

AT = "2026-08-22T14:12:30+00:00"


def event(**fields: Any) -> dict[str, Any]:
    return {
        "_event_id": "1_40_306_Goal_1",
        "status": "watching",
        "time": {"elapsed": 12, "extra": None, "innings": None},
        "team": {"id": 40, "name": "Liverpool"},
        "player": {"id": 306, "name": "Mohamed Salah"},
        "assist": {"id": None, "name": None},
        "type": "Goal",
        "detail": "Normal Goal",
        "_scoring_team": "home",
        "_score_before": {"home": 0, "away": 0},
        "_score_after": {"home": 1, "away": 0},
        "_first_seen": AT,
        "_stable_count": 2,
        "_missing_count": 0,
        "_debounce_complete": False,
        "_stable_at": None,
        "_removed": False,
        "_removed_at": None,
        "_removed_reason": None,
        "_monitor_complete": False,
        "_download_complete": False,
        "_monitor_workflows": [],
        "_search_workflows": [],
        "_download_workflows": [],
        "_twitter_aliases": [],
        "_feeds": ["espn"],
        "_search_query": None,
        "_searches": [],
        "_search_sources": {},
        "_discovered_videos": [],
        "_s3_videos": [],
        "_attributions": [],
        **fields,
    }


def goal(**fields: Any) -> dict[str, Any]:
    fixture = {"home": "Liverpool", "away": "Manchester City", "league": "Premier League", "date": AT}
    return event(_fixture=fixture, _proofs={}) | fields


def document(**fields: Any) -> dict[str, Any]:
    return {
        "_id": 1380101,
        "stage": "active",
        "fixture": {"id": 1380101, "date": AT, "status": {"short": "1H", "elapsed": 30, "extra": None}},
        "league": {"id": 39, "name": "Premier League", "country": "England", "season": 2026, "round": "1"},
        "teams": {"home": {"id": 40, "name": "Liverpool"}, "away": {"id": 50, "name": "Manchester City"}},
        "goals": {"home": 1, "away": 0},
        "score": {"penalty": {"home": None, "away": None}},
        "last_poll_at": AT,
        "error": None,
        "events": [event()],
        **fields,
    }


def candidate(state: str, loss: str | None = None, **fields: Any) -> dict[str, Any]:
    post = {"key": "x:1", "source": "x", "url": "https://example.invalid/1", "author": "fan", "text": "goal"}
    times = {"posted_at": AT, "found_at": AT, "duration": 6.25}
    outcome = {"state": state, "loss": loss, "loss_detail": None, "attempt": 1, "md5": None, "clip": "c" * 32}
    return {**post, **times, **outcome, **fields}


def clip(**fields: Any) -> dict[str, Any]:
    facts = {"rank": 1, "timestamp_verified": True, "extracted_minute": 12, "popularity": 3, "duration": 6.25}
    picture = {"width": 1280, "height": 720, "aspect_ratio": 1.78, "resolution_score": 921_600, "fps": 50.0}
    links = {
        "id": "a" * 16,
        "s3_url": "/v/a",
        "_s3_key": "1/a.mp4",
        "source_url": None,
        "source_posts": [],
        "copies": [],
    }
    proof = {"timestamp_status": "verified", "reason": None, "published_at": AT, "hash_version": "dense/1"}
    file = {"bitrate": 3_000_000, "file_size": 2_400_000, "md5": "0123456789abcdef" * 2}
    return {**facts, **picture, **links, **proof, **file, **fields}


def search(attempt: int = 1, **sources: Any) -> dict[str, Any]:
    return {"attempt": attempt, "at": AT, "sources": sources or {"bluesky": {"found": 2}}}


READING = {
    "at": 1.5,
    "clock": "11:52",
    "added": None,
    "stoppage_clock": None,
    "teams": ["LIV", "MCI"],
    "score": "0-0",
}
FAILED = {"error": {"class": "SourceLoggedOut", "message": "log in again"}}


def printed(what: RenderableType, *, terminal: bool = False) -> str:
    stream = io.StringIO()
    Console(file=stream, width=200, force_terminal=terminal, highlight=False).print(what)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "seen 2/3"),
        ({"_debounce_complete": True}, "searching"),
        ({"_debounce_complete": True, "_download_complete": True}, "stable"),
        ({"_removed": True}, "withdrawn"),
        ({"_removed": True, "_debounce_complete": True, "_download_complete": True}, "withdrawn"),
    ],
)
def test_goal_state_follows_the_event(fields: dict[str, Any], state: str) -> None:
    assert goal_state(event(**fields), 3) == state
    assert printed(goal_line(event(**fields), 3)).rstrip().endswith(state)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "12' 1–0 Mohamed Salah seen 2/3"),
        ({"time": {"elapsed": 90, "extra": 3, "innings": None}}, "90+3' 1–0 Mohamed Salah seen 2/3"),
        ({"detail": "Penalty"}, "12' 1–0 Mohamed Salah (pen) seen 2/3"),
        ({"detail": "Own Goal"}, "12' 1–0 Mohamed Salah (og) seen 2/3"),
        ({"player": {"id": None, "name": None}}, "12' 1–0 scorer unknown seen 2/3"),
    ],
)
def test_a_goal_is_one_line(fields: dict[str, Any], line: str) -> None:
    assert printed(goal_line(event(**fields), 3)).strip() == line


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({}, ["1380101 Liverpool 1–0 Manchester City  1H 30' · active", "12' 1–0 Mohamed Salah seen 2/3"]),
        ({"goals": {"home": None, "away": None}, "events": []}, ["Liverpool – Manchester City"]),
        ({"score": {"penalty": {"home": 4, "away": 2}}}, ["1–0 (4–2 pens)"]),
        (
            {"fixture": {"date": AT, "status": {"short": "NS", "elapsed": None, "extra": None}}},
            ["NS 2026-08-22 14:12:30"],
        ),
        ({"fixture": {"date": AT, "status": {"short": "SUSP", "elapsed": None, "extra": None}}}, ["SUSP"]),
        ({"fixture": {"date": AT, "status": {"short": "2H", "elapsed": 90, "extra": 4}}}, ["2H 90+4'"]),
        ({"error": {"class": "FeedSchemaError", "message": "x", "at": AT}}, ["last poll failed: FeedSchemaError"]),
    ],
)
def test_fixtures_are_listed_with_their_goals(fields: dict[str, Any], parts: list[str]) -> None:
    text = printed(fixtures_view([document(**fields)], 3))
    for part in parts:
        assert part in text


@pytest.mark.parametrize(
    ("fields", "chip"),
    [
        ({}, "12'\xa0Mohamed\xa0Salah\xa02/3"),
        ({"_debounce_complete": True, "_searches": [search()]}, "12'\xa0Mohamed\xa0Salah\xa01/10"),
        (
            {"_debounce_complete": True, "_download_complete": True, "_s3_videos": [clip(), clip()]},
            "12'\xa0Mohamed\xa0Salah\xa0✓2",
        ),
        ({"_removed": True}, "12'\xa0Mohamed\xa0Salah\xa0✗"),
        ({"player": {"id": 1, "name": "H. Kane"}}, "12'\xa0Kane\xa02/3"),
        ({"player": {"id": None, "name": None}}, "12'\xa0?\xa02/3"),
    ],
)
def test_the_matchday_table_shows_each_goal(fields: dict[str, Any], chip: str) -> None:
    text = printed(matchday_table([document(events=[event(**fields)])], 3, 10))
    assert chip in text
    assert "Liverpool – Manchester City" in text


def test_fixture_view_shows_league_clock_and_goals() -> None:
    error = {"class": "FeedUnavailable", "message": "did not answer", "at": AT}
    assert printed(fixture_view(document(error=error), 3)).splitlines() == [
        "Liverpool 1–0 Manchester City",
        "Premier League, England, 1",
        "1H 30' · kick-off 2026-08-22 14:12:30 · active · last poll 2026-08-22 14:12:30",
        "last poll failed: FeedUnavailable: did not answer (2026-08-22 14:12:30)",
        "   12' 1–0 Mohamed Salah seen 2/3",
        "       1_40_306_Goal_1",
    ]
    assert printed(fixture_view(document(events=[], last_poll_at=None), 3)).splitlines()[-1] == "no goals"


def test_goal_view_shows_scores_and_searches() -> None:
    changed = {"player": {"from": None, "to": "Mohamed Salah"}, "minute": {"from": "11'", "to": "12'"}}
    withdrawn = {"_removed": True, "_removed_at": AT, "_removed_reason": "the feed no longer lists it (VAR)"}
    page = goal(_stable_at=AT, _attributions=[{"at": AT, "poll_id": "p", "changed": changed}], **withdrawn)
    assert printed(goal_view(page, 3, 10)).splitlines() == [
        "12' Mohamed Salah (Normal Goal) for Liverpool: 0–0 → 1–0",
        "Liverpool – Manchester City, Premier League, 2026-08-22 14:12:30",
        "withdrawn · first seen 2026-08-22 14:12:30 · stable 2026-08-22 14:12:30"
        " · withdrawn 2026-08-22 14:12:30: the feed no longer lists it (VAR)",
        "  2026-08-22 14:12:30 player None → Mohamed Salah, minute 11' → 12'",
    ]


def test_goal_view_explains_every_post() -> None:
    page = goal(
        _debounce_complete=True,
        _stable_at=AT,
        _monitor_complete=True,
        _download_complete=True,
        _search_query="Salah (Liverpool OR LFC)",
        _searches=[search(1, bluesky={"found": 4}, x=FAILED), search(2, bluesky={"found": 0}, x=FAILED)],
        _discovered_videos=[
            candidate("kept"),
            candidate("duplicate"),
            candidate("lost", "wrong minute", loss_detail="the clock says 67'"),
        ],
        _s3_videos=[clip()],
        _proofs={clip()["md5"]: {"at": 1.5, "readings": [READING | {"at": 0.5}, READING]}},
    )
    text = printed(goal_view(page, 3, 10))
    for part in (
        "2 searches for Salah (Liverpool OR LFC)",
        "3 found · 1 duplicate · 1 wrong minute · 1 verified",
        "x failed 2 of 2 times: SourceLoggedOut: log in again",
        "✓ 12'      3   6.2 s  1280×720  2.4 MB  0123456789ab  11:52 LIV 0-0 MCI at 1.5 s",
        "duplicate of cccccccccccc",
        "wrong minute the clock says 67'",
    ):
        assert part in text
    assert "No clip" not in text


BEGUN = {"_debounce_complete": True, "_monitor_complete": True}
DONE = BEGUN | {"_download_complete": True}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, ""),
        (BEGUN, "No clip yet: the search is running."),
        (DONE | {"_s3_videos": [clip()]}, ""),
        (DONE, "No clip: 0 searches, and no source was enabled."),
        (DONE | {"_searches": [search(1, x=FAILED)]}, "No clip: no source answered in 1 search."),
        (
            DONE | {"_searches": [search(1), search(2, x=FAILED)]},
            "No clip: 2 searches found no posts.",
        ),
        (
            DONE
            | {
                "_searches": [search()],
                "_discovered_videos": [
                    candidate("lost", "gone"),
                    candidate("lost", "gone"),
                    candidate("lost", "portrait"),
                ],
            },
            "No clip: 1 search found 3 posts; all were rejected (2 gone, 1 portrait).",
        ),
        (
            DONE | {"_removed": True, "_removed_reason": "VAR"},
            "No clips: the goal was withdrawn (VAR).",
        ),
    ],
)
def test_a_missing_clip_is_always_explained(fields: dict[str, Any], sentence: str) -> None:
    assert why_no_clip(GoalDetails.model_validate(event(**fields))) == sentence


@pytest.mark.parametrize(
    ("fields", "steps"),
    [
        ({}, ""),
        (BEGUN, "searching 0/10 · 0 found"),
        (
            BEGUN
            | {
                "_searches": [search()] * 4,
                "_discovered_videos": [
                    candidate("kept"),
                    candidate("duplicate"),
                    candidate("lost", "wrong minute"),
                    candidate("downloading"),
                    candidate("checking"),
                ],
                "_s3_videos": [clip()],
            },
            "searching 4/10 · 5 found · 1 downloading · 1 checking · 1 duplicate · 1 wrong minute · 1 verified",
        ),
        (
            BEGUN
            | {
                "_searches": [search()] * 5,
                "_search_sources": {"x": {"answered": 1, "failed": 4}, "bluesky": {"answered": 5, "failed": 0}},
            },
            "searching 5/10 (x 1/10) · 0 found",
        ),
        (
            DONE | {"_discovered_videos": [candidate("kept")], "_s3_videos": [clip(timestamp_verified=False)]},
            "1 found · 1 unverified",
        ),
        (DONE | {"_removed": True}, ""),
    ],
)
def test_progress_line_summarizes_searches_and_candidates(fields: dict[str, Any], steps: str) -> None:
    assert progress_line(GoalDetails.model_validate(event(**fields)), 10) == steps


def test_clips_are_listed_by_goal() -> None:
    names = {"home": "Liverpool", "away": "Manchester City", "player": None, "minute": 90, "extra": 3}
    assert "Liverpool – Manchester City 90+3' ?     1  ✓ 12'" in printed(clips_view([clip(**names)]))


def named(name: str) -> list[RenderableType]:
    """Everything that is printed, with this name wherever a feed gives one."""
    mine = event(player={"id": 1, "name": name}, team={"id": 40, "name": name}, _event_id=name)
    changed = [{"at": AT, "poll_id": "p", "changed": {"player": {"from": name, "to": name}}}]
    fixture = {"home": name, "away": name, "league": name, "date": AT}
    whole = document(
        teams={"home": {"id": 40, "name": name}, "away": {"id": 50, "name": name}},
        league={"name": name, "country": name, "round": name},
        error={"class": "FeedSchemaError", "message": name, "at": AT},
        events=[mine],
    )
    posts = [candidate("lost", "gone", loss_detail=name, url=name)]
    searched = {"_monitor_complete": True, "_search_query": name, "_discovered_videos": posts}
    failed = {"error": {"class": "SourceChanged", "message": name}}
    mine |= searched | {"_searches": [search(1, x=failed)]}
    listed = clip(home=name, away=name, player=name, minute=1, extra=None)
    page = mine | {"_fixture": fixture, "_attributions": changed, "_removed": True, "_removed_at": AT}
    return [
        fixtures_view([whole], 3),
        matchday_table([whole], 3, 10),
        fixture_view(whole, 3),
        goal_view(page | {"_removed_reason": name}, 3, 10),
        goal_line(mine, 3),
        clips_view([listed]),
    ]


@pytest.mark.parametrize(
    "name",
    ["[red]", "[/]", "[/red]", "[bold]FC[/bold]", "[link=http://example.invalid]", "\\", "[", "a\\[b", ":soccer:"],
)
@pytest.mark.parametrize("terminal", [False, True])
def test_markup_in_names_is_not_interpreted(name: str, terminal: bool) -> None:
    for each in named(name):
        assert name in printed(each, terminal=terminal)


@pytest.mark.parametrize(
    "attack",
    [
        "\x1b[2J",
        "\x1b]0;title\x07",
        "\x1b]8;;http://example.invalid\x1b\\",
        "\x9b31m",
        "\x9d0;title\x9c",
        "\x08\x08\x08",
        "\r",
        "\n",
        "\x0b",
        "\x0c",
        "\t",
        "\x00",
        "\x7f",
        "\x85",
        "\u2028",
        "\u2029",
        "\u202e",
        "\u202a\u202b\u202c\u202d",
        "\u2066\u2067\u2068\u2069",
        "\u200e\u200f\u061c",
        "\ud800",
    ],
)
def test_control_sequences_in_names_are_removed(attack: str) -> None:
    hostile = set(attack) - set(map(chr, range(0x20, 0x7F)))
    assert hostile
    for each, harmless in zip(named(f"A{attack}B"), named(f"A{printable(attack)}B"), strict=True):
        plain = printed(each)
        assert plain == printed(harmless)
        assert not hostile - {"\n"} & set(plain)
        assert len(plain.splitlines()) == len(printed(harmless).splitlines())
        # Only the colours are ours.
        assert printed(each, terminal=True) == printed(harmless, terminal=True)


@pytest.mark.parametrize(
    "name", ["1. FC Köln", "محمد صلاح", "ソン・フンミン", "Ħamrun Spartans", "O'Neil – Jr.", "⚽ FC"]
)
def test_names_in_any_script_are_unchanged(name: str) -> None:
    assert printable(name) == name
    for each in named(name):
        assert name in printed(each)
