-- name: add_token
insert into tokens (id, name, role, hash, created_at, expires_at)
values (%(id)s, %(called)s, %(role)s, %(hash)s, %(created_at)s, %(expires_at)s);

-- name: tokens
select id, name, role, hash, created_at, expires_at, revoked_at, last_used_at from tokens order by created_at, id;

-- name: token
select id, name, role, hash, created_at, expires_at, revoked_at, last_used_at from tokens where id = %(id)s;

-- name: token_of_session
select t.id, t.name, t.role, t.hash, t.created_at, t.expires_at, t.revoked_at, t.last_used_at
from sessions s join tokens t on t.id = s.token_id
where s.hash = %(hash)s and s.expires_at > %(now)s;

-- name: revoke
-- Keeps the time of the first revocation. Its sessions end too.
with ended as (delete from sessions where token_id = %(id)s)
update tokens set revoked_at = coalesce(revoked_at, %(now)s) where id = %(id)s
returning id, name, role, hash, created_at, expires_at, revoked_at, last_used_at;

-- name: touch
update tokens set last_used_at = %(now)s where id = %(id)s and (last_used_at is null or last_used_at < %(before)s);

-- name: add_session
with old as (delete from sessions where expires_at <= %(now)s)
insert into sessions (hash, token_id, created_at, expires_at)
values (%(hash)s, %(token_id)s, %(now)s, %(expires_at)s);

-- name: end_session
delete from sessions where hash = %(hash)s;

-- name: note_failure
-- At most `most` rows are written per client.
with old as (delete from login_failures where at <= %(since)s),
known as (select count(*) as number, min(at) as oldest from login_failures where client = %(client)s and at > %(since)s),
noted as (
    insert into login_failures (client, at)
    select %(client)s, %(now)s::timestamptz from known where number < %(most)s
    returning at)
select known.number + (select count(*) from noted) as number, coalesce(known.oldest, %(now)s) as oldest from known;
