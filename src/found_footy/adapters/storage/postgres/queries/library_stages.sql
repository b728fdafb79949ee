-- name: sources_for
-- In a state that the stage takes; or at work, or failed and rested, where no other stage of that state is at it.
select id from library_sources
where state = any(%(states)s)
    and (state = any(%(takes)s) or coalesce(stage, %(stage)s) = %(stage)s)
    and (state <> %(failed)s or retry_at <= %(now)s)
    and (kind = 'goal') = coalesce(%(of_goals)s, kind = 'goal')
order by id limit %(most)s;

-- name: clips_for
-- One that can still be undone is nobody's; one that is no tile any more is the clean-up's alone.
select c.id from library_clips c join library_sources s on s.id = c.source_id
where c.state = any(%(states)s)
    and (c.state = any(%(takes)s) or coalesce(c.stage, %(stage)s) = %(stage)s)
    and (c.state <> %(failed)s or c.retry_at <= %(now)s)
    and (c.settles_at is null or c.settles_at <= %(now)s)
    and (c.live or c.state in ('review_archived', 'cleaning', 'cleaning_failed'))
    and (s.kind = 'goal') = coalesce(%(of_goals)s, s.kind = 'goal')
order by c.id limit %(most)s;

-- name: begun_clips_for
-- As above, without those that the stage takes.
select c.id from library_clips c join library_sources s on s.id = c.source_id
where c.state in (%(working)s, %(failed)s) and c.stage = %(stage)s
    and (c.state <> %(failed)s or c.retry_at <= %(now)s)
    and (c.settles_at is null or c.settles_at <= %(now)s) and c.live
    and (s.kind = 'goal') = coalesce(%(of_goals)s, s.kind = 'goal')
order by c.id limit %(most)s;

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
-- Also of one for which no model was switched on: that is what tells it from clips that were never embedded.
insert into library_embeddings (clip_id) values (%(id)s) on conflict do nothing;
