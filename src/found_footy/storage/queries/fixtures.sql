-- name: add
-- New fixtures with the stage each starts in. One that is known and still in staging gets the fresh data and may
-- move on; one that is already followed or closed is left to the monitor.
insert into fixtures (
    id, feed, stage, status, elapsed, extra, kickoff, league_id, league_name, country, season, round,
    home_id, home_name, away_id, away_name, home_goals, away_goals, home_penalties, away_penalties,
    sport, home_short, away_short, venue, innings, toss, last_event, details,
    added_at, activated_at, completed_at, staging_polled_at)
select
    r.id, r.feed, r.stage, r.status, r.elapsed, r.extra, r.kickoff, r.league_id, r.league_name, r.country,
    r.season, r.round, r.home_id, r.home_name, r.away_id, r.away_name, r.home_goals, r.away_goals,
    r.home_penalties, r.away_penalties,
    r.sport, r.home_short, r.away_short, r.venue, r.innings, r.toss, r.last_event, r.details, %(now)s,
    case when r.stage = 'active' then %(now)s end,
    case when r.stage = 'completed' then %(now)s end,
    %(now)s
from jsonb_to_recordset(%(rows)s) as r (
    id bigint, feed text, stage text, status text, elapsed int, extra int, kickoff timestamptz, league_id bigint,
    league_name text, country text, season int, round text, home_id bigint, home_name text, away_id bigint,
    away_name text, home_goals int, away_goals int, home_penalties int, away_penalties int, sport text,
    home_short text, away_short text, venue text, innings jsonb, toss jsonb, last_event jsonb, details jsonb)
order by r.id
on conflict (id) do update set
    stage = excluded.stage,
    status = excluded.status,
    elapsed = excluded.elapsed,
    extra = excluded.extra,
    kickoff = excluded.kickoff,
    home_name = excluded.home_name,
    away_name = excluded.away_name,
    league_name = excluded.league_name,
    round = excluded.round,
    home_goals = excluded.home_goals,
    away_goals = excluded.away_goals,
    home_short = coalesce(excluded.home_short, fixtures.home_short),
    away_short = coalesce(excluded.away_short, fixtures.away_short),
    venue = coalesce(excluded.venue, fixtures.venue),
    innings = excluded.innings,
    toss = coalesce(excluded.toss, fixtures.toss),
    details = fixtures.details || excluded.details,
    activated_at = coalesce(excluded.activated_at, fixtures.activated_at),
    completed_at = excluded.completed_at,
    staging_polled_at = excluded.staging_polled_at,
    error_kind = null, error_message = null, error_at = null
where fixtures.stage = 'staging'
returning id, stage, (xmax = 0) as is_new;

-- name: activate_due
update fixtures set stage = 'active', activated_at = %(now)s
where stage = 'staging' and status = 'NS' and kickoff <= %(until)s
returning id;

-- name: lock_active
-- Ordered, so that two polls at a time wait for each other instead of locking each other out.
select id, status, elapsed, extra, home_goals, away_goals, kickoff, last_poll_id, last_poll_at, over_since, over_polls
from fixtures where stage = 'active' and id = any(%(ids)s)
order by id for update;

-- name: update_polled
update fixtures f set
    stage = r.stage,
    status = r.status,
    elapsed = r.elapsed,
    extra = r.extra,
    kickoff = r.kickoff,
    home_goals = r.home_goals,
    away_goals = r.away_goals,
    home_penalties = r.home_penalties,
    away_penalties = r.away_penalties,
    home_short = coalesce(f.home_short, r.home_short),
    away_short = coalesce(f.away_short, r.away_short),
    venue = coalesce(r.venue, f.venue),
    innings = r.innings,
    toss = coalesce(r.toss, f.toss),
    last_event = coalesce(r.last_event, f.last_event),
    details = f.details || r.details,
    origins = coalesce(r.origins, f.origins),
    last_poll_id = r.poll_id,
    last_poll_at = r.poll_at,
    clock_moved_at = case
        when f.clock_moved_at is null
            or (f.status, f.elapsed, f.extra, f.innings) is distinct from (r.status, r.elapsed, r.extra, r.innings)
        then r.poll_at else f.clock_moved_at end,
    over_since = r.over_since,
    over_polls = r.over_polls,
    completed_at = case when r.stage = 'completed' then r.poll_at end,
    staging_polled_at = case when r.stage = 'staging' then r.poll_at else f.staging_polled_at end,
    error_kind = null, error_message = null, error_at = null
from jsonb_to_recordset(%(rows)s) as r (
    id bigint, stage text, status text, elapsed int, extra int, kickoff timestamptz, home_goals int, away_goals int,
    home_penalties int, away_penalties int, home_short text, away_short text, venue text, innings jsonb, toss jsonb,
    last_event jsonb, details jsonb, poll_id text, poll_at timestamptz, over_since timestamptz, over_polls int,
    origins jsonb)
where f.id = r.id and f.stage = 'active';

-- name: add_conflicts
-- Feeds that disagree on a field; the same disagreement counts once a poll.
insert into contradictions (fixture_id, field, said, chosen, first_at, last_at)
select r.fixture_id, r.field, r.said, r.chosen, r.at, r.at
from jsonb_to_recordset(%(rows)s) as r (fixture_id bigint, field text, said jsonb, chosen text, at timestamptz)
join fixtures f on f.id = r.fixture_id
on conflict (fixture_id, field, said) do update set
    last_at = excluded.last_at, polls = contradictions.polls + 1, chosen = excluded.chosen
where contradictions.last_at < excluded.last_at;

-- name: release
update fixtures set
    stage = %(stage)s,
    completed_at = case when %(stage)s = 'completed' then %(at)s::timestamptz end,
    staging_polled_at = %(at)s
where id = any(%(ids)s) and stage = 'active'
returning id;

-- name: overwrite_live
insert into live_snapshots (fixture_id, poll_id, stored_at, raw)
select r.id, r.poll_id, r.poll_at, r.raw
from jsonb_to_recordset(%(rows)s) as r (id bigint, poll_id text, poll_at timestamptz, raw jsonb)
on conflict (fixture_id) do update set
    poll_id = excluded.poll_id, stored_at = excluded.stored_at, raw = excluded.raw;

-- name: delete_live_of_inactive
-- The raw answer is for comparison only; a fixture that is no longer followed needs none.
delete from live_snapshots where fixture_id = any(%(ids)s);

-- name: record_failures
update fixtures f set error_kind = r.kind, error_message = r.message, error_at = %(now)s
from jsonb_to_recordset(%(rows)s) as r (id bigint, kind text, message text)
where f.id = r.id;

-- name: older_than
select id from fixtures
where (stage = 'completed' and completed_at < %(before)s) or (stage = 'staging' and kickoff < %(before)s)
order by id;

-- name: delete_older_than
-- Links that led somewhere say for good why they do not any more. One statement: it sees the goals of what it deletes.
with gone as (
    delete from fixtures
    where (stage = 'completed' and completed_at < %(before)s) or (stage = 'staging' and kickoff < %(before)s)
    returning id),
goals as (
    select e.id, coalesce(
        'the goal was withdrawn (' || e.removed_reason || ')', 'the match is past the time for which clips are kept'
        ) as reason
    from events e join gone on gone.id = e.fixture_id),
ended as (
    insert into ended_links (path, reason, ended_at)
    select 'g/' || id, reason, now() from goals
    union all
    select 'v/' || v.id, g.reason, now() from goals g join videos v on v.event_id = g.id
    where v.state in ('kept', 'replaced')
    on conflict (path) do update set reason = excluded.reason, ended_at = excluded.ended_at)
select id from gone;

-- name: list
select fixture_document(f) as document from fixtures f
where (%(stage)s::text is null or stage = %(stage)s)
  and (%(day)s::date is null or (kickoff at time zone 'UTC')::date = %(day)s)
order by kickoff, id;

-- name: one
select fixture_document(f) as document from fixtures f where id = %(id)s;

-- name: save_feed_state
insert into feed_states (feed, asked_at, answered_at, error, quota)
values (%(feed)s, %(now)s, case when %(error)s::text is null then %(now)s::timestamptz end, %(error)s, %(quota)s)
on conflict (feed) do update set
    asked_at = excluded.asked_at,
    answered_at = coalesce(excluded.answered_at, feed_states.answered_at),
    error = excluded.error,
    quota = coalesce(excluded.quota, feed_states.quota);

-- name: feed_state
select asked_at, answered_at, error, quota from feed_states where feed = %(feed)s;
