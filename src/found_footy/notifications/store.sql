-- name: add_subscription
insert into subscriptions (
    name, kind, target, secret, topics, teams, leagues, verified_only, delay_seconds, no_score, from_position)
values (
    %(name)s, %(kind)s, %(target)s, %(secret)s, %(topics)s, %(teams)s, %(leagues)s, %(verified_only)s,
    %(delay_seconds)s, %(no_score)s, assign_outbox_positions())
returning id;

-- name: count
select count(*) as number from subscriptions;

-- name: list
-- With the counts and errors that operators see.
select s.id, s.name, s.kind, s.target, s.topics, s.teams, s.leagues, s.verified_only, s.delay_seconds, s.no_score,
    s.created_at, s.paused_at, s.paused_reason, d.waiting, d.dead, d.delivered_at, failure.message as failure
from subscriptions s
left join lateral (
    select count(*) filter (where state in ('pending', 'sending')) as waiting,
        count(*) filter (where state = 'dead') as dead,
        max(delivered_at) as delivered_at,
        max(id) filter (where error_kind is not null and state in ('sending', 'dead')) as failed_id
    from deliveries where subscription_id = s.id) as d on true
left join lateral (
    select error_kind || ': ' || error_message as message from deliveries where id = d.failed_id) as failure on true
where %(id)s::bigint is null or s.id = %(id)s
order by s.id;

-- name: names
(select 'league' as kind, league_id as id, min(league_name || coalesce(' (' || country || ')', '')) as name
    from fixtures group by league_id order by max(kickoff) desc limit %(limit)s)
union all
(select 'team', id, min(name) from (
        select home_id as id, home_name as name, kickoff from fixtures
        union all select away_id, away_name, kickoff from fixtures) as sides
    group by id order by max(kickoff) desc limit %(limit)s);

-- name: change
update subscriptions set
    name = %(name)s, target = %(target)s, topics = %(topics)s, teams = %(teams)s, leagues = %(leagues)s,
    verified_only = %(verified_only)s, delay_seconds = %(delay_seconds)s, no_score = %(no_score)s
where id = %(id)s;

-- name: lock
select target from subscriptions where id = %(id)s for no key update;

-- name: pause
update subscriptions set paused_at = now(), paused_reason = %(reason)s where id = %(id)s and paused_at is null;

-- name: resume
-- Messages published during the pause are not sent; deliveries created before it continue.
update subscriptions set paused_at = null, paused_reason = null where id = %(id)s;

-- name: delete
delete from subscriptions where id = %(id)s returning id;

-- name: deliveries
select id, position, topic, fixture_id, event_id, state, due_at, attempts, error_kind, error_message, created_at,
    delivered_at, body ->> 'title' as title
from deliveries
where subscription_id = %(id)s and (%(state)s::text is null or state = %(state)s)
  and (%(before)s::bigint is null or id < %(before)s)
order by id desc limit %(limit)s;

-- name: add_test
-- At most one at a time.
insert into deliveries (subscription_id, topic, body, due_at)
select %(id)s, 'test', %(body)s, now()
where not exists (
    select from deliveries where subscription_id = %(id)s and topic = 'test' and state in ('pending', 'sending'))
returning id;

-- name: set_test_body
update deliveries set body = %(body)s where id = %(id)s;

-- name: lock_delivery
select d.id, d.state, d.topic, d.subscription_id, e.removed_at
from deliveries d left join events e on e.id = d.event_id
where d.id = %(id)s for update of d;

-- name: retry
update deliveries set state = 'pending', due_at = now(), claim = null, reclaim_at = null, busy_until = null
where id = %(id)s;

-- name: wake
-- Wakes the fan-out.
select pg_notify('outbox', '');

-- name: lock_fanned_out
select position from outbox_fanned_out for update;

-- name: advance_fanned_out
update outbox_fanned_out set position = %(position)s where position < %(position)s;

-- name: subscriptions
-- Locked, so that none is deleted while its deliveries are created.
select id, topics, teams, leagues, verified_only, delay_seconds, no_score, from_position,
    paused_at is not null as paused
from subscriptions order by id for key share;

-- name: matches
select id, kickoff, league_id, league_name as league, country, home_id, home_name as home, away_id, away_name as away
from fixtures where id = any(%(ids)s);

-- name: goals
select id, team_name as team, player_name as player, elapsed, extra from events where id = any(%(ids)s);

-- name: clips
select event_id, md5, status = 'verified' as verified from videos
where event_id = any(%(ids)s) and state in ('kept', 'replaced');

-- name: withdrawn
-- Positions at which goals were withdrawn.
select event_id, min(position) as position from outbox
where topic = 'goal.withdrawn' and fixture_id = any(%(fixtures)s) and event_id = any(%(ids)s) and position is not null
group by event_id;

-- name: earlier_of_events
-- Locked, so that none starts to be sent before it is decided whether to cancel it.
select subscription_id, event_id, position, state, due_at, possibly_delivered from deliveries
where event_id = any(%(ids)s) and position is not null
order by id for update;

-- name: add_deliveries
insert into deliveries (subscription_id, position, topic, fixture_id, event_id, body, due_at, state)
select r.subscription_id, r.position, r.topic, r.fixture_id, r.event_id, r.body::json, r.due_at, r.state
from jsonb_to_recordset(%(rows)s) as r (
    subscription_id bigint, position bigint, topic text, fixture_id bigint, event_id text, body text,
    due_at timestamptz, state text)
order by r.position, r.subscription_id
on conflict (subscription_id, position) do nothing;

-- name: cancel
update deliveries d set state = 'cancelled', claim = null
from jsonb_to_recordset(%(rows)s) as r (subscription_id bigint, position bigint)
where d.subscription_id = r.subscription_id and d.position = r.position and d.state = 'pending';

-- name: claim_due
-- Due deliveries without an earlier open one in their thread, as many as their subscription has free slots. A repeated
-- claim returns the same deliveries; a delivery whose workflow was lost is reclaimed by another round.
with busy as (
    select subscription_id, count(*) as number from deliveries
    where state in ('pending', 'sending') and busy_until > now() and claim is distinct from %(claim)s
    group by subscription_id),
due as (
    select d.id, row_number() over (partition by d.subscription_id order by d.due_at, d.id) + coalesce(b.number, 0) as place
    from deliveries d
    join subscriptions s on s.id = d.subscription_id
    left join busy b on b.subscription_id = d.subscription_id
    where d.state in ('pending', 'sending') and d.due_at <= now() and s.paused_at is null
      and (d.claim is null or d.claim = %(claim)s or d.reclaim_at <= now())
      and not exists (
        select from deliveries e
        where e.subscription_id = d.subscription_id and e.thread = d.thread and e.position < d.position
          and e.state in ('pending', 'sending')))
update deliveries d set claim = %(claim)s,
    reclaim_at = greatest(d.reclaim_at, now() + make_interval(secs => %(lease)s)),
    busy_until = now() + make_interval(secs => %(lease)s)
from (select id from due where place <= %(slots)s order by id limit %(limit)s) as chosen
where d.id = chosen.id
returning d.id;

-- name: next_due
-- Seconds until the next delayed delivery is due; null if there is none.
select extract(epoch from min(d.due_at) - now())::double precision as seconds
from deliveries d join subscriptions s on s.id = d.subscription_id
where d.state = 'pending' and d.due_at > now() and s.paused_at is null;

-- name: lock_one
select d.id, d.subscription_id, d.position, d.topic, d.event_id, d.state, d.possibly_delivered, d.body::text as body, s.kind,
    s.target, s.secret, s.paused_at is not null as paused
from deliveries d join subscriptions s on s.id = d.subscription_id
where d.id = %(id)s for update of d;

-- name: earlier
select position, state, due_at, possibly_delivered from deliveries
where subscription_id = %(subscription_id)s and event_id = %(event_id)s and position < %(position)s;

-- name: begin
-- From here on the receiver may get the message, even if this worker dies.
update deliveries set state = 'sending', attempts = attempts + 1, possibly_delivered = true,
    reclaim_at = now() + make_interval(secs => %(reclaim)s),
    busy_until = now() + make_interval(secs => %(slot)s)
where id = %(id)s;

-- name: requeue
update deliveries set state = 'pending', claim = null, reclaim_at = null, busy_until = null where id = %(id)s;

-- name: end
update deliveries set state = %(state)s, busy_until = null,
    delivered_at = case when %(state)s = 'delivered' then now() end,
    error_kind = case when %(state)s = 'delivered' then null else error_kind end,
    error_message = case when %(state)s = 'delivered' then null else error_message end
where id = %(id)s and state in ('pending', 'sending')
returning id;

-- name: fail
update deliveries set possibly_delivered = %(possibly_delivered)s, error_kind = %(kind)s, error_message = %(message)s,
    busy_until = null, reclaim_at = now() + make_interval(secs => %(reclaim)s)
where id = %(id)s and state = 'sending';

-- name: mark_dead
update deliveries set state = 'dead', busy_until = null, claim = null,
    error_kind = coalesce(error_kind, %(kind)s), error_message = coalesce(error_message, %(message)s)
where id = %(id)s and state in ('pending', 'sending')
returning id;

-- name: newest_goals
-- The goals of the latest clips. A goal has a few dozen clips at most, so this many clips are enough for all of them.
select event_id as id from (
    select event_id, published_at from videos where state = 'kept' order by published_at desc limit 40 * %(limit)s
) as latest
group by event_id order by max(published_at) desc, event_id limit %(limit)s;

-- name: newest_of_team
select e.id from fixtures f join events e on e.fixture_id = f.id
join videos v on v.event_id = e.id and v.state = 'kept'
where %(id)s in (f.home_id, f.away_id)
group by e.id order by max(v.published_at) desc, e.id limit %(limit)s;

-- name: newest_of_competition
select e.id from fixtures f join events e on e.fixture_id = f.id
join videos v on v.event_id = e.id and v.state = 'kept'
where f.league_id = %(id)s
group by e.id order by max(v.published_at) desc, e.id limit %(limit)s;

-- name: feed_goals
-- Replaced clips count for the first publication.
select e.id, e.fixture_id, f.league_name, f.home_name, f.away_name, e.team_name, e.player_name, e.elapsed, e.extra,
    e.innings, e.home_after, e.away_after, e.removed_reason, published.first as published, published.clips, published.verified,
    greatest(published.last, e.removed_at, (select max(a.at) from event_attributions a where a.event_id = e.id)) as updated,
    best.id as best_id, best.file_size as best_size
from events e
join fixtures f on f.id = e.fixture_id
join videos best on best.event_id = e.id and best.rank = 1
cross join lateral (
    select min(published_at) as first, max(published_at) as last, count(*) filter (where state = 'kept') as clips,
        count(*) filter (where state = 'kept' and status = 'verified') as verified
    from videos v where v.event_id = e.id and v.state in ('kept', 'replaced')) as published
where e.id = any(%(ids)s)
order by updated desc, e.id;

-- name: team
select case when home_id = %(id)s then home_name else away_name end as name
from fixtures where %(id)s in (home_id, away_id) order by kickoff desc limit 1;

-- name: competition
select league_name as name from fixtures where league_id = %(id)s order by kickoff desc limit 1;
