"""Posts on X: which links are posts, and which video X's syndication endpoint or FxEmbed names for one. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import httpx

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss

HOSTS = frozenset({"x.com", "twitter.com"})
MOST_ENTRIES = 50
"""Media of a post, and variants of a video, that are looked at."""

MAX_PIXELS = 1080
"""Of a video's shorter side."""

_SIZE = re.compile(r"/([0-9]{2,5})x([0-9]{2,5})/")
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
    """The mp4 with the highest bitrate up to 1080p. A playlist only where there is no mp4, HEVC only without H.264."""
    found = list(variants)
    for wanted in (
        [each for each in found if not each.playlist and not each.hevc],
        [each for each in found if not each.playlist],
        found,
    ):
        small = [each for each in wanted if each.pixels <= MAX_PIXELS]
        if small:
            return max(small, key=lambda each: (each.bitrate, each.url))
        if wanted:
            return min(wanted, key=lambda each: (each.pixels, each.bitrate, each.url))
    return None


def best_video(answer: Any, post: str) -> str:
    """The link to the best mp4 in an answer of the syndication endpoint. A quoted post counts after the post itself."""
    if not isinstance(answer, dict):
        raise DownloadUnavailable(f"X's answer about post {post} has an unknown form")
    if "tombstone" in answer or answer.get("__typename") == "TweetTombstone":
        raise _buried(answer.get("tombstone"), post)
    if not answer:
        raise ClipLost(Loss.GONE, f"X does not know post {post}")
    for place in (answer, answer.get("quoted_tweet")):
        best = best_variant(variant for media in _items(place, "mediaDetails") for variant in _mp4s(media))
        if best is not None:
            return best.url
    raise ClipLost(Loss.NOT_A_VIDEO, f"post {post} on X has no video")


def fxtwitter_video(answer: Any, post: str) -> str:
    """The link to the best file in an answer of FxEmbed's `/2/status/<id>`.

    Its `code` counts, not the HTTP status. An unavailable post is a 404 with `status: null` or a tombstone, a post for
    logged-in readers a 401.
    """
    code = answer.get("code") if isinstance(answer, dict) else None
    status = answer.get("status") if isinstance(answer, dict) else None
    if isinstance(status, dict) and status.get("type") == "tombstone":
        reason = clean_text(str(status.get("reason")), 40)
        loss = Loss.PRIVATE if reason in ("private", "blocked") else Loss.GONE
        raise ClipLost(loss, f"post {post} on X, by FxEmbed: {reason}")
    if code == 401:
        raise ClipLost(Loss.PRIVATE, f"post {post} on X, by FxEmbed: for logged-in readers only")
    if code == 404:
        raise ClipLost(Loss.GONE, f"FxEmbed does not know post {post} on X")
    if code != 200 or not isinstance(status, dict):
        raise DownloadUnavailable(f"FxEmbed answered code {clean_text(str(code), 10)} about post {post} on X")
    for place in (status, status.get("quote")):
        media = place.get("media") if isinstance(place, dict) else None
        best = best_variant(variant for video in _items(media, "videos") for variant in _formats(video))
        if best is not None:
            return best.url
    raise ClipLost(Loss.NOT_A_VIDEO, f"post {post} on X has no video")


def worse_of(first: ClipLost | DownloadUnavailable, second: ClipLost | DownloadUnavailable) -> Exception:
    """What is true of a post when both the syndication endpoint (`first`) and FxEmbed failed.

    Each of them reports posts as missing during its own outages, and the endpoint posts that are seconds old: "gone"
    holds only if both say so. A tombstone is an explicit answer.
    """
    said = f"{first}; {second}"
    if isinstance(first, ClipLost) and isinstance(second, ClipLost):
        chosen = next((each for each in (first, second) if each.loss != Loss.GONE), first)
        return ClipLost(chosen.loss, said)
    if isinstance(first, ClipLost) and first.loss in (Loss.PRIVATE, Loss.GEO_BLOCKED):
        return first
    return DownloadUnavailable(said)


def _buried(tombstone: Any, post: str) -> ClipLost:
    text = tombstone.get("text") if isinstance(tombstone, dict) else None
    words = text.get("text") if isinstance(text, dict) else text
    said = clean_text(words, 120) if isinstance(words, str) else "no reason given"
    loss = Loss.GEO_BLOCKED if _GEO.search(said) else Loss.PRIVATE if _PRIVATE.search(said) else Loss.GONE
    return ClipLost(loss, f"post {post} on X: {said}")


def _mp4s(media: Any) -> list[Variant]:
    info = media.get("video_info") if isinstance(media, dict) else None
    return [
        Variant(link, _bitrate(variant), _pixels(variant, link))
        for variant in _items(info, "variants")
        if isinstance(variant, dict)
        and variant.get("content_type") == "video/mp4"
        and isinstance(link := variant.get("url"), str)
    ]


def _formats(video: Any) -> list[Variant]:
    """FxEmbed's `formats`, or the one address that it chose itself."""
    found = [
        Variant(
            link,
            _bitrate(each),
            _pixels(each, link),
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


def _pixels(variant: dict[str, Any], link: str) -> int:
    """X's addresses hold the size: …/vid/avc1/1280x720/….mp4."""
    width, height = variant.get("width"), variant.get("height")
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        return min(width, height)
    found = _SIZE.search(link.partition("?")[0])
    return min(int(found[1]), int(found[2])) if found else 0


def _items(place: Any, name: str) -> list[Any]:
    found = place.get(name) if isinstance(place, dict) else None
    return found[:MOST_ENTRIES] if isinstance(found, list) else []
