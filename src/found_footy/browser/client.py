"""HTTP client of the browser service: health and restart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from found_footy.errors import SourceChanged, SourceError, SourceUnavailable
from found_footy.runtime.http import HttpClient, HttpError, HttpErrorKind, HttpLimits
from found_footy.text import shorten

FACTS_SECONDS = 3.0
RECYCLE_SECONDS = 60.0
"""Time for running tasks to finish and a browser to start."""
MAX_BYTES = 256 * 1024
MAX_REASON_LENGTH = 200


class BrowserClient:
    """Health of the browser service, and the command to restart its browser."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        facts_seconds: float = FACTS_SECONDS,
        recycle_seconds: float = RECYCLE_SECONDS,
    ) -> None:
        """`headers` contain the service's secret."""
        self._url = url.rstrip("/")
        self._headers = headers
        self._facts_seconds = facts_seconds
        self._recycle_seconds = recycle_seconds

    async def facts(self) -> Mapping[str, Any]:
        """Return the facts, even of an unhealthy service, which sends them with status 503."""
        health = await self.request("GET", "/health", self._facts_seconds)
        browser = health.get("browser")
        if not isinstance(browser, dict) and "healthy" in health:
            raise SourceUnavailable(f"`footy browser` at {self._url} uses a different FOOTY_BROWSER_SECRET")
        if not isinstance(browser, dict):
            raise SourceChanged(f"the server at {self._url} is not `footy browser`")
        message, canary = str(health.get("message", ""))[:300], health.get("canary")
        return {**browser, "healthy": health.get("healthy") is True, "message": message, "canary": canary}

    async def check(self) -> str:
        facts = await self.facts()
        if not facts["healthy"]:
            raise SourceUnavailable(f"`footy browser` at {self._url} is not healthy: {facts['message']}")
        return f"{facts.get('processes', '?')} processes, {facts.get('pages', '?')} pages open"

    async def recycle(self, reason: str, *, is_recovery: bool = False) -> Mapping[str, Any]:
        """Restart the browser. Return the facts before and after. Counted as `recovery` or as `manual`."""
        return await self._command("/recycle", reason, {"recovery": is_recovery})

    async def reset_contexts(self, reason: str) -> Mapping[str, Any]:
        """Close all pages and contexts of the running browser, including those in use; return their number."""
        return await self._command("/reset", reason, {})

    async def scale(self, browsers: int) -> None:
        """Set the number of browsers; surplus ones finish their tasks first."""
        await self._command("/scale", "scaler", {"browsers": browsers})

    async def _command(self, path: str, reason: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        printable = "".join(letter for letter in reason if letter.isprintable())[:MAX_REASON_LENGTH]
        response = await self.request("POST", path, self._recycle_seconds, {"reason": printable, **options})
        if error := response.get("error"):
            message = error.get("message") if isinstance(error, dict) else error
            raise SourceUnavailable(f"the browser service refused {path}: {shorten(str(message))}")
        return response

    async def request(
        self, method: str, path: str, seconds: float, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the JSON of a response with any status: an unhealthy service sends its facts with an error status."""
        # A new connection per call, because the service may have been restarted.
        client = HttpClient(
            HttpLimits(seconds, max_bytes=MAX_BYTES),
            base_url=self._url,
            headers=self._headers,
            translate=self._translate,
            use_proxy=False,
        )
        try:
            document = (await client.request(method, path, json=body)).json()
        finally:
            await client.aclose()
        if not isinstance(document, dict):
            raise SourceChanged(f"{self._url} is not `footy browser`")
        return document

    def _translate(self, error: HttpError) -> SourceError:
        if error.kind is HttpErrorKind.NOT_JSON:
            return SourceChanged(f"{self._url} is not `footy browser`")
        if error.kind is HttpErrorKind.TOO_LARGE:
            return SourceChanged(str(error))
        return SourceUnavailable(f"{self._url} does not respond ({error.detail}): is `footy browser` running?")
