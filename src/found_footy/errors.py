"""All errors in one tree.

FootyError
├── SettingsError             a setting is invalid; startup stops
├── ScenarioError             a scenario file is invalid
├── EngineError               an embedded engine could not be started or did not respond
│   ├── AlreadyRunning        another `footy up` uses the data folder
│   └── DecoderUnavailable    no decoder process could be started (retryable)
├── StoreUnavailable          the database cannot be reached (retryable)
│   ├── SchemaOutdated        its schema is missing migrations of this version
│   └── SchemaTooNew          its schema belongs to a newer version, or to a pre-release
├── CacheUnavailable          Redis cannot be reached (retryable)
│   └── CacheFull             Redis rejects writes: its memory is used up
├── PermitTimeout             all permits of a shared limit stayed in use (retryable)
├── StoreRejected             the database rejected a value that an adapter should have rejected
├── BackupBroken              a backup is incomplete or damaged
├── RecordingBroken           a recording cannot be read, or contains nothing that can be replayed
├── InternalFault             internal error while processing one fixture
├── ArgumentsRejected         a workflow or activity was started with arguments outside its limits
├── FollowUnknown             unknown competition, team or preset in the follow list
├── NotFound                  the requested item does not exist
├── UnknownStatus             a match status that maps to no stage
├── MediaError                a file that cannot be used as a video
│   ├── NotAVideo             not a video, whatever its name
│   ├── MediaBroken           a damaged or truncated video
│   └── MediaTooLarge         exceeds a limit on pixels, frames, length or decoding time
├── VisionError               verification by vision failed, which is not a negative result
│   ├── VisionUnavailable     the vision server cannot be reached (retryable)
│   ├── VisionTimeout         it did not respond in time (retryable)
│   └── InvalidVisionResponse  the response does not have the requested form (retryable)
├── EmbeddingError            an image or a text could not be embedded
│   └── EmbeddingUnavailable  the embedding server cannot be reached (retryable)
├── ObjectStoreError          the object store rejected the request
│   ├── ObjectStoreUnavailable  it cannot be reached (retryable)
│   │   └── VolumeFull        a volume has too little free space (retryable)
│   └── ObjectMissing         no object has that key
├── SourceError               a social source returned an error
│   ├── SourceUnavailable     no usable response: refused, timed out, 5xx (retryable)
│   ├── SourceRateLimited     too many requests
│   ├── SourceLoggedOut       the login is missing, invalid or expired
│   │   └── SourceBlocked     it blocks this IP address without a login
│   └── SourceChanged         the response has an unexpected form
├── WikidataError             Wikidata returned nothing usable (retryable)
├── DownloadUnavailable       a download failed and may succeed later (retryable)
├── CandidateRejected         a candidate that can never become a clip, with the reason
├── RequestError              a request to the pages or the API was rejected
│   ├── BadRequest            it is invalid
│   ├── NotLoggedIn           it needs a token, or a login on the pages
│   ├── NotAllowed            the token's role does not permit it
│   ├── EditRefused           the edit is not possible now; the message has the reason
│   ├── TooManyRequests       the client exceeded a rate limit
│   ├── LinkGone              the link was valid, but its target is permanently gone
│   └── StreamFull            no capacity for another reader of live updates, videos or images (retryable)
├── DeliveryError             a message did not reach its subscriber
│   ├── DeliveryUnavailable   the receiver did not respond, or asked for a retry (retryable)
│   └── DeliveryRefused       the receiver permanently rejects it
└── FeedError
    ├── FeedUnavailable       no usable response: refused, timed out, 5xx (retryable)
    │   └── PageLoadFailed    a page of the feed could not be loaded (retryable)
    ├── FeedNotFound          HTTP 404, for example an unknown league
    ├── FeedMalformed         the response is not the expected JSON (retryable)
    ├── FeedRateLimited       too many requests (retryable, later)
    ├── FeedQuotaExhausted    the daily quota of requests is used up
    ├── MissingFromResponse   the response omits a requested fixture
    ├── FeedPlanRefused       the account's plan does not include the request
    ├── FeedUnauthorized      the key is missing or rejected
    ├── FeedClientRefused     the feed rejects our User-Agent
    ├── FeedRejected          the feed rejected the request and gave a reason
    │   └── FeedQueryRejected  HTTP 400: the feed does not accept this form of request
    ├── FeedBlocked           a page meant for people, such as a captcha or a consent page
    ├── FeedBusy              our own limits for this feed are exhausted for now (retryable)
    │   └── BrowserUnavailable  our browser service, which reads this feed's pages, is unavailable (retryable)
    ├── FeedTimeWrong         the feed's clock is wrong, or its match went back in time
    └── FeedSchemaError       a field does not match the schema; names the field
        └── PageDataUnknown   a page without embedded JSON, or with an unexpected form

`retryable`: the same call may succeed later. `hint`: what a person can do about it.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from found_footy.text import shorten


class FootyError(Exception):
    """Base class of all errors. Never raised itself."""

    retryable: ClassVar[bool] = False
    hint: ClassVar[str] = ""

    @property
    def kind(self) -> str:
        """Stable name of the class in logs, tables and Temporal."""
        return type(self).__name__


class SettingsError(FootyError):
    """A setting is invalid."""

    hint = "Correct the setting and start again; docs/reference/settings.md lists them all."


class FollowUnknown(FootyError):
    """Unknown competition, team or preset."""

    hint = "`footy follow list --known` prints all known names; write team:NAME to follow a team by any other name."


class ScenarioError(FootyError):
    """A scenario file is invalid."""

    hint = "docs/reference/scenario.md describes the format."


class EngineError(FootyError):
    """An embedded engine could not be started or did not respond."""

    hint = "Run `footy doctor`; the engine's log is in the data folder under logs/."


class AlreadyRunning(EngineError):
    """Another `footy up` uses the data folder."""

    hint = "Stop the other instance, or set FOOTY_DATA_DIR to another folder."


class DecoderUnavailable(EngineError):
    """No decoder process could be started; the file itself may be valid."""

    retryable = True
    hint = "The machine may be out of memory or processes; see the worker's log."


class StoreUnavailable(FootyError):
    """The database cannot be reached."""

    retryable = True
    hint = "Check that `footy up` is running or that DATABASE_URL is correct, then run `footy doctor`."


class SchemaOutdated(StoreUnavailable):
    """The database schema is missing migrations of this version."""

    hint = "Start `footy up`, which applies the schema."


class SchemaTooNew(StoreUnavailable):
    """The database schema belongs to a newer or a pre-release version."""

    hint = "Update Found Footy to the version that created the schema, or start with a new database."


class CacheUnavailable(FootyError):
    """The cache cannot be reached. No data is lost; the next polls fill it again."""

    retryable = True
    hint = "Check that `footy up` is running or that REDIS_URL is correct, then run `footy doctor`."


class CacheFull(CacheUnavailable):
    """Redis rejects writes: its memory is used up, and it evicts nothing. Polling stops until memory is free."""

    hint = "Raise `maxmemory` of the Redis server at REDIS_URL, or set its policy to volatile-lru."


class PermitTimeout(FootyError):
    """All permits of a shared limit stayed in use."""

    retryable = True


class StoreRejected(FootyError):
    """The database rejected a value that an adapter should have rejected."""


class BackupBroken(FootyError):
    """A backup is incomplete or damaged."""

    hint = "Use another backup: `footy backup list` shows them, `footy backup verify` checks one."


class RecordingBroken(FootyError):
    """A recording cannot be read, or contains nothing that can be replayed."""

    hint = "`footy record list` shows the complete recordings."


class InternalFault(FootyError):
    """Internal error while processing one fixture."""

    hint = "The log has the traceback; please report it."


class ArgumentsRejected(FootyError):
    """A workflow or an activity was started with arguments outside its limits; nothing was done."""

    hint = "Start it again with arguments within the limits of the settings."


class NotFound(FootyError):
    """The requested item does not exist."""


class UnknownStatus(FootyError):
    """A match status that maps to no stage."""

    hint = "Add the status to the table in fixtures/lifecycle.py."


class MediaError(FootyError):
    """A file that cannot be used as a video."""


class NotAVideo(MediaError):
    """The file is not a video, whatever its name."""


class MediaBroken(MediaError):
    """The video is damaged or truncated."""


class MediaTooLarge(MediaError):
    """The video exceeds a limit on pixels, frames, length or decoding time."""


class VisionError(FootyError):
    """Verification by vision failed, which is not a negative result."""

    retryable = True


class VisionUnavailable(VisionError):
    """The vision server cannot be reached."""

    hint = "Is the server at LLAMA_URL running? Without LLAMA_URL, pictures are read by the embedded OCR."


class VisionTimeout(VisionError):
    """The vision server did not respond in time."""

    hint = "Use a smaller model or raise FOOTY_VISION_TIMEOUT_SECONDS. Unset LLAMA_URL to use the embedded OCR."


class InvalidVisionResponse(VisionError):
    """The vision server's response does not have the requested form."""

    hint = "Does the server at LLAMA_URL serve a vision model? Unset LLAMA_URL to use the embedded OCR."


class EmbeddingError(FootyError):
    """An image or a text could not be embedded."""

    hint = "docs/howto/review-clips.md describes the models and the files that each needs."


class EmbeddingUnavailable(EmbeddingError):
    """The embedding server cannot be reached."""

    retryable = True


class ObjectStoreError(FootyError):
    """The object store rejected the request."""

    hint = "Check FOOTY_OBJECT_STORE_URL and its keys; `footy doctor` tries them."


class ObjectStoreUnavailable(ObjectStoreError):
    """The object store cannot be reached, or returned a server error."""

    retryable = True


class VolumeFull(ObjectStoreUnavailable):
    """A volume has less free space than FOOTY_FREE_SPACE_MB."""

    hint = "Free space on the volume, shorten the retention, or lower FOOTY_FREE_SPACE_MB."


class ObjectMissing(ObjectStoreError):
    """No object has that key."""


class SourceError(FootyError):
    """A social source returned an error, which is not an empty result."""


class SourceUnavailable(SourceError):
    """The source gave no usable response: refused, timed out, or a server error."""

    retryable = True
    hint = "Check the network, and whether the site opens in a browser. The next search retries automatically."


class SourceRateLimited(SourceError):
    """The source rejected the request because there were too many."""

    hint = "Wait until the limit resets. If it recurs, raise FOOTY_SEARCH_SECONDS or remove sources from FOOTY_SOURCES."
    until: datetime | None = None
    """Earliest time of the next request, if known."""

    @classmethod
    def ending(cls, until: datetime | None, message: str) -> SourceRateLimited:
        error = cls(message)
        error.until = until
        return error


class SourceLoggedOut(SourceError):
    """The source's login is missing, wrong or expired."""

    hint = "Log in again: `footy browser login` for X, FOOTY_BLUESKY_HANDLE and _PASSWORD for Bluesky."


class SourceBlocked(SourceLoggedOut):
    """The source blocks this IP address without a login."""

    hint = (
        "Set FOOTY_REDDIT_CLIENT_ID and FOOTY_REDDIT_CLIENT_SECRET if you have an app at Reddit, "
        "run from another network, or remove reddit from FOOTY_SOURCES."
    )


class SourceChanged(SourceError):
    """The source's response has an unexpected form."""

    hint = "Run `footy doctor --report` and attach the file to an issue: the service has probably changed."


class WikidataError(FootyError):
    """Wikidata returned nothing usable. `retry_after` is the requested delay in seconds."""

    retryable = True
    hint = "Check the network. Set FOOTY_WIKIDATA_CONTACT; meanwhile teams are searched by the feed's own names."

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class DownloadUnavailable(FootyError):
    """A download failed and may succeed later."""

    retryable = True


class CandidateRejected(FootyError):
    """A candidate that can never become a clip, with the reason."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


class RequestError(FootyError):
    """A request to the pages or the API was rejected."""


class BadRequest(RequestError):
    """The request is invalid."""


class NotLoggedIn(RequestError):
    """The request needs a token, or a login on the pages."""

    hint = "Send `Authorization: Bearer TOKEN`; `footy token create` creates one."


class NotAllowed(RequestError):
    """The token's role does not permit this."""

    hint = "Ask for a token of a higher role; `footy token create --role` creates one."


class EditRefused(RequestError):
    """The edit is not possible now."""

    hint = "Reload the clip; another reviewer may have changed it."


class TooManyRequests(RequestError):
    """The client exceeded a rate limit."""

    hint = "Wait for the number of seconds in the Retry-After header."


class LinkGone(RequestError):
    """The link was valid, but its target is permanently gone."""


class StreamFull(RequestError):
    """No capacity for another reader of live updates, videos or images."""

    retryable = True
    hint = "Retry in a moment. Run another `footy web`, or raise FOOTY_STREAM_CLIENTS for live updates."


class DeliveryError(FootyError):
    """A message did not reach its subscriber."""


class DeliveryUnavailable(DeliveryError):
    """The receiver did not respond, or asked for a retry."""

    retryable = True


class DeliveryRefused(DeliveryError):
    """The receiver permanently rejects this message."""

    hint = "Correct the subscription's address; dead letters can be sent again."


class FeedError(FootyError):
    """A score feed returned an error."""


class FeedUnavailable(FeedError):
    """The feed gave no usable response: refused, timed out, or a server error."""

    retryable = True
    hint = "Check the network, and whether the feed's site opens in a browser. The next poll retries automatically."


class PageLoadFailed(FeedUnavailable):
    """A page of the feed could not be loaded: DNS, connection, timeout or redirect loop."""


class FeedMalformed(FeedError):
    """The feed's response is not the expected JSON."""

    retryable = True
    hint = "Run `footy doctor --report` and attach the file to an issue: the service has probably changed."


class FeedRateLimited(FeedError):
    """The feed rejected the request because there were too many."""

    retryable = True
    hint = "Wait until the limit resets. If it recurs, lower the feed's limits in config/sources.yaml."


class FeedQuotaExhausted(FeedError):
    """The daily quota of requests is used up."""

    hint = "The quota resets at 00:00 UTC; use a larger plan or a longer poll interval."


class MissingFromResponse(FeedError):
    """The feed omitted a requested fixture from its response."""


class FeedUnauthorized(FeedError):
    """The feed's key is missing or rejected."""

    hint = "Set API_FOOTBALL_KEY to a valid key."


class FeedPlanRefused(FeedError):
    """The account's plan does not include this request."""

    hint = "A free API-Football key covers yesterday to tomorrow, one match per request. See config/sources.yaml."


class FeedClientRefused(FeedError):
    """The feed rejects our User-Agent (HTTP 403)."""

    hint = (
        "ESPN accepts User-Agents such as `found-footy/1.0 (+https://…)`. "
        "Update Found Footy, and check that no proxy changes the header."
    )


class FeedNotFound(FeedError):
    """The feed has no such resource (HTTP 404), for example an unknown league."""

    hint = "Check the slugs in FOOTY_ESPN_LEAGUES and `leagues` of the feeds file, or the feed's base URL."


class FeedRejected(FeedError):
    """The feed rejected the request and gave a reason."""

    hint = "Run `footy doctor --report` and attach the file to an issue: the service has probably changed."


class FeedQueryRejected(FeedRejected):
    """The feed does not accept this form of request (HTTP 400)."""

    hint = "The feed's interface has changed. Update Found Footy; if that does not help, report the response."


class FeedBlocked(FeedError):
    """The feed returned a page meant for people, such as a captcha or a consent page."""

    hint = "Poll the feed less often (config/sources.yaml), or open it in a browser from this machine."


class FeedBusy(FeedError):
    """Our own limits for this feed are exhausted for now."""

    retryable = True
    hint = "Wait a minute. If it persists, raise the feed's limits in config/sources.yaml."


class BrowserUnavailable(FeedBusy):
    """Our browser service, which reads this feed's pages, is unavailable; no request reached the feed."""

    hint = "Start `footy browser`, or correct BROWSER_URL."


class FeedTimeWrong(FeedError):
    """The feed's clock is wrong, or its match went back in time; the known state is kept."""


class FeedSchemaError(FeedError):
    """A field of the response does not match the schema."""

    hint = "Run `footy doctor --report` and attach the file to an issue: the service has probably changed."

    def __init__(self, field: str, given: object, expected: str) -> None:
        self.field, self.given, self.expected = field, given, expected
        super().__init__(f"{field}: got {_short(given)}, expected {expected}")


class PageDataUnknown(FeedSchemaError):
    """A page of the feed has no embedded JSON, or JSON of an unexpected form."""

    hint = "The site may have changed. With `footy browser` and BROWSER_URL, its pages can still be read."


def _short(value: object) -> str:
    return shorten(repr(value), 80)
