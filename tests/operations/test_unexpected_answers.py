"""An answer of an unknown form is kept at each boundary, and never costs a poll, an ingest or a search."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from temporalio.testing import ActivityEnvironment

from found_footy.clips.activities import VerificationActivities
from found_footy.clips.models import FrameReading, RejectionReason
from found_footy.clips.store import ClipStore
from found_footy.config import Settings
from found_footy.discovery.activities import AliasActivities, SearchActivities, SearchRules
from found_footy.discovery.models import Post, SearchAttempt, TeamRef
from found_footy.discovery.query import SearchQuery
from found_footy.errors import (
    CandidateRejected,
    FeedBlocked,
    FeedMalformed,
    FeedPlanRefused,
    FeedRateLimited,
    FeedSchemaError,
    FeedUnavailable,
    FootyError,
    InvalidVisionResponse,
    SourceChanged,
    SourceLoggedOut,
    StoreUnavailable,
    WikidataError,
)
from found_footy.feeds.activities import FeedActivities, PollContext
from found_footy.feeds.models import FeedAnswer, FeedSource
from found_footy.feeds.registration import MatchRegistrar, TrackedIds
from found_footy.feeds.registry import build_feed
from found_footy.fixtures.activities import IngestActivities
from found_footy.fixtures.models import FixtureStage, IngestDayInput, Sport
from found_footy.fixtures.store import FixtureStore
from found_footy.operations.check_store import PostgresUnexpectedAnswers
from found_footy.operations.models import UnexpectedAnswer
from found_footy.operations.unexpected_answers import UnexpectedAnswerRecorder, is_unexpected
from found_footy.recordings.recorder import MatchRecorder
from found_footy.recordings.store import RecordingStore
from found_footy.runtime.http_exchanges import Exchange, record_exchange
from found_footy.runtime.http_server import HttpServer
from found_footy.runtime.redaction import Redactor
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.redis import RedisCache
from tests.support.clip_system import ScriptedSource, ScriptedTeamNames
from tests.support.clips import GOAL, NOW, stable_goal
from tests.support.feeds import ScriptedFeed
from tests.support.football import START, follow_matches, match
from tests.support.polling import ASKING, LIFECYCLE, FeedSystem

PAGE = b"<html>Please enable JavaScript</html>"


def exchange(status: int = 200) -> Exchange:
    return Exchange("GET", "feed.example/x", 0.1, status, {}, PAGE, len(PAGE))


def noted() -> None:
    record_exchange("GET", "https://service.example/x", 0.1, status=200, body=PAGE)


class Kept:
    """A store in memory, which fails if the test says so."""

    def __init__(self, error: Exception | None = None) -> None:
        self.saved: list[tuple[str, str, bytes]] = []
        self.error = error

    async def save(self, name: str, error: FootyError, exchange: Exchange) -> bool:
        if self.error is not None:
            raise self.error
        self.saved.append((name, error.kind, exchange.body))
        return True

    async def kept(self) -> Sequence[UnexpectedAnswer]:
        return []


@pytest.fixture
async def pages() -> AsyncIterator[HttpServer]:
    """A service that now answers everything with a page for people."""

    async def page(request: Request) -> HTMLResponse:
        return HTMLResponse(PAGE)

    async with HttpServer(Starlette(routes=[Route("/{path:path}", page)])) as server:
        yield server


@pytest.mark.parametrize(
    ("error", "status", "expected"),
    [
        (FeedMalformed("?"), 200, True),
        (FeedSchemaError("a", 1, "text"), 200, True),
        (FeedBlocked("captcha"), 403, True),
        (SourceChanged("?"), 200, True),
        (InvalidVisionResponse("?"), 200, True),
        (WikidataError("not JSON"), 200, True),
        (WikidataError("refused"), 429, False),
        (CandidateRejected(RejectionReason.UNSUPPORTED, "no video in the page"), 200, True),
        (CandidateRejected(RejectionReason.GONE, "404"), 404, False),
        (FeedUnavailable("away"), 500, False),
        (FeedRateLimited("slow down"), 429, False),
        (FeedPlanRefused("free plan"), 200, False),
        (SourceLoggedOut("login"), 403, False),
    ],
)
def test_only_answers_of_an_unknown_form_are_kept(error: FootyError, status: int, expected: bool) -> None:
    assert is_unexpected(error, exchange(status)) is expected


async def test_one_worker_saves_the_same_error_once_in_ten_minutes() -> None:
    kept = Kept()
    unexpected = UnexpectedAnswerRecorder(kept)
    for _ in range(3):
        await unexpected.note("feed espn", [FeedMalformed("a"), FeedMalformed("b")], [exchange()])
    await unexpected.note("feed espn", [FeedBlocked("c")], [exchange()])
    await unexpected.note("feed crex", [FeedMalformed("a")], [exchange()])
    await unexpected.note("feed other", [FeedMalformed("a")], [])  # nothing was answered
    assert [entry[:2] for entry in kept.saved] == [
        ("feed espn", "FeedMalformed"),
        ("feed espn", "FeedBlocked"),
        ("feed crex", "FeedMalformed"),
    ]


async def test_an_ingest_records_a_page_sent_instead_of_json(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore, pages: HttpServer
) -> None:
    """With the real adapter and the real store."""
    settings = Settings(espn_url=pages.url, retry_seconds=0, _env_file=None)
    answers = PostgresUnexpectedAnswers(store.database, Redactor(), lambda: datetime.now(UTC))
    system = FeedSystem(store, cache, objects, {"espn": build_feed(settings, FeedSource("espn", "espn"), None)})  # type: ignore[dict-item]
    unexpected = UnexpectedAnswerRecorder(answers)
    registrar = MatchRegistrar(store, system.listings, system.memory, LIFECYCLE, TrackedIds(), unexpected=unexpected)
    ingest = IngestActivities(system.registry, registrar)
    with pytest.raises(FootyError):
        await ActivityEnvironment().run(
            ingest.ingest_day, IngestDayInput(f"{datetime.now(UTC):%Y-%m-%d}", datetime.now(UTC))
        )
    (answer,) = await answers.kept()
    assert (answer.name, answer.status, answer.body) == ("feed espn", 200, PAGE.decode())
    assert "/apis/site/v2/sports/soccer/" in answer.request
    await system.registry.aclose()


class ChangedFeed(ScriptedFeed):
    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        noted()
        return FeedAnswer(failures={id_: FeedSchemaError("status", 7, "text") for id_ in ids})


@pytest.mark.parametrize("error", [None, StoreUnavailable("away"), RuntimeError("bug")])
async def test_a_poll_records_the_response_and_continues_even_if_that_fails(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore, error: Exception | None
) -> None:
    kept = Kept(error)
    system = FeedSystem(store, cache, objects, {"test": ChangedFeed()})
    await follow_matches(store, [(match(), FixtureStage.ACTIVE)], START)
    recorder = MatchRecorder(RecordingStore(store.database), objects, {})
    context = PollContext(store, system.memory, recorder, ASKING, UnexpectedAnswerRecorder(kept))
    system.feed_activities = FeedActivities(system.registry, system.listings, context, system.registrar)
    polled = (await system.poll_feeds())["test"]
    assert (polled.asked, polled.failed) == (1, 1)
    assert kept.saved == ([] if error else [("feed test", "FeedSchemaError", PAGE)])


class ChangedSource(ScriptedSource):
    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        noted()
        raise SourceChanged("the page has no posts")


async def test_a_search_keeps_the_answer_of_the_source_that_changed(store: FixtureStore, objects: ObjectStore) -> None:
    await stable_goal(store)
    kept = Kept()
    search = SearchActivities(
        store,
        ClipStore(store.database),
        objects,
        [ChangedSource("reddit"), ScriptedSource("x")],
        SearchRules(),
        lambda: NOW,
        MatchRecorder(RecordingStore(store.database), objects, {}),
        UnexpectedAnswerRecorder(kept),
    )
    found = await ActivityEnvironment().run(search.search_sources, SearchAttempt(GOAL, 1))
    assert not found.complete
    assert kept.saved == [("source reddit", "SourceChanged", PAGE)]


class ChangedNames(ScriptedTeamNames):
    async def team_names(self, *arguments: object, **more: object) -> Sequence[object]:  # type: ignore[override]
        noted()
        raise WikidataError("not JSON")


async def test_a_name_lookup_records_responses_that_are_not_json(store: FixtureStore) -> None:
    kept = Kept()
    aliases = AliasActivities(ClipStore(store.database), ChangedNames(), lambda: NOW, UnexpectedAnswerRecorder(kept))  # type: ignore[arg-type]
    with pytest.raises(WikidataError):
        await ActivityEnvironment().run(aliases.resolve_team_aliases, TeamRef(40, "Liverpool"))
    assert kept.saved == [("team names", "WikidataError", PAGE)]


async def test_a_verification_records_the_vision_servers_response(store: FixtureStore, objects: ObjectStore) -> None:
    async def nonsense(path: Path, sport: Sport = Sport.FOOTBALL) -> Sequence[FrameReading]:
        noted()
        raise InvalidVisionResponse("no message")

    kept = Kept()
    vision = VerificationActivities(
        ClipStore(store.database), objects, nonsense, 3, nullcontext, UnexpectedAnswerRecorder(kept)
    )
    with pytest.raises(InvalidVisionResponse):
        await vision._readings(Path("clip.mp4"), Sport.FOOTBALL)
    assert kept.saved == [("vision server", "InvalidVisionResponse", PAGE)]
