-- What the library's pages and its API show, as text that nobody takes apart on its way out.

-- name: sources
-- The newest first; with `only`, that one.
with page as (
    select s.* from library_sources s
    where (%(only)s::bigint is null or s.id = %(only)s)
      and (%(states)s::text[] is null or s.state = any(%(states)s))
      and (%(kind)s::text is null or s.kind = %(kind)s)
      and (%(event)s::text is null or s.event_id = %(event)s)
      and (beginning_with(%(q)s) is null or s.words @@ beginning_with(%(q)s))
      and (%(id)s::bigint is null or s.id < %(id)s)
    order by s.id desc limit %(limit)s)
select page.id, json_build_object(
    'id', page.id,
    'kind', page.kind,
    'state', page.state,
    'title', page.title,
    'facts', page.facts,
    'event_id', page.event_id,
    -- A query or a user's name may be somebody's key.
    'url', regexp_replace(page.url, '^(https?://)([^/@]*@)?([^?#]*).*$', '\1\3'),
    'progress', page.progress,
    'error', case when page.error_kind is not null then json_build_object(
        'class', page.error_kind, 'message', page.error, 'failures', page.failures, 'retry_at', page.retry_at) end,
    'submitted_by', page.submitted_by,
    'created_at', page.created_at,
    'changed_at', page.changed_at,
    'film', case when page.frames is not null then json_build_object(
        'url', case when page.film_deleted_at is null then '/s/' || page.id || '.mp4?v=' || left(page.file_md5, 8) end,
        'deleted_at', page.film_deleted_at,
        'frames', page.frames, 'rate', round(page.rate_num::numeric / page.rate_den, 3),
        'seconds', round(page.frames::numeric * page.rate_den / page.rate_num, 3),
        'width', page.width, 'height', page.height, 'audio', page.audio, 'size', page.file_size) end,
    'clips', coalesce((
        select json_object_agg(state, number) from (
            select c.state, count(*) as number from library_clips c
            where c.source_id = page.id and c.live group by c.state) as counted), '{}'),
    'sheet', (
        select json_build_object(
            'clip', c.id,
            'url', '/c/' || c.id || '.webp?v=' || left(page.file_md5, 8) || '-' || c.first_frame || '-' || c.end_frame,
            'first', c.first_frame, 'columns', c.sprite -> 'columns', 'rows', c.sprite -> 'rows',
            'width', c.sprite -> 'width', 'height', c.sprite -> 'height', 'count', c.sprite -> 'count',
            'every', c.sprite -> 'every')
        from library_clips c where c.source_id = page.id and c.live and c.sprite is not null
        order by c.first_frame limit 1)
    )::text as document
from page order by page.id desc;

-- name: tiles
-- Of one source, in their order.
select json_build_object(
    'id', c.id,
    'first', c.first_frame,
    'end', c.end_frame,
    'state', c.state,
    'group', c.grouped_with,
    'reviewed_by', c.reviewed_by,
    'reviewed_at', c.reviewed_at,
    'settles_at', c.settles_at,
    'error', c.error_kind,
    'sheet', case when p.sprite is not null then json_build_object(
        'clip', p.id,
        'url', '/c/' || p.id || '.webp?v=' || left(s.file_md5, 8) || '-' || p.first_frame || '-' || p.end_frame,
        'first', p.first_frame, 'columns', p.sprite -> 'columns', 'rows', p.sprite -> 'rows',
        'width', p.sprite -> 'width', 'height', p.sprite -> 'height', 'count', p.sprite -> 'count',
        'every', p.sprite -> 'every') end
    )::text as document
from library_clips c
join library_sources s on s.id = c.source_id
left join library_actions a on a.id = c.made_by and c.sprite is null
left join lateral (
    -- Its own sheet; before there is one, that of the clip that it was made of.
    select c.id, c.first_frame, c.end_frame, c.sprite where c.sprite is not null
    union all
    select o.id, o.first_frame, o.end_frame, o.sprite
    from jsonb_object_keys(a.before) as made_of join library_clips o on o.id = made_of::bigint
    where o.sprite is not null and c.first_frame >= o.first_frame and c.first_frame < o.end_frame
    limit 1) as p on true
where c.source_id = %(source)s and c.live
order by c.first_frame limit %(limit)s;

-- name: count_tiles
select count(*) as number from library_clips where source_id = %(source)s and live;

-- name: clips
-- The newest first; with `only`, that one, whether it is a tile or not.
with page as (
    select c.* from library_clips c join library_sources s on s.id = c.source_id
    where (case when %(only)s::bigint is null then c.live else c.id = %(only)s end)
      and (%(states)s::text[] is null or c.state = any(%(states)s))
      and (%(source)s::bigint is null or c.source_id = %(source)s)
      and (%(event)s::text is null or s.event_id = %(event)s)
      and (beginning_with(%(q)s) is null or s.words @@ beginning_with(%(q)s))
      and (%(id)s::bigint is null or c.id < %(id)s)
    order by c.id desc limit %(limit)s)
select page.id, json_build_object(
    'id', page.id,
    'source', page.source_id,
    'title', s.title,
    'facts', s.facts,
    'event_id', s.event_id,
    'first', page.first_frame,
    'end', page.end_frame,
    'frames', page.end_frame - page.first_frame,
    'rate', round(s.rate_num::numeric / s.rate_den, 3),
    'starts', round(page.first_frame::numeric * s.rate_den / s.rate_num, 3),
    'seconds', round((page.end_frame - page.first_frame)::numeric * s.rate_den / s.rate_num, 3),
    'state', page.state,
    'live', page.live,
    'group', page.grouped_with,
    'settles_at', page.settles_at,
    'reviewed_by', page.reviewed_by,
    'reviewed_at', page.reviewed_at,
    'created_at', page.created_at,
    'changed_at', page.changed_at,
    'error', case when page.error_kind is not null then json_build_object(
        'class', page.error_kind, 'message', page.error, 'failures', page.failures, 'retry_at', page.retry_at) end,
    'file', case
        when page.state in ('cleaning', 'cleaning_failed', 'archived') then null
        when page.has_file or (page.first_frame = 0 and page.end_frame = s.frames) then
            '/c/' || page.id || '.mp4?v=' || left(s.file_md5, 8) || '-' || page.first_frame || '-' || page.end_frame
        end,
    'film', case when s.film_deleted_at is null then '/s/' || s.id || '.mp4?v=' || left(s.file_md5, 8) end,
    'sheet', case when p.sprite is not null then json_build_object(
        'clip', p.id,
        'url', '/c/' || p.id || '.webp?v=' || left(s.file_md5, 8) || '-' || p.first_frame || '-' || p.end_frame,
        'first', p.first_frame, 'columns', p.sprite -> 'columns', 'rows', p.sprite -> 'rows',
        'width', p.sprite -> 'width', 'height', p.sprite -> 'height', 'count', p.sprite -> 'count',
        'every', p.sprite -> 'every') end
    )::text as document
from page
join library_sources s on s.id = page.source_id
left join library_actions a on a.id = page.made_by and page.sprite is null
left join lateral (
    select page.id, page.first_frame, page.end_frame, page.sprite where page.sprite is not null
    union all
    select o.id, o.first_frame, o.end_frame, o.sprite
    from jsonb_object_keys(a.before) as made_of join library_clips o on o.id = made_of::bigint
    where o.sprite is not null and page.first_frame >= o.first_frame and page.first_frame < o.end_frame
    limit 1) as p on true
order by page.id desc;

-- name: clip_more
-- What only the page of one clip needs.
with others as (
    select other as id, true as looks_alike from library_pairs where one = %(id)s
    union all
    select one, true from library_pairs where other = %(id)s
    union all
    select other, false from library_verdicts where one = %(id)s
    union all
    select one, false from library_verdicts where other = %(id)s
), likely as (
    select id, bool_or(looks_alike) as looks_alike from others group by id)
select json_build_object(
    'keyframes', coalesce((
        select json_agg(json_build_object(
            'number', k.number, 'frame', k.frame, 'chosen_by', k.chosen_by, 'width', k.width, 'height', k.height,
            'url', '/c/' || c.id || '-' || k.number || '.jpg?v=' || left(s.file_md5, 8) || '-' || k.frame)
            order by k.number)
        from library_keyframes k where k.clip_id = c.id), '[]'),
    'models', coalesce((
        select json_agg(left(name, -8) order by name) from jsonb_each_text(to_jsonb(e)) as each (name, version)
        where name like '%%\_version' and version is not null), '[]'),
    'grouped', coalesce((
        select json_agg(g.id order by g.id) from library_clips g
        where g.live and g.id <> c.id and (g.id = c.grouped_with or g.grouped_with = c.id
            or g.grouped_with = c.grouped_with)
            and g.state not in ('review_archived', 'cleaning', 'archived', 'cleaning_failed')), '[]'),
    'neighbours', json_build_object(
        'before', (select n.id from library_clips n
            where n.source_id = c.source_id and n.live and n.end_frame = c.first_frame),
        'after', (select n.id from library_clips n
            where n.source_id = c.source_id and n.live and n.first_frame = c.end_frame)),
    'parts', coalesce((
        select json_agg(o.id order by o.first_frame) from library_clips o
        where not c.live and o.source_id = c.source_id and o.live
          and o.first_frame < c.end_frame and o.end_frame > c.first_frame), '[]'),
    'copies', coalesce((
        select json_agg(json_build_object(
            'id', o.id, 'source', o.source_id, 'title', os.title, 'state', o.state, 'facts', os.facts,
            'looks_alike', l.looks_alike, 'same', v.same, 'said_by', v.said_by, 'said_at', v.said_at,
            'sheet', case when o.sprite is not null then json_build_object(
                'clip', o.id,
                'url', '/c/' || o.id || '.webp?v=' || left(os.file_md5, 8) || '-' || o.first_frame || '-' || o.end_frame,
                'first', o.first_frame, 'columns', o.sprite -> 'columns', 'rows', o.sprite -> 'rows',
                'width', o.sprite -> 'width', 'height', o.sprite -> 'height', 'count', o.sprite -> 'count',
                'every', o.sprite -> 'every') end) order by o.id)
        from likely l
        join library_clips o on o.id = l.id and o.live
        join library_sources os on os.id = o.source_id
        left join library_verdicts v on v.one = least(c.id, o.id) and v.other = greatest(c.id, o.id)), '[]')
    )::text as document
from library_clips c
join library_sources s on s.id = c.source_id
left join library_embeddings e on e.clip_id = c.id
where c.id = %(id)s;

-- name: totals
select json_build_object(
    'sources', coalesce((
        select json_object_agg(state, number)
        from (select state, count(*) as number from library_sources group by state) as each), '{}'),
    'withdrawn', coalesce((
        select json_object_agg(state, number)
        from (select state, count(*) as number from library_sources where facts ->> 'withdrawn' = 'true'
            group by state) as each), '{}'),
    'clips', coalesce((
        select json_object_agg(state, number)
        from (select state, count(*) as number from library_clips where live group by state) as each), '{}')
    )::text as document;

-- name: leftovers
-- Objects that no row names any more, the longest waiting first.
select key, asked_at, tries, error from library_deletions order by asked_at, key limit %(limit)s;
