-- name: of_fixtures
select id, fixture_id, team_id, team_name, side, player_id, player_name, assist_id, assist_name, type, kind,
    elapsed, extra, seq, home_before, away_before, home_after, away_after, first_seen, seen, missing, stable_at,
    removed_at, removed_reason, monitor_complete, download_complete, innings, feeds
from events where fixture_id = any(%(ids)s)
order by fixture_id, first_seen, id;

-- name: upsert
-- The id and the first sight are given once; the flags belong to the search and are not touched here.
insert into events (
    id, fixture_id, team_id, team_name, side, player_id, player_name, assist_id, assist_name, type, kind, elapsed,
    extra, seq, home_before, away_before, home_after, away_after, first_seen, seen, missing, stable_at, removed_at,
    removed_reason, innings, feeds)
select
    r.id, r.fixture_id, r.team_id, r.team_name, r.side, r.player_id, r.player_name, r.assist_id, r.assist_name,
    r.type, r.kind, r.elapsed, r.extra, r.seq, r.home_before, r.away_before, r.home_after, r.away_after,
    r.first_seen, r.seen, r.missing, r.stable_at, r.removed_at, r.removed_reason, r.innings, r.feeds
from jsonb_to_recordset(%(rows)s) as r (
    id text, fixture_id bigint, team_id bigint, team_name text, side text, player_id bigint, player_name text,
    assist_id bigint, assist_name text, type text, kind text, elapsed int, extra int, seq int, home_before int,
    away_before int, home_after int, away_after int, first_seen timestamptz, seen int, missing int,
    stable_at timestamptz, removed_at timestamptz, removed_reason text, innings int, feeds text[])
on conflict (id) do update set
    player_id = excluded.player_id,
    player_name = excluded.player_name,
    assist_id = excluded.assist_id,
    assist_name = excluded.assist_name,
    kind = excluded.kind,
    elapsed = excluded.elapsed,
    extra = excluded.extra,
    home_before = excluded.home_before,
    away_before = excluded.away_before,
    home_after = excluded.home_after,
    away_after = excluded.away_after,
    seen = excluded.seen,
    missing = excluded.missing,
    stable_at = excluded.stable_at,
    removed_at = excluded.removed_at,
    removed_reason = excluded.removed_reason,
    innings = excluded.innings,
    feeds = excluded.feeds;

-- name: add_attributions
insert into event_attributions (event_id, poll_id, at, changed)
select r.event_id, r.poll_id, r.at, r.changed
from jsonb_to_recordset(%(rows)s) as r (event_id text, poll_id text, at timestamptz, changed jsonb)
on conflict do nothing;

-- name: add_workflows
insert into event_workflows (event_id, kind, workflow_id, added_at)
select r.event_id, r.kind, r.workflow_id, coalesce(r.at, now())
from jsonb_to_recordset(%(rows)s) as r (event_id text, kind text, workflow_id text, at timestamptz)
on conflict do nothing;

-- name: to_search
-- Until the search has ended, not only until it has begun: one that failed half-way must be started again. Withdrawn
-- goals as well: the search closes them at once, whatever a crashed one or none at all has left undone.
select id from events
where stable_at is not null and not download_complete
  and (not monitor_complete or searched_at is null or searched_at < %(silent_since)s)
order by stable_at, id;

-- name: set_monitor_complete
update events set monitor_complete = true, searched_at = now() where id = %(id)s and stable_at is not null and removed_at is null
returning id;

-- name: set_download_complete
update events e set download_complete = true from events old
where e.id = %(id)s and old.id = e.id
returning e.fixture_id, old.download_complete as was_complete;

-- name: one
select event_document(e) || jsonb_build_object(
    '_fixture', jsonb_build_object(
        'id', f.id, 'home', f.home_name, 'away', f.away_name, 'league', f.league_name, 'date', f.kickoff,
        'stage', f.stage, 'status', f.status, 'sport', f.sport, 'heard_at', f.last_poll_at),
    -- What was read in the pictures of each clip, which is too much for a list.
    '_proofs', coalesce((
        select jsonb_object_agg(v.md5, v.proof) from videos v
        where v.event_id = e.id and v.state = 'kept' and v.proof is not null), '{}')) as document
from events e join fixtures f on f.id = e.fixture_id
where e.id = %(id)s;
