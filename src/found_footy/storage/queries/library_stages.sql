-- name: pending_sources
-- In the state that a stage takes; or begun by it, or failed and due for a retry.
select w.stage, w.lane, i.id
from jsonb_to_recordset(%(stages)s) as w (
    stage text, lane text, of_goals boolean, takes text, working text, failed text)
cross join lateral (
    select s.id from library_sources s
    where s.state in (w.takes, w.working, w.failed)
        and (s.state = w.takes or coalesce(s.stage, w.stage) = w.stage)
        and (s.state <> w.failed or s.retry_at <= %(now)s)
        and (s.kind = 'goal') = w.of_goals
    order by s.id limit %(limit)s) as i;

-- name: pending_clips
-- The same for clips. No stage takes a clip whose last action can still be undone; one that is no tile any more is only
-- cleaned up. Two stages work in the state `embedding`: a clip of neither belongs to the one that has `takes`.
select w.stage, w.lane, i.id
from jsonb_to_recordset(%(stages)s) as w (
    stage text, lane text, of_goals boolean, takes text, working text, failed text)
cross join lateral (
    select c.id from library_clips c join library_sources s on s.id = c.source_id
    where c.state in (w.takes, w.working, w.failed)
        and (c.state = w.takes or c.stage = w.stage or (c.stage is null and w.takes is not null))
        and (c.state <> w.failed or c.retry_at <= %(now)s)
        and (c.settles_at is null or c.settles_at <= %(now)s)
        and (c.live or c.state = any(%(cleanup)s))
        and (s.kind = 'goal') = w.of_goals
    order by c.id limit %(limit)s) as i;

-- name: outdated_clips
select l.lane, i.id
from jsonb_to_recordset(%(lanes)s) as l (lane text, of_goals boolean)
cross join lateral (
    select c.id from library_embeddings e
    join library_clips c on c.id = e.clip_id
    join library_sources s on s.id = c.source_id and (s.kind = 'goal') = l.of_goals
    where ({is_outdated}) and c.live and c.state = %(takes)s and (c.settles_at is null or c.settles_at <= %(now)s)
    order by c.id limit %(limit)s) as i;

-- name: vector_columns
select attname as name from pg_attribute
where attrelid = 'library_embeddings'::regclass and attnum > 0 and not attisdropped;

-- name: lock_source
select id, id as source_id, state, stage, failures, error, error_kind, null::timestamptz as settles_at, true as live,
    upload_key
from library_sources where id = %(id)s for no key update;

-- name: lock_clip
select id, source_id, state, stage, failures, error, error_kind, settles_at, live, null as upload_key
from library_clips where id = %(id)s for no key update;

-- name: move_source
update library_sources set
    state = %(state)s, stage = %(stage)s, failures = %(failures)s, error = %(error)s, error_kind = %(kind)s,
    retry_at = %(retry_at)s, progress = null, changed_at = %(now)s
where id = %(id)s;

-- name: move_clip
update library_clips set
    state = %(state)s, stage = %(stage)s, failures = %(failures)s, error = %(error)s, error_kind = %(kind)s,
    retry_at = %(retry_at)s, changed_at = %(now)s
where id = %(id)s;

-- name: note_embedded
-- Also if no model is enabled: the row tells the clip from clips that were never embedded.
insert into library_embeddings (clip_id) values (%(id)s) on conflict do nothing;
