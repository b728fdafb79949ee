"""Addresses and ids of CREX. A match id is a short alphanumeric code, stored as a number in base 36."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from found_footy.errors import FeedSchemaError
from found_footy.feeds.cricket import (
    MAX_INNINGS,
    MAX_RUNS,
    cricket_status,
    opponent,
    parse_overs,
    parse_toss,
    wicket_kind,
    wickets_taken,
)
from found_footy.feeds.models import compact
from found_footy.feeds.validation import MAX_GOALS, require_storable
from found_footy.fixtures.models import (
    WICKET,
    Innings,
    LastEvent,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    Side,
    Sport,
    Team,
    Toss,
    WicketKind,
    phase_of,
)
from found_footy.json_reader import JsonReader

LIST_PATH = "/fixtures/match-list"
BASE36_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_CODE = re.compile(r"[0-9A-Za-z]{1,7}", re.ASCII)
_LINK = re.compile(r"(/cricket-live-score/[\w-]+-(\w+))(?:/[\w-]+)?/?", re.ASCII)


def parse_match_code(code: str, field: str = "id") -> int:
    if not _CODE.fullmatch(code) or code.startswith("0"):
        raise FeedSchemaError(field, code, "at most seven letters and digits")
    return int(code, 36)


def format_match_code(id_: int) -> str:
    digits = ""
    while id_ > 0:
        id_, digit = divmod(id_, 36)
        digits = BASE36_DIGITS[digit] + digits
    return digits


def parse_match_link(link: str) -> tuple[str, int]:
    """Return the address of a match without the page name, and the match id."""
    path = urlsplit(link).path
    found = _LINK.fullmatch(path)
    if found is None:
        raise FeedSchemaError("link", link, "the address of a match")
    return found[1], parse_match_code(found[2], "link")


def short_match_path(id_: int) -> str:
    """Return an address for a match whose full one is unknown. Any text before the code works; a bare code fails."""
    return slug_match_path("match", format_match_code(id_))


def slug_match_path(text: str, code: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "match"
    return f"/cricket-live-score/{slug}-match-updates-{code}"


def scorecard_path(base: str) -> str:
    return f"{base}/match-scorecard"


def details_path(base: str) -> str:
    return f"{base}/match-details"


# --- Names and ids on a CREX page: it shows names and keeps their ids in the browser's storage.


_KEY = re.compile(r"([tp])_(\w{1,7})_(name|short)", re.ASCII)


class PageNames:
    def __init__(self, raw: Any) -> None:
        self._teams: dict[str, dict[str, str]] = {}
        self._players: dict[str, str] = {}
        document = JsonReader(raw, "names")
        for key in raw if isinstance(raw, dict) else ():
            found, name = _KEY.fullmatch(key), document.display_text(key)
            if found is None or name is None:
                continue
            kind, code, form = found.groups()
            if kind == "t":
                self._teams.setdefault(code, {})[form] = name
            elif form == "name":
                self._players[code] = name

    def team(self, displayed: str, field: str) -> Team:
        """Find a team by full or short name. Raises FeedSchemaError unless exactly one id matches."""
        normalized = _normalize(displayed)
        codes = [code for code, names in self._teams.items() if normalized in map(_normalize, names.values())]
        if not normalized or len(codes) != 1:
            raise FeedSchemaError(field, displayed, "a team with an id on the page")
        names = self._teams[codes[0]]
        return Team(parse_match_code(codes[0], field), names.get("name") or displayed, names.get("short"))

    def person(self, displayed: str) -> Player:
        """Return the player, with an id if exactly one player on the page matches: `V Kohli` for Virat Kohli."""
        name = re.sub(r"\s*(?:\((?:c|wk|c & wk|sub)\)|[†*])", "", displayed).strip()
        if not name:
            return Player()
        codes = [code for code, each in self._players.items() if _normalize(each) == _normalize(name)]
        codes = codes or [code for code, each in self._players.items() if _is_short_form(name, each)]
        if len(codes) != 1:
            return Player(name=name)
        return Player(parse_match_code(codes[0], "names"), self._players[codes[0]])


def remove_team_names(text: str, teams: Iterable[Team]) -> str:
    """Remove team names from a text: a side may be called Rain City."""
    names = sorted({name for team in teams for name in (team.name, team.short) if name}, key=len, reverse=True)
    for name in names:
        text = re.sub(rf"\b{re.escape(name)}\b", " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split())


def _is_short_form(short: str, full: str) -> bool:
    a, b = _normalize(short).replace(".", " ").split(), _normalize(full).split()
    return len(a) > 1 and len(b) > 1 and a[-1] == b[-1] and len(a[0]) == 1 and b[0].startswith(a[0])


# --- Notation of CREX: scores, dismissals, status texts, match types.


OVERS_BY_FORMAT = {"T10": 10, "T20": 20, "T20I": 20, "ODI": 50, "ODM": 50, "TEST": 0}

_SCORE = re.compile(r"(\d{1,4})(?:\s*[-/]\s*(\d{1,2}))?(\s*(?:d|dec|decl)\.?)?", re.ASCII | re.IGNORECASE)
_MATCH_TYPE = re.compile(r"\b(T10|T20I|T20|ODI|ODM|Test)s?\b", re.IGNORECASE)
_BALL = re.compile(
    r"\d{1,2}|w|wkt|wicket|wide|wd\d?|no ball|nb\d?|\d?lb|\d?b|(?:leg )?byes?|dot|four|six|ball|over|ball start"
    r"|player entering|drs|review|free hit",
    re.IGNORECASE | re.ASCII,
)
_TOSS = re.compile(r"won the toss|\b(?:opt|elect|choose|chose|decide)s?(?:ed|d)?\b", re.IGNORECASE)
_BOWLED_BY = re.compile(r"(?P<how>.*?)\s*\bb\s+(?P<bowler>[^()]+?)\s*", re.IGNORECASE)
_CERTAIN_CONFIDENCE, _LIKELY_CONFIDENCE, _GUESSED_CONFIDENCE = 1.0, 0.8, 0.6


@dataclass(frozen=True, slots=True)
class Total:
    runs: int
    wickets: int | None
    """None if only runs are shown."""
    declared: bool = False


def parse_total(text: str, field: str) -> Total | None:
    """Parse `187-5`, `187/5` or `320-8 d`; None before the side has batted."""
    score_text = text.strip()
    if score_text.casefold() in ("", "-", "yet to bat"):
        return None
    found = _SCORE.fullmatch(score_text)
    if found is None or int(found[1]) > MAX_RUNS or int(found[2] or 0) > 10:
        raise FeedSchemaError(field, text, "a score such as 187-5")
    return Total(int(found[1]), int(found[2]) if found[2] else None, found[3] is not None)


@dataclass(frozen=True, slots=True)
class Dismissal:
    kind: WicketKind | None
    """None if the batter is not out."""
    bowler: str | None = None


def parse_dismissal(text: str) -> Dismissal:
    """Parse `c Pant b Bumrah`, `c & b Starc`, `lbw b Zampa`, `run out (Jadeja)`, `b Rabada` or `not out`."""
    dismissal = " ".join(text.split())
    if (simple_kind := wicket_kind(re.sub(r"\s*\(.*\)$", "", dismissal))) is None:
        return Dismissal(None)
    found = _BOWLED_BY.fullmatch(dismissal)
    if found is None:
        return Dismissal(simple_kind)
    method = found["how"].casefold().strip()
    # "c & b Starc": caught by the bowler.
    first = re.split(r"[\s&]", method, maxsplit=1)[0] if not method.startswith("hit") else "hit wicket"
    kind = wicket_kind(first) if method else WicketKind.BOWLED
    return Dismissal(kind or WicketKind.OTHER, found["bowler"])


def parse_status(box: str, comment: str, *, has_started: bool) -> tuple[str, float]:
    """Return status and confidence from the two texts in the page header, given without team names."""
    texts = [box, comment]
    if not has_started:
        return cricket_status("pre", texts), _CERTAIN_CONFIDENCE
    final_status = cricket_status("post", texts, completed=False)
    if phase_of(final_status).is_over:
        # The last ball of a match, or a comment on the previous innings, may still be shown for a moment.
        return final_status, _LIKELY_CONFIDENCE if is_ball(box) else _CERTAIN_CONFIDENCE
    status = cricket_status("in", texts)
    is_recognised = status != "LIVE" or is_ball(box) or not box
    return status, _CERTAIN_CONFIDENCE if is_recognised else _GUESSED_CONFIDENCE


def is_ball(text: str) -> bool:
    return _BALL.fullmatch(text.strip()) is not None


def is_wicket(text: str) -> bool:
    return text.strip().casefold() in ("w", "wkt", "wicket")


def is_toss(text: str) -> bool:
    return _TOSS.search(text) is not None


def find_match_type(*texts: str) -> str | None:
    """Return T20, ODI, Test, … from the first text that contains one."""
    found = next((found for text in texts if (found := _MATCH_TYPE.search(text))), None)
    if found is None:
        return None
    return "Test" if found[1].casefold() == "test" else found[1].upper()


def split_title(name: str) -> tuple[Sequence[str], str, str]:
    """Split `India vs Australia, 3rd T20I, Tour of Australia, 2026` into sides, match and series."""
    first, *rest = [part.strip() for part in name.split(",")]
    sides = re.split(r"\s+vs\.?\s+", first, maxsplit=1, flags=re.IGNORECASE)
    return sides, rest[0] if rest else "", ", ".join(rest[1:])


# --- CREX's scorecard: innings, and wickets with batter, bowler, dismissal and ball.


Teams = Mapping[Side, Team]
BALLS_PER_OVER = 6
MAX_ROWS = 30


@dataclass(frozen=True, slots=True)
class ParsedInnings:
    innings: Innings
    wickets: tuple[LiveGoal, ...]
    descriptions: tuple[str, ...]
    """Text description of each wicket."""
    is_complete: bool
    """Whether the number of listed wickets matches the score."""


def _side(reader: JsonReader, teams: Teams) -> Side:
    name = reader.text().casefold()
    for side, team in teams.items():
        if name in (team.name.casefold(), (team.short or "").casefold()):
            return side
    raise reader.schema_error("one of the two sides")


def started_innings(data: JsonReader, teams: Teams, toss: Toss | None) -> list[tuple[JsonReader, Side]]:
    """Return the innings that have started, in order of play."""
    found = [
        (each, _side(each["team"], teams))
        for each in data["innings"].items(MAX_INNINGS)
        if parse_total(each["score"].text(), f"{each.path}.score") is not None
    ]
    team_headers = data.optional("teams")
    scored = team_headers is not None and any(_has_score(each) for each in team_headers.items(2))
    if scored and not found:
        raise FeedSchemaError("innings", "no scorecard", "the scorecard of the current innings")
    if len(found) == 2 and toss is not None and found[0][1] is not _first_batting_side(toss):
        found.reverse()
    return found


def _has_score(header: JsonReader) -> bool:
    return re.match(r"\d", header.display_text("score") or "") is not None


def _first_batting_side(toss: Toss) -> Side:
    return toss.winner if toss.decision == "bat" else opponent(toss.winner)


def parse_innings(
    card: JsonReader, number: int, batting: Side, names: PageNames, *, is_over: bool, match_type: str | None
) -> ParsedInnings:
    if card.get("shown") is not True:
        raise FeedSchemaError(f"{card.path}.shown", card.get("shown"), "the tables of this innings")
    total = parse_total(card["score"].text(), f"{card.path}.score")
    assert total is not None
    overs, balls = _parse_innings_overs(card["overs"])
    dismissals = {
        name.casefold(): (parse_dismissal(row.display_text("decision") or ""), _batting_figures(row))
        for row in card["batting"].items(MAX_ROWS)
        if (name := row.display_text("name"))
    }
    fallen = [(row, dismissals.get(row["name"].text().casefold())) for row in card["falls"].items(MAX_ROWS)]
    # A batter retired hurt is sometimes listed as a fallen wicket, and may return.
    fallen = [(row, dismissal) for row, dismissal in fallen if dismissal is None or dismissal[0].kind is not None]
    wickets = tuple(_parse_wicket(row, dismissal and dismissal[0], number, batting, names) for row, dismissal in fallen)
    _check_tables_match_score(card, total, [row for row, _ in fallen])
    descriptions = tuple(_describe_wicket(row, dismissal) for row, dismissal in fallen)
    wickets_lost = total.wickets if total.wickets is not None else len(wickets)
    limit = OVERS_BY_FORMAT.get((match_type or "").upper(), 0)
    is_over = is_over or wickets_lost >= 10 or total.declared or (limit > 0 and overs >= limit)
    innings = Innings(number, batting, total.runs, wickets_lost, overs, balls, is_over)
    return ParsedInnings(innings, wickets, descriptions, total.wickets == len(wickets))


def _check_tables_match_score(card: JsonReader, total: Total, falls: Sequence[JsonReader]) -> None:
    """Raise if the tables do not match the score: the page still shows those of another innings."""
    if total.wickets is not None and len(falls) > total.wickets:
        raise FeedSchemaError(f"{card.path}.falls", len(falls), f"at most the {total.wickets} wickets of the score")
    for row in falls:
        at = parse_total(row.display_text("score") or "", f"{row.path}.score")
        if at is not None and at.runs > total.runs:
            raise FeedSchemaError(
                f"{row.path}.score", row.get("score"), f"at most the {total.runs} runs of the innings"
            )


def _parse_innings_overs(reader: JsonReader) -> tuple[int, int]:
    """Parse `(12.3)`; zero before the first ball."""
    text = reader.text().strip().strip("()").removesuffix("ov").strip()
    overs, balls = parse_overs(JsonReader(text, reader.path)) if text else (0, 0)
    if balls > BALLS_PER_OVER:
        raise reader.schema_error("overs such as 12.3")
    return (overs + 1, 0) if balls == BALLS_PER_OVER else (overs, balls)


def _parse_wicket(
    row: JsonReader, dismissal: Dismissal | None, number: int, batting: Side, names: PageNames
) -> LiveGoal:
    over, ball = parse_overs(JsonReader(row["over"].text().strip("() "), row["over"].path))
    if ball > BALLS_PER_OVER:
        raise row["over"].schema_error("overs such as 12.3")
    kind, bowler = (dismissal.kind, dismissal.bowler) if dismissal is not None else (None, None)
    return LiveGoal(
        side=opponent(batting),
        minute=MatchMinute(over, ball, number),
        player=names.person(row["name"].text()),
        kind=kind or WicketKind.OTHER,
        assist=names.person(bowler or ""),
        type=WICKET,
    )


def _batting_figures(row: JsonReader) -> str:
    """Return the batter's score as `42 (28)`."""
    runs, balls = row.display_text("runs"), row.display_text("balls")
    return f" {runs} ({balls})" if runs and balls and (runs + balls).isdecimal() else ""


def _describe_wicket(row: JsonReader, dismissal: tuple[Dismissal, str] | None) -> str:
    name = row["name"].text()
    return f"{name}{dismissal[1]} {row.display_text('score') or ''}".strip() if dismissal else name


def mark_ended_innings(innings_list: Sequence[ParsedInnings]) -> list[ParsedInnings]:
    """Mark an innings as ended if another one has started after it."""
    last = len(innings_list) - 1
    return [
        each if index == last else replace(each, innings=replace(each.innings, over=True))
        for index, each in enumerate(innings_list)
    ]


# --- Parser of a CREX match page.


def parse_match(raw: Any, match_id: int, feed: str, known_toss: Toss | None = None) -> LiveFixture:
    """Parse a match page. `known_toss` comes from another page of the match. Raises FeedSchemaError."""
    data = JsonReader(raw)
    if parse_match_link(data["path"].text())[1] != match_id:
        raise FeedSchemaError("path", data["path"].value, "the page of the requested match")
    event, names = data["event"], PageNames(data.get("names"))
    sides, round_name, series = split_title(event["name"].text())
    teams = _teams(event, sides, names)
    match_type = find_match_type(round_name, series)
    last_ball, situation = data.display_text("box") or "", data.display_text("comment") or ""
    toss = find_toss(raw, teams) or known_toss
    started = started_innings(data, teams, toss)
    status, confidence = parse_status(
        remove_team_names(last_ball, teams.values()),
        remove_team_names(situation, teams.values()),
        has_started=bool(started),
    )
    phase = phase_of(status)
    played = mark_ended_innings(
        [
            parse_innings(each, number, side, names, is_over=phase.is_over, match_type=match_type)
            for number, (each, side) in enumerate(started, 1)
        ]
    )
    innings = tuple(each.innings for each in played)
    wickets = tuple(wicket for each in played for wicket in each.wickets)
    if len(wickets) > MAX_GOALS:
        raise FeedSchemaError("innings", len(wickets), f"at most {MAX_GOALS} wickets")
    current = innings[-1] if innings else None
    return LiveFixture(
        id=match_id,
        feed=feed,
        status=status,
        kickoff=event["start"].timestamp(),
        league=_league(data, series, round_name),
        home=teams[Side.HOME],
        away=teams[Side.AWAY],
        score=wickets_taken(innings) if innings else None,
        minute=MatchMinute(current.overs, current.balls, current.number) if current else None,
        goals=wickets,
        raw=require_storable({"page": {key: value for key, value in raw.items() if key != "names"}}),
        sport=Sport.CRICKET,
        innings=innings,
        toss=toss,
        venue=event.display_text("venue") or data.display_text("venue"),
        last_event=_last_event(played, last_ball, teams),
        metadata=compact(
            title=event["name"].text(),
            series=series or data.display_text("series", "name"),
            match_type=match_type,
            situation=situation,
        ),
        confidence=_confidence(confidence, played, toss),
    )


def find_toss(raw: Any, teams: Teams) -> Toss | None:
    """Return the toss from a page that shows it, or None."""
    data = JsonReader(raw)
    texts = [text for key in ("toss", "comment") if (text := data.display_text(key)) and is_toss(text)]
    return next((toss for text in texts if (toss := parse_toss(text, teams))), None)


def _teams(event: JsonReader, sides: Sequence[str], names: PageNames) -> Teams:
    """Return the teams in the order of the match title, which is the same on all pages."""
    competitors = event.optional("competitors")
    displayed = [each.text() for each in competitors.items(2)] if competitors else []
    displayed = displayed if len(displayed) == 2 else list(sides)
    if len(displayed) != 2:
        raise FeedSchemaError("event.name", event["name"].value, "two sides")
    home, away = (names.team(name, "event.competitors") for name in displayed)
    if home.id == away.id:
        raise FeedSchemaError("event.competitors", displayed, "two sides")
    return {Side.HOME: home, Side.AWAY: away}


def _league(data: JsonReader, series: str, round_name: str) -> League:
    name = series or data.display_text("series", "name") or "Cricket"
    year = re.search(r"\b(20\d\d)\b", name)
    # The match list does not link to the series, so the id is derived from its name on both pages.
    return League(zlib.crc32(name.encode()), name, season=int(year[1]) if year else None, round=round_name or None)


def _last_event(played: Sequence[ParsedInnings], last_ball: str, teams: Teams) -> LastEvent | None:
    if not played:
        return None
    current = played[-1]
    if is_wicket(last_ball) and current.descriptions:
        return LastEvent("wicket", current.descriptions[-1])
    innings = current.innings
    batting = teams[innings.batting]
    summary = f"{batting.short or batting.name} {innings.runs}-{innings.wickets} ({innings.overs}.{innings.balls})"
    return LastEvent(
        "runs" if is_ball(last_ball) or not last_ball else "break", f"{summary}: {last_ball}" if last_ball else summary
    )


def _confidence(confidence: float, played: Sequence[ParsedInnings], toss: Toss | None) -> dict[str, float]:
    confidences = {"status": confidence}
    if not all(each.is_complete for each in played):
        confidences["goals"] = 0.7
        confidences["score"] = 0.7
    if len(played) == 2 and toss is None:
        # Without the toss, only the order of the tabs indicates who batted first.
        confidences["innings"] = 0.7
    return {field: share for field, share in confidences.items() if share < 1}
