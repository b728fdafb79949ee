"""CREX over plain HTTP: the JSON embedded in its pages.

A page holds `<script id="app-root-state">`, Angular's TransferState: an object keyed by the addresses that the server
requested while rendering. Angular up to version 15 escapes the text (`&q;` for a quote, …), newer versions do not. The
entries are converted to the document that the browser's reader produces, so both share one parser. Unexpected data
raises PageDataUnknown, and the page is read with the browser instead.

Known entries, from public clients of 2026: `getSV3` (team names, comment), `getSC4` (a list of innings: `c` team, `d`
score as runs/wickets(balls, `b` batters, `p` partnerships), `getWD` (how each batter got out), `getHomeMapData…` (names
of teams, players and series by key), `getPostMatchDataV2` (result and toss), `getFixture` (the list of matches). The
ball of a wicket is not included: it is computed from the sums of the partnerships.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from found_footy.errors import PageDataUnknown
from found_footy.feeds.crex_page import slug_match_path

BALLS_PER_OVER = 6
MAX_ENTRIES = 2000
MAX_TEXT = 300

_STATE = re.compile(r"<script\b[^>]*\bid=[\"']app-root-state[\"'][^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_LINKED_DATA = re.compile(
    r"<script\b[^>]*\btype=[\"']application/ld\+json[\"'][^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE
)
_ESCAPES = {"&a;": "&", "&q;": '"', "&s;": "'", "&l;": "<", "&g;": ">"}
_SCORE = re.compile(r"(\d{1,4})[/-](\d{1,2})\((\d{1,4})(?:\.(\d))?", re.ASCII)
_TAG = re.compile(r"<[^>]{0,200}>")
_TOSS_DECISIONS = {1: "bat", 2: "bowl"}


def read_state(page: str) -> dict[str, Any]:
    """Return the embedded JSON of a page. Raises PageDataUnknown."""
    found = _STATE.search(page)
    if found is None:
        raise PageDataUnknown("app-root-state", "no such script", "the page's data")
    text = found[1].strip()
    if "&q;" in text:
        text = re.sub(r"&[aqslg];", lambda escape: _ESCAPES[escape[0]], text)
    elif text.startswith("{&quot;"):
        text = html.unescape(text)
    try:
        state = json.loads(text)
    except (ValueError, RecursionError):
        raise PageDataUnknown("app-root-state", text[:60], "JSON") from None
    if not isinstance(state, dict):
        raise PageDataUnknown("app-root-state", type(state).__name__, "an object")
    return state


def match_document(page: str, path: str) -> dict[str, Any]:
    """Convert a match page to the document of the browser's reader. Raises PageDataUnknown."""
    state = read_state(page)
    score = _as_object(_entry(state, "getSV3"))
    if score is None:
        raise PageDataUnknown("getSV3", "nothing", "the score of the match")
    names = _Names.of(state)
    event = next(_events(page), None) or _event_from_metadata(state, score)
    post = _as_object(_entry(state, "getPostMatchDataV2")) or {}
    comment = _text(post.get("r")) or _text(score.get("comment1"))
    return {
        "path": path,
        "event": event,
        "title": event["name"],
        "teams": [
            {
                "name": _text(score.get(f"team{number}short")) or _text(score.get(f"team{number}")),
                "score": _text(score.get(f"score{number}")),
                "overs": _text(score.get(f"over{number}")),
            }
            for number in (1, 2)
        ],
        "box": _last_ball(score),
        "comment": comment,
        "innings": _innings(state, names),
        "toss": _toss(post, names) or _text(score.get("toss")),
        "venue": event["venue"],
        "series": {"name": names.series},
        "names": names.storage_format,
    }


def list_document(page: str) -> dict[str, Any]:
    """Convert the list of matches to the document of the browser's reader. Raises PageDataUnknown."""
    state = read_state(page)
    fixtures = _entry(state, "getFixture")
    if not isinstance(fixtures, list):
        raise PageDataUnknown("getFixture", type(fixtures).__name__, "the list of matches")
    names = _Names.of(state)
    events, cards = [], []
    for fixture in fixtures[:MAX_ENTRIES]:
        if not isinstance(fixture, dict):
            continue
        code = next((found for key in ("mf", "matchFkey", "id") if (found := _text(fixture.get(key)))), "")
        sides = [names.team(_text(fixture.get(key))) or _text(fixture.get(name_key)) for key, name_key in _SIDES]
        if not code or not all(sides):
            continue
        link = slug_match_path(f"{sides[0]} vs {sides[1]}", code)
        round_name = _text(fixture.get("mn"))
        series = names.series_of(_text(fixture.get("q")) or _text(fixture.get("sf")))
        title = ", ".join(part for part in (f"{sides[0]} vs {sides[1]}", round_name or "Match", series) if part)
        events.append({"url": link, "name": title, "start": _moment(fixture), "venue": _text(fixture.get("v"))})
        cards.append(
            {
                "link": link,
                "teams": sides,
                "live": str(fixture.get("d")) == "1",
                "result": _text(fixture.get("res")) or _text(fixture.get("result")),
                "what": f"{round_name}, {series}",
            }
        )
    if fixtures and not cards:
        raise PageDataUnknown("getFixture", len(fixtures), "matches with their teams")
    return {"events": events, "cards": cards, "names": names.storage_format, "empty": not cards}


_SIDES = (("b", "team1"), ("c", "team2"))


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of teams, players and series by key, from all maps on the page."""

    teams: Mapping[str, tuple[str, str]]
    players: Mapping[str, str]
    series_by_key: Mapping[str, str]

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> _Names:
        maps = [each for key, each in state.items() if "getHomeMapData" in key and isinstance(each, dict)]
        teams = {key: (_text(row.get("n")), _text(row.get("sn"))) for key, row in _rows(maps, "t")}
        players = {key: _text(row.get("n")) for key, row in _rows(maps, "p")}
        return cls(teams, players, {key: _text(row.get("n")) for key, row in _rows(maps, "s")})

    @property
    def storage_format(self) -> dict[str, str]:
        """Return the names in the format of the site's browser storage."""
        stored = {f"t_{key}_name": name for key, (name, _) in self.teams.items() if name}
        stored |= {f"t_{key}_short": short for key, (_, short) in self.teams.items() if short}
        return stored | {f"p_{key}_name": name for key, name in self.players.items() if name}

    @property
    def series(self) -> str:
        return next(iter(self.series_by_key.values()), "")

    def series_of(self, key: str) -> str:
        return self.series_by_key.get(key.lstrip("^"), "")

    def team(self, key: str) -> str:
        return self.teams.get(key, ("", ""))[0]

    def short(self, key: str) -> str:
        name, short = self.teams.get(key, ("", ""))
        return short or name

    def player(self, key: str) -> str:
        name = self.players.get(key, "")
        if not name:
            raise PageDataUnknown("getHomeMapData.p", key, "the player's name")
        return name


def _innings(state: Mapping[str, Any], names: _Names) -> list[dict[str, Any]]:
    cards = _entry(state, "getSC4")
    if cards is None:
        if _text((_as_object(_entry(state, "getSV3")) or {}).get("score1"))[:1].isdecimal():
            raise PageDataUnknown("getSC4", "nothing", "the scorecard of the current innings")
        return []
    if not isinstance(cards, list):
        raise PageDataUnknown("getSC4", type(cards).__name__, "a list of innings")
    decisions = _entry(state, "getWD")
    found = []
    for number, card in enumerate(cards[:6]):
        if not isinstance(card, dict):
            raise PageDataUnknown(f"getSC4[{number}]", type(card).__name__, "an innings")
        score = _SCORE.match(_text(card.get("d")))
        if score is None:
            continue  # not started
        dismissals = decisions[number] if isinstance(decisions, list) and number < len(decisions) else {}
        found.append(
            _innings_of(card, score, dismissals if isinstance(dismissals, dict) else {}, names, f"getSC4[{number}]")
        )
    return found


def _innings_of(
    card: Mapping[str, Any], score: re.Match[str], dismissals: Mapping[str, Any], names: _Names, field: str
) -> dict[str, Any]:
    runs, wickets = score[1], int(score[2])
    balls = int(score[3]) * BALLS_PER_OVER + int(score[4]) if score[4] else int(score[3])
    team = names.short(_text(card.get("c")))
    if not team:
        raise PageDataUnknown(f"{field}.c", card.get("c"), "one of the page's teams")
    batting = []
    for row in _strings(card.get("b"), f"{field}.b"):
        key, *figures = re.split(r"[./]", row)
        decision = _text(dismissals.get(key))
        if decision:  # batters not out have none
            batting.append(
                {
                    "name": names.player(key),
                    "decision": decision,
                    "runs": figures[0] if figures else "",
                    "balls": figures[1] if len(figures) > 1 else "",
                }
            )
    wickets_fallen = _fall_of_wickets(_strings(card.get("p"), f"{field}.p"), wickets, dismissals, names, field)
    return {
        "team": team,
        "score": f"{runs}-{wickets}",
        "overs": f"({balls // BALLS_PER_OVER}.{balls % BALLS_PER_OVER})",
        "shown": True,
        "batting": batting,
        "falls": wickets_fallen,
    }


def _fall_of_wickets(
    partnerships: Sequence[str], wickets: int, dismissals: Mapping[str, Any], names: _Names, field: str
) -> list[dict[str, str]]:
    """Return the fall of wickets: each partnership but the last ended with one, at the sum of those so far."""
    pairs: list[tuple[set[str], int, int]] = []
    for row in partnerships:
        parts = row.split(".")
        if len(parts) < 8 or not (parts[6].isdecimal() and parts[7].isdecimal()):
            raise PageDataUnknown(f"{field}.p", row, "a partnership of two batters")
        pairs.append(({parts[0], parts[3]}, int(parts[6]), int(parts[7])))
    if len(pairs) < wickets:
        raise PageDataUnknown(f"{field}.p", len(pairs), f"at least {wickets} partnerships")
    falls, dismissed, runs, balls = [], set[str](), 0, 0
    for number in range(wickets):
        batters, partnership_runs, partnership_balls = pairs[number]
        runs, balls = runs + partnership_runs, balls + partnership_balls
        remaining = (
            pairs[number + 1][0]
            if number + 1 < len(pairs)
            else {key for key in batters if not _text(dismissals.get(key))}
        )
        dismissed_now = batters - remaining - dismissed
        if len(dismissed_now) != 1:
            raise PageDataUnknown(f"{field}.p", sorted(batters), "one batter who got out")
        dismissed |= dismissed_now
        over, ball = divmod(max(balls, 1) - 1, BALLS_PER_OVER)
        falls.append(
            {"name": names.player(*dismissed_now), "score": f"{runs}-{number + 1}", "over": f"{over}.{ball + 1}"}
        )
    return falls


def _toss(post: Mapping[str, Any], names: _Names) -> str:
    team, decision = names.team(_text(post.get("toss_team"))), _TOSS_DECISIONS.get(post.get("chose_to") or 0)
    return f"{team} won the toss and chose to {decision}" if team and decision else ""


def _last_ball(score: Mapping[str, Any]) -> str:
    """Return the last ball of the last over, which the page shows in its centre; empty while play is stopped."""
    overs = score.get("lastovers")
    last = overs[-1] if isinstance(overs, list) and overs and isinstance(overs[-1], dict) else {}
    balls = last.get("overinfo")
    return _text(balls[-1]) if isinstance(balls, list) and balls else ""


def _events(page: str) -> Iterator[dict[str, Any]]:
    """Yield the match descriptions (JSON-LD) that the page contains for search engines."""
    for found in _LINKED_DATA.finditer(page):
        try:
            event = json.loads(found[1])
        except (ValueError, RecursionError):
            continue
        if not isinstance(event, dict) or event.get("@type") != "SportsEvent":
            continue
        location, competitors = event.get("location"), event.get("competitor")
        yield {
            "name": _text(event.get("name")),
            "start": _text(event.get("startDate")),
            "venue": _text(location.get("name") if isinstance(location, dict) else location),
            "competitors": [_text(each.get("name")) for each in competitors[:2] if isinstance(each, dict)]
            if isinstance(competitors, list)
            else [],
        }


def _event_from_metadata(state: Mapping[str, Any], score: Mapping[str, Any]) -> dict[str, Any]:
    rows = _entry(state, "getMatchMetaData")
    metadata = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
    sides = [_text(metadata.get(f"team{n}")) or _text(score.get(f"team{n}_f_n")) for n in (1, 2)]
    if not all(sides) or not _moment(metadata):
        raise PageDataUnknown("getMatchMetaData", metadata, "the teams and the start of the match")
    name = ", ".join(part for part in (f"{sides[0]} vs {sides[1]}", _text(metadata.get("mn"))) if part)
    return {"name": name, "start": _moment(metadata), "venue": _text(metadata.get("v")), "competitors": sides}


def _moment(row: Mapping[str, Any]) -> str:
    """Convert milliseconds since 1970 to a timestamp; empty if there are none."""
    stamp = row.get("ti")
    if not isinstance(stamp, int | float) or isinstance(stamp, bool) or not 0 < stamp < 4e12:
        return ""
    return datetime.fromtimestamp(stamp / 1000, UTC).isoformat()


def _entry(state: Mapping[str, Any], endpoint: str) -> Any:
    """Find an entry by the last part of its address; hosts, versions and queries change."""
    for key, value in state.items():
        if key.partition("?")[0].rstrip("/").endswith(f"/{endpoint}"):
            return value
    return None


def _as_object(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None


def _rows(maps: Sequence[Mapping[str, Any]], kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for each in maps:
        rows = each.get(kind)
        rows = list(rows.values()) if isinstance(rows, dict) else rows
        for row in rows[:MAX_ENTRIES] if isinstance(rows, list) else ():
            if isinstance(row, dict) and (key := _text(row.get("f_key"))):
                yield key, row


def _strings(value: Any, field: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise PageDataUnknown(field, type(value).__name__, "a list of texts")
    return value[:30]


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(_TAG.sub(" ", str(value)).split())[:MAX_TEXT]
