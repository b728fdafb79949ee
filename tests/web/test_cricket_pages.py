"""Wickets on pages, in links, search and Atom feeds."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from found_footy.fixtures.documents import GoalDocument
from found_footy.fixtures.models import MatchMinute
from found_footy.web.api.atom import summary, title
from found_footy.web.pages.goal import goal_page
from found_footy.web.services import WebRules
from tests.conftest import SampleDataCopy
from tests.support.web_world import KICKOFF, NOW
from tests.support.web_world_feeds import WICKET_OF_HEAD, WICKETS, t20
from tests.web.test_atom import GOAL

PAGE = {"accept": "text/html"}


async def test_the_goal_page_of_a_wicket_uses_cricket_terms(site: httpx.AsyncClient) -> None:
    page = (await site.get(f"/g/{WICKET_OF_HEAD}", headers=PAGE)).text
    assert "<title>Travis Head 2.4 ov · India – Australia" in page
    assert 'Travis Head <span class="minute">2.4 ov</span>' in page
    assert '<b class="up">1st</b>' in page
    assert "wicket, 2nd innings" in page
    assert "b Jasprit Bumrah" in page
    assert "<dt>Fielding</dt><dd>India</dd>" in page
    assert "<dt>Reported by</dt><dd>CREX, ESPN</dd>" in page
    assert "goal" not in page[page.index("<main") :].replace('class="goal', "").replace('id="goal', "").replace(
        "goal-head", ""
    ).replace("data-goal", "")


async def test_a_hidden_wicket_reveals_nothing(site: httpx.AsyncClient) -> None:
    page = (await site.get(f"/g/{WICKET_OF_HEAD}", headers=PAGE | {"cookie": "spoilers=hidden"})).text
    assert "A wicket in India – Australia" in page
    assert [word for word in ("Travis Head", "Bumrah", "2.4 ov", "1st") if word in page] == []


async def test_a_withdrawn_wicket_is_marked(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    without = (WICKETS[0], WICKETS[2])
    await small_world.world.poll(t20(KICKOFF, *without), times=3, at=NOW)
    page = await web.get(f"/g/{WICKET_OF_HEAD}", headers=PAGE)
    assert (page.status_code, "This wicket was withdrawn" in page.text) == (410, True)
    card = (await web.get("/fragments/match/7007")).text
    assert "<em>no wicket</em>" in card
    assert card.count("<em>1st wicket</em>") == 2  # one in each innings


@pytest.mark.parametrize(
    ("innings", "taken", "told"), [(1, 3, ("3rd", "1st")), (2, 10, ("10th", "2nd")), (4, 14, ("out", "4th"))]
)
async def test_the_wicket_number_is_shown_if_known(
    small_world: SampleDataCopy, innings: int, taken: int, told: tuple[str, str]
) -> None:
    event = GoalDocument.model_validate(await small_world.store.event(WICKET_OF_HEAD))
    event.time.innings, event.score_after.home = innings, taken
    page = goal_page(event, {}, WebRules())
    assert (page.wicket, page.innings, page.noun) == (*told, "wicket")


async def test_wickets_are_searchable(site: httpx.AsyncClient) -> None:
    page = (await site.get("/search?q=head&sport=cricket", headers=PAGE)).text
    assert "1 wicket" in page
    assert '<b class="number">2.4 ov</b>' in page
    assert "b Jasprit Bumrah" in page
    assert '<option value="cricket" selected>' in page
    match = (await site.get("/search?kind=fixtures&q=india", headers=PAGE)).text
    assert '<span class="number">187/5 – 95/2</span>' in match
    assert "12.3 ov" in match
    strange = await site.get("/search?sport=chess", headers=PAGE)
    assert "Mohamed Salah" in strange.text


async def test_cricket_documents_have_innings(site: httpx.AsyncClient) -> None:
    told = (await site.get("/api/v1/fixtures/7007")).json()
    assert (told["sport"], told["venue"], told["toss"]) == (
        "cricket",
        "MCG, Melbourne",
        {"winner": "home", "decision": "bat"},
    )
    assert [(each["runs"], each["wickets"], each["over"]) for each in told["innings"]] == [
        (187, 5, True),
        (95, 2, False),
    ]
    assert [each["_event_id"].split("_")[2] for each in told["events"]] == ["9001", "9101", "9102"]
    head = (await site.get(f"/api/v1/events/{WICKET_OF_HEAD}")).json()
    assert (head["time"], head["_feeds"]) == ({"elapsed": 2, "extra": 4, "innings": 2}, ["crex", "espn"])
    assert (head["_fixture"]["sport"], head["type"], head["detail"]) == ("cricket", "Wicket", "Bowled")


def test_the_atom_feed_of_a_wicket_has_no_score() -> None:
    wicket = replace(GOAL, minute=MatchMinute(2, 4, 2), player="Travis Head")
    assert title(wicket, scores=True) == "Home – Away: Travis Head is out, 2.4 ov"
    assert title(wicket, scores=False) == "Home – Away: a wicket, 2.4 ov"
    assert title(replace(wicket, player=None, withdrawn="review"), scores=True).startswith("Withdrawn: Home – Away")
    assert summary(replace(wicket, withdrawn="review")).startswith("The wicket was withdrawn: review")
