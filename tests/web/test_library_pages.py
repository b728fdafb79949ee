"""Library pages: content by role, and their forms."""

from __future__ import annotations

import re
from datetime import timedelta
from io import StringIO

import httpx
import pytest
from rich.console import Console

from found_footy.access.models import csrf_token
from found_footy.cli.library import source_view
from found_footy.library import views
from found_footy.library.models import SourceKind, Submission
from found_footy.library.review import ActionKind
from found_footy.library.stages import find_stage
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.library_pages import MATCH, WHO, Library, filled_library
from tests.support.library_rows import pending
from tests.support.web_access import PAGE, log_in
from tests.support.web_world import HOSTILE, NOW


@pytest.fixture
async def library(server: tuple[str, WebServices], web: httpx.AsyncClient, small_world: SampleDataCopy) -> Library:
    return await filled_library(server[1], web, small_world)


async def page(library: Library, path: str) -> str:
    answer = await library.web.get(path, headers=PAGE)
    assert answer.status_code == 200, answer.text
    return answer.text


async def send(library: Library, path: str, **form: str) -> httpx.Response:
    """As somebody who is logged in."""
    mark = csrf_token(bytes.fromhex(library.web.cookies["footy_session"]))
    return await library.web.post(path, data={"csrf": mark, **form}, headers=PAGE)


async def failed_source(library: Library, title: str = "Gone", kind: str = "CandidateRejected") -> int:
    store = library.services.library.store
    what = Submission(SourceKind.URL, title, {}, url="https://films.example/a?key=secret", by="Ada")
    made = await store.submit(what, NOW)
    assert await store.begin(find_stage("download"), made, NOW)
    await store.fail(find_stage("download"), made, "no such page", kind, False, NOW)
    return made


async def test_an_empty_library_explains_how_to_add_videos(web: httpx.AsyncClient) -> None:
    text = (await web.get("/library", headers=PAGE)).text
    assert "The library is empty" in text
    assert "footy submit" in text
    assert 'name="url"' not in text  # that is for editors


async def test_sources_show_state_and_clip_counts(library: Library) -> None:
    await failed_source(library)
    store = library.services.library.store
    work = await store.submit(Submission(SourceKind.URL, "At work", {}, url="https://films.example/b"), NOW)
    assert await store.begin(find_stage("download"), work, NOW)
    await store.save_progress(work, 0.42, NOW)
    text = await page(library, "/library")
    for said in ("cut into scenes", "4</b> to review", "download failed", "CandidateRejected", "no such page", "42 %"):
        assert said in text
    assert text.index("At work") < text.index("Gone") < text.index("Łódź")
    assert ">Retry" not in text
    await log_in(library.web, library.token)
    assert ">Retry" in await page(library, "/library")
    assert "Gone" not in await page(library, "/library?state=ready")
    assert "Mohamed Salah" not in await page(library, "/library?q=lewandowski")
    assert "No sources match" in await page(library, "/library?q=nobody")
    assert "<html" not in await page(library, "/library/fragment?state=failed")


async def test_older_sources_are_on_the_next_page(library: Library) -> None:
    store = library.services.library.store
    for number in range(25):
        await store.submit(Submission(SourceKind.URL, f"Film {number}", {}, url="https://films.example/b"), NOW)
    text = await page(library, "/library?kind=url")
    older = re.search(r'href="(/library\?[^"]*cursor=[^"]*)"', text)
    assert older is not None
    following = await page(library, older[1].replace("&amp;", "&"))
    assert (text.count("Film 0<"), following.count("Film 0<")) == (0, 1)
    answer = await library.web.get("/library?cursor=nonsense", headers=PAGE)
    assert answer.status_code == 400


async def test_the_source_page_shows_its_tiles(library: Library) -> None:
    await library.services.library.review.decide(ActionKind.APPROVE, [library.first.clips[1]], WHO)
    text = await page(library, f"/library/sources/{library.first.source_id}")
    assert [int(each) for each in re.findall(r'data-clip="(\d+)"', text)] == list(library.first.clips)
    assert 'x="25.0" width="25.0"' in text
    assert "Ada" in text
    assert re.search(r'<video[^>]* src="/s/\d+\.mp4\?v=', text)
    other = await failed_source(library)
    text = await page(library, f"/library/sources/{other}")
    assert "Open the URL in a browser" in text
    assert "secret" not in text  # of the address, which only editors see whole
    await log_in(library.web, library.token)
    assert "key=secret" in await page(library, f"/library/sources/{other}")


async def test_the_progress_of_a_clip_is_shown_while_a_stage_works_on_it(library: Library) -> None:
    store, review, later = library.services.library.store, library.services.library.review, NOW + timedelta(hours=1)
    made = (await review.split(library.first.clips[1], 30, WHO)).made[0]
    await review.settle_due_edits(later, 9)
    assert await store.begin(find_stage("sprites"), made, later)
    await store.save_clip_progress(made, 0.43, later)
    told = StringIO()
    Console(file=told, width=120).print(
        source_view(await library.services.library.views.source(library.first.source_id))
    )
    sources = [
        await page(library, path) for path in (f"/library/clips/{made}", f"/library/sources/{library.first.source_id}")
    ]
    for text in (told.getvalue(), *sources):
        assert "being prepared for review, 43%" in text


async def test_the_clip_page_shows_the_video_and_likely_copies(library: Library) -> None:
    clips, store = library.first.clips, library.services.library.store
    await store.save_duplicates(clips[0], [library.whole.clips[0]])
    text = await page(library, f"/library/clips/{clips[0]}")
    assert f'href="/search?like={clips[0]}"' in text
    assert f'data-copy="{library.whole.clips[0]}"' in text
    assert "Not a duplicate" not in text
    assert re.search(rf'<video[^>]* src="/c/{clips[0]}\.mp4\?v=', text)
    done = await library.services.library.review.split(clips[1], 30, WHO)
    text = await page(library, f"/library/clips/{done.made[1]}")
    assert re.search(r'<video[^>]* src="/s/\d+\.mp4\?v=\w+#t=1\.2(00)?,2\.0(00)?"', text)
    assert "It has no file yet" in text
    gone = await page(library, f"/library/clips/{clips[1]}")
    assert "This clip was split or merged" in gone
    assert f"/library/clips/{done.made[0]}" in gone


async def test_hidden_results_stay_hidden(library: Library) -> None:
    library.web.cookies.set("spoilers", "hidden")
    source, clip = library.whole.source_id, library.whole.clips[0]
    for path in ("/library", f"/library/sources/{source}", f"/library/clips/{clip}"):
        text = await page(library, path)
        assert "Łódź 1:0" not in text, path
        assert "Barcelona v Sevilla" in text
        assert f'name="open" value="{MATCH}"' in text
        assert f"/c/{clip}.webp" not in text
        assert f"/s/{source}.mp4" not in text
        assert f"/c/{clip}.mp4" not in text
    library.web.cookies.set("opened", str(MATCH))
    assert "Łódź 1:0" in await page(library, "/library")


async def test_an_editor_submits_a_url(library: Library) -> None:
    await log_in(library.web, library.token)
    answer = await send(library, "/library", url="http://10.0.0.1/a", title="Mine")
    assert answer.status_code == 400
    assert "address is not public" in answer.text
    assert 'value="http://10.0.0.1/a"' in answer.text  # nothing has to be typed twice
    answer = await send(library, "/library", url="https://films.example/a", player="Ana")
    assert answer.status_code == 303
    text = await page(library, answer.headers["location"])
    assert "Source added" in text
    assert "waiting for download" in text


async def test_an_editor_retries_archives_and_undoes(library: Library) -> None:
    await log_in(library.web, library.token)
    store, made, clip = library.services.library.store, await failed_source(library), library.first.clips[0]
    answer = await send(library, f"/library/sources/{made}", do="retry")
    assert answer.headers["location"] == f"/library/sources/{made}?done=retry"
    assert await pending(store, "download", {}, NOW) == [made]
    answer = await send(library, f"/library/clips/{clip}", do="archive")
    text = await page(library, answer.headers["location"])
    action = re.search(r'name="action" value="(\d+)"', text)
    assert action is not None
    assert (await store.clip(clip)).state == "review_archived"
    answer = await send(library, f"/library/clips/{clip}", do="undo", action=action[1])
    assert answer.headers["location"] == f"/library/clips/{clip}?done=undo"
    assert (await store.clip(clip)).state == "pending_review"
    refused = await send(library, f"/library/clips/{clip}", do="retry")
    assert refused.status_code == 409
    for form in ({"do": "dance"}, {}, {"do": "undo", "action": "9" * 30}, {"do": "same", "other": "x"}):
        assert (await send(library, f"/library/clips/{clip}", **form)).status_code == 400
    assert (await send(library, "/library/clips/99999", do="archive")).status_code == 404
    assert (await send(library, f"/library/sources/{made}", do="dance")).status_code == 400


async def test_verdicts_on_copies_are_stored(library: Library) -> None:
    await log_in(library.web, library.token)
    one, other = library.first.clips[0], library.whole.clips[0]
    await library.services.library.store.save_duplicates(one, [other])
    for wish, same in (("different", False), ("same", True)):
        assert (await send(library, f"/library/clips/{one}", do=wish, other=str(other))).status_code == 303
        document = (await library.web.get(f"/api/v1/clips/{other}")).json()
        assert [(each["id"], each["same"], each["said_by"]) for each in document["copies"]] == [(one, same, "Ada")]


async def test_hostile_text_is_escaped(library: Library) -> None:
    made = await failed_source(library, title=HOSTILE, kind="<b>Bold</b>")
    for path in ("/library", f"/library/sources/{made}"):
        text = await page(library, path)
        assert "<script>document" not in text
        assert "<b>Bold" not in text
        assert "&lt;script&gt;" in text


async def test_the_navigation_lists_permitted_pages(library: Library) -> None:
    text = await page(library, "/library")
    assert 'href="/library" aria-current="page"' in text
    assert 'href="/review"' not in text
    await log_in(library.web, library.token)
    assert '<a href="/review">Review</a>' in await page(library, "/library")


async def test_unknown_ids_are_not_found(library: Library) -> None:
    for path in ("/library/sources/999", "/library/clips/999", "/library/clips/999/fragment"):
        answer = await library.web.get(path, headers=PAGE)
        assert (answer.status_code, "Not Found" in answer.text) == (404, True)


async def test_an_editor_removes_a_source_and_undoes_it(library: Library) -> None:
    own = f"/library/sources/{library.first.source_id}"
    assert 'value="remove"' not in await page(library, own)
    await log_in(library.web, library.token)
    assert "Archive all clips and delete the video" in await page(library, own)
    assert (await library.web.post(own, data={"do": "remove", "sure": "yes"}, headers=PAGE)).status_code == 403
    assert (await send(library, own, do="remove")).status_code == 400
    answer = await send(library, own, do="remove", sure="yes")
    assert answer.status_code == 303
    there = await page(library, answer.headers["location"])
    assert "All clips archived" in there
    found = re.search(r'name="action" value="(\d+)"', there)
    assert found is not None
    answer = await send(library, own, do="undo", action=found[1])
    assert "Undone." in await page(library, answer.headers["location"])
    clips = await library.services.library.store.clips_of(library.first.source_id)
    assert {clip.state for clip in clips} == {"pending_review"}


async def test_a_failed_source_is_deleted(library: Library) -> None:
    made = await failed_source(library)
    await log_in(library.web, library.token)
    answer = await send(library, f"/library/sources/{made}", do="remove", sure="yes")
    assert "Source removed" in await page(library, answer.headers["location"])
    assert (await library.web.get(f"/library/sources/{made}", headers=PAGE)).status_code == 404


async def test_a_truncated_clip_list_shows_the_total(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    own = library.first.source_id
    assert ">4 clips</h2>" in await page(library, f"/library/sources/{own}")
    monkeypatch.setattr(views, "MAX_TILES", 3)
    assert ">3 of 4 clips</h2>" in await page(library, f"/library/sources/{own}")
    source = await library.services.library.views.source(own)
    assert (len(source.tiles), source.tile_count) == (3, 4)
    told = StringIO()
    Console(file=told, width=120).print(source_view(source))
    assert "3 of 4 clips shown" in told.getvalue()


async def test_a_verdict_on_two_clips_can_be_cleared(library: Library) -> None:
    one, other = library.first.clips[0], library.first.clips[2]
    own = f"/library/clips/{one}"
    assert "Clip number" not in await page(library, own)
    await log_in(library.web, library.token)
    assert "Clip number" in await page(library, own)
    assert (await send(library, own, do="withdraw", other=str(other))).status_code == 409
    answer = await send(library, own, do="same", other=str(other))
    shown = await page(library, answer.headers["location"])
    assert f'data-copy="{other}"' in shown
    assert "Remove verdict</button>" in shown
    answer = await send(library, own, do="withdraw", other=str(other))
    shown = await page(library, answer.headers["location"])
    assert "Verdict removed" in shown
    assert f'data-copy="{other}"' not in shown
    assert (await send(library, own, do="same", other=str(one))).status_code == 409
    assert (await send(library, own, do="same", other="999")).status_code == 404
