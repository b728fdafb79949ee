"""Finds a page's own video in its HTML. Pure: a page in, links out.

Clip hosts list other people's clips beside the one that was linked. A file counts as the page's own if the page
declares it (`og:video`, `twitter:player:stream`, JSON-LD), if the only player shows it, or if its name holds the
clip's id. Where several players show different files and nothing tells them apart, none is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

MAX_LINKS = 4
MAX_PIECES = 100_000
"""Tags and texts of one page; a page with more is made to keep us busy."""
MAX_PLAYERS = 40
MAX_TEXT = 4_000
"""Characters of visible text kept, to recognise removed clips."""
MAX_JSON_LD = 200_000
CHUNK = 65_536

META_NAMES = ("og:video:secure_url", "og:video:url", "og:video", "twitter:player:stream")
"""In order of preference: og:video is sometimes the address of a player's page."""
_FILE = re.compile(r".*\.(?:mp4|m4v|mov|webm|m3u8|mpd)", re.IGNORECASE)


@dataclass(slots=True)
class Player:
    """One <video> element."""

    files: list[str] = field(default_factory=list)
    """`src` and the <source> elements: alternatives of one video."""
    data_link: str = ""


@dataclass(slots=True)
class ClipPage:
    players: list[Player] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    canonical: str = ""
    json_ld: list[str] = field(default_factory=list)
    """contentUrl of each VideoObject."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class OwnVideos:
    links: list[str]
    """As written on the page, so perhaps relative to it; the most likely first."""
    ambiguous: bool = False
    """The page shows several videos and does not say which is its own."""


def parse_page(html: str) -> ClipPage:
    parser = _Parser()
    # The parser gives up a whole page for a marked section that it does not know.
    html = html.replace("<![", "< ![")
    start, size = 0, CHUNK
    try:
        # A tag that does not end is read again with each piece; growing pieces keep that from adding up.
        # The parser is not closed: a tag cut off at the end holds no link.
        while start < len(html):
            parser.feed(html[start : start + size])
            start += size
            size = size * 2 if parser.rawdata else CHUNK
    except _PageTooLong:
        pass
    return parser.page


def own_videos(page: ClipPage, url: str) -> OwnVideos:
    """The videos that a page declares or plays as its own. `url` is the page's address."""
    addresses = _addresses(page, url)
    declared = declared_videos(page, url)
    files = [link for link in declared if _is_file(link)]
    pages = [link for link in declared if not _is_file(link)]
    played, ambiguous = _own_players(page, url, addresses, declared)
    links = _usable([*files, *played, *pages])
    return OwnVideos(links[:MAX_LINKS], ambiguous and not links)


def declared_videos(page: ClipPage, url: str) -> list[str]:
    """What the page's metadata names, apart from the page itself. JSON-LD counts where it is about one video."""
    addresses = _addresses(page, url)
    named = [page.meta[name] for name in META_NAMES if name in page.meta]
    named += page.json_ld if len(set(page.json_ld)) == 1 else []
    return [link for link in _usable(named) if _plain(link, url) not in addresses]


def _addresses(page: ClipPage, url: str) -> set[str]:
    """Under which names the page itself is known."""
    return {_plain(each, url) for each in (url, page.canonical, page.meta.get("og:url", "")) if each}


def played_videos(page: ClipPage) -> list[str]:
    """What all players show."""
    return _usable(link for player in page.players for link in player.files)[:MAX_LINKS]


def data_links(page: ClipPage) -> list[str]:
    """`data-link` of the <video> elements, where only one file is meant."""
    links = _usable(player.data_link for player in page.players)
    return links if len(links) == 1 else []


def _own_players(page: ClipPage, url: str, addresses: set[str], declared: list[str]) -> tuple[list[str], bool]:
    players = [files for player in page.players if (files := _usable(player.files))]
    if len({files[0] for files in players}) <= 1:
        return (players[0] if players else []), False
    known = {_plain(link, url) for link in declared}
    own = [files for files in players if any(_plain(link, url) in known for link in files)]
    if not own:
        ids = {clip_id for address in addresses if (clip_id := _last_segment(address))}
        own = [files for files in players if any(clip_id in unquote(link) for clip_id in ids for link in files)]
    return (own[0], False) if len({files[0] for files in own}) == 1 else ([], True)


def _last_segment(address: str) -> str:
    """A clip's id by its address; nothing for short or everyday words, which any file's name may hold."""
    last = urlsplit(address).path.rstrip("/").rpartition("/")[2]
    return last if len(last) >= 5 and any(letter.isdigit() for letter in last) else ""


def _plain(link: str, base: str) -> str:
    """An address for comparison: absolute, without scheme, query and fragment."""
    try:
        parts = urlsplit(urljoin(base, link))
    except ValueError:
        return link
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}"


def _is_file(link: str) -> bool:
    return _FILE.fullmatch(link.partition("?")[0].partition("#")[0]) is not None


def _usable(links: Iterable[str]) -> list[str]:
    """Each link once, without the position at which a player starts; `blob:` and `data:` exist only in a browser."""
    return list(dict.fromkeys(link for each in links if (link := each.partition("#")[0]) and _is_web(link)))


def _is_web(link: str) -> bool:
    first = link.lower().partition("/")[0]
    return ":" not in first or first.partition(":")[0] in ("http", "https")


class _PageTooLong(Exception):
    pass


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = ClipPage()
        self._pieces = 0
        self._open: list[Player] = []
        self._hidden = ""
        """The script or style element that the text belongs to."""
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
        if self._json_ld and len(data) <= MAX_JSON_LD:
            self.page.json_ld += _content_urls(data)[: MAX_LINKS + 1]
        elif not self._hidden and len(self.page.text) < MAX_TEXT:
            words = " ".join(data.split())
            self.page.text = f"{self.page.text} {words}"[:MAX_TEXT] if words else self.page.text

    def _start_player(self, values: dict[str, str]) -> None:
        player = Player([values["src"]] if values.get("src") else [], values.get("data-link", ""))
        if len(self.page.players) < MAX_PLAYERS:
            self.page.players.append(player)
            self._open = [*self._open, player][-MAX_PLAYERS:]

    def _count(self) -> None:
        self._pieces += 1
        if self._pieces > MAX_PIECES:
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
