"""The answers of the simulated CREX that are no scorecards: each is one way in which such a site lets a reader down."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from enum import StrEnum

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse

LONGEST_HOLD = 60.0
HUGE_PIECE = b"<p>" + b"x" * 65_536 + b"</p>"
HUGE_PIECES = 4_096
"""256 MB, for whoever does not stop it."""


class CrexMode(StrEnum):
    NORMAL = "normal"
    CAPTCHA = "captcha"
    CONSENT = "consent"
    BLANK = "blank"
    """The page comes, complete, and never shows anything."""
    CHANGED = "changed"
    """Other names for everything."""
    DOWN = "down"
    RATE_LIMITED = "rate limited"
    MISSING = "missing"
    REDIRECT_LOOP = "redirect loop"
    ELSEWHERE = "elsewhere"
    """Sent to a host that is not the feed's."""
    HUGE = "huge"
    HANGING_PAGE = "hanging page"
    HANGING = "hanging"
    """The page comes; its request for data is never answered."""
    BROKEN = "broken"
    """The page comes; its request for data fails."""
    TRUNCATED = "truncated"
    HOSTILE = "hostile"
    """It opens windows, dialogs and downloads, and asks private addresses; the scorecard comes as well."""
    FROZEN = "frozen"
    """A script that never ends: the page does not react any more."""


_CAPTCHA = """<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>
<h1>Verify you are human by completing the action below.</h1><form id="challenge-form" action="/cdn-cgi/challenge">
<div class="cf-turnstile" data-sitekey="simulated"></div></form></body></html>"""
_CONSENT = """<!DOCTYPE html><html><head><title>Before you continue</title></head><body>
<h1>Before you continue</h1><p>We use cookies. Please accept or reject them to go on.</p>
<form action="/consent"><button>Reject all</button><button>Accept all</button></form></body></html>"""
_BLANK = (
    """<!DOCTYPE html><html><head><title>Cricket live scores</title></head><body><app-root></app-root></body></html>"""
)
_FROZEN = _BLANK.replace("</body>", "<script>setTimeout(() => { for (;;); }, 50)</script></body>")
_HOSTILE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Cricket live scores</title></head>
<body data-page="scorecard" data-key="{key}"><app-root></app-root>
<script>
  const asked = new URLSearchParams(location.search).get("private") || "http://127.0.0.1:9/";
  const quietly = (what) => {{ try {{ what(); }} catch (error) {{ /* refused */ }} }};
  for (let number = 0; number < 5; number++) {{
    quietly(() => window.open("/crex-assets/main.js?window=" + number, "_blank", "noopener"));
    quietly(() => window.open("/crex-assets/main.js?window=" + number, "w" + number));
  }}
  quietly(() => alert("hello"));
  quietly(() => confirm("really?"));
  for (const host of [asked, "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[::1]:9/"]) {{
    fetch(host, {{ mode: "no-cors" }}).catch(() => {{}});
    quietly(() => navigator.sendBeacon(host, "x"));
    const frame = document.createElement("iframe");
    frame.src = host;
    document.body.append(frame);
    quietly(() => new WebSocket(host.replace("http", "ws")));
  }}
  fetch("/crex-traps/loop/0").catch(() => {{}});
  quietly(() => navigator.serviceWorker.register("/crex-assets/main.js"));
  const download = document.createElement("a");
  download.href = "data:application/octet-stream,x";
  download.download = "x.bin";
  document.body.append(download);
  quietly(() => download.click());
  window.addEventListener("beforeunload", (event) => {{ event.preventDefault(); event.returnValue = "stay"; }});
</script>
<script src="/crex-assets/main.js"></script></body></html>"""


async def page_trap(mode: CrexMode, request: Request) -> Response | None:
    """What comes instead of the page; None where the page comes."""
    match mode:
        case CrexMode.CAPTCHA:
            return HTMLResponse(_CAPTCHA, 403, {"cf-mitigated": "challenge"})
        case CrexMode.CONSENT:
            return HTMLResponse(_CONSENT)
        case CrexMode.BLANK:
            return HTMLResponse(_BLANK)
        case CrexMode.FROZEN:
            return HTMLResponse(_FROZEN)
        case CrexMode.DOWN:
            return PlainTextResponse("Service Unavailable", 503)
        case CrexMode.RATE_LIMITED:
            return PlainTextResponse("Too Many Requests", 429)
        case CrexMode.MISSING:
            return PlainTextResponse("Not Found", 404)
        case CrexMode.REDIRECT_LOOP:
            return RedirectResponse("/crex-traps/loop/0", 302)
        case CrexMode.ELSEWHERE:
            return RedirectResponse("http://consent.example/before-you-continue", 302)
        case CrexMode.HUGE:
            return StreamingResponse(_huge(), media_type="text/html")
        case CrexMode.HANGING_PAGE:
            await until_gone(request)
            return PlainTextResponse("", 503)
        case CrexMode.HOSTILE:
            key = request.path_params.get("slug", "").rpartition("-")[2].upper()
            return HTMLResponse(_HOSTILE.format(key=key if key.isalnum() else ""))
    return None


async def data_trap(mode: CrexMode, request: Request) -> Response | None:
    match mode:
        case CrexMode.BROKEN:
            return PlainTextResponse("Internal Server Error", 500)
        case CrexMode.TRUNCATED:
            return Response('{"title": "Harbour', media_type="application/json")
        case CrexMode.HANGING:
            await until_gone(request)
            return PlainTextResponse("", 503)
    return None


async def until_gone(request: Request) -> None:
    """Until whoever asked gives up."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_HOLD):
            while (await request.receive())["type"] != "http.disconnect":
                pass


async def _huge() -> AsyncIterator[bytes]:
    yield b"<!DOCTYPE html><html><head><title>Cricket live scores</title></head><body>"
    for _ in range(HUGE_PIECES):
        yield HUGE_PIECE
        await asyncio.sleep(0)
