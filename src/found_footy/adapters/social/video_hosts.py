"""Which links of strangers lead to a video: hosts that r/soccer posts goals on, and files by their name."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

LONGEST_LINK = 2000

ANY_ENDING = frozenset(
    {"streamin", "dubz", "dubzalt", "streamff", "streamgg", "streamja", "streamwo", "streamvi", "juststream", "caulse"}
)
"""Goal hosts, which change the ending of their name whenever one is taken away."""
EXACT = frozenset({"streamable.com", "imgur.com", "v.redd.it", "clips.twitch.tv", "medal.tv"})
"""With all that is below them."""


def is_video_link(link: str, extra_hosts: Collection[str] = ()) -> bool:
    """Whether a downloader should try. `extra_hosts` are host:port of a simulator, and may go without TLS."""
    parts = split(link)
    if parts is None or not parts.path.strip("/"):
        return False
    if parts.netloc.lower() in extra_hosts:
        return parts.scheme in ("http", "https")
    return parts.scheme == "https" and (parts.path.lower().endswith(".mp4") or _is_known(parts.hostname or ""))


def split(link: str) -> SplitResult | None:
    """Nothing for what is no plain link; a name and password before the host are how people are deceived."""
    if len(link) > LONGEST_LINK or not link.isascii() or not link.isprintable() or " " in link or "\\" in link:
        return None
    try:
        parts = urlsplit(link)
        parts.port  # noqa: B018  (a wrong one raises)
    except ValueError:
        return None
    return parts if parts.hostname and "@" not in parts.netloc else None


def _is_known(host: str) -> bool:
    labels = host.lower().split(".")
    if any(host == known or host.endswith("." + known) for known in EXACT):
        return True
    # streamin.me and up.streamin.one, but not streamin.example.com.
    return 2 <= len(labels) <= 3 and labels[-2] in ANY_ENDING
