"""Each clip host in its current form: the clip's own file comes, and nobody else's.

The forms are those that clients maintained against the live hosts describe: cygnusx-1-org/continuum
(ShortClipHostUtils.kt, checked on 9 Sep 2026), Apollo-Reborn/Apollo-Reborn (ApolloSportsClipResolver.m, #596, #665,
#929, #944) and jacobhl3ca/nospoilerscores (22 Sep 2026). Each test names what is particular to its host.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected, DownloadUnavailable
from tests.clips.conftest import Open, Serve, names_in, saved
from tests.clips.hostile_server import VIDEO, HostileServer, Reply, html, redirect
from tests.support.recorded import recorded

OTHER = VIDEO[::-1]
"""Somebody else's file."""


def api(document: Any) -> Reply:
    return Reply(json.dumps(document).encode(), kind="application/json")


def page(head: str = "", body: str = "") -> Reply:
    return html(f"<!DOCTYPE html><html><head><title>Clip</title>{head}</head><body>{body}</body></html>")


class Hosts:
    """Hosts behind one server: `/hosts/<host>/…`, as at the simulator."""

    def __init__(self, server: HostileServer, opened: Open, target: Path) -> None:
        self.server = server
        self._opened = opened
        self._target = target

    def set(self, answers: dict[str, Reply]) -> None:
        self.server.answers = {f"/hosts/{address}": reply for address, reply in answers.items()}

    def url(self, address: str) -> str:
        return f"{self.server.url}/hosts/{address}"

    async def fetch(self, address: str) -> bytes:
        await self._opened(self.server).fetch(self.url(address), self._target)
        return saved(self._target)

    async def rejected(self, address: str) -> RejectionReason:
        with pytest.raises(CandidateRejected) as raised:
            await self.fetch(address)
        assert names_in(self._target.parent) == []
        return RejectionReason(raised.value.reason)

    @property
    def asked(self) -> list[str]:
        return [request.path.removeprefix("/hosts/") for request in self.server.requests]


@pytest.fixture
async def hosts(serve: Serve, opened: Open, target: Path) -> Hosts:
    return Hosts(await serve({}), opened, target)


# --- streamain.com, streama.in: a small embed page whose <video> has the file in data-link. The watch page's sidebar
# lists other people's files, so it is never asked. A dead clip answers 404 at the embed address.

STREAMAIN = "streama.in/NzwSmy4S1oaJDOh/watch"
EMBED = "streamain.com/embed/NzwSmy4S1oaJDOh"


async def test_streamain_by_its_embed_page(hosts: Hosts) -> None:
    own, other = hosts.url("cdn.streamain.com/guests/1757.mp4"), hosts.url("cdn.streamain.com/guests/9.mp4")
    hosts.set(
        {
            STREAMAIN: page(body=f'<aside><video src="{other}"></video></aside><iframe src="/embed/x"></iframe>'),
            EMBED: page(body=f'<video id="playbob-video" data-link="{own}" playsinline></video>'),
            "cdn.streamain.com/guests/1757.mp4": Reply(VIDEO),
            "cdn.streamain.com/guests/9.mp4": Reply(OTHER),
        }
    )
    assert await hosts.fetch(STREAMAIN) == VIDEO
    assert hosts.asked == [EMBED, "cdn.streamain.com/guests/1757.mp4"]


@pytest.mark.parametrize(
    ("embed", "reason"),
    [
        (Reply(status=404), RejectionReason.GONE),
        (page(body="<p>Video not found</p>"), RejectionReason.GONE),
        (page(body='<video src="/someone-elses.mp4"></video>'), RejectionReason.NOT_A_VIDEO),
        (page(body='<video data-link="/1.mp4"></video><video data-link="/2.mp4"></video>'), RejectionReason.GONE),
    ],
)
async def test_streamain_without_its_own_file(hosts: Hosts, embed: Reply, reason: RejectionReason) -> None:
    hosts.set({EMBED: embed, "streamain.com/someone-elses.mp4": Reply(OTHER)})
    assert await hosts.rejected(STREAMAIN) == reason


# --- streamin.*: og:video names the file, with a cache-buster. A clip that is gone has a page without og:video.


async def test_streamin_by_og_video(hosts: Hosts) -> None:
    own = hosts.url("c-cdn.streamin.top/uploads/dfc4c91e.mp4")
    hosts.set(
        {
            "streamin.link/v/dfc4c91e": page(
                f'<meta property="og:video" content="{own}?age=1">',
                f'<video><source src="{own}#t=0.1"></video><video src="/up-next.mp4"></video>',
            ),
            "c-cdn.streamin.top/uploads/dfc4c91e.mp4": Reply(VIDEO),
        }
    )
    assert await hosts.fetch("streamin.link/v/dfc4c91e") == VIDEO


async def test_streamin_without_og_video_is_gone(hosts: Hosts) -> None:
    hosts.set({"streamin.link/v/dfc4c91e": page(body="<h1>Video</h1>")})
    assert await hosts.rejected("streamin.link/v/dfc4c91e") == RejectionReason.GONE


async def test_the_recorded_page_of_streamin(hosts: Hosts) -> None:
    text = recorded("social", "goal-host-streamin.html").read_text(encoding="utf-8")
    start = text.index("https://downloader.disk.yandex.ru/")
    link = text[start : text.index('"', start)]
    hosts.set({"streamin.me/v/3727f22e": html(text.replace(link, hosts.url("disk/file"))), "disk/file": Reply(VIDEO)})
    assert await hosts.fetch("streamin.me/v/3727f22e") == VIDEO


# --- streamff.*: the page is a script whose og:video points at the page itself. ffedge.streamff.com/share/<id> answers
# a list, empty for a purged clip. Some dead files redirect to Cloudflare's placeholder, which plays.

STREAMFF, SHARE = "streamff.pro/v/0c9ead67", "ffedge.streamff.com/share/0c9ead67"


async def test_streamff_by_its_share_api(hosts: Hosts) -> None:
    hosts.set(
        {
            STREAMFF: page(f'<meta property="og:video" content="{hosts.url(STREAMFF)}">'),
            SHARE: api([{"id": "0c9ead67", "external_url": hosts.url("cdn.hostedhost.top/0c9ead67.mp4")}]),
            "cdn.hostedhost.top/0c9ead67.mp4": Reply(VIDEO),
        }
    )
    assert await hosts.fetch(STREAMFF) == VIDEO
    assert hosts.asked[0] == SHARE


async def test_streamffs_placeholder_is_refused(hosts: Hosts) -> None:
    placeholder = "www.cloudflare-terms-of-service-abuse.com/stream.mp4"
    hosts.set(
        {
            SHARE: api([{"external_url": hosts.url("cdn.hostedhost.top/0c9ead67.mp4")}]),
            "cdn.hostedhost.top/0c9ead67.mp4": redirect(f"/hosts/{placeholder}"),
            placeholder: Reply(VIDEO),
        }
    )
    assert await hosts.rejected(STREAMFF) == RejectionReason.GONE


@pytest.mark.parametrize(
    ("share", "reason"),
    [
        (api([]), RejectionReason.GONE),
        (Reply(status=404), RejectionReason.GONE),
        (api([{"other": 1}]), RejectionReason.UNSUPPORTED),
        (api("purged"), RejectionReason.UNSUPPORTED),
    ],
)
async def test_streamff_without_a_file(hosts: Hosts, share: Reply, reason: RejectionReason) -> None:
    hosts.set({SHARE: share})
    assert await hosts.rejected(STREAMFF) == reason


@pytest.mark.parametrize("share", [Reply(status=502), html("<h1>Checking your browser</h1>")])
async def test_an_api_that_does_not_answer_may_answer_later(hosts: Hosts, share: Reply) -> None:
    hosts.set({SHARE: share})
    with pytest.raises(DownloadUnavailable):
        await hosts.fetch(STREAMFF)


# --- dubz.*: /c/ and /v/ pages with <video src>. Without one, the CDN of the link's form has the file by its id.


@pytest.mark.parametrize("form", ["c", "v"])
async def test_dubz_by_its_player(hosts: Hosts, form: str) -> None:
    own = hosts.url("dubzalt.com/storage/videos/3ea24e.mp4")
    hosts.set(
        {
            f"dubz.link/{form}/3ea24e": page(body=f'<video id="my-video" src="{own}"></video>'),
            "dubzalt.com/storage/videos/3ea24e.mp4": Reply(VIDEO),
        }
    )
    assert await hosts.fetch(f"dubz.link/{form}/3ea24e") == VIDEO


@pytest.mark.parametrize(
    ("form", "file"),
    [("c", "cdn.makevos.com/videos/3ea24e.mp4"), ("v", "cdn.squeelab.com/guest/videos/3ea24e.mp4")],
)
async def test_dubz_by_its_cdn(hosts: Hosts, form: str, file: str) -> None:
    hosts.set({f"dubz.link/{form}/3ea24e": page(body="<div id=player></div>"), file: Reply(VIDEO)})
    assert await hosts.fetch(f"dubz.link/{form}/3ea24e") == VIDEO


async def test_the_recorded_page_of_dubz(hosts: Hosts) -> None:
    text = recorded("social", "goal-host-dubz.html").read_text(encoding="utf-8")
    text = text.replace("https://dubzalt.com/", hosts.url("dubzalt.com/"))
    hosts.set({"dubz.link/c/3ea24e": html(text), "dubzalt.com/storage/videos/3ea24e.mp4": Reply(VIDEO)})
    assert await hosts.fetch("dubz.link/c/3ea24e") == VIDEO


# --- dropr.co: og:video names a file of an unrelated name. Without og:video the clip is still being encoded, or gone.


async def test_dropr_by_og_video(hosts: Hosts) -> None:
    own = hosts.url("cdn.dropr.co/0123456789abcdef.mov")
    hosts.set(
        {
            "dropr.co/v/ab12cd": page(f'<meta property="og:video" content="{own}">'),
            "cdn.dropr.co/0123456789abcdef.mov": Reply(VIDEO, kind="video/quicktime"),
        }
    )
    assert await hosts.fetch("dropr.co/v/ab12cd") == VIDEO


async def test_dropr_while_a_clip_is_processed(hosts: Hosts) -> None:
    hosts.set({"dropr.co/v/ab12cd": page(body="<h1>Video is processing</h1>")})
    with pytest.raises(DownloadUnavailable):
        await hosts.fetch("dropr.co/v/ab12cd")


# --- streamable.com: api.streamable.com/videos/<id>; `status` 2 is ready, 0 and 1 come before; addresses may lack
# their scheme (yt-dlp's extractor, 2026.10.26).

STREAMABLE = "api.streamable.com/videos/dnd1"


async def test_streamable_by_its_api(hosts: Hosts) -> None:
    own = hosts.url("cdn-cf-east.streamable.com/video/mp4/dnd1.mp4")
    files = {"mp4": {"url": own.removeprefix("http:"), "status": 2}, "mp4-mobile": {"url": hosts.url("small.mp4")}}
    hosts.set(
        {
            STREAMABLE: api({"status": 2, "percent": 100, "files": files}),
            "cdn-cf-east.streamable.com/video/mp4/dnd1.mp4": Reply(VIDEO),
            "small.mp4": Reply(OTHER),
        }
    )
    assert await hosts.fetch("streamable.com/dnd1") == VIDEO


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Reply(status=404), RejectionReason.GONE),
        (api({"status": 3, "files": {}}), RejectionReason.GONE),
        (api({"status": 2, "files": {}}), RejectionReason.UNSUPPORTED),
        (api({"status": 1}), None),
    ],
)
async def test_streamable_without_a_file(hosts: Hosts, answer: Reply, reason: RejectionReason | None) -> None:
    hosts.set({STREAMABLE: answer})
    if reason is not None:
        assert await hosts.rejected("streamable.com/dnd1") == reason
        return
    with pytest.raises(DownloadUnavailable):
        await hosts.fetch("streamable.com/dnd1")


# --- v.redd.it: HLSPlaylist.m3u8 (test_hls.py). A link to one of the files falls back to it.


async def test_reddits_file_where_its_playlist_is_gone(hosts: Hosts) -> None:
    hosts.set({"v.redd.it/20tv4kea1joh1/DASH_720.mp4": Reply(VIDEO)})
    assert await hosts.fetch("v.redd.it/20tv4kea1joh1/DASH_720.mp4?source=fallback") == VIDEO


# --- bangr.im answers 410 since 16 July 2026: it is not even asked.


async def test_bangr_is_gone(hosts: Hosts) -> None:
    assert await hosts.rejected("bangr.im/v/abc123") == RejectionReason.GONE
    assert hosts.asked == []


# --- hosts that are in no table


async def test_a_short_link_leads_to_the_table(hosts: Hosts) -> None:
    hosts.set(
        {
            "short.example/x1": redirect(f"/hosts/{STREAMAIN}"),
            STREAMAIN: page(body='<video src="/someone-elses.mp4"></video>'),
            EMBED: page(body=f'<video data-link="{hosts.url("cdn/own.mp4")}"></video>'),
            "cdn/own.mp4": Reply(VIDEO),
        }
    )
    assert await hosts.fetch("short.example/x1") == VIDEO


async def test_no_video_is_used_from_an_unknown_page_with_several(hosts: Hosts) -> None:
    hosts.set(
        {
            "new.example/v/clip42x": page(body='<video src="/1.mp4"></video><video src="/2.mp4"></video>'),
            "new.example/1.mp4": Reply(OTHER),
            "new.example/2.mp4": Reply(OTHER),
        }
    )
    assert await hosts.rejected("new.example/v/clip42x") == RejectionReason.NOT_A_VIDEO


async def test_json_ld_marks_a_pages_own_video(hosts: Hosts) -> None:
    own = json.dumps({"@type": "VideoObject", "contentUrl": hosts.url("new.example/own.mp4")})
    script = f'<script type="application/ld+json">{own}</script>'
    videos = '<video src="/1.mp4"></video><video src="/2.mp4"></video>'
    hosts.set({"new.example/v/clip42x": page(script, videos), "new.example/own.mp4": Reply(VIDEO)})
    assert await hosts.fetch("new.example/v/clip42x") == VIDEO


async def test_a_redirect_to_the_front_page_means_deleted(hosts: Hosts) -> None:
    hosts.set({"new.example/v/1": redirect("/hosts/new.example/"), "new.example/": page(body="<video src=/promo.mp4>")})
    assert await hosts.rejected("new.example/v/1") == RejectionReason.GONE


async def test_a_removed_notice_means_deleted(hosts: Hosts) -> None:
    hosts.set({"new.example/v/1": page(body="<p>This clip was removed for a terms of service violation.</p>")})
    assert await hosts.rejected("new.example/v/1") == RejectionReason.GONE
