"""A database of a long season: 10,000 matches, 30,000 goals, 100,000 videos, filled by a few statements.

`python -m bench.large_world URL` fills the migrated, empty database at that address.
"""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import UTC, date, datetime, timedelta

import numpy as np
import psycopg

from found_footy.media.fingerprint import Fingerprint

FIXTURES, GOALS_EACH, VIDEOS = 10_000, 3, 100_000
A_DAY = 50
"""Matches per day."""
LAST_DAY = date(2026, 8, 22)
FIRST_KICKOFF = datetime(2026, 8, 22, 12, tzinfo=UTC) - timedelta(days=FIXTURES // A_DAY - 1)
FIRST_FIXTURE = 100_001

_NAMES = """
create temp table first_names as select row_number() over () - 1 as n, name from unnest(array[
    'Mohamed', 'Darwin', 'Erling', 'Kevin', 'Luka', 'João', 'Łukasz', 'Martin', 'Ángel', 'Søren', 'İlkay', 'Gabriel',
    'Bukayo', 'Phil', 'Harry', 'Jude', 'Vinícius', 'Kylian', 'Antoine', 'Robert']) as name;
create temp table last_names as select row_number() over () - 1 as n, name from unnest(array[
    'Salah', 'Núñez', 'Haaland', 'De Bruyne', 'Modrić', 'Félix', 'Piszczek', 'Ødegaard', 'Di María', 'Larsen',
    'Gündoğan', 'Jesus', 'Saka', 'Foden', 'Kane', 'Bellingham', 'Júnior', 'Mbappé', 'Griezmann', 'Lewandowski',
    'Müller', 'Sané', 'Gnabry', 'Kimmich', 'Goretzka', 'Musiala', 'Wirtz', 'Havertz', 'Rüdiger', 'Süle', 'Son',
    'Kim', 'Mitoma', 'Kubo', 'Endō', 'Osimhen', 'Mané', 'Kanté', 'Pogba', 'Rabiot']) as name;
create temp table places as select row_number() over () - 1 as n, name from unnest(array[
    'Liverpool', 'Manchester', 'München', 'Köln', 'Sevilla', 'Saint-Étienne', 'Malmö', 'Łódź', 'Bodø', 'Zürich',
    'Málaga', 'São Paulo', 'Porto', 'Lyon', 'Nantes', 'Torino', 'Genova', 'Bilbao', 'Utrecht', 'Gent', 'Praha',
    'Kraków', 'Rijeka', 'Split', 'Thessaloniki', 'Bursa', 'Trabzon', 'Aarhus', 'Turku', 'Bergen']) as name;
create temp table kinds as select row_number() over () - 1 as n, name from unnest(array[
    'United', 'City', 'Rovers', 'FC', 'Athletic', 'Real', 'Sporting', 'Dynamo', 'Rangers', 'Olympic', 'Union',
    'Wanderers', 'Albion', 'Town', 'Racing', 'Atlético', 'Inter', 'Lokomotiv', 'Viktoria', 'Fortuna']) as name;
create temp table clubs as select p.n * 20 + k.n as n, p.name || ' ' || k.name as name,
    named('s', p.name || ' ' || k.name) as words from places p, kinds k;
create temp table players as select p.n as first, l.n as last, p.name || ' ' || l.name as name, l.name as last_name,
    named('p', p.name || ' ' || l.name) as words from first_names p, last_names l;
analyze clubs;
analyze players;
"""

_FIXTURES = """
insert into fixtures (id, feed, stage, status, elapsed, kickoff, league_id, league_name, country, season, round,
    home_id, home_name, away_id, away_name, home_goals, away_goals, added_at, activated_at, completed_at, last_poll_at)
select %(first)s + number, 'api_football', 'completed', 'FT', 90, at, 1 + number %% 25, 'League ' || number %% 25,
    (array['England', 'Spain', 'Germany', 'Italy', 'France'])[1 + number %% 5], 2026, 'Round ' || number / 500,
    1000 + h.n, h.name, 1000 + a.n, a.name, 2, 1, at - interval '2 days', at - interval '30 minutes',
    at + interval '2 hours', at + interval '2 hours'
from generate_series(0, %(fixtures)s - 1) as made (number)
cross join lateral (
    select %(start)s::timestamptz + number / %(a_day)s * interval '1 day' + number %% 8 * interval '1 hour' as at
) as kickoffs
join clubs h on h.n = number * 7 %% 600
join clubs a on a.n = (number * 7 + 1 + number %% 300) %% 600;
"""

_EVENTS = """
alter table events disable trigger events_insert_words;  -- the same words are known already
insert into events (id, fixture_id, team_id, team_name, side, player_id, player_name, type, kind, elapsed, seq,
    home_before, away_before, home_after, away_after, first_seen, seen, missing, stable_at, monitor_complete,
    download_complete, searched_at, search_query, aliases, words)
select f.id || '_' || team.id || '_' || 10 * f.id + g || '_Goal_1', f.id, team.id, team.name, team.side,
    10 * f.id + g, p.name, 'Goal', 'Normal Goal', 20 + 20 * g + (f.id %% 10)::int, 1,
    least(g, 1), greatest(g - 1, 0), least(g + 1, case when g = 1 then 1 else 2 end), case when g = 0 then 0 else 1 end,
    f.kickoff + (20 + 20 * g) * interval '1 minute', 30, 0, f.kickoff + (22 + 20 * g) * interval '1 minute', true, true,
    f.kickoff + (35 + 20 * g) * interval '1 minute',
    '(' || p.last_name || ') (' || team.name || ')', array[team.name], p.words || c.words || f.words
from fixtures f
cross join generate_series(0, %(goals)s - 1) as g
cross join lateral (select case when g = 1 then f.away_id else f.home_id end as id,
    case when g = 1 then f.away_name else f.home_name end as name,
    case when g = 1 then 'away' else 'home' end as side) as team
join clubs c on c.n = team.id - 1000
join players p on p.first = (f.id * 3 + g) %% 20 and p.last = (f.id * 7 + g * 11) %% 40;
alter table events enable trigger events_insert_words;
"""

_AROUND = """
insert into event_workflows (event_id, kind, workflow_id)
select id, w.kind, w.kind || '-' || id || '-' || w.number from events,
    (values ('monitor', 1), ('monitor', 2), ('monitor', 3), ('search', 1), ('download', 1)) as w (kind, number);
insert into searches (event_id, attempt, source, at, found)
select id, attempt, 'bluesky', stable_at + attempt * interval '1 minute', 2
from events, generate_series(1, 10) as attempt;
"""

_VIDEOS = """
insert into videos (event_id, md5, state, duration, width, height, aspect, fps, bit_rate, file_size, codec, status,
    reason, minute, proof, fingerprint, rejection_reason, rejection_detail, popularity, rank, staged_at, published_at)
select e.id, md5(e.id || n), case when n = 4 then 'refused' else 'kept' end, 8 + n * 2.5, 1280, 720, 1.78, 30,
    2500000, 3000000 + n * 1000, 'h264',
    case when n = 4 then 'rejected' when n < 3 then 'verified' else 'unverified' end,
    case when n = 3 then 'no clock' end, e.elapsed, %(proof)s::jsonb, (%(fingerprints)s::bytea[])[n],
    case when n = 4 then 'wrong minute' end, case when n = 4 then 'read 12, expected 40' end, 4 - n,
    case when n < 4 then n end, e.stable_at + n * interval '1 minute',
    case when n < 4 then e.stable_at + n * interval '2 minutes' end
from (select *, row_number() over (order by id) as place from events) as e
cross join lateral generate_series(1, case when e.place %% 3 = 0 then 4 else 3 end) as n;
insert into candidates (
    event_id, key, source, url, media_url, author, text, posted_at, found_at, duration, attempt, md5)
select v.event_id, 'bluesky:' || v.id || c, 'bluesky', 'https://social.example/p/' || v.id || c,
    'https://social.example/m/' || v.id, 'fan' || c, 'What a goal! ' || e.player_name || ' for ' || e.team_name,
    v.staged_at - interval '1 minute', v.staged_at, v.duration, 1, v.md5
from videos v join events e on e.id = v.event_id, generate_series(1, 2) as c where c = 1 or v.rank = 1;
"""

_PROOF = """{"at": 2.0, "box": {"left": 0.05, "top": 0.06, "right": 0.13, "bottom": 0.11}, "readings": [
    {"at": 2.0, "soccer": true, "screen": false, "clock": "39:41", "added": null, "stoppage_clock": null,
     "teams": ["LIV", "MCI"], "score": "0-0", "box": {"left": 0.05, "top": 0.06, "right": 0.13, "bottom": 0.11}},
    {"at": 6.0, "soccer": true, "screen": false, "clock": "39:45", "added": null, "stoppage_clock": null,
     "teams": ["LIV", "MCI"], "score": "0-0", "box": null}],
    "expectation": {"elapsed": 40, "extra": null, "home": "Home", "away": "Away", "score_before": "0-0",
     "score_after": "1-0"}}"""


def _fingerprint(seed: int) -> bytes:
    """Return a fingerprint of ten seconds."""
    hashes = np.random.default_rng(seed).integers(0, 2**63, 40, dtype=np.uint64)
    return Fingerprint(np.arange(40), hashes).to_bytes()


async def fill(url: str) -> None:
    params = {
        "first": FIRST_FIXTURE,
        "fixtures": FIXTURES,
        "a_day": A_DAY,
        "start": FIRST_KICKOFF,
        "goals": GOALS_EACH,
        "proof": _PROOF,
        "fingerprints": [_fingerprint(seed) for seed in range(4)],
    }
    async with await psycopg.AsyncConnection.connect(url, cursor_factory=psycopg.AsyncClientCursor) as connection:
        for statement in (_NAMES, _FIXTURES, _EVENTS, _AROUND, _VIDEOS):
            await connection.execute(statement.encode(), params if "%(" in statement else None)
        await connection.commit()
        await connection.set_autocommit(True)
        await connection.execute("vacuum analyze")
        counted = await connection.execute(
            "select (select count(*) from fixtures), (select count(*) from events), (select count(*) from videos)"
        )
        assert await counted.fetchone() == (FIXTURES, FIXTURES * GOALS_EACH, VIDEOS)


if __name__ == "__main__":
    began = time.perf_counter()
    asyncio.run(fill(sys.argv[1]))
    print(f"filled in {time.perf_counter() - began:.1f} s")
