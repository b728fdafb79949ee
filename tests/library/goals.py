"""A goal with videos, as rows alone."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.library_rows import NOW, LibraryStores

GOAL = "7001_40_306_Goal_1"
VIDEO = "a" * 32


async def add_goal(
    stores: LibraryStores, videos: Mapping[str, str] | None = None, *, sport: str = "football", also: str = "seq = 1"
) -> None:
    """A penalty in the last minute whose search has ended; `also` is set on the event after that."""
    async with stores.database.connection() as connection:
        await connection.execute(
            "insert into fixtures (id, feed, sport, stage, status, kickoff, league_id, league_name, home_id, home_name,"
            " away_id, away_name, added_at, activated_at)"
            " values (7001, 'test', %s, 'active', '2H', '2026-08-22 14:00+00', 39, 'Premier League', 40, 'Liverpool',"
            " 50, 'Manchester City', now(), now())",
            [sport],
        )
        await connection.execute(
            "insert into events (id, fixture_id, team_id, team_name, side, player_id, player_name, assist_name, type,"
            " kind, elapsed, extra, seq, home_before, away_before, home_after, away_after, first_seen, seen, missing,"
            " stable_at, monitor_complete, download_complete)"
            " values (%s, 7001, 40, 'Liverpool', 'home', 306, 'Mohamed Salah', 'Darwin Núñez', 'Goal', 'Penalty', 90,"
            " 3, 1, 1, 1, 2, 1, now(), 3, 0, now(), true, true)",
            [GOAL],
        )
        kept = [md5 for md5, state in (videos or {VIDEO: "kept"}).items() if state == "kept"]
        for md5, state in (videos or {VIDEO: "kept"}).items():
            facts = {
                "event": GOAL,
                "md5": md5,
                "state": state,
                "status": "rejected" if state == "refused" else "verified",
                "loss": "not soccer" if state == "refused" else None,
                "by": kept[0] if state == "replaced" else None,
                "rank": kept.index(md5) + 1 if state == "kept" else None,
                "now": NOW,
            }
            await connection.execute(
                "insert into videos (event_id, md5, state, duration, width, height, aspect, fps, bit_rate, file_size,"
                " codec, status, fingerprint, rejection_reason, replaced_by, rank, staged_at, published_at)"
                " values (%(event)s, %(md5)s, %(state)s, 10, 1280, 720, 1.78, 25, 800000, 1000, 'h264', %(status)s, '',"
                " %(loss)s, %(by)s, %(rank)s, %(now)s, %(now)s)",
                facts,
            )
        await connection.execute(f"update events set {also}".encode())
