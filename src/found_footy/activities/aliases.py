"""What teams are called: looked up once, and kept."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from found_footy.activities.boundary import implements
from found_footy.activities.unexpected import AnswerKeeper
from found_footy.domain.discovery.aliases import choose_aliases
from found_footy.domain.discovery.national_teams import is_national
from found_footy.domain.errors import FootyError
from found_footy.http_exchanges import record_exchanges
from found_footy.ports import ClipStore, Knowledge
from found_footy.workflows.clip_contracts import (
    RESOLVE_ALIASES,
    TEAMS_WITHOUT_ALIASES,
    Aliases,
    Teams,
    TeamsToName,
)
from found_footy.workflows.contracts import Team

log = logging.getLogger(__name__)


class AliasActivities:
    def __init__(
        self, clips: ClipStore, knowledge: Knowledge, now: Callable[[], datetime], keeper: AnswerKeeper | None = None
    ) -> None:
        self._clips = clips
        self._knowledge = knowledge
        self._now = now
        self._keeper = keeper or AnswerKeeper()

    @implements(TEAMS_WITHOUT_ALIASES)
    async def teams_without_aliases(self, order: TeamsToName) -> Teams:
        found = await self._clips.teams_without_aliases(order.most)
        return Teams([Team(team.id, team.name, team.league, team.country) for team in found])

    @implements(RESOLVE_ALIASES)
    async def resolve_team_aliases(self, team: Team) -> Aliases:
        kept = (await self._clips.aliases([team.id])).get(team.id)
        if kept is not None:
            return Aliases(team.id, list(kept))
        national = is_national(team.name, team.league, team.country)
        with record_exchanges() as exchanges:
            try:
                names = await self._knowledge.names_of(team.name, country=team.country, national=national)
            except FootyError as error:
                await self._keeper.note("team names", [error], exchanges)
                raise
        aliases = choose_aliases(team.name, names)
        await self._clips.save_aliases(team.id, team.name, aliases, self._now())
        log.info(
            f"{team.name} is called {', '.join(aliases)}",
            extra={"action": "aliases_resolved", "team_id": team.id, "aliases": list(aliases), "names": len(names)},
        )
        return Aliases(team.id, list(aliases))
