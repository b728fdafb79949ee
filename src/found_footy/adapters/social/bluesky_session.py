"""The login at Bluesky: kept as long as it is valid, refreshed once when it expires, and rate limited.

Bluesky allows 300 logins a day and account, so that a wrong password must not be tried at each search.

bsky.social is an entryway: it handles sessions, and the account's data is on one of many servers (PDS). The login's
answer names that server in `didDoc`; everything but the session itself is asked there.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from found_footy.adapters.social.http import Answer, SourceHttp, raise_for_status
from found_footy.adapters.social.reading import field, optional_text
from found_footy.domain.discovery.atproto import pds_endpoint
from found_footy.domain.errors import SourceChanged, SourceLoggedOut, SourceRateLimited

CREATE = "/xrpc/com.atproto.server.createSession"
REFRESH = "/xrpc/com.atproto.server.refreshSession"
REST = timedelta(minutes=5)
"""The window of Bluesky's limits; also how long a refused login is not tried again."""

_ENDED = frozenset({"ExpiredToken", "InvalidToken"})
_TOKEN = re.compile(r"[!-~]{1,4096}")


class BlueskySession:
    def __init__(self, http: SourceHttp, handle: str, password: str, *, now: Callable[[], datetime]) -> None:
        self.handle = handle
        self._http = http
        self._password = password
        self._now = now
        self._access: str | None = None
        self._refresh: str | None = None
        self._pds = ""
        """Base URL of the account's server; the entryway until a login has named one."""
        self._renewing = asyncio.Lock()
        self._limited_until: datetime | None = None
        self._refused_until: datetime | None = None

    async def get(self, path: str, params: Mapping[str, str]) -> Answer:
        """A good answer, or the class of what is wrong. An ended login is renewed once."""
        token = await self.login()
        answer = await self._get(path, params, token)
        if _error(answer) in _ENDED:
            answer = await self._get(path, params, await self.login(than=token))
            if _error(answer) in _ENDED:
                raise SourceLoggedOut(f"{answer.where} refuses a new login too: {_error(answer)}")
        raise_for_status(answer, _error(answer))
        return answer

    async def _get(self, path: str, params: Mapping[str, str], token: str) -> Answer:
        self._heed_limit()
        answer = await self._http.get(f"{self._pds}{path}", params, {"authorization": f"Bearer {token}"})
        # A login has limits of its own: its last one leaves searches enough.
        self._note_limit(answer, spent=answer.headers.get("ratelimit-remaining") == "0")
        return answer

    async def login(self, than: str | None = None) -> str:
        """A token that is another one than the given, which has ended. Whoever comes meanwhile gets the same."""
        async with self._renewing:
            if self._access is not None and self._access != than:
                return self._access
            self._access = None
            answer = await self._renewed() or await self._created()
            access, self._refresh = self._token(answer, "accessJwt"), self._token(answer, "refreshJwt")
            self._pds = self._server(answer) or self._pds
            self._access = access
            return access

    async def _renewed(self) -> Answer | None:
        token, self._refresh = self._refresh, None
        if token is None:
            return None
        self._heed_limit()
        answer = await self._http.post(REFRESH, headers={"authorization": f"Bearer {token}"}, secret=True)
        self._note_limit(answer)
        # Where that has ended too, or was taken back, the password decides.
        return answer if answer.ok else None

    async def _created(self) -> Answer:
        self._heed_limit()
        if self._refused_until is not None and self._now() < self._refused_until:
            raise SourceLoggedOut(f"Bluesky refused the login of {self.handle}; not tried again for 5 minutes")
        login = {"identifier": self.handle, "password": self._password}
        answer = await self._http.post(CREATE, login, secret=True)
        self._note_limit(answer)
        if answer.status in (400, 401, 403) and not answer.is_page:
            self._refused_until = self._now() + REST
            # The server's own words stay out: nobody knows whether they repeat the password.
            raise SourceLoggedOut(
                f"Bluesky refused the login of {self.handle}: HTTP {answer.status} {_error(answer)}; "
                "check FOOTY_BLUESKY_HANDLE, and that FOOTY_BLUESKY_PASSWORD is an app password"
            )
        raise_for_status(answer)
        return answer

    def _server(self, answer: Answer) -> str:
        """Only where our token cannot leak: over TLS, or at the very server that we log in to."""
        endpoint = pds_endpoint(field(answer.json(), "didDoc"))
        if endpoint is None:
            return ""
        return endpoint if endpoint.startswith("https://") or self._http.is_own(endpoint) else ""

    def _token(self, answer: Answer, name: str) -> str:
        token = optional_text(answer.json(), name)
        if not _TOKEN.fullmatch(token):
            raise SourceChanged(f"{answer.where}: the login's answer has no {name}")
        return token

    def _heed_limit(self) -> None:
        """While Bluesky has said that it is enough, asking on only makes it worse."""
        if self._limited_until is not None and self._now() < self._limited_until:
            raise SourceRateLimited(f"Bluesky's rate limit is used up until {self._limited_until:%H:%M:%S} UTC")

    def _note_limit(self, answer: Answer, *, spent: bool = False) -> None:
        if answer.status != 429 and not spent:
            return
        now = self._now()
        reset = answer.headers.get("ratelimit-reset", "")
        until = datetime.fromtimestamp(int(reset), UTC) if re.fullmatch(r"\d{1,11}", reset, re.ASCII) else now
        self._limited_until = min(until, now + REST)


def _error(answer: Answer) -> str:
    """Bluesky's name of the error, such as ExpiredToken; nothing where all is well."""
    if answer.ok or answer.is_page:
        return ""
    try:
        name = optional_text(answer.json(), "error")
    except SourceChanged:
        return ""
    return name if re.fullmatch(r"\w{1,40}", name, re.ASCII) else ""
