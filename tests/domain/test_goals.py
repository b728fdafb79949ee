from __future__ import annotations

import pytest

from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.fixtures.goals import goal_kind, in_order
from found_footy.domain.fixtures.model import GoalKind, Score
from tests.support.football import goal


@pytest.mark.parametrize(
    ("type_", "detail", "comments", "kind"),
    [
        ("Goal", "Normal Goal", None, GoalKind.NORMAL),
        ("Goal", "Own Goal", None, GoalKind.OWN_GOAL),
        ("Goal", "Penalty", None, GoalKind.PENALTY),
        ("Goal", "Missed Penalty", None, None),
        ("Goal", "Penalty", "Penalty Shootout", None),
        ("Goal", "Missed Penalty", "Penalty Shootout", None),
        ("Card", "Yellow Card", "Foul", None),
        ("subst", "Substitution 1", None, None),
        ("Var", "Goal cancelled", None, None),
    ],
)
def test_what_counts_as_a_goal(type_: str, detail: str, comments: str | None, kind: GoalKind | None) -> None:
    assert goal_kind(type_, detail, comments) is kind


def test_a_kind_that_nobody_knows_is_named() -> None:
    with pytest.raises(FeedSchemaError, match=r"events\.detail: got 'Golden Goal'"):
        goal_kind("Goal", "Golden Goal", None)


def test_goals_come_in_order_of_play() -> None:
    listed = [goal(text) for text in ("90+3 home 1", "46 home 2", "45+2 home 3", "45 home 4")]
    assert [each.player.id for each in in_order(listed, None)] == [4, 3, 2, 1]


@pytest.mark.parametrize(
    ("score", "kept"),
    [(Score(1, 0), 1), (Score(2, 0), 2), (None, 2)],
)
def test_a_repeated_entry_goes_only_where_the_score_contradicts_it(score: Score | None, kept: int) -> None:
    assert len(in_order([goal("23 home 7"), goal("23 home 7")], score)) == kept
