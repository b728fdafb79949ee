"""Who answers in truth: feeds that are one vendor's are one, whatever they are called."""

from __future__ import annotations

import pytest

from found_footy.feeds.models import vendor_of
from found_footy.fixtures.models import DebounceRules, EventChange
from tests.support.two_feeds import ReconcilingMonitor, feed_answer

SALAH = "10 home Mohamed Salah"
HOST = "https://site.api.espn.com"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("espn", "espn", HOST), ("espn-2", "espn", HOST), True),
        (("espn", "espn", HOST), ("espn-2", "espn", "https://SITE.api.espn.com:443/"), True),
        (("espn", "espn", HOST), ("espn-2", "espn", "http://site.api.espn.com"), True),
        (("espn", "espn", HOST), ("espn-2", "espn", f"{HOST}:8443"), False),
        (("a", "api_football", "http://127.0.0.1:8001"), ("b", "api_football", "http://127.0.0.1:8002"), False),
        (("a", "api_football", f"{HOST}/one"), ("b", "api_football", f"{HOST}/two"), False),
        (("a", "api_football", f"{HOST}/one"), ("b", "api_football", f"{HOST}/one/"), True),
        # One simulator plays several vendors at one address.
        (("espn", "espn", "http://127.0.0.1:8001"), ("crex", "crex", "http://127.0.0.1:8001"), False),
        (("old", "recording", None), ("new", "recording", None), False),
        (("old", "recording", ""), ("old", "recording", None), True),
    ],
)
def test_feeds_of_one_adapter_at_one_address_are_one(
    one: tuple[str, str, str | None], other: tuple[str, str, str | None], same: bool
) -> None:
    assert (vendor_of(*one) == vendor_of(*other)) is same


@pytest.mark.parametrize(
    ("vendors", "verdict"),
    [
        ({}, EventChange.STABLE),  # each is its own
        ({"a": "espn@x:443", "b": "crex@y:443"}, EventChange.STABLE),
        ({"a": "espn@x:443", "b": "espn@x:443"}, EventChange.NEW),
        ({"a": "espn@x:443"}, EventChange.STABLE),
    ],
)
def test_two_feeds_make_a_goal_certain_only_where_they_are_two(vendors: dict[str, str], verdict: EventChange) -> None:
    monitor = ReconcilingMonitor(DebounceRules(agreeing_feeds=2), vendors)
    (decision,) = monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH))
    assert (decision.change, decision.event.feeds) == (verdict, ("a", "b"))


def test_a_third_feed_of_another_vendor_makes_it_certain() -> None:
    monitor = ReconcilingMonitor(vendors={"a": "espn@x:443", "b": "espn@x:443"})
    assert monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH), feed_answer("c"))[0].change is EventChange.NEW
    assert (
        monitor.poll(feed_answer("a", SALAH), feed_answer("b", SALAH), feed_answer("c", SALAH))[0].change
        is EventChange.STABLE
    )
