"""Takedowns: a clip, a goal's clips or an account disappear everywhere at once, and their links give the reason."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from found_footy.access.models import Role
from found_footy.clips.activities import UploadActivities
from found_footy.clips.models import PoolRef, SettleRequest
from found_footy.clips.takedown import (
    CoveredVideo,
    TakedownKind,
    TakedownOrder,
    TakedownScope,
    covered_videos,
    normalize_order,
)
from found_footy.errors import BadRequest, ObjectStoreUnavailable
from found_footy.library.store import LibraryStore
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.web_access import PAGE, bearer, csrf_in, log_in, make_token
from tests.support.web_world import HAALAND, NOW, SALAH, Clip, clip_bytes, post_of
from tests.web.test_video_files import ids

REASON = "copyright claim 17"


@pytest.fixture
async def api(web: httpx.AsyncClient, small_world: SampleDataCopy) -> httpx.AsyncClient:
    web.headers.update(bearer(await make_token(small_world.store, Role.OPERATOR, name="desk")))
    return web


async def take_down(api: httpx.AsyncClient, scope: str, target: str, kind: str = "remove", **more: str) -> Any:
    given = {"kind": kind, "scope": scope, "target": target, "reason": REASON, **more}
    answer = await api.post("/admin/takedowns", json=given)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def keys(world: SampleDataCopy, prefix: str = "") -> list[str]:
    return sorted([each.key async for each in world.world.objects.list(prefix)])


async def topics(world: SampleDataCopy) -> list[str]:
    rows = await world.store.database.fetch(b"select topic from outbox order by id")
    return [row["topic"] for row in rows]


async def test_a_removed_clip_is_gone_everywhere_at_once(
    api: httpx.AsyncClient, small_world: SampleDataCopy, server: tuple[str, WebServices]
) -> None:
    best, second, *_ = await ids(small_world)
    (late,) = await ids(small_world, state="replaced")
    assert (await api.get(f"/v/{best}/poster.jpg")).status_code in (200, 503), "cached files are withdrawn too"
    await LibraryStore(small_world.store.database).import_published_clips(NOW, 10)
    sources = await small_world.store.database.fetch(b"select id from library_sources order by id")
    page = (await api.get(f"/g/{SALAH}", headers=PAGE)).text
    assert best in page
    assert f"/takedowns?scope=clip&amp;target={best}" in page, "operators find the action where they look"

    done = await take_down(api, "clip", f"https://footy.example/v/{late}?download=1")
    assert (done["clips"], done["library"], done["by"], done["reason"]) == (2, 1, "desk", REASON)
    assert done["files_done_at"] is not None

    for link in (best, late):
        for path in (f"/v/{link}", f"/v/{link}/poster.jpg", f"/api/v1/videos/{link}"):
            answer = await api.get(path)
            assert (answer.status_code, REASON in answer.text) == (410, True), path
    assert (await api.get(f"/v/{best}", headers={"if-none-match": "*"})).status_code == 410, "caches revalidate"
    assert (await api.get(f"/v/{best}", headers=PAGE)).text.count(REASON) == 1
    for path in (f"/g/{SALAH}", "/feeds/all.atom", "/api/v1/videos", "/api/v1/search?kind=clips", "/"):
        text = (await api.get(path, headers=PAGE if path.startswith(("/g", "/?")) else {})).text
        assert best not in text, path
    shown = (await api.get(f"/api/v1/events/{SALAH}")).json()
    assert next((clip["id"], clip["rank"]) for clip in shown["_s3_videos"]) == (second, 1), "the others move up"
    assert {post["loss"] for post in shown["_discovered_videos"] if post["state"] == "lost"} == {"taken down"}
    rows = await small_world.store.database.fetch(b"select md5 from videos where rejection_reason = 'taken down'")
    assert len(rows) == 2
    assert not [key for key in await keys(small_world) if any(row["md5"] in key for row in rows)]
    assert (await topics(small_world)).count("clip.taken_down") == 2
    for source in sources[:1]:
        gone = await api.get(f"/s/{source['id']}.mp4")
        assert (gone.status_code, REASON in gone.text) == (410, True)
    assert await LibraryStore(small_world.store.database).import_published_clips(NOW, 10) == 0
    listed = (await api.get("/admin/takedowns")).json()["items"]
    assert [each["id"] for each in listed] == [done["id"]]


async def test_a_hidden_clip_returns_at_its_old_link_when_the_takedown_is_lifted(
    api: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    before = (await api.get(f"/api/v1/events/{SALAH}")).json()["_s3_videos"]
    best, (late,) = before[0]["id"], await ids(small_world, state="replaced")
    film = (await api.get(f"/v/{best}")).content
    hidden = await take_down(api, "clip", best, "hide")
    assert (await api.get(f"/v/{best}")).status_code == 410
    stored = await keys(small_world)
    assert [key for key in stored if before[0]["md5"] in key] == [f"hidden/7001/{SALAH}/{before[0]['md5']}.mp4"]

    lifted = await api.post(f"/admin/takedowns/{hidden['id']}/lift")
    assert (lifted.status_code, lifted.json()["lifted_by"]) == (200, "desk")
    assert (await api.get(f"/v/{best}")).content == film
    assert (await api.get(f"/v/{late}")).headers["location"].startswith(f"/v/{best}")
    after = (await api.get(f"/api/v1/events/{SALAH}")).json()["_s3_videos"]
    assert [(clip["id"], clip["rank"], clip["popularity"]) for clip in after] == [
        (clip["id"], clip["rank"], clip["popularity"]) for clip in before
    ]
    assert await keys(small_world, "hidden") == []
    assert (await api.post(f"/admin/takedowns/{hidden['id']}/lift")).status_code == 400


async def test_lifting_one_of_two_takedowns_shows_nothing(api: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    best = (await ids(small_world))[0]
    clip = await take_down(api, "clip", best, "hide")
    goal = await take_down(api, "goal", SALAH, "hide")
    await api.post(f"/admin/takedowns/{clip['id']}/lift")
    assert (await api.get(f"/v/{best}")).status_code == 410
    assert not [key for key in await keys(small_world, "7001") if key.startswith(f"7001/{SALAH}/")]
    await api.post(f"/admin/takedowns/{goal['id']}/lift")
    assert (await api.get(f"/v/{best}")).status_code == 200


async def test_a_goal_that_is_taken_down_gets_no_further_clips(
    api: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    await take_down(api, "goal", HAALAND)
    (pen,) = await ids(small_world, HAALAND)
    assert (await api.get(f"/v/{pen}")).status_code == 410
    await small_world.world.clip(HAALAND, Clip("another", clip_bytes(9)), attempt=3)
    await uploaded(small_world, HAALAND)
    assert (await api.get(f"/api/v1/events/{HAALAND}")).json()["_s3_videos"] == []


async def test_a_scene_that_was_taken_down_is_not_published_again(
    api: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    """Neither the same file at another goal, nor another copy at the same goal."""
    best = (await ids(small_world))[0]
    await take_down(api, "clip", best)
    await small_world.world.clip(HAALAND, Clip("other name", clip_bytes(1)), attempt=3)
    await uploaded(small_world, HAALAND)
    await small_world.world.clip(SALAH, Clip("best", clip_bytes(7)), attempt=3)  # other bytes, the same pictures
    await uploaded(small_world, SALAH)
    found = await small_world.store.database.fetch(
        b"select event_id from videos where rejection_reason = 'taken down' and published_at is null"
        b" and md5 not in (select md5 from takedown_videos where event_id = videos.event_id) order by 1"
    )
    assert [row["event_id"] for row in found] == sorted([HAALAND, SALAH])


async def test_everything_of_an_account_is_withdrawn_and_stays_away(
    api: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    """The posts of the small world are all by `a fan`."""
    done = await take_down(api, "account", "@A Fan", source="bluesky")
    assert done["posts"] > 4
    assert (await api.get("/api/v1/videos")).json()["items"] == []
    goal = (await api.get(f"/api/v1/events/{SALAH}")).json()
    assert {(post["author"], post["text"], post["url"]) for post in goal["_discovered_videos"]} == {("", "", "")}
    assert "a fan" not in (await api.get(f"/g/{SALAH}", headers=PAGE)).text
    await small_world.world.search(HAALAND, 3, [post_of("new")])
    late = await small_world.store.database.fetch(
        b"select author, rejection_reason from candidates where key like '%%new'"
    )
    assert [(row["author"], row["rejection_reason"]) for row in late] == [("", "taken down")]


async def test_a_hidden_account_comes_back_with_its_posts(api: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    before = (await api.get(f"/api/v1/events/{SALAH}")).json()
    done = await take_down(api, "account", "a fan", "hide")
    await api.post(f"/admin/takedowns/{done['id']}/lift")
    after = (await api.get(f"/api/v1/events/{SALAH}")).json()
    assert after["_s3_videos"] == before["_s3_videos"]
    assert [post["text"] for post in after["_discovered_videos"]] == [
        post["text"] for post in before["_discovered_videos"]
    ]


async def test_without_the_object_store_content_is_withdrawn_and_its_files_follow(
    server: tuple[str, WebServices], small_world: SampleDataCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    takedowns = server[1].takedowns
    best = (await ids(small_world))[0]
    order = TakedownOrder(TakedownKind.REMOVE, TakedownScope.CLIP, best, REASON)
    with monkeypatch.context() as patch:

        async def unavailable(*_: object) -> None:
            raise ObjectStoreUnavailable("no route to the store")

        patch.setattr(server[1].files, "delete", unavailable)
        done = await takedowns.take_down(order, "cli")
        assert done.files_done_at is None
        async with httpx.AsyncClient(base_url=server[0]) as web:
            assert (await web.get(f"/v/{best}")).status_code == 410
    queued = await small_world.store.database.fetch(b"select key from library_deletions where key like '7001/%%'")
    assert queued, "workers delete them even if this process never comes back"
    assert await takedowns.finish() == 1
    assert (await takedowns.one(done.id)).files_done_at is not None


async def test_the_page_takes_down_and_lifts(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    await log_in(web, await make_token(small_world.store, Role.OPERATOR, name="desk"))
    web.headers.update(PAGE)
    best = (await ids(small_world))[0]
    text = (await web.get(f"/takedowns?scope=clip&target={best}")).text
    assert f'value="{best}"' in text
    form = {"csrf": csrf_in(text), "scope": "clip", "target": best, "kind": "hide"}
    wrong = await web.post("/takedowns", data={**form, "reason": " "})
    assert (wrong.status_code, "needs a reason" in wrong.text) == (400, True)
    done = await web.post("/takedowns", data={**form, "reason": "<b>claim</b>"})
    assert (done.status_code, done.headers["location"]) == (303, "/takedowns?done=taken-down")
    listed = (await web.get("/takedowns")).text
    assert "&lt;b&gt;claim&lt;/b&gt;" in listed
    assert (await web.get(f"/v/{best}")).status_code == 410
    await web.post("/takedowns", data={"csrf": form["csrf"], "lift": "1"})
    assert (await web.get(f"/v/{best}")).status_code == 200


async def uploaded(world: SampleDataCopy, event_id: str) -> None:
    """What the uploader does with the hashed files of a goal."""
    upload = UploadActivities(world.world.clips, world.world.objects, None)  # type: ignore[arg-type]
    plans = [await upload.deduplicate_pool(PoolRef(event_id, pool)) for pool in ("verified", "unverified")]
    await upload.settle_event(SettleRequest(event_id, plans, NOW))


# --- rules


@pytest.mark.parametrize(
    ("scope", "given", "target"),
    [
        ("clip", "0123456789abcdef", "0123456789abcdef"),
        ("clip", "https://x.example/v/0123456789abcdef/poster.jpg?w=320", "0123456789abcdef"),
        ("goal", "/g/7001_40_306_Goal_1#copies", "7001_40_306_Goal_1"),
        ("account", " @SomeBody ", "somebody"),
        ("account", "/u/Some_Body", "some_body"),
    ],
)
def test_copied_targets_are_accepted(scope: str, given: str, target: str) -> None:
    order = TakedownOrder(TakedownKind.HIDE, TakedownScope(scope), given, " a \n b ")
    assert (normalize_order(order).target, normalize_order(order).reason) == (target, "a b")


@pytest.mark.parametrize(
    ("scope", "target", "reason", "source"),
    [
        ("clip", "clip 1", "r", None),
        ("goal", "a goal?", "r", None),
        ("account", "@", "r", None),
        ("clip", "0123456789abcdef", "", None),
        ("clip", "0123456789abcdef", "r" * 301, None),
        ("clip", "0123456789abcdef", "r", "x"),
    ],
)
def test_a_takedown_without_target_or_reason_is_refused(
    scope: str, target: str, reason: str, source: str | None
) -> None:
    with pytest.raises(BadRequest):
        normalize_order(TakedownOrder(TakedownKind.HIDE, TakedownScope(scope), target, reason, source))


@pytest.mark.parametrize(
    ("scope", "chosen", "found"),
    [
        ("clip", "loser", {"winner", "loser", "other loser", "elsewhere"}),
        ("clip", "winner", {"winner", "loser", "other loser", "elsewhere"}),
        ("account", "loser", {"loser", "other loser"}),
        ("account", "winner", {"winner", "loser", "other loser", "elsewhere"}),
        ("goal", "winner", {"winner", "loser", "other loser"}),
        ("clip", "unrelated", {"unrelated"}),
    ],
)
def test_a_takedown_covers_what_the_link_shows(scope: str, chosen: str, found: set[str]) -> None:
    videos = {
        "winner": CoveredVideo("a", "w"),
        "loser": CoveredVideo("a", "l", "w"),
        "other loser": CoveredVideo("a", "o", "l"),
        "elsewhere": CoveredVideo("b", "w"),
        "unrelated": CoveredVideo("a", "u"),
    }
    names = {(each.event_id, each.md5): name for name, each in videos.items()}
    one = next(key for key, name in names.items() if name == chosen)
    result = {names[each] for each in covered_videos(list(videos.values()), [one], TakedownScope(scope))}
    assert result == found
