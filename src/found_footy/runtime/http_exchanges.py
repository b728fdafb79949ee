"""Records the HTTP exchanges of one operation, for live checks and bug reports.

`runtime.http` calls `record_exchange`. Exchanges are recorded only inside a block:

    with record_exchanges() as exchanges:
        await source.search(query, since)
    exchanges[-1].summary    # "GET www.reddit.com/r/soccer/new/.rss -> HTTP 429, 0 bytes, 0.2 s"

Tasks started inside the block record into the same list. Request headers and bodies are never recorded, and query
parameters with credentials are masked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

MAX_EXCHANGES = 20
MAX_BODY_BYTES = 64 * 1024
MASK = "***"

SECRET_PARAMETERS = frozenset({"token", "key", "apikey", "api_key", "access_token", "password", "secret", "sig"})
RECORDED_HEADERS = (
    "content-type",
    "content-length",
    "date",
    "location",
    "retry-after",
    "server",
    "cf-mitigated",
    "ratelimit-",
    "x-ratelimit-",
)
"""Header names, or prefixes that end in a dash. All other headers, including cookies, are dropped."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response."""

    method: str
    url: str
    """Without credentials."""
    seconds: float
    status: int | None = None
    """None without a response."""
    headers: Mapping[str, str] | None = None
    body: bytes = b""
    """At most MAX_BODY_BYTES."""
    size: int = 0
    """Size of the whole body in bytes."""
    error: str = ""
    """Error, if there was no response."""

    @property
    def request_line(self) -> str:
        return f"{self.method} {self.url}"

    @property
    def response_line(self) -> str:
        if self.status is None:
            return f"{self.error or 'no answer'}, {self.seconds:.1f} s"
        return f"HTTP {self.status}, {self.size} bytes, {self.seconds:.1f} s"

    @property
    def summary(self) -> str:
        return f"{self.request_line} -> {self.response_line}"


_recording: ContextVar[deque[Exchange] | None] = ContextVar("recorded_exchanges", default=None)


@contextmanager
def record_exchanges() -> Iterator[deque[Exchange]]:
    """Record the newest MAX_EXCHANGES exchanges of everything that runs inside the block."""
    exchanges: deque[Exchange] = deque(maxlen=MAX_EXCHANGES)
    token = _recording.set(exchanges)
    try:
        yield exchanges
    finally:
        _recording.reset(token)


def decisive_exchange(exchanges: Iterable[Exchange]) -> Exchange | None:
    """Return the exchange that explains an error: the last one without a good response, otherwise the last one."""
    made = list(exchanges)
    bad = [each for each in made if each.status is None or each.status >= 400]
    return bad[-1] if bad else made[-1] if made else None


def record_exchange(
    method: str,
    url: str,
    seconds: float,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    error: str = "",
) -> None:
    exchanges = _recording.get()
    if exchanges is None:
        return
    kept = None if headers is None else {name.lower(): value for name, value in headers.items() if _is_recorded(name)}
    exchanges.append(
        Exchange(method, mask_credentials(url), seconds, status, kept, body[:MAX_BODY_BYTES], len(body), error)
    )


def mask_credentials(url: str) -> str:
    """Return the URL without its scheme, user info and secret parameters."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an invalid URL"
    query = [
        (name, MASK if name.lower() in SECRET_PARAMETERS else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    host = parts.netloc.rpartition("@")[2]
    return f"{host}{parts.path}" + (f"?{urlencode(query, safe=',*:')}" if query else "")


def _is_recorded(name: str) -> bool:
    lower = name.lower()
    return any(lower.startswith(kept) if kept.endswith("-") else lower == kept for kept in RECORDED_HEADERS)
