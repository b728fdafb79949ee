"""Clip hosts: which links lead to a video, and how to get the file behind each. One table, used by search and download.

Add a host by adding a row to `HOSTS`. A host that changes its domain every few weeks is listed by its brand, which
matches any top-level domain (`streamin.link`, `streamin.me`).

A simulator cannot serve `streamff.pro` itself. For a netloc in `private_hosts`, the path `/hosts/<host>/…` stands for
`https://<host>/…`; requests that a row makes to other hosts use the same prefix. No other netloc is translated.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit, urlunsplit

MAX_LINK_LENGTH = 2000
GATEWAY = "hosts"
"""First path segment under which a private host serves other hosts."""


class Lookup(StrEnum):
    """How to find the file behind a host's link. The value describes the response."""

    EMBED_DATA_LINK = "embed page, <video data-link>"
    OG_VIDEO = "page, og:video"
    PLAYER = "page, <video src>"
    SHARE_API = "JSON list, [0].external_url"
    STREAMABLE_API = "JSON, files.mp4.url"
    PLAYLIST = "HLS playlist"
    BLUESKY_BLOB = "blob of the author's PDS, else HLS playlist"
    GENERIC = "whatever the page offers, else yt-dlp"
    CLOSED = "shut down"


@dataclass(frozen=True, slots=True)
class ClipHost:
    name: str
    lookup: Lookup
    brand: str = ""
    """Second-level label that matches under any top-level domain."""
    domains: tuple[str, ...] = ()
    """Exact domains, including their subdomains."""
    path: str = r"/(?:[a-z]{1,5}/)?(?P<id>[\w-]+)/?"
    """Pattern of a link's path. A path that does not match has no clip id."""
    request: str = ""
    """URL to request instead of the link itself, with `{id}`."""
    files: tuple[tuple[str, str], ...] = ()
    """(path prefix, file URL with `{id}`): known file locations, tried if the page names none."""
    processing: str = ""
    """Text that the page shows while the video is being encoded, which is worth a retry."""
    note: str = ""


# URL forms as of July to September 2026, from clients maintained against the live hosts: cygnusx-1-org/continuum
# (ShortClipHostUtils.kt, 9 Sep) and Apollo-Reborn/Apollo-Reborn (#596, #665, #929, #944).
HOSTS: tuple[ClipHost, ...] = (
    ClipHost(
        "streamain",
        Lookup.EMBED_DATA_LINK,
        domains=("streamain.com", "streama.in"),
        path=r"/(?:[a-z]{2}(?:-[A-Za-z]{2})?/)?(?:embed/)?(?P<id>[\w-]{4,64})(?:/watch)?/?",
        request="https://streamain.com/embed/{id}",
        note="the watch page's sidebar lists other people's files",
    ),
    ClipHost("streamin", Lookup.OG_VIDEO, brand="streamin"),
    ClipHost(
        "streamff",
        Lookup.SHARE_API,
        brand="streamff",
        request="https://ffedge.streamff.com/share/{id}",
        note="its og:video points at the page itself; clips are purged after about three days",
    ),
    ClipHost(
        "dubz",
        Lookup.PLAYER,
        brand="dubz",
        files=(
            ("/v/", "https://cdn.squeelab.com/guest/videos/{id}.mp4"),
            ("/", "https://cdn.makevos.com/videos/{id}.mp4"),
        ),
        note="/c/ and /v/ clips are on different CDNs",
    ),
    ClipHost("dropr", Lookup.OG_VIDEO, domains=("dropr.co",), processing="video is processing"),
    ClipHost(
        "streamable",
        Lookup.STREAMABLE_API,
        domains=("streamable.com",),
        path=r"/(?:[eos]/|edit/)?(?P<id>\w{3,12})(?:/.*)?",
        request="https://api.streamable.com/videos/{id}",
    ),
    ClipHost(
        "reddit video",
        Lookup.PLAYLIST,
        domains=("v.redd.it",),
        path=r"/(?P<id>\w{5,20})(?:/.*)?",
        request="https://v.redd.it/{id}/HLSPlaylist.m3u8",
        note="the mp4 files beside the playlist have no sound",
    ),
    ClipHost(
        "bluesky",
        Lookup.BLUESKY_BLOB,
        domains=("video.bsky.app",),
        path=r"/watch/(?P<did>did(?::|%3[Aa])(?:plc|web)(?::|%3[Aa])[\w.%-]+)/(?P<id>b[a-z2-7]{40,110})/playlist\.m3u8",
    ),
    ClipHost("bangr", Lookup.CLOSED, domains=("bangr.im",), note="bangr.im shut down in July 2026"),
    ClipHost("dubzalt", Lookup.PLAYER, brand="dubzalt"),
    ClipHost("streamgg", Lookup.GENERIC, brand="streamgg"),
    ClipHost("streamja", Lookup.GENERIC, brand="streamja"),
    ClipHost("streamwo", Lookup.GENERIC, brand="streamwo"),
    ClipHost("streamvi", Lookup.GENERIC, brand="streamvi"),
    ClipHost("juststream", Lookup.GENERIC, brand="juststream"),
    ClipHost("caulse", Lookup.GENERIC, brand="caulse"),
    ClipHost("clipse", Lookup.GENERIC, brand="clipse"),
    ClipHost("imgur", Lookup.GENERIC, domains=("imgur.com",)),
    ClipHost("twitch clips", Lookup.GENERIC, domains=("clips.twitch.tv",)),
    ClipHost("medal", Lookup.GENERIC, domains=("medal.tv",)),
)

_BY_BRAND = {host.brand: host for host in HOSTS if host.brand}
_BY_DOMAIN = {domain: host for host in HOSTS for domain in host.domains}

PLACEHOLDER_HOSTS = frozenset({"cloudflare-terms-of-service-abuse.com"})
"""Cloudflare redirects blocked videos to these hosts, which serve a playable file. Dead streamff clips end there."""
_PLACEHOLDER_FILE = re.compile(
    r"/(?:video[-_])?(?:removed|deleted|dmca|abuse|restricted|placeholder|unavailable|not[-_]?found|expired)"
    r"(?:[-_]video)?\.(?:mp4|webm|mov|m4v|m3u8)",
    re.IGNORECASE,
)
_REMOVED_PAGE = re.compile(
    r"(?:video|clip|file|content|page|post)\b.{0,40}?\b(?:removed|deleted|no longer (?:available|exists?)"
    r"|does(?: not|n.t) exist|not found|unavailable|expired|taken down)"
    r"|(?:terms of service|copyright) (?:violation|abuse|claim)|violat\w+ .{0,30}terms of service",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ClipLink:
    """A link to a host of the table."""

    host: ClipHost
    url: str
    """Public URL at the host, even if a simulator serves it."""
    clip_id: str
    did: str = ""
    """Author of a Bluesky video."""
    gateway: str = ""
    """Prefix that stands for `https://` at a private host."""

    @property
    def request_url(self) -> str:
        """URL to request for the file: the host's lookup URL, or the link itself."""
        return self.gateway_url(self.host.request.format(id=self.clip_id) if self.host.request else self.url)

    @property
    def known_files(self) -> list[str]:
        path = urlsplit(self.url).path
        return [
            self.gateway_url(url.format(id=self.clip_id)) for prefix, url in self.host.files if path.startswith(prefix)
        ]

    def gateway_url(self, url: str) -> str:
        """Translate a URL of the table for the gateway, if there is one."""
        return self.gateway + url.removeprefix("https://") if self.gateway else url


def clip_link(link: str, private_hosts: Collection[str] = ()) -> ClipLink | None:
    """Look up a link in the table; None for other hosts and for links without a clip id."""
    public, gateway = _public_form(link, private_hosts)
    parts = split_link(public)
    if parts is None:
        return None
    host = find_host(parts.hostname or "")
    found = re.fullmatch(host.path, parts.path) if host else None
    if host is None or found is None:
        return None
    groups = found.groupdict()
    did = re.sub(r"%3[Aa]", ":", groups.get("did") or "")
    return ClipLink(host, public, groups["id"], did, gateway)


def find_host(hostname: str) -> ClipHost | None:
    name = hostname.lower()
    labels = name.split(".")
    for start in range(len(labels) - 1):
        if (host := _BY_DOMAIN.get(".".join(labels[start:]))) is not None:
            return host
    # streamin.me and up.streamin.one, but not streamin.example.com.
    return _BY_BRAND.get(labels[-2]) if 2 <= len(labels) <= 3 else None


def is_video_link(link: str, extra_hosts: Collection[str] = ()) -> bool:
    """Whether a link leads to a known clip host or names an mp4 file.

    `extra_hosts` are host:port of private servers, such as a simulator; they may do without TLS.
    """
    parts = split_link(link)
    if parts is None or not parts.path.strip("/"):
        return False
    if parts.netloc.lower() in extra_hosts:
        public, gateway = _public_form(link, extra_hosts)
        return parts.scheme in ("http", "https") and (not gateway or is_video_link(public))
    if parts.scheme != "https":
        return False
    host = find_host(parts.hostname or "")
    if host is not None:
        return host.lookup is not Lookup.CLOSED
    return parts.path.lower().endswith(".mp4")


# --- Hosts that are not in the table.

_NON_CLIP_SITES = frozenset(
    {
        *("reddit.com", "redd.it", "redditmedia.com", "wikipedia.org", "wikimedia.org", "wikidata.org", "discord.gg"),
        *("discord.com", "t.me", "telegram.me", "patreon.com", "paypal.com", "amazon.com", "google.com", "apple.com"),
        *("transfermarkt.com", "sofascore.com", "fotmob.com", "flashscore.com", "whoscored.com", "livescore.com"),
        *("fbref.com", "understat.com", "espncricinfo.com", "cricbuzz.com", "fifa.com", "uefa.com"),
        *("nytimes.com", "theguardian.com", "theathletic.com", "bbc.com", "bbc.co.uk", "skysports.com", "goal.com"),
        *("marca.com", "as.com", "lequipe.fr", "kicker.de", "gazzetta.it", "linktr.ee", "pastebin.com"),
    }
)
"""Sites that r/soccer links to but that do not host goal clips."""
_POST_PATHS: dict[str, re.Pattern[str]] = {
    "x.com": re.compile(r"/(?:i/web|i|\w{1,50})/status(?:es)?/\d{5,20}(?:/.*)?"),
    "twitter.com": re.compile(r"/(?:i/web|i|\w{1,50})/status(?:es)?/\d{5,20}(?:/.*)?"),
    "youtube.com": re.compile(r"/(?:watch|(?:shorts|clip|embed|live)/[\w-]+/?)"),
    "youtu.be": re.compile(r"/[\w-]{11}/?"),
    "instagram.com": re.compile(r"/(?:[\w.]+/)?(?:p|reel|reels|tv)/[\w-]+/?"),
    "tiktok.com": re.compile(r"/(?:@[\w.-]+/video/\d+|t/\w+|\w{6,12})/?"),
    "facebook.com": re.compile(r"/(?:watch/?|reel/\d+/?|share/[vr]/\w+/?|[\w.]+/videos/.+)"),
    "fb.watch": re.compile(r"/[\w-]+/?"),
    "twitch.tv": re.compile(r"/\w+/clip/[\w-]+/?|/videos/\d+/?"),
    "bsky.app": re.compile(r"/profile/[^/]+/post/\w+/?"),
}
"""Path pattern of a single post, by social network. Profiles, channels and lists are not tried."""
_NOT_A_VIDEO_FILE = re.compile(
    r".*\.(?:jpe?g|png|gif|webp|avif|svg|bmp|ico|pdf|docx?|xlsx?|zip|rar|7z|gz|exe|apk|txt|json|xml|rss|mp3|css|js)",
    re.IGNORECASE,
)
_PRIVATE_ENDINGS = frozenset({"local", "localhost", "internal", "lan", "home", "corp", "test", "invalid", "onion"})


def is_plausible_clip_link(link: str, extra_hosts: Collection[str] = ()) -> bool:
    """Whether to try a link to an unknown host, because the post's title names the goal.

    Clip hosts rotate, so tomorrow's host is in no table today. Images, documents, profiles, channels, statistics and
    news sites are not tried. The download's own guard checks addresses.
    """
    if is_video_link(link, extra_hosts):
        return True
    parts = split_link(link)
    if parts is None or parts.scheme != "https" or parts.port not in (None, 443):
        return False
    host = (parts.hostname or "").rstrip(".")
    if not _is_public_name(host) or find_host(host) is not None:
        return False
    if not parts.path.strip("/") or _NOT_A_VIDEO_FILE.fullmatch(parts.path):
        return False
    labels = host.split(".")
    for start in range(len(labels) - 1):
        domain = ".".join(labels[start:])
        if domain in _NON_CLIP_SITES:
            return False
        if (posts := _POST_PATHS.get(domain)) is not None:
            return posts.fullmatch(parts.path) is not None
    return True


def _is_public_name(host: str) -> bool:
    labels = host.split(".")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return len(labels) >= 2 and labels[-1] not in _PRIVATE_ENDINGS and not labels[-1].isdecimal()
    return False


# --- Removed clips.


def placeholder_reason(url: str, private_hosts: Collection[str] = ()) -> str | None:
    """Return why a URL, after all redirects, is a placeholder for a removed video; None if it is not."""
    parts = split_link(_public_form(url, private_hosts)[0])
    if parts is None:
        return None
    host = (parts.hostname or "").removeprefix("www.")
    if host in PLACEHOLDER_HOSTS:
        return f"redirects to {host}, a placeholder for blocked videos"
    return "is a placeholder for a removed video" if _PLACEHOLDER_FILE.fullmatch(parts.path) else None


def is_front_page(requested: str, answered: str, private_hosts: Collection[str] = ()) -> bool:
    """Whether a host redirected a clip's link to its front page, as many do for removed clips."""
    before, after = (split_link(_public_form(url, private_hosts)[0]) for url in (requested, answered))
    if before is None or after is None or not before.path.strip("/"):
        return False
    return not after.path.strip("/") and not after.query


def mentions_removal(text: str) -> bool:
    """Whether the text of a page without a video states that the video was removed."""
    return _REMOVED_PAGE.search(text) is not None


# --- Links.


def split_link(link: str) -> SplitResult | None:
    """Split a plain link; None for anything unusual, such as a user name before the host, which disguises the host."""
    if len(link) > MAX_LINK_LENGTH or not link.isascii() or not link.isprintable() or " " in link or "\\" in link:
        return None
    try:
        parts = urlsplit(link)
        parts.port  # noqa: B018  (an invalid one raises)
    except ValueError:
        return None
    return parts if parts.hostname and "@" not in parts.netloc else None


def _public_form(link: str, private_hosts: Collection[str]) -> tuple[str, str]:
    """Return the public link that a private host's `/hosts/<host>/…` stands for, with its prefix; other links
    unchanged.
    """
    parts = split_link(link)
    if parts is None or parts.netloc.lower() not in private_hosts:
        return link, ""
    first, _, rest = parts.path.lstrip("/").partition("/")
    host, _, path = rest.partition("/")
    if first != GATEWAY or not re.fullmatch(r"[a-z0-9.-]{1,253}", host):
        return link, ""
    return urlunsplit(("https", host, f"/{path}", parts.query, "")), f"{parts.scheme}://{parts.netloc}/{GATEWAY}/"
