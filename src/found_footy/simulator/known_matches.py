"""Which of the documents that a consumer keeps tells of which scripted match.

By its id where the feed founded it whose ids the script has. Another feed has other ids and other spellings, so else by
the teams, and by the order of the kick-offs where two teams meet twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from found_footy.simulator.ground_truth import GroundTruth, TrueMatch

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Placed:
    of: Mapping[int, Document]
    """By the scripted match's id."""
    doubled: Sequence[tuple[Document, TrueMatch]] = ()
    """Documents of a match that has one already."""
    strange: Sequence[Document] = ()


def place(truth: GroundTruth, documents: Sequence[Document]) -> Placed:
    matches = {match.id: match for match in truth.matches}
    of = {document["_id"]: document for document in documents if document["_id"] in matches}
    doubled: list[tuple[Document, TrueMatch]] = []
    strange: list[Document] = []
    for document in sorted((d for d in documents if d["_id"] not in of), key=_kickoff):
        same = [match for match in truth.matches if _tells_of(document, match)]
        free = next((match for match in same if match.id not in of), None)
        if free is not None:
            of[free.id] = document
        elif same:
            doubled.append((document, same[0]))
        else:
            strange.append(document)
    return Placed(of, doubled, strange)


def _kickoff(document: Document) -> str:
    return str(document["fixture"]["date"])


def _tells_of(document: Document, match: TrueMatch) -> bool:
    teams = document["teams"]
    return (
        document.get("sport", "football") == match.sport
        and teams["home"]["name"] in (match.home, *match.home_also)
        and teams["away"]["name"] in (match.away, *match.away_also)
    )
