"""`/api/v1/review` over HTTP: claims, actions, undo, refusals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.library_world import CutSource
from tests.support.review_site import ReviewSite, review_site

PENDING = "pending_review"
BEFORE = [(0, 25, PENDING), (25, 50, PENDING), (50, 75, PENDING), (75, 100, PENDING)]


@pytest.fixture
async def site(database_url: str, tmp_path: Path) -> AsyncIterator[ReviewSite]:
    async with review_site(database_url, tmp_path) as opened:
        yield opened


@pytest.fixture
async def filmed(site: ReviewSite) -> CutSource:
    return await site.film((1.0,) * 4)


@pytest.fixture
async def ana(site: ReviewSite) -> AsyncIterator[httpx.AsyncClient]:
    async with await site.program("Ana") as client:
        yield client


@pytest.fixture
async def ben(site: ReviewSite) -> AsyncIterator[httpx.AsyncClient]:
    async with await site.program("Ben") as client:
        yield client


async def queue(who: httpx.AsyncClient, most: int = 2) -> list[int]:
    answer = await who.get("queue", params={"most": most})
    assert answer.status_code == 200, answer.text
    found: list[int] = answer.json()["queue"]
    return found


async def act(who: httpx.AsyncClient, status: int = 200, **wish: Any) -> Any:
    answer = await who.post("actions", json=wish)
    assert answer.status_code == status, answer.text
    return answer.json()


async def test_no_clip_is_claimed_by_two_reviewers(
    site: ReviewSite, filmed: CutSource, ana: httpx.AsyncClient, ben: httpx.AsyncClient
) -> None:
    one, two, three, four = filmed.clips
    assert await queue(ana) == [one, two]
    assert await queue(ben) == [three, four]
    assert await queue(ana) == [one, two], "asking again keeps them"
    assert await queue(ben, 4) == [three, four], "there are no others"
    assert (await ana.post("release")).status_code == 204
    assert await queue(ben, 4) == [one, two, three, four]
    site.ahead = timedelta(seconds=121)
    assert await queue(ana, 4) == [one, two, three, four], "whoever gives no sign of life loses them"


async def test_two_windows_of_one_token_are_two_reviewers(filmed: CutSource, ana: httpx.AsyncClient) -> None:
    assert await queue(ana) == list(filmed.clips[:2])
    ana.headers["x-review-window"] = "two"
    assert await queue(ana) == list(filmed.clips[2:])


async def test_claims_are_released_by_their_holder_only(
    filmed: CutSource, ana: httpx.AsyncClient, ben: httpx.AsyncClient
) -> None:
    assert await queue(ana, 4) == list(filmed.clips)
    await ben.post("release")
    assert await queue(ben, 4) == []


async def test_a_snapshot_has_everything_the_page_shows(filmed: CutSource, ana: httpx.AsyncClient) -> None:
    look = (await ana.get("queue", params={"most": 1})).json()
    first = look["clips"][0]
    assert [clip["id"] for clip in look["clips"]] == list(filmed.clips)
    assert (first["claimed"], look["clips"][1]["claimed"]) == ("me", None)
    assert first["film"] == {"url": f"/c/{first['id']}.mp4", "first": 0}
    assert [sheet["url"] for sheet in first["sheets"]] == [f"/c/{first['id']}.webp"]
    (source,) = look["sources"]
    assert (source["rate"], source["frames"]) == (25.0, 100)
    assert {"name": "Scorer", "value": "Mohamed Salah"} in source["facts"]
    assert look["counts"][PENDING] == 4


@pytest.mark.parametrize(
    ("kind", "after"),
    [("approve", "review_approved"), ("skip", "review_skipped"), ("archive", "review_archived")],
)
async def test_a_decision_is_immediate_and_undoable(
    site: ReviewSite, filmed: CutSource, ana: httpx.AsyncClient, kind: str, after: str
) -> None:
    rows = await site.library.clips_of(filmed.source_id)
    done = await act(ana, kind=kind, clips=[filmed.clips[0], filmed.clips[2]])
    assert [state for _, _, state in await site.tiles(filmed)] == [after, PENDING, after, PENDING]
    assert (done["action"]["by"], done["action"]["mine"], done["action"]["kind"]) == ("Ana", True, kind)
    undone = (await ana.post("undo", json={})).json()
    assert undone["action"]["undone_at"] is not None
    # Whoever takes something back has it before them again.
    free = [
        replace(clip, claimed_by=None, claimed_until=None) for clip in await site.library.clips_of(filmed.source_id)
    ]
    assert free == rows


async def test_a_split_shows_its_halves_with_the_previous_sheet(
    site: ReviewSite, filmed: CutSource, ana: httpx.AsyncClient
) -> None:
    two = filmed.clips[1]
    done = await act(ana, kind="split", clips=[two], at=31)
    halves = [clip for clip in done["look"]["clips"] if clip["id"] in done["action"]["made"]]
    assert [(half["first"], half["end"], half["state"]) for half in halves] == [
        (25, 31, "edit_pending"),
        (31, 50, "edit_pending"),
    ]
    for half in halves:
        assert half["film"] == {"url": f"/s/{filmed.source_id}.mp4", "first": half["first"]}
        assert [(sheet["url"], sheet["first"]) for sheet in half["sheets"]] == [(f"/c/{two}.webp", 25)]
        assert half["settles_at"] is not None
    assert (await ana.post("undo", json={"action": done["action"]["id"]})).status_code == 200
    assert await site.tiles(filmed) == BEFORE


async def test_a_merged_clip_has_the_sheets_of_both_parts(
    site: ReviewSite, filmed: CutSource, ana: httpx.AsyncClient
) -> None:
    one, two, three, _ = filmed.clips
    done = await act(ana, kind="merge", clips=[three], **{"with": two})
    (made,) = [clip for clip in done["look"]["clips"] if clip["id"] in done["action"]["made"]]
    assert [sheet["url"] for sheet in made["sheets"]] == [f"/c/{two}.webp", f"/c/{three}.webp"]
    assert [first for first, _, _ in await site.tiles(filmed)] == [0, 25, 75]
    refused = await act(ana, 409, kind="merge", clips=[made["id"]], **{"with": one})
    assert "cannot edit clip" in refused["error"]["message"]


async def test_grouped_clips_are_both_approved(site: ReviewSite, filmed: CutSource, ana: httpx.AsyncClient) -> None:
    one, two, *_ = filmed.clips
    done = await act(ana, kind="group", clips=[two], **{"with": one})
    grouped = {clip["id"]: clip["grouped_with"] for clip in done["look"]["clips"]}
    assert (grouped[two], grouped[one]) == (one, None)
    assert [state for _, _, state in await site.tiles(filmed)][:2] == ["review_approved"] * 2


async def test_impossible_actions_are_refused_and_change_nothing(
    site: ReviewSite, filmed: CutSource, ana: httpx.AsyncClient, ben: httpx.AsyncClient
) -> None:
    one, two, three, four = filmed.clips
    await queue(ben, 1)
    cases: list[tuple[int, str, dict[str, Any]]] = [
        (409, "choose a frame from", {"kind": "split", "clips": [two], "at": 25}),
        (409, "choose a frame from", {"kind": "split", "clips": [two], "at": 50}),
        (409, "not adjacent", {"kind": "merge", "clips": [two], "with": four}),
        (409, "another reviewer", {"kind": "merge", "clips": [two], "with": one}),
        (409, "another reviewer", {"kind": "approve", "clips": [three, one]}),
        (409, "given twice", {"kind": "approve", "clips": [two, two]}),
        (409, "with itself", {"kind": "group", "clips": [two], "with": two}),
        (404, "clip 999999 not found", {"kind": "approve", "clips": [999999]}),
        (400, "needs 'with'", {"kind": "merge", "clips": [two]}),
        (400, "does not take 'at'", {"kind": "approve", "clips": [two], "at": 30}),
        (400, "takes one clip", {"kind": "split", "clips": [two, three], "at": 30}),
        (422, "clips", {"kind": "approve", "clips": []}),
        (422, "clips", {"kind": "approve", "clips": [2**63]}),
        (422, "clips", {"kind": "approve", "clips": [1] * 501}),
        (422, "at", {"kind": "split", "clips": [two], "at": -1}),
        (422, "kind", {"kind": "explode", "clips": [two]}),
        (422, "more", {"kind": "approve", "clips": [two], "more": 1}),
    ]
    for status, words, wish in cases:
        refused = await act(ana, status, **wish)
        assert words in refused["error"]["message"], wish
    assert await site.tiles(filmed) == BEFORE
    assert (await ana.get("actions")).json()["items"] == []


async def test_of_two_concurrent_splits_one_is_refused(
    site: ReviewSite, filmed: CutSource, ana: httpx.AsyncClient, ben: httpx.AsyncClient
) -> None:
    two = filmed.clips[1]
    answers = await asyncio.gather(
        *(who.post("actions", json={"kind": "split", "clips": [two], "at": at}) for who, at in ((ana, 30), (ben, 40)))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    (refused,) = [answer.json() for answer in answers if answer.status_code == 409]
    assert refused["error"]["class"] == "EditRefused"
    assert "was split or merged" in refused["error"]["message"]
    assert len(await site.tiles(filmed)) == 5


async def test_a_late_or_repeated_undo_is_refused(site: ReviewSite, filmed: CutSource, ana: httpx.AsyncClient) -> None:
    assert "nothing to undo" in (await ana.post("undo", json={})).json()["error"]["message"]
    action = (await act(ana, kind="archive", clips=[filmed.clips[0]]))["action"]["id"]
    site.ahead = timedelta(seconds=61)
    late = await ana.post("undo", json={"action": action})
    assert (late.status_code, "has passed" in late.json()["error"]["message"]) == (409, True)
    again = (await act(ana, kind="skip", clips=[filmed.clips[1]]))["action"]["id"]
    assert (await ana.post("undo", json={"action": again})).status_code == 200
    assert "already undone" in (await ana.post("undo", json={"action": again})).json()["error"]["message"]
    assert (await ana.post("undo", json={"action": 999999})).status_code == 404


async def test_the_response_to_an_action_includes_the_next_clips(
    filmed: CutSource, ana: httpx.AsyncClient, ben: httpx.AsyncClient
) -> None:
    one, two, three, four = filmed.clips
    assert await queue(ana) == [one, two]
    done = await act(ana, kind="approve", clips=[one], most=2)
    assert done["look"]["queue"] == [two, three]
    assert [clip["id"] for clip in done["look"]["clips"] if clip["claimed"] == "me"] == [two, three]
    back = (await ana.post("undo", json={"most": 4})).json()
    assert back["look"]["queue"] == [one, two, three, four]
    assert await queue(ben) == []
    await act(ana, 422, kind="approve", clips=[one], most=51)


async def test_recent_actions_are_visible_to_all_editors(
    filmed: CutSource, ana: httpx.AsyncClient, ben: httpx.AsyncClient
) -> None:
    first = (await act(ana, kind="approve", clips=[filmed.clips[0]]))["action"]["id"]
    await act(ben, kind="skip", clips=[filmed.clips[1]])
    told = (await ben.get("actions")).json()
    assert [(each["by"], each["kind"], each["mine"]) for each in told["items"]] == [
        ("Ana", "approve", False),
        ("Ben", "skip", True),
    ]
    assert told["counts"]["review_skipped"] == 1
    assert [each["by"] for each in (await ben.get("actions", params={"since": first})).json()["items"]] == ["Ben"]
    assert [each["by"] for each in (await ben.get("actions", params={"most": 1})).json()["items"]] == ["Ben"]


async def test_verdicts_on_copies_are_stored(
    site: ReviewSite, filmed: CutSource, ana: httpx.AsyncClient, ben: httpx.AsyncClient
) -> None:
    one, two, *_ = filmed.clips
    await site.library.save_duplicates(one, [two])

    async def said(of: int) -> list[tuple[int, bool | None, str | None]]:
        look = (await ben.get(f"clips/{of}")).json()
        return [(each["clip"]["id"], each["same"], each["said_by"]) for each in look["copies"].get(str(of), [])]

    assert (await said(one), await said(two)) == ([(two, None, None)], [(one, None, None)])
    assert (await ana.post("verdicts", json={"one": two, "other": one, "same": False})).status_code == 204
    assert (await said(one), await said(two)) == ([(two, False, "Ana")], [(one, False, "Ana")])
    assert (await ben.post("verdicts", json={"one": one, "other": two, "same": True})).status_code == 204
    assert await said(two) == [(one, True, "Ben")]
    assert (await ben.post("verdicts", json={"one": one, "other": one, "same": True})).status_code == 409
    assert (await ben.post("verdicts", json={"one": one, "other": 999999, "same": True})).status_code == 404


async def test_an_invalid_window_name_is_rejected(ana: httpx.AsyncClient) -> None:
    for window in ("", "a b", "x" * 41, "ü", "a:b"):
        answer = await ana.get("queue", headers={b"x-review-window": window.encode()})
        assert answer.status_code == 422, window


async def test_untrusted_texts_are_cleaned_and_truncated(site: ReviewSite, ana: httpx.AsyncClient) -> None:
    facts = {"player": "\u202eevil\u202c" * 500, "kickoff": "nonsense", "home": {"not": "text"}, "verified": "maybe"}
    await site.film((1.0, 1.0), title="<b>\u202etitle</b>" + "x" * 1000, facts=facts)
    (source,) = (await ana.get("queue")).json()["sources"]
    assert len(source["title"]) <= 300
    assert all(len(fact["value"]) <= 200 and "\u202e" not in fact["value"] for fact in source["facts"])
    assert [fact["name"] for fact in source["facts"]] == ["Scorer", "Submitted by"]


async def test_a_split_clip_is_replaced_by_its_parts(filmed: CutSource, ana: httpx.AsyncClient) -> None:
    await act(ana, kind="split", clips=[filmed.clips[0]], at=10)
    look = (await ana.get(f"clips/{filmed.clips[0]}")).json()
    assert [clip["first"] for clip in look["clips"]] == [0, 10, 25, 50, 75]
    assert (await ana.get("clips/999999")).status_code == 404
