-- name: checks
select name, kind, ok, since, last_ok_at, checked_at, asked, answer, error_class, hint
from service_checks order by ok, name;

-- name: lock
-- Without a lock, two concurrent runs would both notify of the same change.
select pg_advisory_xact_lock(hashtext('service_checks'));

-- name: save
insert into service_checks (name, kind, ok, since, last_ok_at, checked_at, asked, answer, error_class, hint)
values (%(name)s, %(kind)s, %(ok)s, %(since)s, %(last_ok_at)s, %(checked_at)s, %(asked)s, %(answer)s,
    %(error_class)s, %(hint)s)
on conflict (name) do update set
    kind = excluded.kind,
    ok = excluded.ok,
    since = excluded.since,
    last_ok_at = excluded.last_ok_at,
    checked_at = excluded.checked_at,
    asked = excluded.asked,
    answer = excluded.answer,
    error_class = excluded.error_class,
    hint = excluded.hint;

-- name: delete_others
delete from service_checks where name <> all(%(names)s);

-- name: lock_name
-- Only one of several workers with the same unexpected response stores it.
select pg_advisory_xact_lock(hashtext('unexpected_answers'), hashtext(%(name)s));

-- name: keep
insert into unexpected_answers (name, at, error_class, message, request, status, headers, body)
select %(name)s, %(at)s, %(error_class)s, %(message)s, %(request)s, %(status)s, %(headers)s, %(body)s
where not exists (
    select from unexpected_answers
    where name = %(name)s and error_class = %(error_class)s and at > %(kept_since)s)
returning id;

-- name: prune
delete from unexpected_answers where name = %(name)s and id not in (
    select id from unexpected_answers where name = %(name)s order by at desc, id desc limit %(limit)s);

-- name: kept
select name, at, error_class, message, request, status, headers, body
from unexpected_answers order by at desc, id desc limit %(limit)s;
