-- name: tune
-- For this transaction. The list of candidates is what recall is bought with; with filters, the index is read on until
-- enough has passed them, in an order that is put right afterwards.
select set_config('hnsw.ef_search', %(ef_search)s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.max_scan_tuples', %(most_scanned)s, true), set_config('statement_timeout', %(timeout)s, true);

-- name: by_index
-- The planner knows nothing of what passes a filter, and would rather sort half of the library.
select set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true);

-- name: looking_for
select library_looking_for(%(words)s, %(minutes)s, %(team)s, %(player)s, %(competition)s, %(kind)s)::text as looking;

-- name: by_words
select id
from library_fitting(%(states)s, %(looking)s, %(since)s, %(until)s, %(verified)s, %(sport)s)
order by happened_at desc, event_id, source_id, first_frame
limit %(most)s;

-- name: fitting
-- How many are wanted, or that there are too many to count.
select count(*) as number from (
    select from library_fitting(%(states)s, %(looking)s, %(since)s, %(until)s, %(verified)s, %(sport)s)
    limit %(most)s) as counted;

-- name: near_exactly
-- All that are wanted, one by one.
select e.clip_id, 1 - (e.{vector} <=> %(vector)s::vector) as likeness
from library_fitting(%(states)s, %(looking)s, %(since)s, %(until)s, %(verified)s, %(sport)s) as f
join library_embeddings e on e.clip_id = f.id
where e.{version} = %(version)s
order by e.{vector} <=> %(vector)s::vector, e.clip_id
limit %(most)s;

-- name: near
-- By numbers of half the length, as the index has them: a tenth of a percent of likeness is nothing. More than are
-- wanted, since what the index gives is only nearly in order.
with nearest as materialized (
    select e.clip_id, e.{vector}::halfvec({size}) <=> %(vector)s::halfvec({size}) as distance
    from library_embeddings e
    join library_fitting(%(states)s, %(looking)s, %(since)s, %(until)s, %(verified)s, %(sport)s) as f on f.id = e.clip_id
    where e.{version} = %(version)s
    order by e.{vector}::halfvec({size}) <=> %(vector)s::halfvec({size})
    limit greatest(%(most)s, 100))
select clip_id, 1 - distance as likeness from nearest order by distance, clip_id limit %(most)s;

-- name: vector_of
select c.state, e.{vector}::text as vector
from library_clips c left join library_embeddings e on e.clip_id = c.id and e.{version} = %(version)s
where c.id = %(clip_id)s and c.live;

-- name: connected
-- All clips that are connected with these over others, each step of it once.
with recursive reached as (
    select id from unnest(%(ids)s::bigint[]) as id
    union
    select c.id
    from reached r
    join lateral (
        select other as id from library_pairs where one = r.id
        union all select one from library_pairs where other = r.id
        union all select other from library_verdicts where one = r.id and same
        union all select one from library_verdicts where other = r.id and same) as next on true
    join library_clips c on c.id = next.id and c.live and c.state = any(%(states)s))
select id from reached limit %(most)s;

-- name: links
select one, other, null::boolean as same from library_pairs where one = any(%(ids)s) and other = any(%(ids)s)
union all
select one, other, same from library_verdicts where one = any(%(ids)s) and other = any(%(ids)s);

-- name: clips
select c.id, c.source_id, c.first_frame, c.end_frame, c.state, c.sprite is not null as has_sheet, s.title, s.facts,
    s.event_id, s.rate_num, s.rate_den, s.width, s.height,
    (select min(k.number) from library_keyframes k where k.clip_id = c.id) as keyframe
from library_clips c join library_sources s on s.id = c.source_id
where c.id = any(%(ids)s) and c.live;
