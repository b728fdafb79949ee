-- name: tune
-- For this transaction. A longer candidate list buys recall; with filters, the index scan continues until enough entries
-- have passed them, in relaxed order, which is corrected afterwards.
select set_config('hnsw.ef_search', %(ef_search)s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.max_scan_tuples', %(max_scanned)s, true), set_config('statement_timeout', %(timeout)s, true);

-- name: use_index
-- The planner cannot estimate what passes a filter, and would sort half of the library.
select set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true);

-- name: parse_text
select library_search_query(%(words)s, %(minutes)s, %(team)s, %(player)s, %(competition)s, %(kind)s)::text as query;

-- name: matching
select id
from library_matching(%(states)s, %(query)s, %(since)s, %(until)s, %(verified)s, %(sport)s, %(source)s)
order by happened_at desc, event_id, source_id, first_frame
limit %(limit)s;

-- name: count_matching
-- Counted up to the limit.
select count(*) as number from (
    select from library_matching(%(states)s, %(query)s, %(since)s, %(until)s, %(verified)s, %(sport)s, %(source)s)
    limit %(limit)s) as counted;

-- name: nearest_exact
-- Compares all matching vectors.
select e.clip_id, 1 - (e.{vector} <=> %(vector)s::vector) as similarity
from library_matching(%(states)s, %(query)s, %(since)s, %(until)s, %(verified)s, %(sport)s, %(source)s) as f
join library_embeddings e on e.clip_id = f.id
where e.{version} = %(version)s
order by e.{vector} <=> %(vector)s::vector, e.clip_id
limit %(limit)s;

-- name: nearest
-- By half-precision vectors, as in the index: it changes similarity by a tenth of a percent. Reads more than the limit,
-- since the index returns them only nearly in order.
with nearest as materialized (
    select e.clip_id, e.{vector}::halfvec({size}) <=> %(vector)s::halfvec({size}) as distance
    from library_embeddings e
    join library_matching(%(states)s, %(query)s, %(since)s, %(until)s, %(verified)s, %(sport)s, %(source)s) as f on f.id = e.clip_id
    where e.{version} = %(version)s
    order by e.{vector}::halfvec({size}) <=> %(vector)s::halfvec({size})
    limit greatest(%(limit)s, 100))
select clip_id, 1 - distance as similarity from nearest order by distance, clip_id limit %(limit)s;

-- name: vector
select c.state, e.{vector}::text as vector
from library_clips c left join library_embeddings e on e.clip_id = c.id and e.{version} = %(version)s
where c.id = %(clip_id)s and c.live;

-- name: connected
-- All clips that are connected with these, directly or through others.
with recursive reached as (
    select id from unnest(%(ids)s::bigint[]) as id
    union
    select c.id
    from reached r
    join lateral (
        select other as id from library_duplicates where one = r.id
        union all select one from library_duplicates where other = r.id
        union all select other from library_verdicts where one = r.id and same
        union all select one from library_verdicts where other = r.id and same) as next on true
    join library_clips c on c.id = next.id and c.live and c.state = any(%(states)s))
select id from reached limit %(limit)s;

-- name: links
select one, other, null::boolean as same from library_duplicates where one = any(%(ids)s) and other = any(%(ids)s)
union all
select one, other, same from library_verdicts where one = any(%(ids)s) and other = any(%(ids)s);

-- name: clips
select c.id, c.source_id, c.first_frame, c.end_frame, c.state, c.sprite is not null as has_sheet, s.title, s.facts,
    s.event_id, s.rate_num, s.rate_den, s.width, s.height,
    (select min(k.number) from library_keyframes k where k.clip_id = c.id) as keyframe
from library_clips c join library_sources s on s.id = c.source_id
where c.id = any(%(ids)s) and c.live;
