"""OpenTelemetry traces that follow a goal: from the poll that saw it through search and verification to its clip.

Off unless OTEL_EXPORTER_OTLP_ENDPOINT is set; then nothing of OpenTelemetry's SDK is even imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from found_footy.config import Settings
    from found_footy.runtime.goal_tracing import Tracing

_tracing: Tracing | None = None


def start_tracing(settings: Settings) -> Tracing | None:
    """The tracing of this process; None if it is off."""
    global _tracing
    endpoint = settings.otel_exporter_otlp_endpoint
    if endpoint is None:
        return None
    if _tracing is None:
        from found_footy.runtime.goal_tracing import Tracing

        _tracing = Tracing(endpoint)
    return _tracing


def stop_tracing() -> None:
    """Export what is left, and switch it off in this process."""
    global _tracing
    ended, _tracing = _tracing, None
    if ended is not None:
        ended.close()


def begin_request(method: str, host: str) -> Span | None:
    """None if it is not traced."""
    return None if _tracing is None else _tracing.begin_request(method, host)


def end_request(span: Span | None, status: int | None, failure: str) -> None:
    if span is not None and _tracing is not None:
        _tracing.end_request(span, status, failure)
