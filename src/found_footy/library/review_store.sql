-- name: held
-- What this reviewer has claimed, also after the claim expired if no one else has claimed it.
select id from library_clips
where claimed_by = %(who)s and live and state = 'pending_review'
    and (%(source)s::bigint is null or source_id = %(source)s)
order by source_id, first_frame limit %(limit)s
for no key update skip locked;

-- name: busy_sources
select distinct source_id from library_clips
where claimed_by is not null and claimed_by <> %(who)s and claimed_until > %(now)s and live
    and state = 'pending_review' and %(source)s::bigint is null;

-- name: free
select id from library_clips
where live and state = 'pending_review' and (claimed_by is null or claimed_until <= %(now)s)
    and (%(source)s::bigint is null or source_id = %(source)s)
    and source_id <> all(%(avoided)s::bigint[]) and id <> all(%(held)s::bigint[])
order by source_id, first_frame limit %(limit)s
for no key update skip locked;

-- name: claim
update library_clips set claimed_by = %(who)s, claimed_until = %(until)s
where id = any(%(ids)s)
returning id, source_id, first_frame, end_frame, state, live, grouped_with, settles_at, made_by, reviewed_by, reviewed_at,
    claimed_by, claimed_until, has_file, sprite, error, error_kind, failures, retry_at;

-- name: release
-- A clip that is being acted on at this moment is released by that.
update library_clips set claimed_by = null, claimed_until = null
where id in (
    select id from library_clips where claimed_by = %(who)s order by id for no key update skip locked);

-- name: lock_groups
-- The members of a group are known only once its clips are locked, and clips are locked in id order: so one at a time.
select pg_advisory_xact_lock(hashtext('found-footy groups'));

-- name: group_members
-- All live clips of the groups of these clips.
with roots as (
    select coalesce(grouped_with, id) as root from library_clips where id = any(%(ids)s))
select c.id from roots join library_clips c on c.grouped_with = roots.root where c.live
union
select c.id from roots join library_clips c on c.id = roots.root where c.live;

-- name: lock_sources
select id from library_sources
where id in (select source_id from library_clips where id = any(%(ids)s))
order by id for no key update;

-- name: lock_clips
select id, source_id, first_frame, end_frame, state, live, grouped_with, settles_at, made_by, reviewed_by, reviewed_at,
    claimed_by, claimed_until, has_file, sprite, error, error_kind, failures, retry_at
from library_clips where id = any(%(ids)s)
order by id for no key update;

-- name: insert_action
insert into library_actions (kind, reviewer, name, at, settles_at, before, after)
values (%(kind)s, %(reviewer)s, %(name)s, %(at)s, %(settles_at)s, %(before)s, %(after)s)
returning id, kind, reviewer, name, at, settles_at, before, after, made, undone_at, settled_at;

-- name: save_created_clips
update library_actions set made = %(made)s where id = %(id)s
returning id, kind, reviewer, name, at, settles_at, before, after, made, undone_at, settled_at;

-- name: write_fields
update library_clips c set
    state = r.state, grouped_with = r.grouped_with, settles_at = r.settles_at, reviewed_by = r.reviewed_by,
    reviewed_at = r.reviewed_at, claimed_by = null, claimed_until = null, changed_at = %(now)s
from jsonb_to_recordset(%(rows)s) as r (
    id bigint, state text, grouped_with bigint, settles_at timestamptz, reviewed_by text, reviewed_at timestamptz)
where c.id = r.id;

-- name: set_live
update library_clips set live = %(live)s where id = any(%(ids)s);

-- name: insert_clip
insert into library_clips (
    source_id, first_frame, end_frame, state, grouped_with, settles_at, made_by, created_at, changed_at)
values (
    %(source_id)s, %(first)s, %(end)s, 'edit_pending', %(group)s, %(settles_at)s, %(by)s, %(now)s, %(now)s)
returning id;

-- name: delete_clips
delete from library_clips where id = any(%(ids)s);

-- name: last_action
select id from library_actions
where reviewer = %(who)s and undone_at is null and settled_at is null
order by id desc limit 1;

-- name: action
select id, kind, reviewer, name, at, settles_at, before, after, made, undone_at, settled_at
from library_actions where id = %(id)s;

-- name: lock_action
select id, kind, reviewer, name, at, settles_at, before, after, made, undone_at, settled_at
from library_actions where id = %(id)s for no key update;

-- name: mark_undone
update library_actions set undone_at = %(now)s where id = %(id)s
returning id, kind, reviewer, name, at, settles_at, before, after, made, undone_at, settled_at;

-- name: mark_settled
update library_actions set settled_at = %(now)s where id = %(id)s;

-- name: counts
select state, count(*) as clips from library_clips where live group by state;

-- name: set_verdict
insert into library_verdicts (one, other, same, said_by, said_at)
values (%(one)s, %(other)s, %(same)s, %(by)s, %(now)s)
on conflict (one, other) do update set same = excluded.same, said_by = excluded.said_by, said_at = excluded.said_at;

-- name: clear_verdict
delete from library_verdicts where one = %(one)s and other = %(other)s returning one;

-- name: copy_verdicts
-- A merged clip inherits the verdicts on its parts, and clips with a moved cut those of their predecessors (`is_whole`). Of
-- a split clip only `not the same` holds for both halves. Parts with different verdicts pass on none.
insert into library_verdicts (one, other, same, said_by, said_at)
select least(created, v.beside), greatest(created, v.beside), bool_and(v.same), max(v.said_by), max(v.said_at)
from unnest(%(made)s::bigint[]) as created
cross join (
    select other as beside, same, said_by, said_at from library_verdicts where one = any(%(replaced)s)
    union all
    select one, same, said_by, said_at from library_verdicts where other = any(%(replaced)s)) as v
where v.beside <> all(%(replaced)s) and (%(is_whole)s or not v.same)
group by created, v.beside
having bool_and(v.same) = bool_or(v.same)
on conflict do nothing;

-- name: neighbours
-- The tiles around the given clips, and clips that were split or merged into one of them and can still be restored.
with chosen as (
    select source_id, first_frame from library_clips where id = any(%(ids)s)),
near as (
    select distinct beside.id from chosen cross join lateral (
        (select c.id from library_clips c
            where c.source_id = chosen.source_id and c.live and c.first_frame <= chosen.first_frame
            order by c.first_frame desc limit %(each_side)s + 1)
        union all
        (select c.id from library_clips c
            where c.source_id = chosen.source_id and c.live and c.first_frame > chosen.first_frame
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

-- name: likely_duplicates
-- Of the given clips: others with a matching fingerprint or a verdict.
with touching as (
    select one, other from library_duplicates where one = any(%(ids)s) or other = any(%(ids)s)
    union
    select one, other from library_verdicts where one = any(%(ids)s) or other = any(%(ids)s)),
decided as (
    select t.one, t.other, v.same, v.said_by
    from touching t left join library_verdicts v on v.one = t.one and v.other = t.other),
both_ways as (
    select one as of_clip, other as copy, same, said_by from decided where one = any(%(ids)s)
    union all
    select other, one, same, said_by from decided where other = any(%(ids)s))
select b.of_clip, b.same, b.said_by, c.id, c.source_id, c.first_frame, c.end_frame, c.state, c.live, c.grouped_with, c.settles_at, c.made_by,
    c.reviewed_by, c.reviewed_at, c.claimed_by, c.claimed_until, c.has_file, c.sprite, c.error, c.error_kind, c.failures, c.retry_at
from both_ways b join library_clips c on c.id = b.copy and c.live
order by b.of_clip, (b.same is not null), c.id;

-- name: action_summary
select a.*, s.id as source_id, coalesce(s.title, '') as title
from library_actions a
left join library_clips c on c.id = (select min(key::bigint) from jsonb_object_keys(a.after) key)
left join library_sources s on s.id = c.source_id
where a.id = %(id)s;

-- name: action_summaries
-- The latest, newest last.
select * from (
    select a.*, s.id as source_id, coalesce(s.title, '') as title
    from library_actions a
    left join library_clips c on c.id = (select min(key::bigint) from jsonb_object_keys(a.after) key)
    left join library_sources s on s.id = c.source_id
    where a.id > %(since)s
    order by a.id desc limit %(limit)s) latest
order by id;

-- name: due_edits
select id from library_actions
where kind in ('merge', 'split', 'move_cut') and undone_at is null and settled_at is null and settles_at <= %(now)s
order by settles_at, id limit %(limit)s;
