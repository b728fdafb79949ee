-- name: active_goals
-- Goals that are being searched for.
select count(*) as number from events where monitor_complete and not download_complete and removed_at is null;

-- name: state
select grade, since, good_in_a_row, recovery_id, recovered_at, acting_until, judged_at, resumed_at, revision from health_state;

-- name: summary
select summary from health_state;

-- name: lock_state
-- Returns the previous grade. Concurrent saves wait here.
select grade, revision from health_state for update;

-- name: save_state
-- Returns nothing if another watchdog has saved since.
insert into health_state
    (grade, since, good_in_a_row, recovery_id, recovered_at, acting_until, judged_at, resumed_at, revision, summary)
values (%(grade)s, %(since)s, %(good_in_a_row)s, %(recovery_id)s, %(recovered_at)s, %(acting_until)s,
    %(judged_at)s, %(resumed_at)s, %(revision)s, %(summary)s)
on conflict (only_one) do update set
    grade = excluded.grade,
    since = excluded.since,
    good_in_a_row = excluded.good_in_a_row,
    recovery_id = excluded.recovery_id,
    recovered_at = excluded.recovered_at,
    acting_until = excluded.acting_until,
    revision = excluded.revision,
    judged_at = excluded.judged_at,
    resumed_at = excluded.resumed_at,
    summary = excluded.summary
where health_state.revision = excluded.revision - 1
returning revision;

-- name: add_sample
with old as (delete from health_samples where at < %(before)s)
insert into health_samples (at, grade, median, p95, maximum, matches, failure_ratio)
values (%(at)s, %(grade)s, %(median)s, %(p95)s, %(maximum)s, %(matches)s, %(failure_ratio)s);

-- name: samples
select at, grade, median, p95, maximum, matches, failure_ratio from health_samples where at >= %(since)s order by at;

-- name: recoveries
select id, at, action, trigger, before, after, outcome, seconds, healthy_at
from recoveries order by at desc, id limit %(limit)s;

-- name: recovery
select id, at, action, trigger, before, after, outcome, seconds, healthy_at from recoveries where id = %(id)s;

-- name: lock_recovery
select outcome, healthy_at from recoveries where id = %(id)s for update;

-- name: add_recovery
insert into recoveries (id, at, action, trigger, before, after, outcome, seconds, healthy_at)
values (%(id)s, %(at)s, %(action)s, %(trigger)s, %(before)s, %(after)s, %(outcome)s, %(seconds)s, %(healthy_at)s)
on conflict (id) do update set
    trigger = excluded.trigger,
    before = excluded.before,
    after = excluded.after,
    outcome = excluded.outcome,
    seconds = excluded.seconds,
    healthy_at = excluded.healthy_at;

-- name: active
select f.id, greatest(f.last_poll_at, f.activated_at) as at,
    coalesce(array_agg(l.feed order by l.feed, l.feed_id) filter (where l.feed is not null), '{}') as feeds,
    coalesce(array_agg(l.feed_id order by l.feed, l.feed_id) filter (where l.feed is not null), '{}') as feed_ids
from fixtures f left join listings l on l.fixture_id = f.id
where f.stage = 'active' group by f.id order by f.id;

-- name: titles
select id, home_name || ' – ' || away_name as title from fixtures where id = any(%(ids)s);

-- name: matches
select f.id as fixture_id, f.home_name as home, f.away_name as away, f.status, f.last_poll_at as polled_at,
    f.activated_at, f.error_kind, f.error_message, f.sport, f.elapsed, f.clock_moved_at, count(*) over () as total,
    coalesce((
        select json_agg(json_build_object(
            'feed', l.feed, 'feed_id', l.feed_id, 'founding', l.founding, 'swapped', l.swapped)
            order by l.founding desc, l.feed)
        from listings l where l.fixture_id = f.id), '[]') as listings
from fixtures f where f.stage = 'active'
order by coalesce(f.last_poll_at, f.activated_at), f.id limit %(limit)s;

-- name: feeds
select feed, asked_at, answered_at, error, quota from feed_states order by feed;

-- name: disputes
-- Recent conflicts between feeds, latest first.
select c.fixture_id, f.home_name as home, f.away_name as away, c.field, c.reported, c.chosen, c.first_at, c.last_at, c.polls
from contradictions c join fixtures f on f.id = c.fixture_id
where c.last_at >= %(since)s
order by c.last_at desc, c.fixture_id, c.field limit %(limit)s;

-- name: doubts
-- Pairings of upcoming or recent matches that await an operator's decision.
select d.feed, d.feed_id, d.fixture_id, d.home, d.away, d.kickoff, d.competition, d.confidence, d.reasons, d.first_seen,
    d.last_seen, f.home_name as our_home, f.away_name as our_away, f.kickoff as our_kickoff, f.league_name as our_competition
from doubtful_pairings d join fixtures f on f.id = d.fixture_id
where d.same is null and d.kickoff >= %(since)s
order by d.kickoff, d.feed, d.feed_id, d.fixture_id limit %(limit)s;

-- name: goals
-- Unfinished goals, those with the longest inactivity first.
with in_work as (
    select e.* from events e
    where e.stable_at is not null and e.removed_at is null and not e.download_complete
    union all
    select e.* from fixtures f join events e on e.fixture_id = f.id
    where f.stage = 'active' and e.stable_at is null and e.removed_at is null and not e.download_complete),
listed as (
    select *, count(*) over () as in_work from in_work
    order by coalesce(searched_at, stable_at, first_seen), id limit %(limit)s)
select e.in_work, e.id as event_id, e.fixture_id, f.home_name as home, f.away_name as away, e.player_name as player,
    e.elapsed, e.extra, e.innings, e.seen, e.first_seen, e.stable_at, e.monitor_complete as search_started, e.searched_at,
    coalesce(s.attempts, 0) as attempts, coalesce(s.attempts - s.answered, 0) as unanswered,
    coalesce(c.states, '{}') as states,
    case when e.stable_at is null then 'validating'
        when c.states ? 'kept' then 'watching'
        when c.states ?| array['downloading', 'checking'] then 'extracting'
        else 'watching' end as status
from listed e
join fixtures f on f.id = e.fixture_id
left join lateral (
    select max(attempt) as attempts, coalesce(max(attempt) filter (where error_kind is null), 0) as answered
    from searches where event_id = e.id) as s on true
left join lateral (
    select jsonb_object_agg(state, number) as states from (
        select candidate_state(c, v) as state, count(*) as number
        from candidates c left join videos v on v.event_id = c.event_id and v.md5 = c.md5
        where c.event_id = e.id group by 1) as counted) as c on true
order by coalesce(e.searched_at, e.stable_at, e.first_seen), e.id;

-- name: statuses
-- Statuses of unfinished goals only, which are few.
select event_status(e) as status, count(*) as number from events e
where e.stable_at is not null and e.removed_at is null and not e.download_complete
group by 1
union all
select 'validating', count(*) from fixtures f join events e on e.fixture_id = f.id
where f.stage = 'active' and e.stable_at is null and e.removed_at is null and not e.download_complete;

-- name: sources
select source,
    count(*) filter (where error_kind is null) as answers,
    count(*) filter (where error_kind is not null) as failures,
    coalesce(sum(found), 0)::bigint as found,
    max(at) filter (where error_kind is null) as answered_at,
    count(*) filter (where late) as consecutive_failures,
    min(at) filter (where late) as failing_since,
    (array_agg(error_kind order by at desc) filter (where late))[1] as error_kind,
    (array_agg(left(error_message, 300) order by at desc) filter (where late))[1] as error_message
from (
    select s.*, s.error_kind is not null
        and s.at > coalesce(max(s.at) filter (where s.error_kind is null) over (partition by s.source), '-infinity') as late
    from searches s where s.at > %(since)s) as recent
group by source order by source;

-- name: hours
-- Searches and rejections of 24 full hours.
with spans as (
    select generate_series(
        %(since)s::timestamptz, %(since)s::timestamptz + interval '23 hours', interval '1 hour') as at),
searched as (
    select date_trunc('hour', at, 'UTC') as at, count(*) filter (where error_kind is null) as answered,
        count(*) filter (where error_kind is not null) as failed
    from searches where at >= %(since)s group by 1),
rejected as (
    select at, jsonb_object_agg(reason, number) as rejections from (
        select date_trunc('hour', c.found_at, 'UTC') as at, coalesce(c.rejection_reason, v.rejection_reason) as reason, count(*) as number
        from candidates c left join videos v on v.event_id = c.event_id and v.md5 = c.md5
        where c.found_at >= %(since)s and coalesce(c.rejection_reason, v.rejection_reason) is not null
        group by 1, 2) as counted
    group by 1)
select spans.at, coalesce(searched.answered, 0) as answered, coalesce(searched.failed, 0) as failed,
    coalesce(rejected.rejections, '{}') as losses
from spans left join searched using (at) left join rejected using (at)
order by spans.at;

-- name: deliveries
-- Open deliveries, and counts of the others.
select
    count(*) filter (where state in ('pending', 'sending')) as waiting,
    count(*) filter (where state = 'delivered') as delivered,
    count(*) filter (where state = 'dead') as dead,
    count(*) filter (where state = 'cancelled') as cancelled,
    min(due_at) filter (where state in ('pending', 'sending') and due_at < %(now)s) as overdue_since,
    min(created_at) filter (where state = 'dead') as dead_since,
    (select count(*) from subscriptions where paused_at is not null) as paused
from deliveries;

-- name: totals
select e.withdrawn, e.complete, v.verified, v.unverified, p.last as outbox_position
from
    (select count(*) filter (where removed_at is not null) as withdrawn,
        count(*) filter (where removed_at is null and download_complete) as complete from events) as e,
    (select count(*) filter (where status = 'verified') as verified,
        count(*) filter (where status <> 'verified') as unverified from videos where state = 'kept') as v,
    outbox_last_position p;

-- name: storage_usage
select area, objects, bytes, measured_at from storage_usage order by area;

-- name: coverage
-- Per league: finished goals by their best clip, and the seconds from each goal to its first clip.
select f.league_name as league,
    count(*) filter (where v.verified) as verified,
    count(*) filter (where v.kept and not v.verified) as unverified,
    count(*) filter (where not v.kept) as none,
    coalesce(array_agg(extract(epoch from v.first_at - e.first_seen)::double precision)
        filter (where v.first_at is not null), '{}') as seconds
from events e
join fixtures f on f.id = e.fixture_id
cross join lateral (
    select count(*) filter (where state = 'kept') > 0 as kept,
        count(*) filter (where state = 'kept' and status = 'verified') > 0 as verified,
        min(published_at) as first_at
    from videos where event_id = e.id) v
where e.first_seen >= %(since)s and e.download_complete and e.removed_at is null
group by f.league_name order by f.league_name;

-- name: coverage_windows
-- Per league and window: goals with a clip in time, and goals that missed their deadline. A goal counts when its first
-- clip is published or its deadline passes, whichever comes first.
with settled as (
    select f.league_name as league, v.first_at, e.first_seen + %(within)s as deadline,
        least(v.first_at, e.first_seen + %(within)s) as at
    from events e
    join fixtures f on f.id = e.fixture_id
    cross join lateral (
        select min(published_at) as first_at from videos
        where event_id = e.id and state in ('kept', 'replaced')) v
    where e.stable_at is not null and e.removed_at is null
        and e.first_seen >= %(now)s::timestamptz - interval '7 days' - %(within)s)
select s.league, w.hours,
    count(*) filter (where s.first_at <= s.deadline) as in_time,
    count(*) filter (where s.first_at is null or s.first_at > s.deadline) as missed
from settled s
join unnest(%(hours)s::int[]) as w (hours) on s.at > %(now)s::timestamptz - make_interval(hours => w.hours)
where s.at <= %(now)s
group by s.league, w.hours order by s.league, w.hours;

-- name: library_stages
-- Backlog and totals of each stage of the clip library.
select w.stage, count(*) filter (where i.state = w.takes) as waiting,
    count(*) filter (where i.state = w.working) as running,
    count(*) filter (where i.state = w.failed and i.retry_at is not null) as retrying,
    count(*) filter (where i.state = w.failed and i.retry_at is null) as parked,
    coalesce(max(t.done), 0) as done, coalesce(max(t.failed), 0) as failed, coalesce(max(t.seconds), 0) as seconds
from jsonb_to_recordset(%(stages)s) as w (
    number int, stage text, item text, takes text, working text, failed text)
left join library_stage_totals t on t.stage = w.stage
left join lateral (
    select s.state, s.retry_at from library_sources s
    where w.item = 'source' and s.state in (w.takes, w.working, w.failed)
        and (s.state = w.takes or s.stage = w.stage)
    union all
    select c.state, c.retry_at from library_clips c
    where w.item = 'clip' and c.state in (w.takes, w.working, w.failed)
        and (c.state = w.takes or c.stage = w.stage)) as i on true
group by w.number, w.stage order by w.number;
