"""Who posts what where, and that every clip can be found by what the feed says of its goal."""

from __future__ import annotations

from collections import defaultdict

import pytest

from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import clips_for
from footy_simulator.football import goal_view, match_timeline
from footy_simulator.loader import load_scenario
from footy_simulator.post_texts import UNRELATED_POSTS, GoalStory, display_name, fan_text, plain, reddit_title, story_of
from footy_simulator.posts import PlannedPost, plan_posts
from footy_simulator.scenario import ScriptedMatch
from found_footy.discovery.aliases import select_aliases
from found_footy.discovery.query import SearchQuery, goal_query
from found_footy.discovery.reddit import parse_goal_title
from found_footy.text import clean_text

MATCHDAY = load_scenario("matchday").football
MATCHES = {match.id: match for match in MATCHDAY.matches}
POSTS = plan_posts(MATCHDAY)
STORY = GoalStory("Liverpool", "Manchester City", "LIVMCI", (1, 0), "home", "12", "normal", ("Mohamed Salah",))


def queries(match: ScriptedMatch, goal: int) -> list[SearchQuery]:
    """What is searched for in the goal's first half hour, by the feed's own words of the moment."""
    scored = match.goals[goal]
    moment = match_timeline(match).moment_of(scored.minute)
    assert moment is not None
    views = [goal_view(scored, moment, moment + 60 * minute) for minute in range(30)]
    names = {view.player.name if view and view.player else None for view in views}
    team = select_aliases(match.team(scored.side).name, ())
    return [goal_query(name, team) for name in names]


@pytest.mark.parametrize("post", [post for post in POSTS if post.clip], ids=lambda post: post.text[:30])
def test_a_clip_is_found_for_any_scorer_in_the_feed(post: PlannedPost) -> None:
    assert post.clip is not None
    for query in queries(MATCHES[post.clip.match], post.clip.goal):
        assert query.matches(clean_text(post.text))
        if post.platform == "reddit":
            title = parse_goal_title(post.text)
            assert title is not None
            assert query.matches(title.relevant_text)


def test_every_clip_is_posted_on_x_and_on_one_place_that_needs_no_browser() -> None:
    places: dict[ClipSpec, set[str]] = defaultdict(set)
    for post in POSTS:
        if post.clip:
            places[post.clip].add(post.platform)
    clips = [c for match in MATCHDAY.matches for g in range(len(match.goals)) for c in clips_for(MATCHDAY, match.id, g)]
    assert set(places) == set(clips)
    assert {frozenset(where) for where in places.values()} == {frozenset({"x", "bluesky"}), frozenset({"x", "reddit"})}


def test_a_post_is_due_so_many_minutes_after_its_goal() -> None:
    late = next(post for post in POSTS if post.clip and post.clip.match == 1380101 and post.clip.after == 3)
    assert late.due == 60 + 12 * 60 + 3 * 60
    early = [post.due for post in POSTS if post.clip and post.clip.match == 1380106 and post.clip.goal == 0]
    assert max(early) < 0, "scored before the matchday begins"
    assert [post.due for post in POSTS] == sorted(post.due for post in POSTS)


def test_there_is_chatter_that_no_search_matches_and_memories_that_are_too_old() -> None:
    noise = [post for post in POSTS if post.clip is None]
    assert {post.platform for post in noise} == {"x", "bluesky", "reddit"}
    for post in noise:
        if post.age == 0:
            assert post.text in UNRELATED_POSTS
            assert not any(
                q.matches(post.text) for m in MATCHDAY.matches for g in range(len(m.goals)) for q in queries(m, g)
            )
        else:
            assert post.age > 600
    assert any(q.matches(post.text) for post in noise if post.age for q in queries(MATCHES[1380101], 0))


def test_a_scenario_without_matches_has_no_posts() -> None:
    assert plan_posts(MATCHDAY.model_copy(update={"matches": ()})) == ()


def test_posts_are_the_same_every_time() -> None:
    assert plan_posts(load_scenario("matchday").football) == POSTS


@pytest.mark.parametrize(
    ("match", "goal", "title"),
    [
        (1380101, 0, "Liverpool [1] - 0 Manchester City - Mohamed Salah 12'"),
        (1380101, 1, "Liverpool 1 - [1] Manchester City - Haaland (penalty) 31'"),
        (1380101, 5, "Liverpool [3] - 2 Manchester City - Núñez 90+3'"),
        (1380102, 0, "Arsenal [1] - 0 Tottenham - Romero (OG) 18'"),
        (1380102, 1, "Arsenal 1 - [1] Tottenham - Son Heung-Min 34'"),
        (1380102, 2, "Arsenal [2] - 1 Tottenham - Havertz / Gabriel Magalhães 52'"),
        (1380104, 0, "Real Madrid 0 - [1] Barcelona - Lewandowski / Éder Militão 20'"),
    ],
)
def test_titles_are_written_as_on_r_soccer(match: int, goal: int, title: str) -> None:
    assert reddit_title(story_of(MATCHES[match], goal)) == title


def test_a_title_has_no_scorer_if_the_feed_has_none() -> None:
    unknown = GoalStory("Town", "Rovers", "TOWROV", (0, 1), "away", "4", "normal", ())
    assert reddit_title(unknown) == "Town 0 - [1] Rovers - 4'"
    assert all("Rovers" in fan_text(unknown, hand) or "ROVERS" in fan_text(unknown, hand).upper() for hand in range(6))


@pytest.mark.parametrize(
    ("name", "said"),
    [("E. Haaland", "Haaland"), ("Mohamed Salah", "Mohamed Salah"), ("K. De Bruyne", "De Bruyne"), ("M.", "M.")],
)
def test_initials_are_not_part_of_display_names(name: str, said: str) -> None:
    assert display_name(name) == said


def test_the_hands_differ_and_some_leave_out_accents_or_add_noise() -> None:
    texts = {fan_text(STORY, hand) for hand in range(6)}
    assert len(texts) == 6
    assert any("<script>" in text for text in texts)
    assert any("\u200f" in text for text in texts)
    assert plain("Éder Militão") == "Eder Militao"
