from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from found_footy.discovery.selection import Choice, ChoosingRules, Waiting, choose

NOW = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
RULES = ChoosingRules(most=2)


def post(key: str, duration: float | None = 10, age: float = 60) -> Waiting:
    return Waiting(key, NOW - timedelta(seconds=age), duration)


def test_the_longest_are_taken() -> None:
    assert choose([post("a", 5), post("b", 30), post("c", 12)], NOW, RULES) == Choice(("b", "c"), ())


def test_an_unknown_length_counts_as_a_usual_one() -> None:
    assert choose([post("long", 50), post("unknown", None), post("short", 5)], NOW, RULES).taken == ("long", "unknown")


def test_long_posts_leave_two_of_five_places_to_posts_of_unknown_length() -> None:
    posts = [
        *(post(f"long{n}", 50, age=90 + n) for n in range(6)),
        *(post(f"unknown{n}", None, age=n) for n in range(3)),
    ]
    taken = choose(posts, NOW, ChoosingRules(most=5)).taken
    assert taken == ("long5", "long4", "long3", "unknown2", "unknown1")


def test_equally_long_ones_are_taken_in_the_order_of_their_posting() -> None:
    assert choose([post("later", age=10), post("earlier", age=90)], NOW, RULES).taken == ("earlier", "later")


def test_a_post_at_the_limit_is_young_and_one_beyond_is_passed_over() -> None:
    result = choose([post("at", age=180), post("beyond", age=180.1)], NOW, RULES)
    assert result == Choice(("at",), ("beyond",))


def test_a_post_from_the_far_future_is_not_young() -> None:
    assert choose([post("future", age=-301)], NOW, RULES) == Choice((), ("future",))


def test_a_clock_that_is_a_little_fast_does_no_harm() -> None:
    assert choose([post("fast", age=-20)], NOW, RULES).taken == ("fast",)


@given(st.lists(st.tuples(st.floats(1, 60) | st.none(), st.floats(-600, 600)), max_size=12), st.integers(1, 6))
def test_nothing_is_lost_and_nothing_taken_twice(given_posts: list[tuple[float | None, float]], most: int) -> None:
    posts = [post(f"p{n}", duration, age) for n, (duration, age) in enumerate(given_posts)]
    result = choose(posts, NOW, ChoosingRules(most=most))
    assert len(result.taken) <= most
    assert not set(result.taken) & set(result.too_old)
    left = {each.key for each in posts} - set(result.taken) - set(result.too_old)
    assert not left or len(result.taken) == most
