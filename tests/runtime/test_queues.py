"""Kinds of work, and which process serves them."""

from __future__ import annotations

import pytest

from found_footy.config import Settings
from found_footy.runtime.queues import ALL_KINDS, LIVE_KINDS, WorkKind, join_kinds, parse_kinds
from found_footy.runtime.system import worker_specs


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("media", (WorkKind.MEDIA,)),
        ("media, network", (WorkKind.NETWORK, WorkKind.MEDIA)),
        ("library,library", (WorkKind.LIBRARY,)),
        (join_kinds(ALL_KINDS), ALL_KINDS),
    ],
)
def test_kinds_are_separated_by_commas(text: str, kinds: tuple[WorkKind, ...]) -> None:
    assert parse_kinds(text) == kinds


@pytest.mark.parametrize("text", ["", ",", "vision", "media,vision"])
def test_an_unknown_kind_is_refused_with_those_that_exist(text: str) -> None:
    with pytest.raises(ValueError, match="expected one or more of orchestration,network,media,library,browser"):
        parse_kinds(text)


@pytest.mark.parametrize(("live", "library"), [(1, 1), (2, 1), (3, 2)])
def test_live_goals_and_library_films_never_share_a_process_by_default(live: int, library: int) -> None:
    specs = worker_specs(Settings(workers=live, library_workers=library, _env_file=None))
    served = {spec.name: parse_kinds(spec.argv[spec.argv.index("--queues") + 1]) for spec in specs}
    assert len(served) == live + library
    assert sum(kinds == LIVE_KINDS for kinds in served.values()) == live
    assert sum(kinds == (WorkKind.LIBRARY,) for kinds in served.values()) == library
