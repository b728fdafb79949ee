from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from found_footy.discovery.selection import PendingPost, Selection, SelectionRules, select_posts

NOW = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
RULES = SelectionRules(max_posts=2)


def post(key: str, duration: float | None = 10, age: float = 60) -> PendingPost:
    return PendingPost(key, NOW - timedelta(seconds=age), duration)


def test_the_longest_are_selected() -> None:
    assert select_posts([post("a", 5), post("b", 30), post("c", 12)], NOW, RULES) == Selection(("b", "c"), ())


def test_an_unknown_length_counts_as_a_usual_one() -> None:
    assert select_posts([post("long", 50), post("unknown", None), post("short", 5)], NOW, RULES).selected == (
        "long",
        "unknown",
    )


def test_long_posts_leave_two_of_five_places_to_posts_of_unknown_length() -> None:
    posts = [
        *(post(f"long{n}", 50, age=90 + n) for n in range(6)),
        *(post(f"unknown{n}", None, age=n) for n in range(3)),
    ]
    selected = select_posts(posts, NOW, SelectionRules(max_posts=5)).selected
    assert selected == ("long5", "long4", "long3", "unknown2", "unknown1")


def test_equally_long_posts_are_selected_in_order_of_posting() -> None:
    assert select_posts([post("later", age=10), post("earlier", age=90)], NOW, RULES).selected == ("earlier", "later")


def test_a_post_at_the_age_limit_is_recent_and_an_older_one_is_passed_over() -> None:
    result = select_posts([post("at", age=180), post("beyond", age=180.1)], NOW, RULES)
    assert result == Selection(("at",), ("beyond",))


def test_a_post_from_the_far_future_is_not_recent() -> None:
    assert select_posts([post("future", age=-301)], NOW, RULES) == Selection((), ("future",))


def test_a_slightly_fast_clock_is_tolerated() -> None:
    assert select_posts([post("fast", age=-20)], NOW, RULES).selected == ("fast",)


@given(st.lists(st.tuples(st.floats(1, 60) | st.none(), st.floats(-600, 600)), max_size=12), st.integers(1, 6))
def test_every_post_is_selected_too_old_or_left_for_later(given: list[tuple[float | None, float]], limit: int) -> None:
    posts = [post(f"p{n}", duration, age) for n, (duration, age) in enumerate(given)]
    result = select_posts(posts, NOW, SelectionRules(max_posts=limit))
    assert len(result.selected) <= limit
    assert not set(result.selected) & set(result.too_old)
    left = {each.key for each in posts} - set(result.selected) - set(result.too_old)
    assert not left or len(result.selected) == limit
