"""Which feeds are asked: a file that changes, switches in a real cache, keys that are missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from found_footy.config import Settings
from found_footy.errors import SettingsError
from found_footy.feeds.cache import FeedSwitches
from found_footy.feeds.models import ScoreFeed
from found_footy.feeds.registry import SOURCES, FeedRegistry, build_feed, check_feeds, declared_feeds
from found_footy.storage.redis import RedisCache
from tests.support.feeds import ScriptedFeed

FILE = """
sources:
  - {domain_id: api_football, precedence_weight: 100}
  - {domain_id: espn, precedence_weight: 80, metadata: {leagues: [soccer/eng.1]}}
  - {domain_id: second, adapter: espn, precedence_weight: 90, enabled: false, metadata: {leagues: [soccer/ger.1]}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(FILE)
    return path


def settings(file: Path, *, key: str | None = "key") -> Settings:
    return Settings(feed=None, feeds_file=file, api_football_key=SecretStr(key) if key else None)


def registry(cache: RedisCache, file: Path, **given: str | None) -> FeedRegistry:
    told = settings(file, **given)
    return FeedRegistry(declared_feeds(told), lambda source: build_feed(told, source, None), FeedSwitches(cache))


def rewrite(file: Path, text: str | None) -> None:
    """As somebody does who edits it; None deletes it."""
    if text is None:
        file.unlink()
    else:
        file.write_text(text)


async def on(feeds: FeedRegistry) -> list[str]:
    return [each.id for each in await feeds.feeds()]


async def test_feeds_are_ordered_by_precedence_without_disabled_ones(cache: RedisCache, file: Path) -> None:
    feeds = registry(cache, file)
    assert await on(feeds) == ["api_football", "espn"]
    assert [each.id_offset == 0 for each in await feeds.feeds()] == [True, False]
    await feeds.aclose()


async def test_a_feed_without_its_key_is_skipped_and_reports_what_is_missing(cache: RedisCache, file: Path) -> None:
    feeds = registry(cache, file, key=None)
    assert await on(feeds) == ["espn"]
    assert "API_FOOTBALL_KEY" in (await feeds.declared())[0].missing
    await feeds.aclose()


async def test_the_file_and_the_operator_switch_feeds_while_everything_runs(cache: RedisCache, file: Path) -> None:
    feeds, switches = registry(cache, file), FeedSwitches(cache)
    await on(feeds)
    rewrite(file, FILE.replace("enabled: false", "enabled: true"))
    assert await on(feeds) == ["api_football", "second", "espn"]
    await switches.switch("second", False)
    await switches.switch("espn", True)
    assert await on(feeds) == ["api_football", "espn"]
    assert [(each.source.id, each.switched) for each in await feeds.declared()] == [
        ("api_football", None),
        ("second", False),
        ("espn", True),
    ]
    await switches.switch("second", None)
    assert await on(feeds) == ["api_football", "second", "espn"]
    await feeds.aclose()


@pytest.mark.parametrize("broken", ["sources: [", "", "sources: [{domain_id: espn, precedence_weight: 900}]"])
async def test_a_file_being_edited_disables_nothing(cache: RedisCache, file: Path, broken: str) -> None:
    feeds = registry(cache, file)
    before = await on(feeds)
    rewrite(file, broken)
    assert await on(feeds) == before
    rewrite(file, None)
    assert await on(feeds) == before
    first = "{domain_id: api_football, precedence_weight: 100}"
    rewrite(file, FILE.replace(first, "{domain_id: espn2, adapter: espn}"))
    assert await on(feeds) == ["espn", "espn2"]
    await feeds.aclose()


async def test_switches_stay_as_they_were_while_the_cache_is_away(file: Path) -> None:
    feeds = registry(RedisCache("redis://127.0.0.1:1/0", connect_seconds=0.2), file)
    assert await on(feeds) == ["api_football", "espn"]
    await feeds.aclose()


async def test_a_feed_whose_declaration_changes_is_recreated_and_the_old_one_closed(
    cache: RedisCache, file: Path
) -> None:
    closed: list[str] = []

    class Watched(ScriptedFeed):
        async def aclose(self) -> None:
            closed.append("closed")

    told = settings(file)
    feeds = FeedRegistry(declared_feeds(told), lambda source: Watched(), FeedSwitches(cache))
    (first, _), (again, _) = await feeds.feeds(), await feeds.feeds()
    assert first.feed is again.feed
    rewrite(file, FILE.replace("precedence_weight: 100", "precedence_weight: 99"))
    changed = (await feeds.feeds())[0]
    assert changed.feed is not first.feed
    assert closed == ["closed"]
    await feeds.aclose()


async def test_the_client_of_a_changed_feed_is_closed_after_its_last_request(cache: RedisCache, file: Path) -> None:
    closed: list[ScoreFeed] = []

    class ClosingFeed(ScriptedFeed):
        async def aclose(self) -> None:
            closed.append(self)

    feeds = FeedRegistry(declared_feeds(settings(file)), lambda source: ClosingFeed(), FeedSwitches(cache))
    async with feeds.lease() as first, feeds.lease("api_football"):
        rewrite(file, FILE.replace("precedence_weight: 100", "precedence_weight: 99"))
        async with feeds.lease("api_football") as changed:
            assert changed[0].feed is not first[0].feed
        assert closed == []
    assert closed == [first[0].feed]
    await feeds.aclose()
    assert changed[0].feed in closed


async def test_starting_without_a_usable_feed_is_rejected_with_the_reason(tmp_path: Path) -> None:
    nobody = tmp_path / "none.yaml"
    rewrite(nobody, "sources: [{domain_id: api_football}]")
    with pytest.raises(SettingsError, match="API_FOOTBALL_KEY"):
        await check_feeds(settings(nobody, key=None))
    rewrite(nobody, "sources: [{domain_id: espn, enabled: false, metadata: {leagues: [soccer/eng.1]}}]")
    with pytest.raises(SettingsError, match="disabled"):
        await check_feeds(settings(nobody))
    with pytest.raises(SettingsError, match="cannot be read"):
        await check_feeds(settings(tmp_path / "missing.yaml"))


def test_one_feed_by_name_overrules_the_file(file: Path) -> None:
    (only,) = declared_feeds(Settings(feed="espn", feeds_file=file))()
    assert (only.id, only.adapter, only.enabled) == ("espn", "espn", True)


def test_without_a_file_there_are_feeds_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert declared_feeds(Settings(feed=None))() == SOURCES


def test_feeds_with_the_same_url_share_an_origin(tmp_path: Path) -> None:
    file = tmp_path / "sources.yaml"
    entries = [
        "{domain_id: espn}",
        "{domain_id: again, adapter: espn, metadata: {base_url: 'https://site.api.espn.com/'}}",
        "{domain_id: mirror, adapter: espn, metadata: {base_url: 'https://espn.example'}}",
        "{domain_id: crex}",
        "{domain_id: recording, metadata: {path: a.gz}}",
    ]
    rewrite(file, "sources:\n" + "".join(f"  - {entry}\n" for entry in entries))
    assert [source.vendor for source in declared_feeds(settings(file))()] == [
        "espn@site.api.espn.com",
        "espn@site.api.espn.com",
        "espn@espn.example",
        "crex@crex.com",
        "recording",
    ]
