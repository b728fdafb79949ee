"""The pages of goal hosts: where on them the video is. Pure: a page in, links out."""

from __future__ import annotations

from html.parser import HTMLParser

MOST_LINKS = 4
MOST_PIECES = 100_000
"""Of a page, tags and texts; beyond that it is meant to keep us busy."""
CHUNK = 65_536

_META = ("og:video:secure_url", "og:video:url", "og:video", "twitter:player:stream")
"""The best first: an address of `og:video` is now and then a player's page."""


def video_links(html: str) -> list[str]:
    """As they are written, so perhaps relative to the page; the likeliest first."""
    page = _Page()
    # The parser gives up a whole page for a marked section that it does not know.
    html = html.replace("<![", "< ![")
    start, size = 0, CHUNK
    try:
        # A tag that does not end is read again with each piece; growing pieces keep that from adding up.
        # The page is not closed at its end: what is cut off there holds no link.
        while start < len(html):
            page.feed(html[start : start + size])
            start += size
            size = size * 2 if page.rawdata else CHUNK
    except _Enough:
        pass
    links = [*page.players, *(page.meta[name] for name in _META if name in page.meta)]
    files = (link.partition("#")[0] for link in links)  # behind it is where a player begins
    return list(dict.fromkeys(link for link in files if _may_be_file(link)))[:MOST_LINKS]


def _may_be_file(link: str) -> bool:
    """Playlists are for yt-dlp; `blob:` and `data:` exist only in a browser."""
    lower = link.lower()
    scheme = lower.partition(":")[0] if ":" in lower.partition("/")[0] else "https"
    path = lower.partition("?")[0]
    return scheme in ("http", "https") and bool(link) and not path.endswith((".m3u8", ".mpd"))


class _Enough(Exception):
    pass


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.players: list[str] = []
        self.meta: dict[str, str] = {}
        self._pieces = 0
        self._inside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._count()
        if tag == "video":
            self._inside += 1
        if tag == "video" or (tag == "source" and self._inside):
            self._add((dict(attrs).get("src") or "").strip())
        if tag == "meta":
            values = {name: value or "" for name, value in attrs}
            name = (values.get("property") or values.get("name") or "").lower()
            if name in _META:
                self.meta.setdefault(name, values.get("content", "").strip())

    def handle_endtag(self, tag: str) -> None:
        self._count()
        if tag == "video":
            self._inside = max(0, self._inside - 1)

    def handle_data(self, data: str) -> None:
        self._count()

    def _add(self, link: str) -> None:
        if link and len(self.players) < 10 * MOST_LINKS:
            self.players.append(link)

    def _count(self) -> None:
        self._pieces += 1
        if self._pieces > MOST_PIECES:
            raise _Enough
