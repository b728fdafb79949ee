"""Forms of pages, read within bounds."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

from found_footy.domain.errors import BadRequest

MOST_BYTES = 64 * 1024
MOST_FIELDS = 100


async def form_of(request: Request) -> dict[str, str]:
    """The fields of an URL-encoded form; of one that is given twice, the last. Files are not taken here."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise BadRequest("a form is sent as application/x-www-form-urlencoded")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise BadRequest(f"a form has at most {MOST_BYTES} bytes")
    try:
        return dict(
            parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
        )
    except ValueError as error:
        raise BadRequest(f"the form cannot be read: {error}") from None
