"""What fans of cricket write under a clip of a wicket: many hands, the same facts. Pure.

Every text names who is out, both teams in full, and says that he is out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from found_footy.domain.fixtures.model import Side
from found_footy.simulator.clips.cricket_footage import fallen_of
from found_footy.simulator.cricket_now import runs_after
from found_footy.simulator.cricket_script import CricketMatch, WicketWord
from found_footy.simulator.social.texts import spoken

_WORDS: dict[WicketWord, str] = {
    "bowled": "clean bowled",
    "caught": "caught",
    "lbw": "lbw",
    "run_out": "run out",
    "stumped": "stumped",
    "hit_wicket": "hit wicket",
    "other": "out",
}


@dataclass(frozen=True, slots=True)
class WicketStory:
    """A wicket as somebody who saw it tells it."""

    batting: str
    fielding: str
    tag: str
    """Such as `INDvAUS`."""
    batter: str
    bowler: str | None
    fielder: str | None
    how: str
    made: str
    """`44 (31)`: the batter's runs and balls."""
    score: str
    """`98/2 (11.2 ov)`, after it."""

    @property
    def scorecard(self) -> str:
        """`c Head b Zampa`, in the words of a scorecard; just how, where nobody bowled."""
        caught = f"c {self.fielder} " if self.how == "caught" and self.fielder else ""
        return f"{caught or f'{self.how} '}b {self.bowler}" if self.bowler else self.how


def wicket_story(match: CricketMatch, index: int) -> WicketStory:
    fallen = fallen_of(match)[index]
    wicket, batting = fallen.wicket, fallen.innings.batting
    other = Side.AWAY if batting is Side.HOME else Side.HOME
    return WicketStory(
        batting=match.team(batting).name,
        fielding=match.team(other).name,
        tag=f"{match.home.short}v{match.away.short}",
        batter=spoken(wicket.batter.name),
        bowler=spoken(wicket.bowler.name) if wicket.bowler else None,
        fielder=spoken(wicket.fielder.name) if wicket.fielder else None,
        how=_WORDS[wicket.kind],
        made=f"{wicket.batter_runs} ({wicket.batter_balls})",
        score=f"{runs_after(fallen.innings, wicket.ball.count)}/{fallen.number} ({wicket.ball} ov)",
    )


def wicket_text(story: WicketStory, number: int) -> str:
    """One of several hands, by number."""
    return _HANDS[number % len(_HANDS)](story)


def wicket_title(story: WicketStory) -> str:
    """As a subreddit's posts are called."""
    return f"Wicket: {story.batter} {story.scorecard} {story.made} | {story.batting} {story.score} vs {story.fielding}"


def wicket_memory(story: WicketStory) -> str:
    """What somebody wrote long before the wicket, in words that a search for it finds too."""
    return f"Throwback: {story.batter} out first ball, {story.batting} against {story.fielding} years ago. Again today?"


def _announcer(story: WicketStory) -> str:
    card = f"{story.batter} {story.scorecard} {story.made}"
    return f"🏏 WICKET! {card} | {story.batting} {story.score} v {story.fielding} #{story.tag}"


def _shouting(story: WicketStory) -> str:
    who = story.bowler or story.fielder or story.fielding
    return f"{story.batter.upper()} IS GONE!!! {who.upper()} TAKE A BOW 🔥🔥 {story.batting} vs {story.fielding}"


def _hindi(story: WicketStory) -> str:
    return f"विकेट! {story.batter} OUT 😱 {story.batting} {story.score} बनाम {story.fielding} #{story.tag}"


def _markup(story: WicketStory) -> str:
    return (
        f"<b>{story.batter}</b> {story.how} & the {story.fielding} fans go wild </div><script>alert('out')</script> "
        f"{story.batting} &ndash; {story.fielding}, {story.how} on replay again and again, what a wicket <3"
    )


def _lower_case(story: WicketStory) -> str:
    return f"no no no {story.batter.lower()} is out 😭 {story.how}… come on {story.batting.lower()} v {story.fielding}"


_HANDS: tuple[Callable[[WicketStory], str], ...] = (_announcer, _shouting, _hindi, _markup, _lower_case)
