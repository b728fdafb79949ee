-- name: expire_audit
-- Entries of the audit log, except the one that the current state refers to.
delete from recoveries r where r.at < %(before)s
    and not exists (select from health_state s where s.recovery_id = r.id)
returning 1;

-- name: expire_actions
-- Review actions, except those that can still be undone or that a clip refers to.
delete from library_actions a where a.at < %(before)s and a.settles_at < %(before)s
    and not exists (select from library_clips c where c.made_by = a.id)
returning 1;

-- name: expire_links
delete from ended_links where ended_at < %(before)s and path not in (
    select 'v/' || substr(md5(v.event_id || '/' || v.md5), 1, 16) from takedown_videos v)
returning 1;

-- name: expire_blocked_clips
-- They cannot be imported any more.
delete from library_blocked_clips b
where not exists (select from videos v where v.event_id = b.event_id and v.md5 = b.video_md5)
returning 1;

-- name: forget_unused_scenes
delete from library_scenes c where c.found_at < %(before)s
    and not exists (select from library_sources s where s.file_md5 = c.file_md5)
returning 1;

-- name: expire_sessions
delete from sessions where expires_at < %(now)s returning 1;

-- name: save_usage
insert into storage_usage (area, objects, bytes, measured_at)
select r.area, r.objects, r.bytes, %(now)s from jsonb_to_recordset(%(rows)s) as r (area text, objects bigint, bytes bigint)
on conflict (area) do update set
    objects = excluded.objects, bytes = excluded.bytes, measured_at = excluded.measured_at;

-- name: database_size
select pg_database_size(current_database()) as bytes;
