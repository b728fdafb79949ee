"""What the browser service reads on CREX's pages, as documents of our own."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from found_footy.feeds.crex_page import parse_match_code

CODE = "118N"
MATCH_ID = parse_match_code(CODE)
PATH = f"/cricket-live-score/hbl-vs-vkt-3rd-t20-coast-cup-2026-match-updates-{CODE}"
NAMES = {
    "t_1F_name": "Harbour Lions",
    "t_1F_short": "HBL",
    "t_2G_name": "Valley Kites",
    "t_2G_short": "VKT",
    "p_6BS_name": "Arun Patel",
    "p_6BT_name": "Dev Rao",
    "p_7C_name": "Tom Hale",
    "p_7D_name": "Max Orr",
}
FIRST: dict[str, Any] = {
    "team": "HBL",
    "score": "160-2",
    "overs": "(20.0)",
    "shown": True,
    "batting": [
        {"name": "Arun Patel", "decision": "c Max Orr b Tom Hale", "runs": "42", "balls": "28"},
        {"name": "Dev Rao", "decision": "run out (Max Orr)", "runs": "20", "balls": "18"},
        {"name": "Sam Iyer", "decision": "not out", "runs": "70", "balls": "50"},
    ],
    "falls": [
        {"name": "Arun Patel", "score": "54-1", "over": "8.3"},
        {"name": "Dev Rao", "score": "101-2", "over": "13.6"},
    ],
}
SECOND: dict[str, Any] = {
    "team": "VKT",
    "score": "33-1",
    "overs": "(4.2)",
    "shown": True,
    "batting": [{"name": "Lee Moor", "decision": "lbw b Arun Patel", "runs": "9", "balls": "11"}],
    "falls": [{"name": "Lee Moor", "score": "14-1", "over": "2.3"}],
}


def match_answer(*innings: dict[str, Any], **changes: Any) -> dict[str, Any]:
    shown = innings if innings or "innings" in changes else (FIRST, SECOND)
    answer = {
        "path": f"{PATH}/match-scorecard",
        "event": {
            "name": "Harbour Lions vs Valley Kites, 3rd T20, Coast Cup 2026",
            "start": "2026-08-22T14:00:00Z",
            "venue": "Harbour Oval",
            "competitors": ["Harbour Lions", "Valley Kites"],
        },
        "title": "HBL vs VKT, 3rd T20, Coast Cup 2026",
        "teams": [{"name": "VKT", "score": "33-1", "overs": "(4.2)"}, {"name": "HBL", "score": "160-2", "overs": ""}],
        "box": "4",
        "comment": "VKT need 128 runs in 94 balls",
        "innings": list(shown),
        "toss": "",
        "venue": "",
        "series": {"name": "Coast Cup 2026", "link": "/series/coast-cup-2026-1H0"},
        "names": NAMES,
    }
    return deepcopy(answer | changes)


def list_answer(*cards: dict[str, Any], **changes: Any) -> dict[str, Any]:
    answer = {
        "events": [
            {
                "url": PATH,
                "name": "Harbour Lions vs Valley Kites, 3rd T20, Coast Cup 2026",
                "start": "2026-08-22T14:00:00Z",
                "venue": "Harbour Oval",
            }
        ],
        "cards": list(cards) or [card()],
        "names": NAMES,
        "empty": False,
    }
    return deepcopy(answer | changes)


def card(**changes: Any) -> dict[str, Any]:
    return {
        "date": "Sat, 22 Aug 2026",
        "link": PATH,
        "teams": ["HBL", "VKT"],
        "scores": ["", ""],
        "overs": ["", ""],
        "live": False,
        "start": "2:00 PM",
        "result": "",
        "reason": "",
        "what": "3rd T20, Coast Cup 2026",
    } | changes
