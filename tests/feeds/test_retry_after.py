"""How a service's Retry-After reaches Temporal."""

from __future__ import annotations

from datetime import timedelta

import pytest

from found_footy.errors import WikidataError
from found_footy.runtime.worker import application_error


@pytest.mark.parametrize(
    ("seconds", "delay", "retried"),
    [
        (None, None, True),
        (60.0, timedelta(seconds=60), True),
        (300.0, timedelta(minutes=5), True),
        (301.0, None, False),
    ],
)
def test_a_retry_waits_as_long_as_the_service_asks(
    seconds: float | None, delay: timedelta | None, retried: bool
) -> None:
    error = application_error(WikidataError("HTTP 429", retry_after=seconds))
    assert error.type == "WikidataError"
    assert error.next_retry_delay == delay
    assert error.non_retryable is not retried
