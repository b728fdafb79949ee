"""One tree for everything that can go wrong.

FootyError
├── SettingsError            a setting is wrong; the start stops
├── ScenarioError            a scenario file is wrong
├── EngineError              an embedded engine could not be started or did not answer
│   ├── AlreadyRunning       another `footy up` owns the data folder
│   └── DecoderUnavailable   no process can be started that decodes files (retryable)
├── StoreUnavailable         the database cannot be reached (retryable)
├── CacheUnavailable         the cache (Redis protocol) cannot be reached (retryable)
├── StoreRejected            the database refused a value that an adapter should have refused
├── RecordingBroken          a recording cannot be read, or is of nothing that can be played
├── ProgramFault             a fault of our own, met while working on one fixture
├── FollowUnknown            a name in the follow list that is no known competition, team or preset
├── NotFound                 what was asked for does not exist
├── UnknownStatus            a match status that has no place in the life cycle
├── MediaError               a file that cannot be used as a video
│   ├── NotAVideo            it is something else, whatever its name says
│   ├── MediaBroken          it is a video, and damaged or cut off
│   └── MediaTooLarge        its pixels, frames, length or decoding time are out of bounds
├── VisionError              the picture could not be looked at; never the same as "no"
│   ├── VisionUnavailable    the vision server cannot be reached (retryable)
│   ├── VisionTimeout        it did not answer in time (retryable)
│   └── VisionNonsense       its answer does not fit the questions (retryable)
├── EmbeddingError           a picture or a text could not be embedded
│   └── EmbeddingUnavailable the server that embeds cannot be reached (retryable)
├── ObjectStoreError         the object store refused
│   ├── ObjectStoreUnavailable  it cannot be reached (retryable)
│   └── ObjectMissing        there is no object of that key
├── SourceError              a social source did not give what was asked for
│   ├── SourceUnavailable    no usable answer: refused, timed out, 5xx (retryable)
│   ├── SourceRateLimited    too many requests for the moment
│   ├── SourceLoggedOut      its login is missing, wrong or expired
│   │   └── SourceBlocked    it refuses this address without a login
│   └── SourceChanged        its answer has another shape than we know
├── KnowledgeError           Wikidata gave nothing usable (retryable)
├── DownloadUnavailable      a download that may succeed a little later (retryable)
├── ClipLost                 a candidate that will never be a clip; says the class of its loss
├── RequestError             a request to the pages or the API that is not answered as asked
│   ├── BadRequest           something in it cannot be understood
│   ├── NotLoggedIn          it needs a token, or a login on the pages
│   ├── NotAllowed           that token may not do this
│   ├── EditRefused          a clip cannot be edited like that now; says why
│   ├── TooManyRequests      too many for the moment
│   ├── LinkEnded            the link was right, and what it led to is gone for good
│   └── StreamFull           no room for another reader of live updates, films or pictures (retryable)
├── DeliveryError            a message did not reach its subscriber
│   ├── DeliveryUnavailable  the receiver did not answer, or said "later" (retryable)
│   └── DeliveryRefused      the receiver will never take it
└── FeedError
    ├── FeedUnavailable      no usable answer: refused, timed out, 5xx (retryable)
    │   └── PageNotOpened    a page of the feed did not come at all (retryable)
    ├── FeedNotFound         the feed has nothing under that address, such as a league that it does not know
    ├── FeedMalformed        an answer that is not the JSON it should be (retryable)
    ├── FeedRateLimited      too many requests for the moment (retryable, later)
    ├── FeedQuotaExhausted   the day's requests are used up
    ├── NotInAnswer          the feed left a fixture out that it was asked for
    ├── FeedPlanRefused      the account's plan does not include the request
    ├── FeedUnauthorized     the key is missing or refused
    ├── FeedClientRefused    the feed refuses our User-Agent
    ├── FeedRejected         the feed refused the request, with its own words
    │   └── FeedQueryRejected  HTTP 400: the feed does not accept this form of request
    ├── FeedBlocked          a page for people where the answer should be: a captcha, a consent page
    ├── FeedBusy             our own limits for this feed leave no turn for now (retryable)
    │   └── BrowserAway      our own browser, which reads this feed's pages, is not there (retryable)
    ├── FeedTimeWrong        the feed's clock is off, or its match has gone back in time
    └── FeedSchemaError      a field that does not fit; names the field
        └── PageDataUnknown  a page without its embedded JSON, or with JSON of another form

`retryable` says whether the same call may succeed a little later. `hint` says what a person can do.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar


class FootyError(Exception):
    """The root. A bare one is never raised."""

    retryable: ClassVar[bool] = False
    hint: ClassVar[str] = ""

    @property
    def kind(self) -> str:
        """The stable name by which logs, tables and Temporal know this class."""
        return type(self).__name__


class SettingsError(FootyError):
    """A setting is wrong."""

    hint = "Correct the setting and start again; docs/reference/settings.md lists them all."


class FollowUnknown(FootyError):
    """A name that is no known competition, team or preset."""

    hint = "`footy follow list --known` prints all known names; write team:NAME to follow a team by any other name."


class ScenarioError(FootyError):
    """A scenario file is wrong."""

    hint = "docs/howto/write-a-scenario.md describes the format."


class EngineError(FootyError):
    """An embedded engine could not be started, or did not answer."""

    hint = "Run `footy doctor`; the engine's log is in the data folder under logs/."


class AlreadyRunning(EngineError):
    """Another `footy up` owns the data folder."""

    hint = "Stop the other one, or choose another folder with FOOTY_DATA_DIR."


class DecoderUnavailable(EngineError):
    """No process can be started that decodes files, which says nothing of the file."""

    retryable = True
    hint = "Is the machine out of memory or of processes? The worker's log says more."


class StoreUnavailable(FootyError):
    """The database cannot be reached."""

    retryable = True
    hint = "Is `footy up` running, or DATABASE_URL right? `footy doctor` tells."


class CacheUnavailable(FootyError):
    """The cache cannot be reached. Nothing is lost with it; it fills again with the next answers."""

    retryable = True
    hint = "Is `footy up` running, or REDIS_URL right? `footy doctor` tells."


class StoreRejected(FootyError):
    """The database refused a value that an adapter should have refused."""


class RecordingBroken(FootyError):
    """A recording cannot be read, or is of nothing that can be played."""

    hint = "`footy record list` shows the recordings that are whole."


class ProgramFault(FootyError):
    """A fault of our own, met while working on one fixture."""

    hint = "The log has the traceback; please report it."


class NotFound(FootyError):
    """What was asked for does not exist."""


class UnknownStatus(FootyError):
    """A match status that has no place in the life cycle."""

    hint = "Add the status to the table in domain/fixtures/statuses.py."


class MediaError(FootyError):
    """A file that cannot be used as a video."""


class NotAVideo(MediaError):
    """It is something else, whatever its name says."""


class MediaBroken(MediaError):
    """It is a video, and damaged or cut off."""


class MediaTooLarge(MediaError):
    """Its pixels, frames, length or decoding time are out of bounds."""


class VisionError(FootyError):
    """The picture could not be looked at, which is never the same as "no"."""

    retryable = True


class VisionUnavailable(VisionError):
    """The vision server cannot be reached."""

    hint = "Is the server at LLAMA_URL running? Without LLAMA_URL, pictures are read by the embedded OCR."


class VisionTimeout(VisionError):
    """The vision server did not answer in time."""

    hint = "Use a smaller model or raise FOOTY_VISION_TIMEOUT_SECONDS. Unset LLAMA_URL to use the embedded OCR."


class VisionNonsense(VisionError):
    """The vision server's answer does not fit the questions."""

    hint = "Does the server at LLAMA_URL serve a vision model? Unset LLAMA_URL to use the embedded OCR."


class EmbeddingError(FootyError):
    """A picture or a text could not be embedded."""

    hint = "docs/howto/embedding-models.md says what each model can do and what files it needs."


class EmbeddingUnavailable(EmbeddingError):
    """The server that embeds cannot be reached."""

    retryable = True


class ObjectStoreError(FootyError):
    """The object store refused what was asked of it."""

    hint = "Check FOOTY_OBJECT_STORE_URL and its keys; `footy doctor` tries them."


class ObjectStoreUnavailable(ObjectStoreError):
    """The object store cannot be reached, or answered with an error of its own."""

    retryable = True


class ObjectMissing(ObjectStoreError):
    """There is no object of that key."""


class SourceError(FootyError):
    """A social source did not give what was asked for, which is never the same as "nothing found"."""


class SourceUnavailable(SourceError):
    """No usable answer from the source: refused, timed out, or a server error."""

    retryable = True
    hint = "Check the network, and whether the site opens in a browser. The next search tries again by itself."


class SourceRateLimited(SourceError):
    """Too many requests to the source for the moment."""

    hint = "Wait: the limit ends by itself. If it returns, raise FOOTY_SEARCH_SECONDS or list fewer FOOTY_SOURCES."
    until: datetime | None = None
    """When the source may be asked again, where that is known."""

    @classmethod
    def ending(cls, until: datetime | None, message: str) -> SourceRateLimited:
        error = cls(message)
        error.until = until
        return error


class SourceLoggedOut(SourceError):
    """The source's login is missing, wrong or expired."""

    hint = "Log in again: `footy browser login` for X, FOOTY_BLUESKY_HANDLE and _PASSWORD for Bluesky."


class SourceBlocked(SourceLoggedOut):
    """The source refuses this address without a login."""

    hint = (
        "Set FOOTY_REDDIT_CLIENT_ID and FOOTY_REDDIT_CLIENT_SECRET if you have an app at Reddit, "
        "run from another network, or remove reddit from FOOTY_SOURCES."
    )


class SourceChanged(SourceError):
    """The source's answer has another shape than we know."""

    hint = "Run `footy doctor --report` and attach the file to an issue: the service has probably changed."


class KnowledgeError(FootyError):
    """Wikidata gave nothing usable. `retry_after` is the number of seconds that it asked us to wait."""

    retryable = True
    hint = "Check the network. Set FOOTY_WIKIDATA_CONTACT; meanwhile teams are searched by the feed's own names."

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class DownloadUnavailable(FootyError):
    """A download that failed and may succeed a little later."""

    retryable = True


class ClipLost(FootyError):
    """A candidate that will never be a clip, with the class of its loss."""

    def __init__(self, loss: str, message: str) -> None:
        self.loss = loss
        super().__init__(message)


class RequestError(FootyError):
    """A request that is not answered as asked."""


class BadRequest(RequestError):
    """Something in the request cannot be understood."""


class NotLoggedIn(RequestError):
    """The request needs a token, or a login on the pages."""

    hint = "Send `Authorization: Bearer TOKEN`; `footy token create` makes one."


class NotAllowed(RequestError):
    """The token's role may not do this."""

    hint = "Ask for a token of a higher role; `footy token create --role` makes one."


class EditRefused(RequestError):
    """A clip or a source cannot be changed like that now."""

    hint = "Look at the clip again: somebody else may have changed it meanwhile."


class TooManyRequests(RequestError):
    """Too many requests for the moment."""

    hint = "Wait as many seconds as the header Retry-After says."


class LinkEnded(RequestError):
    """The link was right, and what it led to is gone for good."""


class StreamFull(RequestError):
    """There is no room for another reader of live updates, films or pictures."""

    retryable = True
    hint = "Try again in a moment; another `footy web` makes room, FOOTY_STREAM_CLIENTS for live updates."


class DeliveryError(FootyError):
    """A message did not reach its subscriber."""


class DeliveryUnavailable(DeliveryError):
    """The receiver did not answer, or asked to come back later."""

    retryable = True


class DeliveryRefused(DeliveryError):
    """The receiver will never take this message."""

    hint = "Correct the subscription's address; dead letters can be sent again."


class FeedError(FootyError):
    """A score feed did not give what was asked for."""


class FeedUnavailable(FeedError):
    """No usable answer from the feed: refused, timed out, or a server error."""

    retryable = True
    hint = "Check the network, and whether the feed's site opens in a browser. The next poll tries again by itself."


class PageNotOpened(FeedUnavailable):
    """A page of the feed did not come at all: no name, no connection, no answer in time, redirects without an end."""


class FeedMalformed(FeedError):
    """The feed's answer is not the JSON that it should be."""

    retryable = True
    hint = "Run `footy doctor --report` and attach the file to an issue: the service has probably changed."


class FeedRateLimited(FeedError):
    """Too many requests for the moment."""

    retryable = True
    hint = "Wait: the limit ends by itself. If it returns, lower the feed's limits in config/sources.yaml."


class FeedQuotaExhausted(FeedError):
    """The day's requests are used up."""

    hint = "The quota is renewed at 00:00 UTC; a larger plan or a longer poll interval helps for good."


class NotInAnswer(FeedError):
    """The feed left a fixture out that it was asked for."""


class FeedUnauthorized(FeedError):
    """The feed's key is missing or refused."""

    hint = "Set API_FOOTBALL_KEY to a valid key."


class FeedPlanRefused(FeedError):
    """The account's plan does not include this request."""

    hint = "A free API-Football key covers yesterday to tomorrow, one match per request. See config/sources.yaml."


class FeedClientRefused(FeedError):
    """The feed refuses our User-Agent (HTTP 403)."""

    hint = (
        "ESPN accepts User-Agents such as `found-footy/1.0 (+https://…)`. "
        "Update Found Footy, and check that no proxy changes the header."
    )


class FeedNotFound(FeedError):
    """The feed has nothing under that address (HTTP 404), such as a league that it does not know."""

    hint = "Check the slugs in FOOTY_ESPN_LEAGUES and `leagues` of the feeds file, or the feed's base URL."


class FeedRejected(FeedError):
    """The feed refused the request, with its own words."""

    hint = "Run `footy doctor --report` and attach the file to an issue: the service has probably changed."


class FeedQueryRejected(FeedRejected):
    """The feed does not accept this form of request (HTTP 400)."""

    hint = "The feed's interface has changed. Update Found Footy; if that does not help, report the answer."


class FeedBlocked(FeedError):
    """A page for people came where the answer should be: a captcha, a consent page."""

    hint = "Ask the feed less often (config/sources.yaml), or open it in a browser from this machine."


class FeedBusy(FeedError):
    """Our own limits for this feed leave no turn for now."""

    retryable = True
    hint = "Wait a minute. If it lasts, raise the feed's limits in config/sources.yaml."


class BrowserAway(FeedBusy):
    """Our own browser service, which reads this feed's pages, is not there: the feed was not even asked."""

    hint = "Start `footy browser`, or correct BROWSER_URL."


class FeedTimeWrong(FeedError):
    """The feed's clock is off, or its match has gone back in time: what was known stays."""


class FeedSchemaError(FeedError):
    """A field of the answer does not fit the schema."""

    hint = "Run `footy doctor --report` and attach the file to an issue: the service has probably changed."

    def __init__(self, field: str, given: object, expected: str) -> None:
        self.field, self.given, self.expected = field, given, expected
        super().__init__(f"{field}: got {_short(given)}, expected {expected}")


class PageDataUnknown(FeedSchemaError):
    """A page of the feed does not carry its data as JSON, or in another form than we know."""

    hint = "The site may have changed. With `footy browser` and BROWSER_URL, its pages can still be read."


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
