"""The review page as first rendered, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

from found_footy.access.models import Role
from found_footy.library.models import ClipState, LibraryClip, SourceKind, SourceState, SourceVideo
from found_footy.library.review import Reviewer
from found_footy.media.models import SpriteSheet
from found_footy.web.api.review import claimed, facts_of, film_of, sheets_of
from found_footy.web.pages import review as shown
from tests.support.review_site import review_site
from tests.support.web_access import PAGE, log_in

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
WHO = Reviewer("token:one", "Ana", NOW)
SPRITE = SpriteSheet(8, 2, 160, 90, 10, 5, 50, Fraction(25))
PENDING, EDITED = ClipState.PENDING_REVIEW, ClipState.EDIT_PENDING


def clip(id_: int, first: int, end: int, state: ClipState = PENDING, **more: Any) -> LibraryClip:
    return LibraryClip(
        **{"id": id_, "source_id": 1, "first": first, "end": end, "state": state, "sprite": SPRITE, **more}
    )


@pytest.mark.parametrize(
    ("of", "others", "sheets"),
    [
        (clip(1, 0, 50), (), [1]),
        # Just split: the pictures of the clip before it. Just merged: those of both.
        (clip(2, 0, 20, EDITED, sprite=None), (clip(1, 0, 50, live=False),), [1]),
        (
            clip(3, 0, 100, EDITED, sprite=None),
            (clip(2, 50, 100, live=False), clip(1, 0, 50, live=False)),
            [1, 2],
        ),
        # An older generation is archived by now; neighbours and other sources have nothing to do with it.
        (clip(4, 0, 20, EDITED, sprite=None), (clip(1, 0, 50, ClipState.REVIEW_ARCHIVED, live=False),), []),
        (clip(4, 0, 20, EDITED, sprite=None), (clip(1, 20, 50, live=False),), []),
        (clip(4, 0, 20, EDITED, sprite=None), (clip(1, 0, 50, live=False, source_id=2),), []),
        (clip(4, 0, 20, ClipState.SPLICED, sprite=None), (clip(1, 0, 50, live=False),), []),
        (clip(5, 0, 20, ClipState.ARCHIVED), (), []),
    ],
)
def test_a_clip_shows_its_own_or_its_predecessors_sheets(
    of: LibraryClip, others: Sequence[LibraryClip], sheets: list[int]
) -> None:
    assert [sheet.url for sheet in sheets_of(of, others)] == [f"/c/{id_}.webp" for id_ in sheets]


@pytest.mark.parametrize(
    ("of", "film"),
    [
        (clip(1, 50, 90), ("/c/1.mp4", 0)),
        (clip(2, 50, 90, EDITED, sprite=None), ("/s/1.mp4", 50)),
        (clip(3, 50, 90, ClipState.SPLICED, sprite=None), ("/s/1.mp4", 50)),
        (clip(4, 50, 90, ClipState.ARCHIVED, sprite=None), None),
    ],
)
def test_a_clip_without_a_file_plays_from_its_source(of: LibraryClip, film: tuple[str, int] | None) -> None:
    found = film_of(of)
    assert (None if found is None else (found.url, found.first)) == film


@pytest.mark.parametrize(
    ("by", "seconds", "is_claimed"),
    [(None, None, None), ("token:one", 1, "me"), ("token:two", 1, "other"), ("token:two", 0, None)],
)
def test_a_claim_expires(by: str | None, seconds: int | None, is_claimed: str | None) -> None:
    until = None if seconds is None else NOW + timedelta(seconds=seconds)
    assert claimed(clip(1, 0, 50, claimed_by=by, claimed_until=until), WHO) == is_claimed


@pytest.mark.parametrize(
    ("facts", "shown_facts"),
    [
        ({}, {}),
        ({"home": "Liverpool", "away": "City"}, {"Match": "Liverpool – City"}),
        ({"home": "Liverpool"}, {"Match": "Liverpool"}),
        ({"minute": "90+3'", "verified": True}, {"Minute": "90+3'", "Clock": "clock verified"}),
        ({"kickoff": "2026-08-22T16:00:00+02:00"}, {"Kick-off": "22 Aug 2026, 14:00 UTC"}),
        ({"kickoff": "soon", "player": None, "score": [1, 0], "verified": 1}, {}),
    ],
)
def test_known_facts_are_shown(facts: dict[str, Any], shown_facts: dict[str, str]) -> None:
    source = SourceVideo(1, SourceKind.GOAL, SourceState.SPLICED, "A goal", facts)
    assert {fact.name: fact.value for fact in facts_of(source)} == shown_facts


def test_each_state_is_counted_once() -> None:
    counted = [state for _, states, _ in shown.count_groups({}) for state in states]
    assert sorted(counted) == sorted(ClipState)
    assert shown.count_groups({ClipState.SPLICED: 2, EDITED: 1})[1][2] == 3


def test_each_key_has_one_action() -> None:
    keys = [key for _, deeds in shown.HELP for deed in deeds for key in deed.keys]
    assert len(keys) == len(set(keys))


async def test_the_review_page_is_for_editors_and_renders_counts(database_url: str, tmp_path: Path) -> None:
    async with review_site(database_url, tmp_path) as site, httpx.AsyncClient(base_url=site.url) as web:
        filmed = await site.film((1.0, 1.0))
        nobody = await web.get("/review?clip=1", headers=PAGE)
        assert (nobody.status_code, nobody.headers["location"]) == (303, "/login?back=%2Freview%3Fclip%3D1")
        await log_in(web, await site.token("a reader", Role.READER))
        assert (await web.get("/review", headers=PAGE)).status_code == 403
        await log_in(web, await site.token("<b>Ana</b>"))
        page = await web.get("/review", headers=PAGE)
        assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
        assert '<dt>to review</dt><dd class="number">2</dd>' in page.text
        assert "<b>Ana</b>" not in page.text
        assert "<script>" not in page.text
        assert "style=" not in page.text
        # Looking takes nothing away from anybody.
        async with await site.program() as ana:
            assert (await ana.get("queue")).json()["queue"] == list(filmed.clips)
        for wrong in ("clip=0", "clip=x", f"source={2**64}"):
            assert (await web.get(f"/review?{wrong}", headers=PAGE)).status_code == 422
