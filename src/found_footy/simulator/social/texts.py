"""What fans write under a clip: many hands, the same facts. Pure.

Every text names the scorer, under each name that the feed ever gives the goal, and both teams in full, so that a search
finds it whatever the feed says at the time. The noise in it (markup, marks that turn the writing around, dropped
accents) is what strangers type, and harmless to whoever handles it as text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from found_footy.simulator.clips.footage import goal_footage
from found_footy.simulator.script import GoalKind, Match, SideName
from found_footy.simulator.team_facts import facts_of

_INITIALS = re.compile(r"^(?:\w{1,2}\.\s*)+")
_RIGHT_TO_LEFT, _ISOLATE, _END_ISOLATE, _NO_WIDTH = "\u200f", "\u2067", "\u2069", "\u200b"


@dataclass(frozen=True, slots=True)
class Story:
    """A goal as somebody who saw it tells it."""

    home: str
    away: str
    tag: str
    """Both teams' letters, such as `LIVMCI`."""
    score: tuple[int, int]
    """After the goal."""
    side: SideName
    minute: str
    kind: GoalKind
    scorers: tuple[str, ...]
    """Everybody to whom the feed ever gives it, the first one first; nobody where it never names one."""

    @property
    def team(self) -> str:
        return self.home if self.side == "home" else self.away

    @property
    def who(self) -> str:
        return " or ".join(self.scorers) or self.team

    @property
    def result(self) -> str:
        return f"{self.home} {self.score[0]}-{self.score[1]} {self.away}"


def story_of(match: Match, goal: int) -> Story:
    scored, footage = match.goals[goal], goal_footage(match, goal)
    players = [scored.player, *(change.player for change in scored.changes)]
    kinds = [scored.kind, *(change.kind for change in scored.changes if change.kind)]
    return Story(
        home=match.home.name,
        away=match.away.name,
        tag="".join(footage.codes),
        score=footage.after,
        side=scored.side,
        minute=str(scored.minute),
        kind=kinds[0],
        scorers=tuple(dict.fromkeys(spoken(player.name) for player in players if player)),
    )


def spoken(name: str) -> str:
    """Nobody cheers initials: `E. Haaland` is Haaland."""
    return _INITIALS.sub("", name) or name


def plain(text: str) -> str:
    """As people without the right keys type it: no accents."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


def reddit_title(story: Story) -> str:
    """`Liverpool [1] - 0 Manchester City - Mohamed Salah 12'`: brackets around the side that scored."""
    home, away = (str(goals) for goals in story.score)
    if story.side == "home":
        home = f"[{home}]"
    else:
        away = f"[{away}]"
    note = {"normal": "", "penalty": " (penalty)", "own_goal": " (OG)"}[story.kind]
    who = f"{' / '.join(story.scorers)}{note} " if story.scorers else ""
    return f"{story.home} {home} - {away} {story.away} - {who}{story.minute}'"


def fan_text(story: Story, number: int) -> str:
    """One of several hands, by number."""
    return _HANDS[number % len(_HANDS)](story)


def _announcer(story: Story) -> str:
    return f"⚽️ GOAL! {story.who} {story.minute}' | {story.result} #{story.tag}"


def _shouting(story: Story) -> str:
    return f"{plain(story.who).upper()} WHAT A GOAL 🔥🔥🔥 {plain(story.home)} vs {plain(story.away)}"


def _spanish(story: Story) -> str:
    return f"¡¡GOOOOL de {story.who}!! {story.home} {story.score[0]}:{story.score[1]} {story.away} 😭😭 {story.minute}’"


def _markup(story: Story) -> str:
    return (
        f"<b>{story.who}</b> & the {story.team} fans go wild </div><script>alert('goal')</script> "
        f"{story.home} &ndash; {story.away} <3"
    )


def _arabic(story: Story) -> str:
    return f"{_RIGHT_TO_LEFT}هدف {_ISOLATE}{story.who}{_END_ISOLATE} ⚽ {story.home} ضد {story.away}{_RIGHT_TO_LEFT}"


def _lower_case(story: Story) -> str:
    beloved = next(iter(facts_of(story.team).posted), story.team)
    return (
        f"{story.who.lower()} you absolute beauty{_NO_WIDTH} 🥹 come on {beloved.lower()}\n\n"
        f"{story.home.lower()} v {story.away.lower()}, {story.minute}'"
    )


_HANDS: tuple[Callable[[Story], str], ...] = (_announcer, _shouting, _spanish, _markup, _arabic, _lower_case)

CHATTER = (
    "the way my cat just jumped off the fridge 😂😂",
    "Buzzer beater from half court!!! Unreal scenes tonight 🏀",
    "Sunset timelapse from the pier, no filter",
    "<img src=x onerror=alert(1)> my first steps in web design lol",
    f"{_RIGHT_TO_LEFT}وصفة اليوم: خبز بالزعتر",
    "Full interview with the new signing drops at 8 👀",
)
"""What has nothing to do with any goal."""


def memory(story: Story) -> str:
    """What somebody wrote long before the goal, in words that a search for it finds too."""
    return f"Throwback: {story.who} deciding {story.home} against {story.away} years ago. Again today?"
