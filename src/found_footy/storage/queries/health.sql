-- name: state
select grade, since, good_in_a_row, recovery_id, recovered_at, acting_until, judged_at, resumed_at, turn from health_state;

-- name: summary
select summary from health_state;

-- name: lock_state
-- The grade that is told of as the one before; whoever comes second waits here.
select grade, turn from health_state for update;

-- name: save_state
-- Nothing comes back where somebody else has saved since.
insert into health_state
    (grade, since, good_in_a_row, recovery_id, recovered_at, acting_until, judged_at, resumed_at, turn, summary)
values (%(grade)s, %(since)s, %(good_in_a_row)s, %(recovery_id)s, %(recovered_at)s, %(acting_until)s,
    %(judged_at)s, %(resumed_at)s, %(turn)s, %(summary)s)
on conflict (only_one) do update set
    grade = excluded.grade,
    since = excluded.since,
    good_in_a_row = excluded.good_in_a_row,
    recovery_id = excluded.recovery_id,
    recovered_at = excluded.recovered_at,
    acting_until = excluded.acting_until,
    turn = excluded.turn,
    judged_at = excluded.judged_at,
    resumed_at = excluded.resumed_at,
    summary = excluded.summary
where health_state.turn = excluded.turn - 1
returning turn;

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
select id, greatest(last_poll_at, activated_at) as at from fixtures where stage = 'active' order by id;

-- name: titles
select id, home_name || ' – ' || away_name as title from fixtures where id = any(%(ids)s);
