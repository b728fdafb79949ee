"""The clip hosts that Reddit's posts link to, in their forms of late 2026, under `/hosts/<host>/…`.

Forms by cygnusx-1-org/continuum (9 Sep 2026), Apollo-Reborn/Apollo-Reborn (#596, #665, #929) and
jacobhl3ca/nospoilerscores (22 Sep 2026).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Callable
from html import escape

from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from footy_simulator.clips.worker import RenderPool
from footy_simulator.posts import HOSTILE_PATH, MEDIA_PATH, PostsOf, SocialPost
from footy_simulator.scenario import ClipHostName, ClipHostService
from found_footy.errors import EngineError

GATEWAY = "/hosts"
PLACEHOLDER = "www.cloudflare-terms-of-service-abuse.com/stream.mp4"

_LINKS: dict[ClipHostName, str] = {
    "streamain": "streama.in/{id}/watch",
    "streamin": "streamin.link/v/{id}",
    "streamff": "streamff.pro/v/{id}",
    "dubz": "dubz.link/c/{id}",
    "dropr": "dropr.co/v/{id}",
    "streamable": "streamable.com/{id}",
    "reddit": "v.redd.it/{id}",
}
_SHARES: tuple[ClipHostName, ...] = (
    *("streamain", "streamain", "streamain", "streamain", "streamin", "streamin", "streamin"),
    *("streamff", "streamff", "dubz", "dubz", "dropr", "streamable", "reddit"),
)
"""Weights: streamain is by far the most used. HLS starts a process per download, so it is rare here."""

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta property="og:title" content="{title}"><meta property="og:type" content="video">{head}</head>
<body>{body}</body></html>
"""
# Starts like an mp4, so that only its address reveals the placeholder.
_PLAYABLE = b"\0\0\0\x1cftypmp42\0\0\0\0mp42isommp41" + bytes(4096)


def clip_host_link(post: SocialPost, base_url: str) -> str:
    """The link of a Reddit post: the page of a clip host, which leads to the post's video."""
    return f"{base_url}{GATEWAY}/{_LINKS[host_of(post)].format(id=clip_id(post))}"


def host_of(post: SocialPost) -> ClipHostName:
    host = _SHARES[hashlib.sha256(post.id.encode()).digest()[0] % len(_SHARES)]
    # A playlist's segment must be a video.
    is_file = post.media.startswith("/media/") and not post.media.startswith(("/media/html", "/media/zip"))
    return "streamin" if host == "reddit" and not is_file else host


def clip_id(post: SocialPost) -> str:
    return hashlib.sha256(f"clip {post.id}".encode()).hexdigest()[:8]


def clip_host_routes(posts: PostsOf, base_url: Callable[[], str], service: ClipHostService) -> list[Route]:
    site = _ClipHosts(posts, base_url, service)
    return [Route(f"{GATEWAY}/{{host}}/{{path:path}}", site.answer)]


class _ClipHosts:
    def __init__(self, posts: PostsOf, base_url: Callable[[], str], service: ClipHostService) -> None:
        self._posts = posts
        self._base_url = base_url
        self._service = service

    async def answer(self, request: Request) -> Response:
        host, path = request.path_params["host"], request.path_params["path"].strip("/").split("/")
        if f"{host}/{'/'.join(path)}" == PLACEHOLDER:
            return Response(_PLAYABLE, media_type="video/mp4")
        match host.removeprefix("www."), path:
            case "bangr.im", _:
                return PlainTextResponse("410 Gone", status_code=410)
            case "streama.in", [name, "watch"]:
                return RedirectResponse(f"{self._prefix}/streamain.com/en/{name}/watch", status_code=301)
            case "streamain.com", [_, name, "watch"]:
                return self._page(name, "streamain", self._watch_page)
            case "streamain.com", ["embed", name]:
                return self._page(name, "streamain", lambda post, video: ("", f'<video data-link="{video}"></video>'))
            case "streamin.link", ["v", name]:
                return self._page(name, "streamin", _og_page)
            case "streamff.pro", ["v", name]:
                return self._page(name, "streamff", self._self_page)
            case "ffedge.streamff.com", ["share", name]:
                return self._share(name)
            case "cdn.hostedhost.top", [_]:
                return RedirectResponse(f"{self._prefix}/{PLACEHOLDER}", status_code=302)
            case "dubz.link", ["c", name]:
                return self._page(
                    name, "dubz", lambda post, video: ("", f'<video id="my-video" src="{video}"></video>')
                )
            case "dropr.co", ["v", name]:
                return self._page(name, "dropr", _og_page)
            case "api.streamable.com", ["videos", name]:
                return self._streamable(name)
            case "v.redd.it", [name, "HLSPlaylist.m3u8"]:
                return self._playlist(name)
        return _missing()

    @property
    def _prefix(self) -> str:
        return f"{self._base_url()}{GATEWAY}"

    def _post(self, name: str, host: ClipHostName) -> SocialPost | None:
        if host in self._service.dead:
            return None
        return next((post for post in self._posts("reddit") if clip_id(post) == name and host_of(post) == host), None)

    def _video(self, post: SocialPost) -> str:
        return post.media if "://" in post.media else self._base_url() + post.media

    def _page(self, name: str, host: ClipHostName, parts: Callable[[SocialPost, str], tuple[str, str]]) -> Response:
        post = self._post(name, host)
        if post is None:
            return _missing()
        head, body = parts(post, escape(self._video(post)))
        return HTMLResponse(_PAGE.format(title=escape(post.text), head=head, body=body))

    def _watch_page(self, post: SocialPost, video: str) -> tuple[str, str]:
        """Other people's clips in the sidebar; the clip itself only in an iframe."""
        shown = [escape(self._video(each)) for each in self._posts("reddit")[:4] if each.id != post.id]
        others = "".join(f'<video src="{file}"></video>' for file in shown)
        return "", f'<aside>{others}</aside><iframe src="{self._prefix}/streamain.com/embed/{clip_id(post)}"></iframe>'

    def _self_page(self, post: SocialPost, video: str) -> tuple[str, str]:
        page = f"{self._prefix}/streamff.pro/v/{clip_id(post)}"
        return (
            f'<meta property="og:video" content="{page}"><meta property="og:url" content="{page}">',
            '<div id="root">',
        )

    def _share(self, name: str) -> Response:
        post = self._post(name, "streamff")
        if post is None:
            return JSONResponse([])
        blocked = self._service.streamff == "placeholder"
        video = f"{self._prefix}/cdn.hostedhost.top/{name}.mp4" if blocked else self._video(post)
        return JSONResponse([{"id": name, "name": post.text, "external_url": video}])

    def _streamable(self, name: str) -> Response:
        post = self._post(name, "streamable")
        if post is None:
            return JSONResponse({"message": "Video does not exist"}, status_code=404)
        mp4 = {"status": 2, "url": self._video(post).removeprefix("http:"), "width": 1280, "height": 720}
        return JSONResponse({"status": 2, "percent": 100, "title": post.text, "files": {"mp4": mp4}})

    def _playlist(self, name: str) -> Response:
        """A playlist whose only segment is the whole file."""
        post = self._post(name, "reddit")
        if post is None:
            return _missing()
        seconds = max(1, round(post.duration))
        lines = ["#EXTM3U", "#EXT-X-VERSION:4", f"#EXT-X-TARGETDURATION:{seconds}", "#EXT-X-PLAYLIST-TYPE:VOD"]
        lines += [f"#EXTINF:{seconds}.0,", self._video(post), "#EXT-X-ENDLIST", ""]
        return Response("\n".join(lines), media_type="application/vnd.apple.mpegurl")


def _og_page(post: SocialPost, video: str) -> tuple[str, str]:
    """The file in the page's head and in its player, beside another player."""
    head = f'<meta content="{video}" property="og:video"><meta content="{video}" property="og:video:secure_url">'
    return head, f'<video controls><source src="{video}" type="video/mp4"></video><video src="/up-next.mp4"></video>'


def _missing() -> Response:
    return HTMLResponse("<html><body><h1>404</h1><p>Video not found</p></body></html>", status_code=404)


# --- The video files of the posts.


def media_routes(files: RenderPool | None) -> list[Route]:
    """Without files every video is missing."""

    async def media(request: Request) -> Response:
        try:
            path = None if files is None else await files.path_of(request.path_params["file_name"])
        except EngineError as error:
            return PlainTextResponse(str(error), status_code=503)
        if path is None:
            return PlainTextResponse("Not Found", status_code=404)
        # Files that are not videos are served as videos; only their content reveals it.
        return FileResponse(path, media_type="video/mp4")

    return [Route(f"{MEDIA_PATH}/{{file_name}}", media)]


# --- Hostile links: dead, forbidden or endless.


HUGE_BYTES = 10 * 1024**3
LOOPBACK = "http://127.0.0.1:9/goal.mp4"
"""Loopback, but not the simulator: nothing listens on the discard port."""
PRIVATE = ("http://169.254.169.254/latest/meta-data/", "http://10.0.0.7/goal.mp4", "http://[::1]/goal.mp4")
"""A cloud metadata address and two private addresses."""

_HEAD = b"\0\0\0\x1cftypmp42\0\0\0\0mp42isommp41"
"""Starts like a video, so that only its length reveals it."""
_CHUNK = bytes(256 * 1024)
_DRIP_SECONDS = 1.0
_DRIP_BYTES = 1024 * 1024
_STATUS = {
    "gone": (410, "Gone. This video has been removed by its owner."),
    "geo_blocked": (451, "This video is not available in your country."),
    "private": (403, "This video is private."),
}


def hostile_link_routes(closing: asyncio.Event) -> list[Route]:
    """`closing` ends endless responses on shutdown."""

    async def trap(request: Request) -> Response:
        kind, name = request.path_params["kind"], request.path_params["name"]
        if kind in _STATUS:
            status, words = _STATUS[kind]
            return PlainTextResponse(words, status_code=status)
        if kind == "loopback":
            return RedirectResponse(LOOPBACK, status_code=302)
        if kind == "redirect_private":
            return RedirectResponse(PRIVATE[sum(name.encode()) % len(PRIVATE)], status_code=302)
        length = {"endless": None, "huge": HUGE_BYTES, "drip": _DRIP_BYTES}
        if kind not in length:
            return PlainTextResponse("Not Found", status_code=404)
        headers = {} if length[kind] is None else {"content-length": str(length[kind])}
        if request.method == "HEAD":
            return Response(media_type="video/mp4", headers=headers)
        body = _drip(closing) if kind == "drip" else _flood(closing, length[kind])
        return StreamingResponse(body, media_type="video/mp4", headers=headers)

    return [Route(f"{HOSTILE_PATH}/{{kind}}/{{name}}", trap)]


async def _flood(closing: asyncio.Event, length: int | None) -> AsyncIterator[bytes]:
    yield _HEAD
    sent = len(_HEAD)
    while not closing.is_set() and sent != length:
        chunk = _CHUNK if length is None else _CHUNK[: length - sent]
        yield chunk
        sent += len(chunk)
        await asyncio.sleep(0)  # Others want to be served too.


async def _drip(closing: asyncio.Event) -> AsyncIterator[bytes]:
    for number in range(_DRIP_BYTES):
        yield _HEAD[number : number + 1] or b"\0"
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(closing.wait(), _DRIP_SECONDS)
        if closing.is_set():
            return
