"""Posts of wickets: found by what the feed says of the wicket, and told apart from other posts."""

from __future__ import annotations

import pytest

from footy_simulator.checks import ClipOutcome, allowed_rejections, expected, goal_name, is_expected
from footy_simulator.clips.plan import clips_for, fallen_of
from footy_simulator.cricket import cricket_timeline
from footy_simulator.loader import load_scenario
from footy_simulator.post_texts import UNRELATED_POSTS, wicket_story, wicket_text, wicket_title
from footy_simulator.posts import PlannedPost, plan_posts
from found_footy.clips.models import RejectionReason
from found_footy.discovery.query import SearchQuery, cricket_team_names, wicket_query
from found_footy.discovery.reddit import parse_goal_title
from found_footy.fixtures.models import Side, Team
from found_footy.text import clean_text

MATCHDAY = load_scenario("matchday")
MATCH = MATCHDAY.cricket[0]
WICKETS = fallen_of(MATCH)
POSTS = [post for post in plan_posts(MATCHDAY) if post.clip and post.clip.match == MATCH.id]


def query(index: int) -> SearchQuery:
    fallen = WICKETS[index]
    batting = fallen.innings.batting
    sides = {side: cricket_team_names(Team(1, MATCH.team(side).name, MATCH.team(side).short)) for side in Side}
    fielding = Side.AWAY if batting is Side.HOME else Side.HOME
    bowler = fallen.wicket.bowler.name if fallen.wicket.bowler else None
    return wicket_query(fallen.wicket.batter.name, bowler, sides[batting], sides[fielding])


@pytest.mark.parametrize("post", POSTS, ids=lambda post: post.text[:30])
def test_a_clip_is_found_by_the_search_for_its_wicket(post: PlannedPost) -> None:
    assert post.clip is not None
    assert query(post.clip.goal).matches(clean_text(post.text))
    assert parse_goal_title(post.text) is None, "no goal's title"


@pytest.mark.parametrize("hand", range(5))
@pytest.mark.parametrize("index", range(len(WICKETS)))
def test_every_post_names_batter_both_teams_and_the_dismissal(index: int, hand: int) -> None:
    assert query(index).matches(clean_text(wicket_text(wicket_story(MATCH, index), hand)))
    assert query(index).matches(wicket_title(wicket_story(MATCH, index)))


def test_every_wicket_is_posted_after_it_fell() -> None:
    course = cricket_timeline(MATCH)
    assert {post.clip.goal for post in POSTS if post.clip} == set(range(len(WICKETS)))
    for post in POSTS:
        assert post.clip is not None
        fallen = WICKETS[post.clip.goal]
        moment = course.moment_of(fallen.place, fallen.wicket.ball.count)
        assert moment is not None
        assert moment + 60 * post.clip.after <= post.due < moment + 60 * post.clip.after + 1


def test_no_search_for_a_wicket_finds_chatter_or_a_goal() -> None:
    others = [*UNRELATED_POSTS, *(post.text for post in plan_posts(MATCHDAY.football) if post.clip)]
    assert not any(query(index).matches(text) for index in range(len(WICKETS)) for text in others)


def test_a_title_is_written_as_on_r_cricket() -> None:
    assert wicket_title(wicket_story(MATCH, 1)) == (
        "Wicket: Virat Kohli c Travis Head b Adam Zampa 44 (31) | India 98/2 (11.2 ov) vs Australia"
    )
    assert "run out 39 (22)" in wicket_title(wicket_story(MATCH, 2))


def test_the_verdict_accepts_the_possible_outcomes_of_wicket_clips() -> None:
    copy, wrong, gone = clips_for(MATCHDAY, MATCH.id, 1)
    assert goal_name(MATCH, 1) == "98-2 11.2 ov"
    assert is_expected(copy, MATCH, 1, ClipOutcome("verified", kept=True))
    assert not is_expected(copy, MATCH, 1, ClipOutcome("unverified", kept=True))
    assert allowed_rejections(wrong, MATCH, 1) == {RejectionReason.WRONG_OVER}
    assert allowed_rejections(gone, MATCH, 1) == {RejectionReason.GONE}
    assert expected(wrong, MATCH, 1).endswith("wrong over")


def test_a_wicket_that_another_search_brings_up_must_not_be_kept() -> None:
    copy = clips_for(MATCHDAY, MATCH.id, 1)[0]
    assert not is_expected(copy, MATCH, 2, ClipOutcome("verified", kept=True))
    assert is_expected(copy, MATCH, 2, ClipOutcome(RejectionReason.WRONG_OVER, kept=False))
    assert is_expected(copy, MATCH, 2, ClipOutcome(RejectionReason.OTHER_MATCH, kept=False))
