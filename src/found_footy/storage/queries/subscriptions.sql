-- name: add
insert into subscriptions (
    name, kind, target, secret, topics, teams, leagues, verified_only, delay_seconds, no_score, from_position)
values (
    %(name)s, %(kind)s, %(target)s, %(secret)s, %(topics)s, %(teams)s, %(leagues)s, %(verified_only)s,
    %(delay_seconds)s, %(no_score)s, assign_outbox_positions())
returning id;

-- name: count
select count(*) as number from subscriptions;

-- name: list
-- With what an operator wants to know of each at a glance.
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
-- What came meanwhile stays untold; what was told of before goes on.
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
-- One at a time: whoever presses the button often is not sent many.
insert into deliveries (subscription_id, topic, body, due_at)
select %(id)s, 'test', %(body)s, now()
where not exists (
    select from deliveries where subscription_id = %(id)s and topic = 'test' and state in ('pending', 'sending'))
returning id;

-- name: name_test
update deliveries set body = %(body)s where id = %(id)s;

-- name: lock_delivery
select d.id, d.state, d.topic, d.subscription_id, e.removed_at
from deliveries d left join events e on e.id = d.event_id
where d.id = %(id)s for update of d;

-- name: retry
update deliveries set state = 'pending', due_at = now(), claim = null, offered_again_at = null, busy_until = null
where id = %(id)s;

-- name: wake
-- The announcer listens.
select pg_notify('news', '');
