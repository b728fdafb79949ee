"""Texts of posts, in several styles.

Every text contains each scorer that the feed ever reports and both full team names, so that a search finds it whatever
the feed reports at the time. The noise (markup, bidirectional marks, dropped accents) is what strangers type.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from footy_simulator.clips.plan import fallen_of, goal_footage
from footy_simulator.cricket import runs_after
from footy_simulator.scenario import DismissalName, GoalKind, ScriptedCricketMatch, ScriptedMatch, SideName
from footy_simulator.team_facts import facts_of
from found_footy.fixtures.models import Side

_INITIALS = re.compile(r"^(?:\w{1,2}\.\s*)+")
_RIGHT_TO_LEFT, _ISOLATE, _END_ISOLATE, _NO_WIDTH = "\u200f", "\u2067", "\u2069", "\u200b"


@dataclass(frozen=True, slots=True)
class GoalStory:
    """The facts of a goal that posts mention."""

    home: str
    away: str
    tag: str
    """Both team codes, such as `LIVMCI`."""
    score: tuple[int, int]
    """Score after the goal."""
    side: SideName
    minute: str
    kind: GoalKind
    scorers: tuple[str, ...]
    """Every scorer that the feed ever reports, in order; empty if it never names one."""

    @property
    def team(self) -> str:
        return self.home if self.side == "home" else self.away

    @property
    def who(self) -> str:
        return " or ".join(self.scorers) or self.team

    @property
    def result(self) -> str:
        return f"{self.home} {self.score[0]}-{self.score[1]} {self.away}"


def story_of(match: ScriptedMatch, goal: int) -> GoalStory:
    scored, footage = match.goals[goal], goal_footage(match, goal)
    players = [scored.player, *(change.player for change in scored.changes)]
    kinds = [scored.kind, *(change.kind for change in scored.changes if change.kind)]
    return GoalStory(
        home=match.home.name,
        away=match.away.name,
        tag="".join(footage.codes),
        score=footage.after,
        side=scored.side,
        minute=str(scored.minute),
        kind=kinds[0],
        scorers=tuple(dict.fromkeys(display_name(player.name) for player in players if player)),
    )


def display_name(name: str) -> str:
    """The name without initials: `E. Haaland` is Haaland."""
    return _INITIALS.sub("", name) or name


def plain(text: str) -> str:
    """Without accents, as many people type."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


def reddit_title(story: GoalStory) -> str:
    """`Liverpool [1] - 0 Manchester City - Mohamed Salah 12'`: brackets mark the side that scored."""
    home, away = (str(goals) for goals in story.score)
    if story.side == "home":
        home = f"[{home}]"
    else:
        away = f"[{away}]"
    note = {"normal": "", "penalty": " (penalty)", "own_goal": " (OG)"}[story.kind]
    who = f"{' / '.join(story.scorers)}{note} " if story.scorers else ""
    return f"{story.home} {home} - {away} {story.away} - {who}{story.minute}'"


def fan_text(story: GoalStory, number: int) -> str:
    """One of several templates, by number."""
    return GOAL_TEMPLATES[number % len(GOAL_TEMPLATES)](story)


def _announcer(story: GoalStory) -> str:
    return f"⚽️ GOAL! {story.who} {story.minute}' | {story.result} #{story.tag}"


def _shouting(story: GoalStory) -> str:
    return f"{plain(story.who).upper()} WHAT A GOAL 🔥🔥🔥 {plain(story.home)} vs {plain(story.away)}"


def _spanish(story: GoalStory) -> str:
    return f"¡¡GOOOOL de {story.who}!! {story.home} {story.score[0]}:{story.score[1]} {story.away} 😭😭 {story.minute}’"


def _markup(story: GoalStory) -> str:
    return (
        f"<b>{story.who}</b> & the {story.team} fans go wild </div><script>alert('goal')</script> "
        f"{story.home} &ndash; {story.away} <3"
    )


def _arabic(story: GoalStory) -> str:
    return f"{_RIGHT_TO_LEFT}هدف {_ISOLATE}{story.who}{_END_ISOLATE} ⚽ {story.home} ضد {story.away}{_RIGHT_TO_LEFT}"


def _lower_case(story: GoalStory) -> str:
    beloved = next(iter(facts_of(story.team).posted), story.team)
    return (
        f"{story.who.lower()} you absolute beauty{_NO_WIDTH} 🥹 come on {beloved.lower()}\n\n"
        f"{story.home.lower()} v {story.away.lower()}, {story.minute}'"
    )


GOAL_TEMPLATES: tuple[Callable[[GoalStory], str], ...] = (
    _announcer,
    _shouting,
    _spanish,
    _markup,
    _arabic,
    _lower_case,
)

UNRELATED_POSTS = (
    "the way my cat just jumped off the fridge 😂😂",
    "Buzzer beater from half court!!! Unreal scenes tonight 🏀",
    "Sunset timelapse from the pier, no filter",
    "<img src=x onerror=alert(1)> my first steps in web design lol",
    f"{_RIGHT_TO_LEFT}وصفة اليوم: خبز بالزعتر",
    "Full interview with the new signing drops at 8 👀",
)
"""Posts unrelated to any goal."""


def throwback_text(story: GoalStory) -> str:
    """An old post that a search for the goal also finds."""
    return f"Throwback: {story.who} deciding {story.home} against {story.away} years ago. Again today?"


# --- Wickets.


_WORDS: dict[DismissalName, str] = {
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
    """The facts of a wicket that posts mention."""

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
    """Such as `98/2 (11.2 ov)`, after the wicket."""

    @property
    def scorecard(self) -> str:
        """`c Head b Zampa`, in scorecard notation; only the kind for a run out."""
        caught = f"c {self.fielder} " if self.how == "caught" and self.fielder else ""
        return f"{caught or f'{self.how} '}b {self.bowler}" if self.bowler else self.how


def wicket_story(match: ScriptedCricketMatch, index: int) -> WicketStory:
    fallen = fallen_of(match)[index]
    wicket, batting = fallen.wicket, fallen.innings.batting
    other = Side.AWAY if batting is Side.HOME else Side.HOME
    return WicketStory(
        batting=match.team(batting).name,
        fielding=match.team(other).name,
        tag=f"{match.home.short}v{match.away.short}",
        batter=display_name(wicket.batter.name),
        bowler=display_name(wicket.bowler.name) if wicket.bowler else None,
        fielder=display_name(wicket.fielder.name) if wicket.fielder else None,
        how=_WORDS[wicket.kind],
        made=f"{wicket.batter_runs} ({wicket.batter_balls})",
        score=f"{runs_after(fallen.innings, wicket.ball.count)}/{fallen.number} ({wicket.ball} ov)",
    )


def wicket_text(story: WicketStory, number: int) -> str:
    """One of several templates, by number."""
    return WICKET_TEMPLATES[number % len(WICKET_TEMPLATES)](story)


def wicket_title(story: WicketStory) -> str:
    """A title in the style of the subreddit."""
    return f"Wicket: {story.batter} {story.scorecard} {story.made} | {story.batting} {story.score} vs {story.fielding}"


def wicket_throwback_text(story: WicketStory) -> str:
    """An old post that a search for the wicket also finds."""
    return f"Throwback: {story.batter} out first ball, {story.batting} against {story.fielding} years ago. Again today?"


def _wicket_announcer(story: WicketStory) -> str:
    card = f"{story.batter} {story.scorecard} {story.made}"
    return f"🏏 WICKET! {card} | {story.batting} {story.score} v {story.fielding} #{story.tag}"


def _wicket_shouting(story: WicketStory) -> str:
    who = story.bowler or story.fielder or story.fielding
    return f"{story.batter.upper()} IS GONE!!! {who.upper()} TAKE A BOW 🔥🔥 {story.batting} vs {story.fielding}"


def _hindi(story: WicketStory) -> str:
    return f"विकेट! {story.batter} OUT 😱 {story.batting} {story.score} बनाम {story.fielding} #{story.tag}"


def _wicket_markup(story: WicketStory) -> str:
    return (
        f"<b>{story.batter}</b> {story.how} & the {story.fielding} fans go wild </div><script>alert('out')</script> "
        f"{story.batting} &ndash; {story.fielding}, {story.how} on replay again and again, what a wicket <3"
    )


def _wicket_lower_case(story: WicketStory) -> str:
    return f"no no no {story.batter.lower()} is out 😭 {story.how}… come on {story.batting.lower()} v {story.fielding}"


WICKET_TEMPLATES: tuple[Callable[[WicketStory], str], ...] = (
    _wicket_announcer,
    _wicket_shouting,
    _hindi,
    _wicket_markup,
    _wicket_lower_case,
)
