-- name: unimported_clips
-- Published clips of goals whose search has ended, so that copies that were replaced meanwhile are never imported.
select v.event_id, v.md5, v.status = 'verified' as verified, e.fixture_id, e.team_name, e.player_name, e.assist_name,
    e.kind, e.elapsed, e.extra, e.innings, e.home_after, e.away_after, false as withdrawn, f.sport, f.league_name,
    f.home_name, f.away_name, f.kickoff, goal_attributes(e) as goal_snapshot, array(
        select distinct c.source || '/' || account_name(c.author) from candidates c
        where c.event_id = v.event_id and c.md5 = v.md5) as accounts
from videos v
join events e on e.id = v.event_id
join fixtures f on f.id = e.fixture_id
where v.state = 'kept' and e.download_complete and e.removed_at is null
    and not exists (select from library_sources s where s.event_id = v.event_id and s.video_md5 = v.md5)
    and not exists (select from library_blocked_clips b where b.event_id = v.event_id and b.video_md5 = v.md5)
order by v.published_at, v.event_id, v.rank
limit %(limit)s;

-- name: insert_goals
insert into library_sources (kind, state, title, facts, event_id, video_md5, goal_snapshot, accounts, created_at, changed_at)
select 'goal', 'new', r.title, r.facts, r.event_id, r.video_md5, r.goal_snapshot, r.accounts, %(now)s, %(now)s
from jsonb_to_recordset(%(rows)s) as r (
    title text, facts jsonb, event_id text, video_md5 text, goal_snapshot jsonb, accounts text[])
on conflict (event_id, video_md5) do nothing
returning id, state;

-- name: corrected_goals
-- Sources whose goal was corrected or withdrawn. Once the match is deleted, nothing changes any more.
select s.id, s.event_id, s.video_md5 as md5, coalesce((s.facts ->> 'verified')::boolean, false) as verified, e.fixture_id,
    e.team_name, e.player_name, e.assist_name, e.kind, e.elapsed, e.extra, e.innings, e.home_after, e.away_after,
    e.removed_at is not null as withdrawn, f.sport, f.league_name, f.home_name, f.away_name, f.kickoff,
    goal_attributes(e) as goal_snapshot
from library_sources s
join events e on e.id = s.event_id
join fixtures f on f.id = e.fixture_id
where s.goal_snapshot is distinct from goal_attributes(e)
order by s.id
limit %(limit)s
for no key update of s skip locked;

-- name: update_goals
update library_sources s set title = r.title, facts = r.facts, goal_snapshot = r.goal_snapshot, changed_at = %(now)s
from jsonb_to_recordset(%(rows)s) as r (title text, facts jsonb, event_id text, video_md5 text, goal_snapshot jsonb)
where (s.event_id, s.video_md5) = (r.event_id, r.video_md5)
returning s.id, s.state;

-- name: submit
insert into library_sources (kind, state, title, facts, url, upload_key, submitted_by, created_at, changed_at)
values (%(kind)s, 'new', %(title)s, %(facts)s, %(url)s, %(upload_key)s, %(by)s, %(now)s, %(now)s)
returning id;

-- name: source
select id, kind, state, title, facts, event_id, video_md5, url, upload_key, frames, rate_num, rate_den, width, height,
    audio, file_size, file_md5, progress, error, error_kind, failures, retry_at, submitted_by, created_at,
    film_deleted_at
from library_sources where id = %(id)s;

-- name: clip
select id, source_id, first_frame, end_frame, state, live, grouped_with, settles_at, made_by, reviewed_by, reviewed_at,
    claimed_by, claimed_until, has_file, sprite, error, error_kind, failures, retry_at
from library_clips where id = %(id)s;

-- name: clips_of
select id, source_id, first_frame, end_frame, state, live, grouped_with, settles_at, made_by, reviewed_by, reviewed_at,
    claimed_by, claimed_until, has_file, sprite, error, error_kind, failures, retry_at
from library_clips where source_id = %(id)s
order by first_frame, id;

-- name: lock_source
select id, frames, state from library_sources where id = %(id)s for no key update;

-- name: lock_clips_of
select id, source_id, first_frame, end_frame, state, live, grouped_with, settles_at, made_by, reviewed_by, reviewed_at,
    claimed_by, claimed_until, has_file, sprite, error, error_kind, failures, retry_at
from library_clips where source_id = %(id)s
order by id for no key update;

-- name: delete_source
delete from library_sources where id = %(id)s;

-- name: block_clip
insert into library_blocked_clips (event_id, video_md5, blocked_at) values (%(event)s, %(md5)s, %(now)s)
on conflict do nothing;

-- name: published_sources
-- Sources imported from these published clips, or from clips that an account posted.
select s.id, s.upload_key, s.event_id, s.video_md5 from library_sources s
where s.kind = 'goal' and (
    (s.event_id, s.video_md5) in (select r.event_id, r.md5 from jsonb_to_recordset(%(clips)s) as r (event_id text, md5 text))
    or (s.event_id = %(goal)s::text)
    or exists (select from unnest(s.accounts) as account where %(account)s::text is not null
        and split_part(account, '/', 2) = %(account)s
        and (%(of_source)s::text is null or split_part(account, '/', 1) = %(of_source)s)))
order by s.id for no key update;

-- name: expirable_sources
-- Sources with an approved clip count for the size, but are never deleted, nor is one that is being worked on.
with sized as (
    select s.id, s.created_at, s.state, coalesce(s.file_size, 0) as bytes, exists (
        select from library_clips c where c.source_id = s.id and c.live and c.state = any(%(kept)s)) as kept
    from library_sources s where s.film_deleted_at is null),
summed as (
    select id, created_at, state, kept,
        sum(bytes) over (order by kept desc, created_at desc, id desc) as total
    from sized)
select s.id, s.upload_key, s.event_id, s.video_md5
from summed join library_sources s on s.id = summed.id
where not summed.kept and summed.state not in ('downloading', 'splicing')
    and (summed.created_at < %(before)s::timestamptz or summed.total > %(max_bytes)s::bigint)
order by summed.created_at, summed.id limit %(limit)s
for no key update of s;

-- name: keys_of_sources
select 'library/' || c.source_id || '/' || c.id || '.mp4' as key from library_clips c where c.source_id = any(%(ids)s)
union all
select 'library/' || c.source_id || '/' || c.id || '.webp' from library_clips c where c.source_id = any(%(ids)s)
union all
select 'library/' || c.source_id || '/' || c.id || '-' || k.number || '.jpg'
from library_keyframes k join library_clips c on c.id = k.clip_id where c.source_id = any(%(ids)s);

-- name: end_links_of_sources
insert into ended_links (path, reason, ended_at)
select 's/' || id, %(reason)s, %(now)s from unnest(%(ids)s::bigint[]) as id
union all
select 'c/' || c.id, %(reason)s, %(now)s from library_clips c where c.source_id = any(%(ids)s)
on conflict (path) do update set reason = excluded.reason, ended_at = excluded.ended_at;

-- name: delete_sources
delete from library_sources where id = any(%(ids)s);

-- name: unblock_clips
-- So that clips whose takedown was lifted are imported again.
delete from library_blocked_clips b using jsonb_to_recordset(%(clips)s) as c (event_id text, md5 text)
where b.event_id = c.event_id and b.video_md5 = c.md5;

-- name: clear_master
-- With the last of its clips. The published clip that it was imported from has its own file, which stays.
update library_sources s set film_deleted_at = coalesce(s.film_deleted_at, now())
where s.id = %(id)s and not exists (
    select from library_clips c where c.source_id = s.id and c.state <> all(%(files_deleted)s::text[]))
returning s.id;

-- name: save_progress
update library_sources set progress = %(share)s, changed_at = %(now)s
where id = %(id)s and state in ('downloading', 'splicing') and progress is distinct from %(share)s::real
returning state;

-- name: save_clip_progress
update library_clips set progress = %(share)s
where id = %(id)s and state = 'generating_sprite' and progress is distinct from %(share)s::real
returning source_id, state, live;

-- name: save_download
update library_sources set upload_key = %(key)s, title = coalesce(%(title)s, title) where id = %(id)s
returning id;

-- name: save_master
update library_sources set
    frames = %(frames)s, rate_num = %(rate_num)s, rate_den = %(rate_den)s, width = %(width)s, height = %(height)s,
    audio = %(audio)s, file_size = %(file_size)s, file_md5 = %(file_md5)s, title = coalesce(%(title)s, title)
where id = %(id)s
returning id;

-- name: known_scenes
select cuts from library_scenes where file_md5 = %(md5)s and detector = %(detector)s;

-- name: save_scenes
insert into library_scenes (file_md5, detector, cuts) values (%(md5)s, %(detector)s, %(cuts)s)
on conflict do nothing;

-- name: count_tiles
select count(*) as tiles from library_clips where source_id = %(id)s and live;

-- name: insert_tiles
insert into library_clips (source_id, first_frame, end_frame, state)
select %(id)s, r.first, r.last, 'spliced'
from unnest(%(firsts)s::int[], %(ends)s::int[]) as r (first, last)
order by r.first;

-- name: save_sprite
update library_clips set sprite = %(sprite)s, has_file = %(has_file)s, fingerprint = %(fingerprint)s
where id = %(id)s
returning id;

-- name: sibling_fingerprints
-- Of the same goal, whichever of its clips they were cut from.
select c.id, c.fingerprint
from library_clips mine
join library_sources s on s.id = mine.source_id
join library_sources near on near.id = s.id or near.event_id = s.event_id
join library_clips c on c.source_id = near.id
where mine.id = %(id)s and c.id <> mine.id and c.live and c.fingerprint is not null
order by c.id;

-- name: lock_duplicates
-- One writer at a time: two clips of a goal may find each other at the same moment.
lock table library_duplicates in share row exclusive mode;

-- name: delete_duplicates
delete from library_duplicates where one = %(id)s or other = %(id)s;

-- name: insert_duplicates
insert into library_duplicates (one, other)
select least(c.id, %(id)s), greatest(c.id, %(id)s) from library_clips c
where c.id = any(%(same)s) and c.id <> %(id)s
on conflict do nothing;

-- name: lock_clip
select id, source_id, state, live, has_file from library_clips where id = %(id)s for no key update;

-- name: keyframes
select number, frame, chosen_by, width, height from library_keyframes where clip_id = %(id)s order by number;

-- name: delete_keyframes
delete from library_keyframes where clip_id = %(id)s returning number;

-- name: insert_keyframes
insert into library_keyframes (clip_id, number, frame, chosen_by, width, height)
select %(id)s, r.number, r.frame, r.chosen_by, r.width, r.height
from jsonb_to_recordset(%(rows)s) as r (number int, frame int, chosen_by text, width int, height int);

-- name: delete_vectors
delete from library_embeddings where clip_id = %(id)s;

-- name: clear_sprite
update library_clips set sprite = null, has_file = false, fingerprint = null where id = %(id)s;

-- name: queue_deletions
insert into library_deletions (key) select unnest(%(keys)s::text[]) on conflict do nothing;

-- name: dequeue_deletions
delete from library_deletions where key = any(%(keys)s);

-- name: deletions_of_clip
select key from library_deletions where key like any(%(patterns)s) order by key collate "C";

-- name: pending_deletions
-- Fewest failures first, so that an object that can never be deleted does not block the others.
select key from library_deletions order by tries, asked_at, key limit %(limit)s;

-- name: record_deletion_failure
update library_deletions set tries = tries + 1, error = %(error)s where key = any(%(keys)s);

-- name: expected_keys
-- Sorted by bytes, as object stores list them.
select key from (
    select 'library/' || id || '/master.mp4' as key from library_sources
    where file_md5 is not null and film_deleted_at is null
    union all
    select upload_key from library_sources
    where upload_key is not null and state in ('new', 'downloading', 'download_failed')
    union all
    select 'library/' || source_id || '/' || id || '.mp4' from library_clips where has_file
    union all
    select 'library/' || source_id || '/' || id || '.webp' from library_clips where sprite is not null
    union all
    select 'library/' || c.source_id || '/' || c.id || '-' || k.number || '.jpg'
    from library_keyframes k join library_clips c on c.id = k.clip_id
) as named
order by key collate "C";

-- name: pending_sources
-- In the state that a stage takes; or begun by it; or failed and due for a retry, which is early once the stage has
-- worked for another item since, as after an outage.
select w.stage, w.lane, i.id, i.seconds
from jsonb_to_recordset(%(stages)s) as w (
    stage text, lane text, of_goals boolean, takes text, working text, failed text)
left join library_stage_totals t on t.stage = w.stage
cross join lateral (
    select s.id, coalesce(s.frames::double precision * s.rate_den / s.rate_num, 0) as seconds from library_sources s
    where s.state in (w.takes, w.working, w.failed)
        and (s.state = w.takes or coalesce(s.stage, w.stage) = w.stage)
        and (s.state <> w.failed or s.retry_at <= %(now)s
            or (s.retry_at is not null and s.failed_at <= %(failed_before)s and s.failed_at < t.last_done_at))
        and (s.kind = 'goal') = w.of_goals
    order by s.id limit %(limit)s) as i;

-- name: pending_clips
-- The same for clips. No stage takes a clip whose last action can still be undone; one that was split or merged is only
-- cleaned up. Two stages work in the state `embedding`: a clip of neither belongs to the one that has `takes`.
select w.stage, w.lane, i.id, i.seconds
from jsonb_to_recordset(%(stages)s) as w (
    stage text, lane text, of_goals boolean, takes text, working text, failed text)
left join library_stage_totals t on t.stage = w.stage
cross join lateral (
    select c.id,
        coalesce((c.end_frame - c.first_frame)::double precision * s.rate_den / s.rate_num, 0) as seconds
    from library_clips c join library_sources s on s.id = c.source_id
    where c.state in (w.takes, w.working, w.failed)
        and (c.state = w.takes or c.stage = w.stage or (c.stage is null and w.takes is not null))
        and (c.state <> w.failed or c.retry_at <= %(now)s
            or (c.retry_at is not null and c.failed_at <= %(failed_before)s and c.failed_at < t.last_done_at))
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

-- name: lock_source_item
select id, id as source_id, state, stage, began_at, failed_at, failures, error, error_kind,
    null::timestamptz as settles_at, true as live, upload_key
from library_sources where id = %(id)s for no key update;

-- name: lock_clip_item
select id, source_id, state, stage, began_at, failed_at, failures, error, error_kind, settles_at, live,
    null as upload_key
from library_clips where id = %(id)s for no key update;

-- name: move_source
update library_sources set
    state = %(state)s, stage = %(stage)s, failures = %(failures)s, error = %(error)s, error_kind = %(kind)s,
    retry_at = %(retry_at)s, began_at = %(began_at)s, failed_at = %(failed_at)s, progress = null, changed_at = %(now)s
where id = %(id)s;

-- name: move_clip
update library_clips set
    state = %(state)s, stage = %(stage)s, failures = %(failures)s, error = %(error)s, error_kind = %(kind)s,
    retry_at = %(retry_at)s, began_at = %(began_at)s, failed_at = %(failed_at)s, progress = null, changed_at = %(now)s
where id = %(id)s;

-- name: stage_done
insert into library_stage_totals (stage, done, seconds, last_done_at) values (%(stage)s, 1, %(seconds)s, %(now)s)
on conflict (stage) do update set done = library_stage_totals.done + 1,
    seconds = library_stage_totals.seconds + excluded.seconds, last_done_at = excluded.last_done_at;

-- name: stage_failed
insert into library_stage_totals (stage, failed) values (%(stage)s, 1)
on conflict (stage) do update set failed = library_stage_totals.failed + 1
returning last_done_at;

-- name: retry_sources
update library_sources set failures = 0, retry_at = %(now)s, changed_at = %(now)s
where state = any(%(states)s) and (%(stage)s::text is null or stage = %(stage)s)
returning id, state;

-- name: retry_clips
update library_clips set failures = 0, retry_at = %(now)s, changed_at = %(now)s
where state = any(%(states)s) and (%(stage)s::text is null or stage = %(stage)s)
returning id, source_id, state, live;

-- name: note_embedded
-- Also if no model is enabled: the row tells the clip from clips that were never embedded.
insert into library_embeddings (clip_id) values (%(id)s) on conflict do nothing;
