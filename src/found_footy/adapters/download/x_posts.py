"""Posts on X: which links are posts, and what the syndication endpoint says about their video. Pure."""

from __future__ import annotations

import math
import re
from typing import Any

import httpx

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss

HOSTS = frozenset({"x.com", "twitter.com"})
MOST_ENTRIES = 50
"""Media of a post, and variants of a video, that are looked at."""

_STATUS = re.compile(r"/(?:i/web|i|\w{1,50})/status(?:es)?/(\d{5,20})(?:/.*)?")
_GEO = re.compile(r"withheld|your (?:country|region|location)", re.IGNORECASE)
_PRIVATE = re.compile(r"limits who can|protected|age.restricted|adult content|log ?in|sign ?in", re.IGNORECASE)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def post_id(url: httpx.URL, x_url: httpx.URL) -> str | None:
    """The post that a link shows; None where it is no link to one."""
    host = url.host.removeprefix("www.").removeprefix("mobile.").removeprefix("m.")
    if (url.scheme, url.netloc) == (x_url.scheme, x_url.netloc):
        path = url.path.removeprefix(x_url.path.rstrip("/"))
    elif host in HOSTS and url.port is None:
        path = url.path
    else:
        return None
    found = _STATUS.fullmatch(path)
    return found[1] if found else None


def token(post: str) -> str:
    """What the endpoint wants beside the id: a number made of it, in base 36, without zeros and the point."""
    return base36(float(int(post)) / 1e15 * math.pi).replace("0", "").replace(".", "")


def base36(value: float) -> str:
    """A number from 0 on as JavaScript's `toString(36)` writes it: as few digits as tell it from its neighbours."""
    whole, fraction = math.floor(value), value - math.floor(value)
    # Half the way to the next number that a double can hold: what is below it says nothing more.
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
    return _whole36(whole) + ("." + "".join(_DIGITS[digit] for digit in digits) if digits else "")


def _round_up(digits: list[int]) -> int:
    """Adds one to the last digit; returns what is carried into the whole number."""
    while digits:
        if digits[-1] + 1 < 36:
            digits[-1] += 1
            return 0
        digits.pop()
    return 1


def _whole36(number: int) -> str:
    text = ""
    while number or not text:
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text


def best_video(answer: Any, post: str) -> str:
    """The link to the mp4 with the most bits a second. A post that a post quotes comes after its own videos."""
    if not isinstance(answer, dict):
        raise DownloadUnavailable(f"X's answer about post {post} has another shape than we know")
    if "tombstone" in answer or answer.get("__typename") == "TweetTombstone":
        raise _buried(answer.get("tombstone"), post)
    if not answer:
        raise ClipLost(Loss.GONE, f"X knows nothing of post {post}")
    for place in (answer, answer.get("quoted_tweet")):
        variants = [variant for media in _items(place, "mediaDetails") for variant in _mp4s(media)]
        if variants:
            return max(variants)[1]
    raise ClipLost(Loss.NOT_A_VIDEO, f"post {post} on X has no video")


def _buried(tombstone: Any, post: str) -> ClipLost:
    text = tombstone.get("text") if isinstance(tombstone, dict) else None
    words = text.get("text") if isinstance(text, dict) else text
    said = clean_text(words, 120) if isinstance(words, str) else "no reason given"
    loss = Loss.GEO_BLOCKED if _GEO.search(said) else Loss.PRIVATE if _PRIVATE.search(said) else Loss.GONE
    return ClipLost(loss, f"post {post} on X: {said}")


def _mp4s(media: Any) -> list[tuple[int, str]]:
    info = media.get("video_info") if isinstance(media, dict) else None
    return [
        (rate if isinstance(rate := variant.get("bitrate"), int) else 0, link)
        for variant in _items(info, "variants")
        if isinstance(variant, dict)
        and variant.get("content_type") == "video/mp4"
        and isinstance(link := variant.get("url"), str)
    ]


def _items(place: Any, name: str) -> list[Any]:
    found = place.get(name) if isinstance(place, dict) else None
    return found[:MOST_ENTRIES] if isinstance(found, list) else []
