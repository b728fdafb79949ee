"""Bluesky: posts with a video, found by its search with the login of an app password.

Bluesky's search knows no OR: `Salah OR Liverpool` asks for posts that hold all three words, and finds none. So each
name is asked for by itself, and the posts that name a team too are chosen here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from found_footy.adapters.social.bluesky_posts import SOURCE, read_answer
from found_footy.adapters.social.bluesky_session import BlueskySession
from found_footy.adapters.social.http import SourceHttp, within
from found_footy.adapters.social.reading import newest_first
from found_footy.domain.discovery.posts import Post
from found_footy.domain.discovery.query import SearchQuery

SEARCH = "/xrpc/app.bsky.feed.searchPosts"
LIMIT = 100
MOST_QUESTIONS = 8


class Bluesky:
    def __init__(
        self,
        base_url: str,
        handle: str,
        app_password: str,
        *,
        timeout: float,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._http = SourceHttp(base_url, timeout)
        self._session = BlueskySession(self._http, handle, app_password, now=now)
        self._timeout = timeout
        self._now = now

    @property
    def name(self) -> str:
        return SOURCE

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        # The bound of a request does not hold for a login and a search after it.
        async with within(self._timeout, "Bluesky"):
            await self._session.login()  # once for all questions, also where it fails
            asked = [self._ask(question, query, since) for question in questions(query)]
            answers = await asyncio.gather(*asked, return_exceptions=True)
        found: list[Post] = []
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            found += answer
        return newest_first(found, since)

    async def check(self) -> str:
        async with within(self._timeout, "Bluesky"):
            await self._session.get(SEARCH, {"q": "goal", "limit": "1"})
        return f"logged in as {self._session.handle}"

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _ask(self, question: str, query: SearchQuery, since: datetime) -> list[Post]:
        since_text = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        params = {"q": question, "sort": "latest", "limit": str(LIMIT), "since": since_text}
        answer = await self._session.get(SEARCH, params)
        return read_answer(answer.json(), query, self._now())


def questions(query: SearchQuery) -> list[str]:
    """One for each name of the scorer, or of a team where nobody knows the scorer: the fewer posts, the better."""
    return [f'"{word}"' if " " in word else word for word in query.players or query.teams][:MOST_QUESTIONS]
