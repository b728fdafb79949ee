"""Posts of wickets: found by what the feed says of the wicket, and told apart from other posts."""

from __future__ import annotations

import pytest

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.discovery.reddit_title import parse_title
from found_footy.domain.discovery.wickets import cricket_names, wicket_query
from found_footy.domain.fixtures.model import Side, Team
from found_footy.domain.videos.losses import Loss
from found_footy.simulator import load_scenario
from found_footy.simulator.clip_outcomes import Outcome, ends_right, expected, goal_name, losses_allowed
from found_footy.simulator.clips.cricket_footage import fallen_of
from found_footy.simulator.clips.plan import clips_for
from found_footy.simulator.cricket_course import cricket_course
from found_footy.simulator.social.plan import PlannedPost, planned_posts
from found_footy.simulator.social.texts import CHATTER
from found_footy.simulator.social.wicket_texts import wicket_story, wicket_text, wicket_title

MATCHDAY = load_scenario("matchday")
MATCH = MATCHDAY.cricket[0]
WICKETS = fallen_of(MATCH)
POSTS = [post for post in planned_posts(MATCHDAY) if post.clip and post.clip.match == MATCH.id]


def query(index: int) -> SearchQuery:
    fallen = WICKETS[index]
    batting = fallen.innings.batting
    sides = {side: cricket_names(Team(1, MATCH.team(side).name, MATCH.team(side).short)) for side in Side}
    fielding = Side.AWAY if batting is Side.HOME else Side.HOME
    bowler = fallen.wicket.bowler.name if fallen.wicket.bowler else None
    return wicket_query(fallen.wicket.batter.name, bowler, sides[batting], sides[fielding])


@pytest.mark.parametrize("post", POSTS, ids=lambda post: post.text[:30])
def test_a_clip_is_found_by_the_search_for_its_wicket(post: PlannedPost) -> None:
    assert post.clip is not None
    assert query(post.clip.goal).matches(clean_text(post.text))
    assert parse_title(post.text) is None, "no goal's title"


@pytest.mark.parametrize("hand", range(5))
@pytest.mark.parametrize("index", range(len(WICKETS)))
def test_whoever_writes_names_the_batter_both_teams_and_that_he_is_out(index: int, hand: int) -> None:
    assert query(index).matches(clean_text(wicket_text(wicket_story(MATCH, index), hand)))
    assert query(index).matches(wicket_title(wicket_story(MATCH, index)))


def test_every_wicket_is_posted_after_it_fell() -> None:
    course = cricket_course(MATCH)
    assert {post.clip.goal for post in POSTS if post.clip} == set(range(len(WICKETS)))
    for post in POSTS:
        assert post.clip is not None
        fallen = WICKETS[post.clip.goal]
        moment = course.moment_of(fallen.place, fallen.wicket.ball.count)
        assert moment is not None
        assert moment + 60 * post.clip.after <= post.due < moment + 60 * post.clip.after + 1


def test_no_search_for_a_wicket_finds_chatter_or_a_goal() -> None:
    others = [*CHATTER, *(post.text for post in planned_posts(MATCHDAY.football) if post.clip)]
    assert not any(query(index).matches(text) for index in range(len(WICKETS)) for text in others)


def test_a_title_is_written_as_on_r_cricket() -> None:
    assert wicket_title(wicket_story(MATCH, 1)) == (
        "Wicket: Virat Kohli c Travis Head b Adam Zampa 44 (31) | India 98/2 (11.2 ov) vs Australia"
    )
    assert "run out 39 (22)" in wicket_title(wicket_story(MATCH, 2))


def test_the_verdict_knows_how_the_clips_of_a_wicket_may_end() -> None:
    copy, wrong, gone = clips_for(MATCHDAY, MATCH.id, 1)
    assert goal_name(MATCH, 1) == "98-2 11.2 ov"
    assert ends_right(copy, MATCH, 1, Outcome("verified", kept=True))
    assert not ends_right(copy, MATCH, 1, Outcome("unverified", kept=True))
    assert losses_allowed(wrong, MATCH, 1) == {Loss.WRONG_OVER}
    assert losses_allowed(gone, MATCH, 1) == {Loss.GONE}
    assert expected(wrong, MATCH, 1).endswith("wrong over")


def test_a_wicket_that_another_search_brings_up_must_not_be_kept() -> None:
    copy = clips_for(MATCHDAY, MATCH.id, 1)[0]
    assert not ends_right(copy, MATCH, 2, Outcome("verified", kept=True))
    assert ends_right(copy, MATCH, 2, Outcome(Loss.WRONG_OVER, kept=False))
    assert ends_right(copy, MATCH, 2, Outcome(Loss.OTHER_MATCH, kept=False))
