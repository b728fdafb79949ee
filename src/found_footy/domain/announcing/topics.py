"""All that the outbox tells of, and how a reader names what it wants of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from found_footy.domain.errors import BadRequest

TOPICS: Mapping[str, str] = {
    "fixture.staging": "a match is new and waits, or goes back to waiting: empty, or status when a poll moved it",
    "fixture.active": "polling of a match begins: empty",
    "fixture.completed": "a match is closed: empty, or status when a poll closed it",
    "fixture.status": "the status of an active match changes: from, to",
    "fixture.score": "the score of an active match changes: from, to",
    "fixture.clock": "the minute of a match that is on has changed since the last poll: elapsed, extra",
    "goal.seen": "a goal is listed for the first time: team, player, minute, kind, score, reason",
    "goal.progress": "a goal that is not certain yet is listed once more: seen, the polls in a row",
    "goal.stable": "a goal is certain: as goal.seen",
    "goal.changed": "the feed says something else of a goal than before: changed, field to from and to",
    "goal.withdrawn": "a goal is taken back, and its clips with it: as goal.seen, with the reason",
    "goal.searched": "one search for a goal's clips has ended: attempt, found, the posts of all sources together",
    "goal.complete": "the search for a goal has ended, and its clips are final: empty",
    "clip.published": "a clip can be fetched: md5, rank, verified, player, team",
    "clip.replaced": "a clip gave way to a better copy: md5, by",
    "feeds.health": "the grade of the feeds' health has changed; about no match: from, to, reasons",
    "feeds.recovery": "a recovery of the feeds begins or ends: id, state, action, trigger, outcome, healthy_at",
    "service.changed": "a live check of a feed, source or other service fails or works again; about no match: name, "
    "kind, ok, since, last_ok_at, asked, answer, error_class, hint",
    "library.source": "a source of the clip library moves on; about no match: source, state, progress where known",
    "library.clip": "a clip of the library moves on, is made, retired or judged: clip, source, state, live, and of a "
    "person's act also action, kind, by and undone, or other and same",
    "clips.ranked": "ranks or popularity of a goal's clips have changed: clips, each with md5, rank, popularity",
}
"""Name to when it is told and, after the colon, what its payload holds."""

ALL_OF = ".*"


def expanded(patterns: Iterable[str]) -> frozenset[str]:
    """The topics that are meant by `goal.seen`, or by `goal.*`. Raises BadRequest for one that there is not."""
    return frozenset(topic for pattern in patterns for topic in _meant(pattern))


def _meant(pattern: str) -> list[str]:
    if pattern in TOPICS:
        return [pattern]
    family = pattern.removesuffix("*")
    found = [topic for topic in TOPICS if topic.startswith(family)] if pattern.endswith(ALL_OF) else []
    if not found:
        raise BadRequest(f"there is no topic {pattern[:40]!r}; there are {', '.join(TOPICS)}")
    return found
