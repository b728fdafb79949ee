"""Views of proofs, rejections and posts on the goal page."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from found_footy.clips.models import (
    Expectation,
    FrameReading,
    Proof,
    PublishedVideo,
    RejectionReason,
    WicketExpectation,
)
from found_footy.clips.progress import MEANINGS, RejectionCount, count_rejections, progress_line, source_progress
from found_footy.clips.verification import VerificationReason
from found_footy.fixtures.documents import ClipDocument, GoalDetails, SearchAttemptDocument, SearchCounts
from found_footy.fixtures.models import MatchMinute, Score, Side
from found_footy.media.models import RelativeBox
from found_footy.web.files import StoredFile, content_disposition
from found_footy.web.pages.goal import safe_url
from found_footy.web.pages.proof import UNVERIFIED, proof_view, reading_text

EXPECTED = Expectation(MatchMinute(23), "Liverpool", "Manchester City", Score(0, 0), Score(1, 0))


def reading(at: float = 1.0, **more: Any) -> FrameReading:
    return FrameReading(**{"at": at, "soccer": True, "screen": False, **more})


def video(verified: bool = True, reason: str | None = None, width: int = 1280, height: int = 720) -> ClipDocument:
    return ClipDocument.model_construct(timestamp_verified=verified, reason=reason, width=width, height=height)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"clock": "22:41", "teams": ("LIV", "MCI"), "score": Score(0, 0)}, "22:41 · LIV 0–0 MCI"),
        ({"clock": "45:00", "stoppage_clock": "+2:17", "added": "+4"}, "45:00 +2:17 +4"),
        ({"teams": ("LIV", "MCI")}, "LIV – MCI"),
        ({"score": Score(2, 1)}, "2–1"),
        ({}, "nothing readable"),
    ],
)
def test_readings_have_texts(more: dict[str, Any], said: str) -> None:
    assert reading_text(reading(**more)) == said


def test_the_progress_of_a_search_is_shown_per_source() -> None:
    event = GoalDetails.model_construct(
        monitor_complete=True,
        download_complete=False,
        removed=False,
        searches=[SearchAttemptDocument.model_construct()] * 4,
        search_sources={"x": SearchCounts(answered=1, failed=3), "bluesky": SearchCounts(answered=4, failed=0)},
        discovered_videos=[],
        s3_videos=[],
    )
    assert source_progress(event, 10) == {"bluesky": (4, 10), "x": (1, 10)}
    assert progress_line(event, 10) == "searching 4/10 (x 1/10) · 0 found"


@pytest.mark.parametrize("reason", [each for each in UNVERIFIED if each is not None])
def test_every_unverified_reason_has_a_text(reason: VerificationReason) -> None:
    shown = proof_view(video(False, reason), Proof(1.0, None, (reading(),), EXPECTED), 3)
    assert shown.verification == f"{UNVERIFIED[reason]}."
    assert shown.box is shown.zoom is None
    assert shown.read[0] == ("Clock", "", "23' ± 3 min")


def test_a_proof_without_names_and_scores_compares_the_clock_only() -> None:
    proof = Proof(1.0, None, (reading(clock="22:41"),), Expectation(MatchMinute(45, 2)))
    assert proof_view(video(), proof, 5).read == (("Clock", "22:41", "45+2' ± 5 min"),)


def test_warnings_of_a_frame_are_shown() -> None:
    proof = Proof(1.0, None, (reading(soccer=False, screen=True), reading(3.0)), EXPECTED)
    first, second = proof_view(video(False, VerificationReason.NO_CLOCK), proof, 3).pictures
    assert (first.warnings, first.decided) == (("no football visible", "a filmed screen"), True)
    assert (second.warnings, second.decided) == ((), False)


@pytest.mark.parametrize(
    ("box", "shape"),
    [
        (RelativeBox(0.05, 0.06, 0.13, 0.11), (1280, 720)),
        (RelativeBox(0.0, 0.0, 1.0, 1.0), (1280, 720)),
        (RelativeBox(0.97, 0.95, 1.0, 1.0), (1920, 1080)),
        (RelativeBox(-3.0, -3.0, 9.0, 9.0), (1280, 720)),
        (RelativeBox(0.9, 0.9, 0.1, 0.1), (1280, 720)),
        (RelativeBox(0.5, 0.5, 0.5, 0.5), (640, 480)),
        (RelativeBox(0.4, 0.1, 0.6, 0.2), (400, 4000)),
        (RelativeBox(0.4, 0.1, 0.6, 0.2), (4000, 40)),
    ],
)
def test_box_and_zoom_stay_inside_the_frame(box: RelativeBox, shape: tuple[int, int]) -> None:
    shown = proof_view(video(width=shape[0], height=shape[1]), Proof(1.0, box, (reading(),), EXPECTED), 3)
    height = 1000 * shape[1] / shape[0]
    for drawn in (shown.box, shown.zoom):
        assert drawn is not None
        assert 0 <= drawn.x <= drawn.x + drawn.width <= 1000.1
        assert 0 <= drawn.y <= drawn.y + drawn.height <= height + 0.1
    assert shown.zoom is not None
    assert shown.zoom.width > 0


def test_every_rejection_reason_has_a_meaning() -> None:
    assert set(MEANINGS) == set(RejectionReason)
    assert count_rejections(["gone", "too short", "gone", "of the future"]) == (
        RejectionCount("gone", 2, MEANINGS["gone"]),
        RejectionCount("of the future", 1, ""),
        RejectionCount("too short", 1, MEANINGS["too short"]),
    )


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://posts.example/1", True),
        ("http://posts.example/1?a=b#c", True),
        ("HTTPS://POSTS.EXAMPLE/", True),
        ("javascript:alert(1)", False),
        ("  javascript:alert(1)", False),
        ("data:text/html,<script>", False),
        ("file:///etc/passwd", False),
        ("//posts.example", False),
        ("https://", False),
        ("https://[half", False),
        ("https://posts.example/" + "a" * 3000, False),
        ("", False),
    ],
)
def test_only_http_urls_are_links(url: str, shown: bool) -> None:
    assert (safe_url(url) is not None) is shown


@pytest.mark.parametrize(
    ("player", "home", "name", "plain"),
    [
        ("Mohamed Salah", "Liverpool", "Mohamed Salah 23 Liverpool B", "Mohamed Salah 23 Liverpool B"),
        ("Darwin Núñez", "Köln", "Darwin Núñez 23 Köln B", "Darwin Nunez 23 Koln B"),
        (None, "A", "Goal 23 A B", "Goal 23 A B"),
        ('"; filename="x.exe', "../..", "filenamexexe 23 B", "filenamexexe 23 B"),
        ("a\r\nSet-Cookie: b", "A", "a Set-Cookie b 23 A B", "a Set-Cookie b 23 A B"),
        ("محمد", "🔥", "محمد 23 B", "23 B"),
        ("x" * 500, "A", "x" * 80, "x" * 80),
    ],
)
def test_file_names_are_valid_on_every_system(player: str | None, home: str, name: str, plain: str) -> None:
    link = PublishedVideo("0" * 16, "e", 1, "0" * 32, 1, 1.0, 0.0, None, player, MatchMinute(23), home, "B")
    file = StoredFile(link.key, link.md5, "video/mp4", link.file_name)
    expected = f"attachment; filename=\"{plain}.mp4\"; filename*=UTF-8''{quote(name)}.mp4"
    assert content_disposition(file, download=True) == expected


def test_a_wicket_proof_compares_over_side_and_wickets() -> None:
    wicket = WicketExpectation(Side.AWAY, 2, 3, "IND", "AUS")
    expected = Expectation(MatchMinute(12, 3, 2), "India", "Australia", wicket=wicket)
    read = reading(clock="12.3", score=Score(95, 3), batting="AUS", soccer=False)
    shown = proof_view(video(), Proof(1.0, None, (read,), expected), 3)
    assert (
        shown.verification == "The broadcast’s scoreboard shows 12.3 · AUS 95–3, which matches the wicket at 12.3 ov."
    )
    assert shown.read == (
        ("Overs", "12.3", "12.3 ov ± 1 over"),
        ("Batting", "AUS", "Australia"),
        ("Score", "95–3", "2 or 3 wickets"),
    )
    assert shown.pictures[0].warnings == ("no cricket visible",)
