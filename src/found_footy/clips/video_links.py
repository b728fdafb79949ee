"""Finds a page's own video in its HTML. Pure: a page in, links out.

Clip hosts list other clips next to the linked one. A file counts as the page's own if the page declares it (`og:video`,
`twitter:player:stream`, JSON-LD), if the only player shows it, or if its name contains the clip's id. If several
players show different files and nothing distinguishes them, none is taken.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from found_footy.clips.hosts import ClipLink, Lookup, mentions_removal
from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected, DownloadUnavailable
from found_footy.text import clean_text

MAX_LINKS = 4
MAX_NODES = 100_000
"""Maximum number of tags and texts per page, against pages built to exhaust the parser."""
MAX_PLAYERS = 40
MAX_TEXT_LENGTH = 4_000
"""Maximum length of the visible text that is searched for removal notices."""
MAX_JSON_LD_LENGTH = 200_000
CHUNK_LENGTH = 65_536

META_NAMES = ("og:video:secure_url", "og:video:url", "og:video", "twitter:player:stream")
"""In order of preference: og:video is sometimes the URL of a player page."""
_FILE = re.compile(r".*\.(?:mp4|m4v|mov|webm|m3u8|mpd)", re.IGNORECASE)


@dataclass(slots=True)
class PagePlayer:
    """One <video> element."""

    files: list[str] = field(default_factory=list)
    """`src` and the <source> elements: alternatives of one video."""
    data_link: str = ""


@dataclass(slots=True)
class ClipPage:
    players: list[PagePlayer] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    canonical: str = ""
    json_ld: list[str] = field(default_factory=list)
    """contentUrl of each VideoObject."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class OwnVideos:
    links: list[str]
    """As written on the page, possibly relative; the most likely first."""
    ambiguous: bool = False
    """Whether the page shows several videos and does not identify its own."""


def parse_page(html: str) -> ClipPage:
    parser = _Parser()
    # The parser aborts the whole page at an unknown marked section.
    html = html.replace("<![", "< ![")
    start, size = 0, CHUNK_LENGTH
    try:
        # An unterminated tag is parsed again with each chunk; growing chunks bound the total. The parser is not closed:
        # a tag cut off at the end contains no link.
        while start < len(html):
            parser.feed(html[start : start + size])
            start += size
            size = size * 2 if parser.rawdata else CHUNK_LENGTH
    except _PageTooLong:
        pass
    return parser.page


def find_own_videos(page: ClipPage, url: str) -> OwnVideos:
    """Return the videos that a page declares or plays as its own. `url` is the page's URL."""
    addresses = _page_urls(page, url)
    declared = declared_videos(page, url)
    files = [link for link in declared if _is_file(link)]
    pages = [link for link in declared if not _is_file(link)]
    played, ambiguous = _own_players(page, url, addresses, declared)
    links = _web_links([*files, *played, *pages])
    return OwnVideos(links[:MAX_LINKS], ambiguous and not links)


def declared_videos(page: ClipPage, url: str) -> list[str]:
    """Videos in the page's metadata, except the page itself. JSON-LD counts only if it describes one video."""
    addresses = _page_urls(page, url)
    named = [page.meta[name] for name in META_NAMES if name in page.meta]
    named += page.json_ld if len(set(page.json_ld)) == 1 else []
    return [link for link in _web_links(named) if _comparable(link, url) not in addresses]


def _page_urls(page: ClipPage, url: str) -> set[str]:
    """URLs of the page itself."""
    return {_comparable(each, url) for each in (url, page.canonical, page.meta.get("og:url", "")) if each}


def played_videos(page: ClipPage) -> list[str]:
    """Files of all players."""
    return _web_links(link for player in page.players for link in player.files)[:MAX_LINKS]


def data_links(page: ClipPage) -> list[str]:
    """`data-link` of the <video> elements, if they name a single file."""
    links = _web_links(player.data_link for player in page.players)
    return links if len(links) == 1 else []


def _own_players(page: ClipPage, url: str, addresses: set[str], declared: list[str]) -> tuple[list[str], bool]:
    players = [files for player in page.players if (files := _web_links(player.files))]
    if len({files[0] for files in players}) <= 1:
        return (players[0] if players else []), False
    declared_urls = {_comparable(link, url) for link in declared}
    own = [files for files in players if any(_comparable(link, url) in declared_urls for link in files)]
    if not own:
        ids = {clip_id for address in addresses if (clip_id := _last_segment(address))}
        own = [files for files in players if any(clip_id in unquote(link) for clip_id in ids for link in files)]
    return (own[0], False) if len({files[0] for files in own}) == 1 else ([], True)


def _last_segment(address: str) -> str:
    """Clip id in a URL; empty for short or common words, which any file name may contain."""
    last = urlsplit(address).path.rstrip("/").rpartition("/")[2]
    return last if len(last) >= 5 and any(letter.isdigit() for letter in last) else ""


def _comparable(link: str, base: str) -> str:
    """Normalize a URL for comparison: absolute, without scheme, query and fragment."""
    try:
        parts = urlsplit(urljoin(base, link))
    except ValueError:
        return link
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}"


def _is_file(link: str) -> bool:
    return _FILE.fullmatch(link.partition("?")[0].partition("#")[0]) is not None


def _web_links(links: Iterable[str]) -> list[str]:
    """Return unique links without fragments. `blob:` and `data:` links are dropped: they exist only in a browser."""
    return list(dict.fromkeys(link for each in links if (link := each.partition("#")[0]) and _is_web_link(link)))


def _is_web_link(link: str) -> bool:
    first = link.lower().partition("/")[0]
    return ":" not in first or first.partition(":")[0] in ("http", "https")


class _PageTooLong(Exception):
    pass


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = ClipPage()
        self._nodes = 0
        self._open: list[PagePlayer] = []
        self._hidden = ""
        """Script or style element that contains the current text."""
        self._json_ld = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._count()
        values = {name: (value or "").strip() for name, value in attrs}
        if tag == "video":
            self._start_player(values)
        elif tag == "source" and self._open:
            self._open[-1].files += [values["src"]] if values.get("src") else []
        elif tag == "meta":
            name = (values.get("property") or values.get("name") or "").lower()
            if name in META_NAMES or name == "og:url":
                self.page.meta.setdefault(name, values.get("content", ""))
        elif tag == "link" and values.get("rel", "").lower() == "canonical":
            self.page.canonical = self.page.canonical or values.get("href", "")
        elif tag in ("script", "style"):
            self._hidden = tag
            self._json_ld = values.get("type", "").lower() == "application/ld+json"

    def handle_endtag(self, tag: str) -> None:
        self._count()
        if tag == "video" and self._open:
            self._open.pop()
        if tag == self._hidden:
            self._hidden, self._json_ld = "", False

    def handle_data(self, data: str) -> None:
        self._count()
        if self._json_ld and len(data) <= MAX_JSON_LD_LENGTH:
            self.page.json_ld += _content_urls(data)[: MAX_LINKS + 1]
        elif not self._hidden and len(self.page.text) < MAX_TEXT_LENGTH:
            words = " ".join(data.split())
            self.page.text = f"{self.page.text} {words}"[:MAX_TEXT_LENGTH] if words else self.page.text

    def _start_player(self, values: dict[str, str]) -> None:
        player = PagePlayer([values["src"]] if values.get("src") else [], values.get("data-link", ""))
        if len(self.page.players) < MAX_PLAYERS:
            self.page.players.append(player)
            self._open = [*self._open, player][-MAX_PLAYERS:]

    def _count(self) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _PageTooLong


def _content_urls(text: str) -> list[str]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return []
    roots: list[Any] = document if isinstance(document, list) else [document]
    found = []
    for root in roots[:50]:
        graph = root.get("@graph") if isinstance(root, dict) else None
        for each in [root, *(graph[:50] if isinstance(graph, list) else ())]:
            video = each if isinstance(each, dict) and each.get("@type") == "VideoObject" else {}
            if isinstance(link := video.get("contentUrl"), str):
                found.append(link.strip())
    return found


# --- Clip host responses: file URLs by the host's row in the table. Pure.


API_LOOKUPS = frozenset({Lookup.SHARE_API, Lookup.STREAMABLE_API})
PAGE_LOOKUPS = frozenset({Lookup.EMBED_DATA_LINK, Lookup.OG_VIDEO, Lookup.PLAYER})

_READY = 2
_UPLOADING = (0, 1)


def files_on_page(link: ClipLink, page: ClipPage) -> list[str]:
    """Return URLs of the clip's file, the most likely first. Without any, raise the error that explains the page."""
    match link.host.lookup:
        case Lookup.EMBED_DATA_LINK:
            files = data_links(page)
        case Lookup.OG_VIDEO:
            files = declared_videos(page, link.url)
        case _:
            files = find_own_videos(page, link.url).links
    files += [file for file in link.known_files if file not in files]
    if files:
        return files
    if link.host.processing and link.host.processing in page.text.lower():
        raise DownloadUnavailable(f"{link.host.name}: the clip {link.clip_id} is still being processed")
    if played_videos(page) and not mentions_removal(page.text):
        raise CandidateRejected(
            RejectionReason.NOT_A_VIDEO, f"{link.host.name}: none of the page's videos is marked as {link.clip_id}"
        )
    raise CandidateRejected(RejectionReason.GONE, f"{link.host.name}: the page of {link.clip_id} no longer has a video")


def files_in_json(link: ClipLink, body: bytes) -> list[str]:
    """Like `files_on_page`, for hosts with an API."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise DownloadUnavailable(f"{link.host.name}: the response for {link.clip_id} is not JSON") from None
    if link.host.lookup is Lookup.SHARE_API:
        return [_share_url(link, document)]
    return _streamable_urls(link, document)


def _share_url(link: ClipLink, document: Any) -> str:
    if document == []:
        raise CandidateRejected(RejectionReason.GONE, f"{link.host.name}: the clip {link.clip_id} has been purged")
    first = document[0] if isinstance(document, list) else document
    url = first.get("external_url") if isinstance(first, dict) else None
    if not isinstance(url, str) or not url:
        raise _unknown_format(link)
    return url


def _streamable_urls(link: ClipLink, document: Any) -> list[str]:
    if not isinstance(document, dict):
        raise _unknown_format(link)
    status = document.get("status")
    if status in _UPLOADING:
        raise DownloadUnavailable(f"{link.host.name}: the clip {link.clip_id} is still being processed")
    if status != _READY:
        raise CandidateRejected(RejectionReason.GONE, f"{link.host.name}: the clip {link.clip_id} is not available")
    files = document.get("files")
    named = [files.get(name) for name in ("mp4", "mp4-mobile")] if isinstance(files, dict) else []
    offered = [each.get("url") for each in named if isinstance(each, dict)]
    urls = [url for url in offered if isinstance(url, str) and url]
    if not urls:
        raise _unknown_format(link)
    return urls


def _unknown_format(link: ClipLink) -> CandidateRejected:
    return CandidateRejected(
        RejectionReason.UNSUPPORTED, f"{link.host.name}: the response for {link.clip_id} has an unknown format"
    )


# --- Posts on X: post links, and the video that X's syndication endpoint or FxEmbed returns for one. Pure.


X_HOSTS = frozenset({"x.com", "twitter.com"})
MAX_ENTRIES = 50
"""Maximum number of media per post, and of variants per video."""

MAX_SHORT_SIDE_PX = 1080
"""Maximum of a video's shorter side."""

_SIZE = re.compile(r"/([0-9]{2,5})x([0-9]{2,5})/")
_STATUS = re.compile(r"/(?:i/web|i|\w{1,50})/status(?:es)?/(\d{5,20})(?:/.*)?")
_GEO = re.compile(r"withheld|your (?:country|region|location)", re.IGNORECASE)
_PRIVATE = re.compile(r"limits who can|protected|age.restricted|adult content|log ?in|sign ?in", re.IGNORECASE)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def x_post_id(url: httpx.URL, x_url: httpx.URL) -> str | None:
    """Id of the post that a link shows; None if the link is not a post."""
    host = url.host.removeprefix("www.").removeprefix("mobile.").removeprefix("m.")
    if (url.scheme, url.netloc) == (x_url.scheme, x_url.netloc):
        path = url.path.removeprefix(x_url.path.rstrip("/"))
    elif host in X_HOSTS and url.port is None:
        path = url.path
    else:
        return None
    found = _STATUS.fullmatch(path)
    return found[1] if found else None


def syndication_token(post: str) -> str:
    """Token that the endpoint requires: a number derived from the id, in base 36, without zeros and the point."""
    return base36(float(int(post)) / 1e15 * math.pi).replace("0", "").replace(".", "")


def base36(value: float) -> str:
    """Format a non-negative number like JavaScript's `toString(36)`: the fewest digits that identify the double."""
    whole, fraction = math.floor(value), value - math.floor(value)
    # Half the distance to the next double: smaller digits carry no information.
    delta = max(0.5 * (math.nextafter(value, math.inf) - value), math.nextafter(0.0, 1.0))
    digits: list[int] = []
    while fraction >= delta:
        fraction, delta = fraction * 36, delta * 36
        digit = int(fraction)
        digits.append(digit)
        fraction -= digit
        if (fraction > 0.5 or (fraction == 0.5 and digit & 1)) and fraction + delta > 1:
            whole += _round_up(digits)
            break
    return _integer_base36(whole) + ("." + "".join(_DIGITS[digit] for digit in digits) if digits else "")


def _round_up(digits: list[int]) -> int:
    """Increment the last digit; return the carry into the integer part."""
    while digits:
        if digits[-1] + 1 < 36:
            digits[-1] += 1
            return 0
        digits.pop()
    return 1


def _integer_base36(number: int) -> str:
    text = ""
    while number or not text:
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text


@dataclass(frozen=True, slots=True)
class Variant:
    """One file of a post's video."""

    url: str
    bitrate: int = 0
    pixels: int = 0
    """The shorter side; 0 if unknown."""
    playlist: bool = False
    hevc: bool = False


def best_variant(variants: Iterable[Variant]) -> Variant | None:
    """Return the mp4 with the highest bitrate up to 1080p; HEVC only without H.264, a playlist only without an mp4."""
    all_variants = list(variants)
    for candidates in (
        [each for each in all_variants if not each.playlist and not each.hevc],
        [each for each in all_variants if not each.playlist],
        all_variants,
    ):
        within_limit = [each for each in candidates if each.pixels <= MAX_SHORT_SIDE_PX]
        if within_limit:
            return max(within_limit, key=lambda each: (each.bitrate, each.url))
        if candidates:
            return min(candidates, key=lambda each: (each.pixels, each.bitrate, each.url))
    return None


def best_x_video(response: Any, post: str) -> str:
    """Link to the best mp4 in a response of the syndication endpoint. The post itself comes before a quoted post."""
    if not isinstance(response, dict):
        raise DownloadUnavailable(f"X's response for post {post} has an unknown format")
    if "tombstone" in response or response.get("__typename") == "TweetTombstone":
        raise _tombstone_rejection(response.get("tombstone"), post)
    if not response:
        raise CandidateRejected(RejectionReason.GONE, f"post {post} not found on X")
    for post_data in (response, response.get("quoted_tweet")):
        best = best_variant(variant for media in _items(post_data, "mediaDetails") for variant in _mp4_variants(media))
        if best is not None:
            return best.url
    raise CandidateRejected(RejectionReason.NOT_A_VIDEO, f"post {post} on X has no video")


def fxtwitter_video(response: Any, post: str) -> str:
    """Link to the best file in a response of FxEmbed's `/2/status/<id>`.

    Its `code` counts, not the HTTP status: an unavailable post is a 404 with `status: null` or a tombstone, one that
    requires a login is a 401.
    """
    code = response.get("code") if isinstance(response, dict) else None
    status = response.get("status") if isinstance(response, dict) else None
    if isinstance(status, dict) and status.get("type") == "tombstone":
        reason = clean_text(str(status.get("reason")), 40)
        reason = RejectionReason.PRIVATE if reason in ("private", "blocked") else RejectionReason.GONE
        raise CandidateRejected(reason, f"post {post} on X is unavailable according to FxEmbed: {reason}")
    if code == 401:
        raise CandidateRejected(RejectionReason.PRIVATE, f"post {post} on X requires a login, according to FxEmbed")
    if code == 404:
        raise CandidateRejected(RejectionReason.GONE, f"FxEmbed did not find post {post} on X")
    if code != 200 or not isinstance(status, dict):
        raise DownloadUnavailable(f"FxEmbed returned code {clean_text(str(code), 10)} for post {post} on X")
    for post_data in (status, status.get("quote")):
        media = post_data.get("media") if isinstance(post_data, dict) else None
        best = best_variant(variant for video in _items(media, "videos") for variant in _format_variants(video))
        if best is not None:
            return best.url
    raise CandidateRejected(RejectionReason.NOT_A_VIDEO, f"post {post} on X has no video")


def merge_failures(
    first: CandidateRejected | DownloadUnavailable, second: CandidateRejected | DownloadUnavailable
) -> Exception:
    """Return the error for a post that neither the syndication endpoint (`first`) nor FxEmbed could resolve.

    Both report posts as missing during their own outages, and the endpoint does so for posts that are seconds old: a
    post is gone only if both agree. A tombstone is conclusive.
    """
    message = f"{first}; {second}"
    if isinstance(first, CandidateRejected) and isinstance(second, CandidateRejected):
        specific = next((each for each in (first, second) if each.reason != RejectionReason.GONE), first)
        return CandidateRejected(specific.reason, message)
    if isinstance(first, CandidateRejected) and first.reason in (RejectionReason.PRIVATE, RejectionReason.GEO_BLOCKED):
        return first
    return DownloadUnavailable(message)


def _tombstone_rejection(tombstone: Any, post: str) -> CandidateRejected:
    text = tombstone.get("text") if isinstance(tombstone, dict) else None
    message_text = text.get("text") if isinstance(text, dict) else text
    message = clean_text(message_text, 120) if isinstance(message_text, str) else "no reason given"
    reason = (
        RejectionReason.GEO_BLOCKED
        if _GEO.search(message)
        else RejectionReason.PRIVATE
        if _PRIVATE.search(message)
        else RejectionReason.GONE
    )
    return CandidateRejected(reason, f"post {post} on X: {message}")


def _mp4_variants(media: Any) -> list[Variant]:
    info = media.get("video_info") if isinstance(media, dict) else None
    return [
        Variant(link, _bitrate(variant), _short_side_px(variant, link))
        for variant in _items(info, "variants")
        if isinstance(variant, dict)
        and variant.get("content_type") == "video/mp4"
        and isinstance(link := variant.get("url"), str)
    ]


def _format_variants(video: Any) -> list[Variant]:
    """FxEmbed's `formats`, or the single URL that it selected."""
    found = [
        Variant(
            link,
            _bitrate(each),
            _short_side_px(each, link),
            playlist=each.get("container") == "m3u8" or ".m3u8" in link,
            hevc=each.get("codec") == "hevc",
        )
        for each in _items(video, "formats")
        if isinstance(each, dict) and isinstance(link := each.get("url"), str) and link
    ]
    chosen = video.get("url") if isinstance(video, dict) else None
    return found or ([Variant(chosen, playlist=".m3u8" in chosen)] if isinstance(chosen, str) and chosen else [])


def _bitrate(variant: dict[str, Any]) -> int:
    rate = variant.get("bitrate")
    return rate if isinstance(rate, int) and not isinstance(rate, bool) else 0


def _short_side_px(variant: dict[str, Any], link: str) -> int:
    """Shorter side, if necessary from the URL: …/vid/avc1/1280x720/….mp4."""
    width, height = variant.get("width"), variant.get("height")
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        return min(width, height)
    found = _SIZE.search(link.partition("?")[0])
    return min(int(found[1]), int(found[2])) if found else 0


def _items(place: Any, name: str) -> list[Any]:
    found = place.get(name) if isinstance(place, dict) else None
    return found[:MAX_ENTRIES] if isinstance(found, list) else []
