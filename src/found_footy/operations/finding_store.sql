-- name: lock
-- One watchdog at a time; readers are not blocked.
lock table open_findings in share row exclusive mode;

-- name: findings
select kind, grade, what, since, advice, place, event_id, fixture_id, subject, first_seen, last_seen, announced
from open_findings order by key;

-- name: save
insert into open_findings
    (key, kind, grade, what, since, advice, place, event_id, fixture_id, subject, first_seen, last_seen, announced)
select key, kind, grade, what, since, advice, place, event_id, fixture_id, subject, first_seen, last_seen, announced
from jsonb_to_recordset(%(rows)s) as row (
    key text, kind text, grade text, what text, since timestamptz, advice text, place text, event_id text,
    fixture_id bigint, subject text, first_seen timestamptz, last_seen timestamptz, announced text)
on conflict (key) do update set
    grade = excluded.grade,
    what = excluded.what,
    since = excluded.since,
    advice = excluded.advice,
    last_seen = excluded.last_seen,
    announced = excluded.announced;

-- name: forget_others
delete from open_findings where not key = any(%(keys)s);
