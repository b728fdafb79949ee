-- name: lock_dealt
select position from outbox_fanned_out for update;

-- name: move_dealt
update outbox_fanned_out set position = %(position)s where position < %(position)s;

-- name: subscriptions
-- None of them is deleted while its messages are made.
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
-- When the goals of a page were taken back, of those that were.
select event_id, min(position) as position from outbox
where topic = 'goal.withdrawn' and fixture_id = any(%(fixtures)s) and event_id = any(%(ids)s) and position is not null
group by event_id;

-- name: earlier_of_events
-- Locked: none of them begins to be sent while it is decided what becomes of it.
select subscription_id, event_id, position, state, due_at, maybe_told as possibly_delivered from deliveries
where event_id = any(%(ids)s) and position is not null
order by id for update;

-- name: add
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
-- What can be sent now: it is due, nothing earlier of its thread is on its way, and its receiver has a place free.
-- The same round gets the same again. Another round gets what seems to be lost.
with busy as (
    select subscription_id, count(*) as number from deliveries
    where state in ('pending', 'sending') and busy_until > now() and claim is distinct from %(claim)s
    group by subscription_id),
due as (
    select d.id, row_number() over (partition by d.subscription_id order by d.due_at, d.id) + coalesce(b.number, 0) as turn
    from deliveries d
    join subscriptions s on s.id = d.subscription_id
    left join busy b on b.subscription_id = d.subscription_id
    where d.state in ('pending', 'sending') and d.due_at <= now() and s.paused_at is null
      and (d.claim is null or d.claim = %(claim)s or d.offered_again_at <= now())
      and not exists (
        select from deliveries e
        where e.subscription_id = d.subscription_id and e.thread = d.thread and e.position < d.position
          and e.state in ('pending', 'sending')))
update deliveries d set claim = %(claim)s,
    offered_again_at = greatest(d.offered_again_at, now() + make_interval(secs => %(lease)s)),
    busy_until = now() + make_interval(secs => %(lease)s)
from (select id from due where turn <= %(places)s order by id limit %(limit)s) as chosen
where d.id = chosen.id
returning d.id;

-- name: next_due
-- Seconds until something that waits for its time is due; none where nothing waits.
select extract(epoch from min(d.due_at) - now())::double precision as seconds
from deliveries d join subscriptions s on s.id = d.subscription_id
where d.state = 'pending' and d.due_at > now() and s.paused_at is null;

-- name: lock_one
select d.id, d.subscription_id, d.position, d.topic, d.event_id, d.state, d.maybe_told, d.body::text as body, s.kind,
    s.target, s.secret, s.paused_at is not null as paused
from deliveries d join subscriptions s on s.id = d.subscription_id
where d.id = %(id)s for update of d;

-- name: earlier
select position, state, due_at, maybe_told as possibly_delivered from deliveries
where subscription_id = %(subscription_id)s and event_id = %(event_id)s and position < %(position)s;

-- name: begin
-- From here on its receiver may have been told, whatever becomes of us.
update deliveries set state = 'sending', attempts = attempts + 1, maybe_told = true,
    offered_again_at = now() + make_interval(secs => %(lost_after)s),
    busy_until = now() + make_interval(secs => %(busy)s)
where id = %(id)s;

-- name: hold
update deliveries set state = 'pending', claim = null, offered_again_at = null, busy_until = null where id = %(id)s;

-- name: end
update deliveries set state = %(state)s, busy_until = null,
    delivered_at = case when %(state)s = 'delivered' then now() end,
    error_kind = case when %(state)s = 'delivered' then null else error_kind end,
    error_message = case when %(state)s = 'delivered' then null else error_message end
where id = %(id)s and state in ('pending', 'sending')
returning id;

-- name: fail
update deliveries set maybe_told = %(maybe_told)s, error_kind = %(kind)s, error_message = %(message)s,
    busy_until = null, offered_again_at = now() + make_interval(secs => %(lost_after)s)
where id = %(id)s and state = 'sending';

-- name: bury
update deliveries set state = 'dead', busy_until = null, claim = null,
    error_kind = coalesce(error_kind, %(kind)s), error_message = coalesce(error_message, %(message)s)
where id = %(id)s and state in ('pending', 'sending')
returning id;
