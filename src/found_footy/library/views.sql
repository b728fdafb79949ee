-- Rows behind the library's pages, its API and its commands. The columns sheet_* are a clip's own sprite sheet or, until
-- it has one, that of the clip that it was made from.

-- name: sources
-- Newest first; with `only`, that one.
with page as (
    select s.* from library_sources s
    where (%(only)s::bigint is null or s.id = %(only)s)
      and (%(states)s::text[] is null or s.state = any(%(states)s))
      and (%(kind)s::text is null or s.kind = %(kind)s)
      and (%(event)s::text is null or s.event_id = %(event)s)
      and (prefix_query(%(q)s) is null or s.words @@ prefix_query(%(q)s))
      and (%(before)s::bigint is null or s.id < %(before)s)
    order by s.id desc limit %(limit)s)
select page.id, page.kind, page.state, page.title, page.facts, page.event_id,
    -- A user name or a query may be a secret.
    regexp_replace(page.url, '^(https?://)([^/@]*@)?([^?#]*).*$', '\1\3') as url,
    page.progress, page.error_kind, page.error, page.failures, page.retry_at, page.submitted_by, page.created_at,
    page.changed_at, page.frames, page.rate_num, page.rate_den, page.width, page.height, page.audio, page.file_size,
    page.file_md5, page.film_deleted_at,
    coalesce((
        select jsonb_object_agg(state, number) from (
            select c.state, count(*) as number from library_clips c
            where c.source_id = page.id and c.live group by c.state) as counted), '{}') as clips,
    sheet.id as sheet_clip, sheet.first_frame as sheet_first, sheet.end_frame as sheet_end, sheet.sprite as sheet_sprite
from page
left join lateral (
    select c.id, c.first_frame, c.end_frame, c.sprite from library_clips c
    where c.source_id = page.id and c.live and c.sprite is not null
    order by c.first_frame limit 1) as sheet on true
order by page.id desc;

-- name: tiles
-- Of one source, in order.
select c.id, c.first_frame, c.end_frame, c.state, c.grouped_with, c.reviewed_by, c.reviewed_at, c.settles_at, c.error_kind,
    c.progress, s.file_md5, sheet.id as sheet_clip, sheet.first_frame as sheet_first, sheet.end_frame as sheet_end,
    sheet.sprite as sheet_sprite
from library_clips c
join library_sources s on s.id = c.source_id
left join library_actions a on a.id = c.made_by and c.sprite is null
left join lateral (
    select c.id, c.first_frame, c.end_frame, c.sprite where c.sprite is not null
    union all
    select o.id, o.first_frame, o.end_frame, o.sprite
    from jsonb_object_keys(a.before) as made_of join library_clips o on o.id = made_of::bigint
    where o.sprite is not null and c.first_frame >= o.first_frame and c.first_frame < o.end_frame
    limit 1) as sheet on true
where c.source_id = %(source)s and c.live
order by c.first_frame limit %(limit)s;

-- name: count_tiles
select count(*) as number from library_clips where source_id = %(source)s and live;

-- name: clips
-- Live ones, newest first; with `only`, that one, live or not.
with page as (
    select c.* from library_clips c join library_sources s on s.id = c.source_id
    where (case when %(only)s::bigint is null then c.live else c.id = %(only)s end)
      and (%(states)s::text[] is null or c.state = any(%(states)s))
      and (%(source)s::bigint is null or c.source_id = %(source)s)
      and (%(event)s::text is null or s.event_id = %(event)s)
      and (prefix_query(%(q)s) is null or s.words @@ prefix_query(%(q)s))
      and (%(before)s::bigint is null or c.id < %(before)s)
    order by c.id desc limit %(limit)s)
select page.id, page.source_id, page.first_frame, page.end_frame, page.state, page.live, page.grouped_with, page.settles_at,
    page.reviewed_by, page.reviewed_at, page.created_at, page.changed_at, page.error_kind, page.error, page.failures,
    page.retry_at, page.progress, page.has_file, s.title, s.facts, s.event_id, s.frames, s.rate_num, s.rate_den, s.file_md5,
    s.film_deleted_at, sheet.id as sheet_clip, sheet.first_frame as sheet_first, sheet.end_frame as sheet_end,
    sheet.sprite as sheet_sprite
from page
join library_sources s on s.id = page.source_id
left join library_actions a on a.id = page.made_by and page.sprite is null
left join lateral (
    select page.id, page.first_frame, page.end_frame, page.sprite where page.sprite is not null
    union all
    select o.id, o.first_frame, o.end_frame, o.sprite
    from jsonb_object_keys(a.before) as made_of join library_clips o on o.id = made_of::bigint
    where o.sprite is not null and page.first_frame >= o.first_frame and page.first_frame < o.end_frame
    limit 1) as sheet on true
order by page.id desc;

-- name: related
-- Keyframes, models, group and neighbours of one clip.
select
    coalesce((
        select jsonb_agg(jsonb_build_object(
            'number', k.number, 'frame', k.frame, 'chosen_by', k.chosen_by, 'width', k.width, 'height', k.height)
            order by k.number)
        from library_keyframes k where k.clip_id = c.id), '[]') as keyframes,
    coalesce((
        select jsonb_agg(left(name, -8) order by name) from jsonb_each_text(to_jsonb(e)) as each (name, version)
        where name like '%%\_version' and version is not null), '[]') as models,
    array(
        select g.id from library_clips g
        where g.live and g.id <> c.id and (g.id = c.grouped_with or g.grouped_with = c.id
            or g.grouped_with = c.grouped_with) and g.state <> all(%(archived)s)
        order by g.id) as grouped,
    (select n.id from library_clips n
        where n.source_id = c.source_id and n.live and n.end_frame = c.first_frame) as before,
    (select n.id from library_clips n
        where n.source_id = c.source_id and n.live and n.first_frame = c.end_frame) as after,
    array(
        select o.id from library_clips o
        where not c.live and o.source_id = c.source_id and o.live
          and o.first_frame < c.end_frame and o.end_frame > c.first_frame
        order by o.first_frame) as parts
from library_clips c
left join library_embeddings e on e.clip_id = c.id
where c.id = %(id)s;

-- name: duplicates
-- Live clips that match one clip's fingerprint, or that have a verdict with it.
with others as (
    select other as id, true as looks_alike from library_duplicates where one = %(id)s
    union all
    select one, true from library_duplicates where other = %(id)s
    union all
    select other, false from library_verdicts where one = %(id)s
    union all
    select one, false from library_verdicts where other = %(id)s
), likely as (
    select id, bool_or(looks_alike) as looks_alike from others group by id)
select o.id, o.source_id, s.title, o.state, s.facts, s.file_md5, l.looks_alike, v.same, v.said_by, v.said_at,
    o.id as sheet_clip, o.first_frame as sheet_first, o.end_frame as sheet_end, o.sprite as sheet_sprite
from likely l
join library_clips o on o.id = l.id and o.live
join library_sources s on s.id = o.source_id
left join library_verdicts v on v.one = least(%(id)s, o.id) and v.other = greatest(%(id)s, o.id)
order by o.id;

-- name: totals
select
    coalesce((
        select jsonb_object_agg(state, number)
        from (select state, count(*) as number from library_sources group by state) as each), '{}') as sources,
    coalesce((
        select jsonb_object_agg(state, number)
        from (select state, count(*) as number from library_sources where facts ->> 'withdrawn' = 'true'
            group by state) as each), '{}') as withdrawn,
    coalesce((
        select jsonb_object_agg(state, number)
        from (select state, count(*) as number from library_clips where live group by state) as each), '{}') as clips;

-- name: pending_deletions
-- Objects that no row refers to, the longest waiting first.
select key, asked_at, tries, error from library_deletions order by asked_at, key limit %(limit)s;
