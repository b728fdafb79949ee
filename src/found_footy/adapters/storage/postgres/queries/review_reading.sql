-- name: around
-- The tiles near to the named clips; behind them what was split or merged into one of these and can still come back.
with named as (
    select source_id, first_frame from library_clips where id = any(%(ids)s)),
near as (
    select distinct beside.id from named cross join lateral (
        (select c.id from library_clips c
            where c.source_id = named.source_id and c.live and c.first_frame <= named.first_frame
            order by c.first_frame desc limit %(each_side)s + 1)
        union all
        (select c.id from library_clips c
            where c.source_id = named.source_id and c.live and c.first_frame > named.first_frame
            order by c.first_frame limit %(each_side)s)) beside),
retired as (
    select distinct p.id from near
    join library_clips c on c.id = near.id and c.state = 'edit_pending'
    join library_clips p on p.source_id = c.source_id and not p.live and p.state = any(%(editable)s)
        and p.first_frame < c.end_frame and c.first_frame < p.end_frame)
select c.id, c.source_id, c.first_frame, c.end_frame, c.state, c.live, c.grouped_with, c.settles_at, c.made_by, c.reviewed_by,
    c.reviewed_at, c.claimed_by, c.claimed_until, c.has_file, c.sprite, c.error, c.error_kind, c.failures, c.retry_at
from library_clips c
where c.id in (select id from near) or c.id in (select id from retired)
order by c.source_id, c.first_frame, c.id;

-- name: sources
select * from library_sources where id = any(%(ids)s) order by id;

-- name: copies
-- Of the named clips: others that their fingerprints or people have said something about.
with touching as (
    select one, other from library_pairs where one = any(%(ids)s) or other = any(%(ids)s)
    union
    select one, other from library_verdicts where one = any(%(ids)s) or other = any(%(ids)s)),
told as (
    select t.one, t.other, v.same, v.said_by
    from touching t left join library_verdicts v on v.one = t.one and v.other = t.other),
both_ways as (
    select one as of_clip, other as copy, same, said_by from told where one = any(%(ids)s)
    union all
    select other, one, same, said_by from told where other = any(%(ids)s))
select b.of_clip, b.same, b.said_by, c.id, c.source_id, c.first_frame, c.end_frame, c.state, c.live, c.grouped_with, c.settles_at, c.made_by,
    c.reviewed_by, c.reviewed_at, c.claimed_by, c.claimed_until, c.has_file, c.sprite, c.error, c.error_kind, c.failures, c.retry_at
from both_ways b join library_clips c on c.id = b.copy and c.live
order by b.of_clip, (b.same is not null), c.id;

-- name: action
select a.*, s.id as source_id, coalesce(s.title, '') as title
from library_actions a
left join library_clips c on c.id = (select min(key::bigint) from jsonb_object_keys(a.after) key)
left join library_sources s on s.id = c.source_id
where a.id = %(id)s;

-- name: actions
-- The latest ones, the newest last.
select * from (
    select a.*, s.id as source_id, coalesce(s.title, '') as title
    from library_actions a
    left join library_clips c on c.id = (select min(key::bigint) from jsonb_object_keys(a.after) key)
    left join library_sources s on s.id = c.source_id
    where a.id > %(since)s
    order by a.id desc limit %(most)s) latest
order by id;
