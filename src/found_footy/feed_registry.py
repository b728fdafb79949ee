"""Which feeds are asked at this moment: declared in a file that may change, and switched by an operator."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from found_footy.domain.errors import CacheUnavailable, SettingsError
from found_footy.domain.feeds.ids import id_space
from found_footy.domain.feeds.source import FeedSource
from found_footy.ports import ScoreFeed
from found_footy.ports_feeds import Switches

log = logging.getLogger(__name__)

OWN_IDS = "api_football"
"""The adapter whose numbers are ours, where several feeds are declared."""


@dataclass(frozen=True, slots=True)
class OpenFeed:
    source: FeedSource
    feed: ScoreFeed
    id_space: int

    @property
    def id(self) -> str:
        return self.source.id

    @property
    def origin(self) -> str:
        """Feeds of one origin share their limits, and count as one."""
        return self.source.origin or self.source.id


@dataclass(frozen=True, slots=True)
class DeclaredFeed:
    """For people: whether it is asked, and why not."""

    source: FeedSource
    on: bool
    switched: bool | None
    """What the operator said, if anything."""
    lacks: str = ""


class FeedRegistry:
    """`declared` is asked at each turn and gives the same tuple again while nothing has changed."""

    def __init__(
        self,
        declared: Callable[[], tuple[FeedSource, ...]],
        build: Callable[[FeedSource], ScoreFeed],
        switches: Switches,
        refresh: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`refresh` is called before each turn, for whatever else the feeds depend on."""
        self._read = declared
        self._build = build
        self._switches = switches
        self._before = refresh
        self._sources = declared()
        self._built: dict[str, tuple[FeedSource, ScoreFeed]] = {}
        self._switched: dict[str, bool] = {}
        """As it was when the cache last answered."""

    async def feeds(self) -> list[OpenFeed]:
        """Those that are on and have what they need, the most trusted first."""
        found = []
        for each in await self.declared():
            if each.on and not each.lacks:
                found.append(self._open(each.source))
        return found

    async def feed(self, feed_id: str) -> OpenFeed | None:
        return next((each for each in await self.feeds() if each.id == feed_id), None)

    async def declared(self) -> list[DeclaredFeed]:
        await self._refresh()
        listed = []
        for source in sorted(self._sources, key=lambda source: (-source.precedence, source.id)):
            switched = self._switched.get(source.id)
            on = source.enabled if switched is None else switched
            listed.append(DeclaredFeed(source, on, switched, self._lacks(source) if on else ""))
        return listed

    async def aclose(self) -> None:
        for _, feed in self._built.values():
            await feed.aclose()
        self._built.clear()

    async def _refresh(self) -> None:
        if self._before is not None:
            await self._before()
        try:
            self._sources = self._read()
        except SettingsError as error:
            # Whoever is just editing the file must not switch everything off.
            log.error(str(error), extra={"action": "feeds_file_wrong"})
        try:
            self._switched = dict(await self._switches.switched())
        except CacheUnavailable as error:
            log.warning(str(error), extra={"action": "switches_unknown"})
        declared = {source.id: source for source in self._sources}
        for feed_id, (source, feed) in list(self._built.items()):
            if declared.get(feed_id) != source:
                del self._built[feed_id]
                await feed.aclose()

    def _open(self, source: FeedSource) -> OpenFeed:
        feed = self._made(source)
        return OpenFeed(source, feed, id_space(source.id, own=self._has_own_ids(source)))

    def _made(self, source: FeedSource) -> ScoreFeed:
        if source.id not in self._built:
            self._built[source.id] = (source, self._build(source))
        return self._built[source.id][1]

    def _lacks(self, source: FeedSource) -> str:
        try:
            self._made(source)
        except SettingsError as error:
            return str(error)
        return ""

    def _has_own_ids(self, source: FeedSource) -> bool:
        return source == self.home(self._sources)

    @staticmethod
    def home(sources: Sequence[FeedSource]) -> FeedSource | None:
        """The feed whose ids are ours: the only one, or the first of API-Football."""
        if len(sources) == 1:
            return sources[0]
        return next((source for source in sources if source.adapter == OWN_IDS), None)
