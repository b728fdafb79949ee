"""What the pages and the API need of the rest. Adapters fill these; `bootstrap_web.py` chooses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from found_footy.domain.access import Token
from found_footy.domain.announcing.feed_goal import FeedGoal
from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.feeds.health_values import Recovery, RecoveryAction
from found_footy.domain.operations.feeds_measured import BrowserSeen, Cached, Declared, HealthKnown
from found_footy.domain.operations.measured import Recorded, TemporalState
from found_footy.domain.videos.video_link import VideoLink
from found_footy.ports import ObjectStore

if TYPE_CHECKING:
    from found_footy.media.fingerprint import Fingerprint

Document = dict[str, Any]


class GoalReading(Protocol):
    """Whole documents, in the shape of docs/reference/database.md."""

    async def fixture(self, fixture_id: int) -> Document:
        """Raises NotFound."""

    async def event(self, event_id: str) -> Document:
        """Raises NotFound."""


class MatchdayReading(Protocol):
    """The matches of a day as its page shows them. Days are days in UTC."""

    async def days(self, day: date, around: int) -> Document:
        """`counts` of matches by date, for so many days on each side; `before` and `after`, the nearest dates that have
        matches, or None; `position`, up to which news are part of whatever is read after this."""

    async def matches(self, day: date, most: int) -> list[Document]:
        """By kick-off: the columns of `fixtures`, and `goals` in the order of play, each with its plain status, the
        number of its searches, of its clips and of the verified ones, and its `best` clip or None."""

    async def heard(self, day: date, most: int) -> Mapping[int, datetime]:
        """When the matches of the day that are followed at every poll were last heard of."""

    async def match(self, fixture_id: int) -> Document:
        """One in the same shape. Raises NotFound."""


class Reading(Protocol):
    """Documents as the JSON text that the database wrote, for answers that nobody takes apart on their way out."""

    async def version(self) -> str:
        """The same as long as everything else here would answer the same; asked after the call."""

    async def page(
        self, listing: str, wanted: Mapping[str, Any], after: Sequence[Any] | None, limit: int, now: datetime
    ) -> list[tuple[tuple[Any, ...], str]]:
        """What follows on `after` in that list: the place of each in its order, and its document.

        The news of matches are as old as they are at that moment.
        """

    async def fixture(self, fixture_id: int, now: datetime) -> tuple[str, str]:
        """The version that was read, and the document. Raises NotFound."""

    async def event(self, event_id: str) -> tuple[str, str]:
        """The same. Raises NotFound."""

    async def video(self, video_id: str) -> tuple[str, str]:
        """The same, also of one that was merged. Raises NotFound, and LinkEnded for a withdrawn goal."""

    async def losses(self, wanted: Mapping[str, Any]) -> str: ...


class LinkReading(Protocol):
    """Where links lead, and why they have ended."""

    async def video(self, video_id: str) -> VideoLink:
        """Follows merges. Raises NotFound, and LinkEnded for a withdrawn goal or a match past retention."""

    async def require_not_ended(self, path: str) -> None:
        """`path` is `v/{video}` or `g/{event}`. Raises LinkEnded."""

    async def fingerprints(self, event_id: str) -> Mapping[str, Fingerprint]:
        """Of the kept clips, by their MD5."""


class ClipFiles(ObjectStore, Protocol):
    async def signed_url(self, key: str, seconds: float) -> str | None:
        """An address under which anybody can read the object for so long; None where the store has no addresses."""

    async def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """A part of an object, at most 16 MiB of it; nothing beyond its end. Raises ObjectMissing."""


class AccessStore(Protocol):
    """Tokens, the logins made with them, and the attempts that failed."""

    async def token(self, id_: str) -> Token | None: ...

    async def token_of_session(self, hash_: bytes, now: datetime) -> Token | None:
        """Of a login that has not ended yet."""

    async def touch(self, id_: str, now: datetime) -> None:
        """Notes that a token was used, once a minute at most."""

    async def add_session(self, hash_: bytes, token_id: str, now: datetime, expires_at: datetime) -> None: ...

    async def end_session(self, hash_: bytes) -> None: ...

    async def failures(self, client: str, now: datetime) -> tuple[int, datetime]:
        """How many wrong tokens of late, and when the first of them was."""

    async def note_failure(self, client: str, now: datetime, most: int) -> tuple[int, datetime]:
        """The same with one more; never more than `most` are kept."""


class FeedReading(Protocol):
    """What the Atom feeds tell."""

    async def name(self, about: Literal["team", "competition"], id_: int) -> str:
        """Raises NotFound where no match of it was ever seen."""

    async def goals(self, about: Literal["team", "competition"] | None, id_: int | None, limit: int) -> list[FeedGoal]:
        """Those with the newest clips, and of them also those that were withdrawn."""


class NewsReading(Protocol):
    """The outbox by position. All but `wait` raise StoreUnavailable."""

    async def latest(self) -> int:
        """The last position; whatever had none yet gets one."""

    async def since(self, after: int, limit: int) -> list[NewsItem]: ...

    async def oldest(self) -> int | None:
        """The first position that is still kept."""

    async def wait(self, most_seconds: float = 1.0) -> None:
        """Until there may be more, or so long."""


class OperationsReading(Protocol):
    """What the operations page asks of the database. Both raise StoreUnavailable."""

    async def lacking(self) -> tuple[str, ...]:
        """Migrations that this version needs and the database does not have."""

    async def recorded(self, now: datetime) -> Recorded: ...


class TemporalReading(Protocol):
    async def look(self, now: datetime) -> TemporalState:
        """In bounded time. Raises EngineError."""


class HealthReading(Protocol):
    async def known(self, now: datetime) -> HealthKnown:
        """What the watchdog has written down. Raises StoreUnavailable."""


class CacheReading(Protocol):
    async def look(self) -> Cached:
        """Raises CacheUnavailable."""


class BrowserReading(Protocol):
    async def seen(self) -> BrowserSeen:
        """Raises a SourceError."""


class FeedBook(Protocol):
    """The declared score feeds, and the switches of the operator."""

    async def declared(self) -> Sequence[Declared]:
        """The most trusted first. Raises SettingsError where the file that declares them cannot be read."""

    async def switch(self, feed: str, on: bool | None) -> Declared:
        """None takes it back: the file decides again. Raises NotFound and CacheUnavailable."""


class PairingBook(Protocol):
    async def decide(self, feed: str, feed_id: int, fixture_id: int, same: bool, now: datetime) -> None:
        """What a person says of a pairing that is in doubt. Raises NotFound."""


class MatchWordsReading(Protocol):
    """Which feed said what of a match."""

    async def words(self, fixture_id: int) -> Document:
        """`origins` by field, `listings` and `disputes`, with the match's names, stage, status, kick-off, sport and
        when it was last heard of. Raises NotFound."""


class Recovering(Protocol):
    async def recover(self, action: RecoveryAction, trigger: str) -> Recovery:
        """Does it now, and writes it down. Raises NotFound where there is nothing of the kind."""
