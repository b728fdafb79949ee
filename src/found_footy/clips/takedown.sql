-- name: video_by_id
select event_id, md5 from videos where id = %(id)s;

-- name: source_by_id
-- The published clip behind a library source, which outlives the match.
select event_id, video_md5 as md5 from library_sources
where kind = 'goal' and substr(md5(event_id || '/' || video_md5), 1, 16) = %(id)s;

-- name: event_exists
select 1 from events where id = %(id)s union all select 1 from library_sources where event_id = %(id)s limit 1;

-- name: events_with
-- Goals with a video of the same content as one of this goal.
select distinct other.event_id as id from videos mine join videos other on other.md5 = mine.md5
where mine.event_id = %(id)s;

-- name: posted_by
select distinct c.event_id, c.md5 from candidates c
where account_name(c.author) = %(account)s and (%(source)s::text is null or c.source = %(source)s);

-- name: lock_goals
-- Lock in the order of ids, so that two takedowns cannot deadlock.
select id, fixture_id from events where id = any(%(ids)s) order by id for update;

-- name: videos_of
select event_id, md5, id, state, status, file_size, popularity, rank, replaced_by, offset_seconds, mirrored,
    rejection_reason, rejection_detail, proof
from videos where event_id = any(%(ids)s) order by event_id, md5;

-- name: saved_before
select distinct on (event_id, md5) event_id, md5, saved from takedown_videos
where event_id = any(%(ids)s) order by event_id, md5, takedown_id desc;

-- name: add
insert into takedowns (kind, scope, target, source, reason, at, by)
values (%(kind)s, %(scope)s, %(target)s, %(source)s, %(reason)s, %(now)s, %(by)s)
returning id;

-- name: add_videos
insert into takedown_videos (takedown_id, event_id, md5, saved)
select %(id)s, r.event_id, r.md5, r.saved from jsonb_to_recordset(%(rows)s) as r (event_id text, md5 text, saved jsonb);

-- name: withdraw_videos
update videos v set state = 'refused', rank = null, popularity = 0, replaced_by = null, offset_seconds = null,
    mirrored = false, rejection_reason = 'taken down', rejection_detail = %(reason)s
from takedown_videos t
where t.takedown_id = %(id)s and v.event_id = t.event_id and v.md5 = t.md5;

-- name: close_posts
-- Posts of a goal that are not downloaded yet.
update candidates set rejection_reason = 'taken down', rejection_detail = %(reason)s
where event_id = %(event)s and md5 is null and rejection_reason is null
returning key;

-- name: add_posts
insert into takedown_posts (takedown_id, event_id, key, saved)
select %(id)s, c.event_id, c.key, case when %(keep)s then jsonb_build_object(
    'author', c.author, 'text', c.text, 'url', c.url, 'media_url', c.media_url) end
from candidates c
where account_name(c.author) = %(account)s and (%(source)s::text is null or c.source = %(source)s)
returning event_id, key;

-- name: blank_posts
update candidates c set author = '', text = '', url = '', media_url = '',
    rejection_reason = case when c.md5 is null then coalesce(c.rejection_reason, 'taken down') end,
    rejection_detail = case when c.md5 is null then coalesce(c.rejection_detail, %(reason)s) end
from takedown_posts p
where p.takedown_id = %(id)s and c.event_id = p.event_id and c.key = p.key;

-- name: forget_saved_posts
-- A removal also deletes what an earlier hiding saved.
update takedown_posts p set saved = null from takedowns t
where p.takedown_id = t.id and t.scope = 'account' and t.target = %(account)s;

-- name: cancel_deliveries
-- Unsent messages about the clips.
update deliveries d set state = 'cancelled', claim = null
from outbox o
where o.position = d.position and d.state = 'pending' and d.event_id = any(%(ids)s)
    and (o.payload ->> 'md5' = any(%(md5s)s) or o.payload ->> 'by' = any(%(md5s)s));

-- name: count
update takedowns set clips = %(clips)s, posts = %(posts)s, library = %(library)s where id = %(id)s;

-- name: queue_deletions
insert into library_deletions (key) select unnest(%(keys)s::text[]) on conflict do nothing;

-- name: list
select id, kind, scope, target, source, reason, at, by, clips, posts, library, files_done_at, lifted_at, lifted_by
from takedowns
where %(id)s::bigint is null or id = %(id)s
order by id desc limit %(limit)s;

-- name: lock
select id, kind, lifted_at from takedowns where id = %(id)s for update;

-- name: videos_of_takedown
select v.event_id, v.md5, v.saved, t.kind from takedown_videos v join takedowns t on t.id = v.takedown_id
where v.takedown_id = %(id)s order by v.event_id, v.md5;

-- name: still_withdrawn
select v.event_id, v.md5 from takedown_videos v
join videos now on now.event_id = v.event_id and now.md5 = v.md5 and now.rejection_reason = 'taken down'
where v.takedown_id = %(id)s;

-- name: with_pending_files
select id from takedowns where files_done_at is null order by id;

-- name: set_files_done
update takedowns set files_done_at = %(now)s where id = %(id)s;

-- name: set_lifted
update takedowns set lifted_at = %(now)s, lifted_by = %(by)s where id = %(id)s;

-- name: restorable
-- Videos that only this takedown withdrew, of goals that still exist.
select v.event_id, v.md5, v.saved from takedown_videos v
join videos now on now.event_id = v.event_id and now.md5 = v.md5 and now.rejection_reason = 'taken down'
where v.takedown_id = %(id)s and takedown_reason(v.event_id, v.md5) is null;

-- name: restore_hashed
update videos v set state = 'hashed', rejection_reason = null, rejection_detail = null
where v.event_id = %(event)s and v.md5 = any(%(md5s)s);

-- name: restore_replaced
update videos v set state = 'replaced', rejection_reason = null, rejection_detail = null, replaced_by = r.of,
    offset_seconds = r.offset_seconds, mirrored = r.mirrored
from jsonb_to_recordset(%(rows)s) as r (md5 text, of text, offset_seconds double precision, mirrored boolean)
where v.event_id = %(event)s and v.md5 = r.md5;

-- name: restore_posts
update candidates c set author = p.saved ->> 'author', text = p.saved ->> 'text', url = p.saved ->> 'url',
    media_url = p.saved ->> 'media_url'
from takedown_posts p
where p.takedown_id = %(id)s and p.saved is not null and c.event_id = p.event_id and c.key = p.key;

-- name: drop_saved_posts
update takedown_posts set saved = null where takedown_id = %(id)s;
