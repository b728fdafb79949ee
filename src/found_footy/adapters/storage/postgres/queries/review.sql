-- name: held
-- What lies before this reviewer, also when the time has run out and nobody else has taken it.
select id from library_clips
where claimed_by = %(who)s and live and state = 'pending_review'
    and (%(source)s::bigint is null or source_id = %(source)s)
order by source_id, first_frame limit %(most)s
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
order by source_id, first_frame limit %(most)s
for no key update skip locked;

-- name: claim
update library_clips set claimed_by = %(who)s, claimed_until = %(until)s
where id = any(%(ids)s)
returning id, source_id, first_frame, end_frame, state, live, grouped_with, settles_at, made_by, reviewed_by, reviewed_at,
    claimed_by, claimed_until, has_file, sprite, error, error_kind, failures, retry_at;

-- name: release
-- One that is being acted upon in this moment is free with that.
update library_clips set claimed_by = null, claimed_until = null
where id in (
    select id from library_clips where claimed_by = %(who)s order by id for no key update skip locked);

-- name: lock_groups
-- Who is in a group is not known before its clips are locked, and they are locked in one order: so one at a time.
select pg_advisory_xact_lock(hashtext('found-footy groups'));

-- name: kin
-- All tiles of the groups that these clips are in.
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

-- name: add_action
insert into library_actions (kind, reviewer, name, at, settles_at, before, after)
values (%(kind)s, %(reviewer)s, %(name)s, %(at)s, %(settles_at)s, %(before)s, %(after)s)
returning id, kind, reviewer, name, at, settles_at, before, after, made, undone_at, settled_at;

-- name: note_made
update library_actions set made = %(made)s where id = %(id)s
returning id, kind, reviewer, name, at, settles_at, before, after, made, undone_at, settled_at;

-- name: write_standings
update library_clips c set
    state = r.state, grouped_with = r.grouped_with, settles_at = r.settles_at, reviewed_by = r.reviewed_by,
    reviewed_at = r.reviewed_at, claimed_by = null, claimed_until = null, changed_at = %(now)s
from jsonb_to_recordset(%(rows)s) as r (
    id bigint, state text, grouped_with bigint, settles_at timestamptz, reviewed_by text, reviewed_at timestamptz)
where c.id = r.id;

-- name: set_live
update library_clips set live = %(live)s where id = any(%(ids)s);

-- name: make_clip
insert into library_clips (
    source_id, first_frame, end_frame, state, grouped_with, settles_at, made_by, created_at, changed_at)
values (
    %(source_id)s, %(first)s, %(end)s, 'edit_pending', %(group)s, %(settles_at)s, %(by)s, %(now)s, %(now)s)
returning id;

-- name: unmake
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

-- name: note_undone
update library_actions set undone_at = %(now)s where id = %(id)s
returning id, kind, reviewer, name, at, settles_at, before, after, made, undone_at, settled_at;

-- name: note_settled
update library_actions set settled_at = %(now)s where id = %(id)s;

-- name: actions
-- The newest first.
select id, kind, reviewer, name, at, settles_at, before, after, made, undone_at, settled_at
from library_actions where id > %(since)s
order by id desc limit %(most)s;

-- name: counts
select state, count(*) as clips from library_clips where live group by state;

-- name: say
insert into library_verdicts (one, other, same, said_by, said_at)
values (%(one)s, %(other)s, %(same)s, %(by)s, %(now)s)
on conflict (one, other) do update set same = excluded.same, said_by = excluded.said_by, said_at = excluded.said_at;

-- name: unsay
delete from library_verdicts where one = %(one)s and other = %(other)s returning one;

-- name: inherit_verdicts
-- A merged clip shows what both of its parts did; of the halves of a split one cannot know which of them is the same as
-- another clip, but neither is what the whole was not. Where the parts were judged differently, nothing is known.
insert into library_verdicts (one, other, same, said_by, said_at)
select least(heir, v.beside), greatest(heir, v.beside), bool_and(v.same), max(v.said_by), max(v.said_at)
from unnest(%(made)s::bigint[]) as heir
cross join (
    select other as beside, same, said_by, said_at from library_verdicts where one = any(%(gone)s)
    union all
    select one, same, said_by, said_at from library_verdicts where other = any(%(gone)s)) as v
where v.beside <> all(%(gone)s) and (%(merged)s or not v.same)
group by heir, v.beside
having bool_and(v.same) = bool_or(v.same)
on conflict do nothing;
