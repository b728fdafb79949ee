"""Builds the social sources and the team name service that the settings enable."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from found_footy.config import Settings
from found_footy.discovery.bluesky import Bluesky
from found_footy.discovery.folder import Folder
from found_footy.discovery.fxtwitter import SOURCE as FXTWITTER
from found_footy.discovery.fxtwitter import FxTwitter
from found_footy.discovery.reddit import Reddit
from found_footy.discovery.reddit_clients import RedditKeys
from found_footy.discovery.sources import SocialSource
from found_footy.discovery.wikidata import Wikidata, is_contact
from found_footy.discovery.x import XSource
from found_footy.runtime.browser_secret import browser_headers
from found_footy.runtime.clock import utc_now
from found_footy.storage.limits import LocalSourceLimits, RateLimit, RedisSourceLimits, SourceLimits
from found_footy.storage.redis import RedisCache


def fxtwitter_limits(settings: Settings, cache: RedisCache | None) -> SourceLimits:
    """Rate limit of FxTwitter, shared by all workers if there is a cache."""
    rate = RateLimit(60 / settings.fxtwitter_per_minute, burst=10)
    local = LocalSourceLimits(rate=rate)
    if cache is None:
        return local
    wait = settings.source_timeout_seconds / 2
    return RedisSourceLimits(cache, FXTWITTER, rate=rate, wait_seconds=wait, fallback=local)


def build_sources(settings: Settings, cache: RedisCache | None = None) -> list[SocialSource]:
    """Build the configured sources that have all required settings; `missing_settings` lists the others.

    Workers with the same `cache` share responses and rate limits.
    """
    timeout = settings.source_timeout_seconds
    incomplete = missing_settings(settings)
    sources: list[SocialSource] = []
    for name in settings.sources:
        if name in incomplete:
            continue
        match name:
            case "fxtwitter":
                limits = fxtwitter_limits(settings, cache)
                sources.append(
                    FxTwitter(settings.fxtwitter_url, settings.x_url, timeout=timeout, limits=limits, now=utc_now)
                )
            case "x":
                sources.append(
                    XSource(
                        settings.browser_url or "",
                        settings.x_url,
                        headers=browser_headers(settings),
                        timeout=timeout,
                        now=utc_now,
                    )
                )
            case "bluesky":
                handle, password = settings.bluesky_handle or "", settings.bluesky_password or SecretStr("")
                secret = password.get_secret_value()
                sources.append(Bluesky(settings.bluesky_url, handle, secret, timeout=timeout, now=utc_now))
            case "reddit":
                sources.append(_build_reddit(settings, cache))
            case "folder":
                sources.append(Folder(settings.drop_folder or Path(), now=utc_now))
    return sources


def _build_reddit(settings: Settings, cache: RedisCache | None) -> Reddit:
    return Reddit(
        settings.reddit_url,
        settings.reddit_subreddit,
        settings.reddit_cricket_subreddit,
        timeout=settings.source_timeout_seconds,
        extra_hosts=settings.private_hosts,
        ways=settings.reddit_ways,
        keys=_reddit_keys(settings),
        oauth_url=settings.reddit_oauth_url,
        limits=None if cache is None else RedisSourceLimits(cache, "reddit", fallback=LocalSourceLimits()),
        fresh_seconds=settings.reddit_fresh_seconds,
        comment_threads=settings.reddit_comment_threads,
        now=utc_now,
    )


def _reddit_keys(settings: Settings) -> RedditKeys | None:
    client_id, secret = settings.reddit_client_id, settings.reddit_client_secret
    if client_id is None or secret is None:
        return None
    return RedditKeys(client_id.get_secret_value(), secret.get_secret_value())


def missing_settings(settings: Settings) -> dict[str, str]:
    """Return the missing settings by configured source."""
    missing = {
        "x": "a login (`footy browser login`), or BROWSER_URL, the address of `footy browser`"
        if settings.browser_url is None
        else "",
        "bluesky": ""
        if settings.bluesky_handle and settings.bluesky_password
        else "FOOTY_BLUESKY_HANDLE and FOOTY_BLUESKY_PASSWORD",
        "reddit": ""
        if any(way != "oauth" or _reddit_keys(settings) for way in settings.reddit_ways)
        else "FOOTY_REDDIT_CLIENT_ID and FOOTY_REDDIT_CLIENT_SECRET, or another access method in FOOTY_REDDIT_WAYS",
        "folder": "FOOTY_DROP_FOLDER" if settings.drop_folder is None else "",
    }
    return {name: missing[name] for name in settings.sources if missing.get(name)}


def is_contact_missing(settings: Settings) -> bool:
    """Whether requests to Wikimedia are sent without the operator's contact address or page."""
    return not is_contact(settings.wikidata_contact)


def build_wikidata(settings: Settings) -> Wikidata:
    return Wikidata(
        settings.wikidata_url,
        settings.wikidata_sparql_url,
        timeout=settings.source_timeout_seconds,
        contact=settings.wikidata_contact,
    )
