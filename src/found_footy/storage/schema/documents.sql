-- Documents in the shape of the seeds, and their five collections as views. Applied again whenever this file changes.

drop view if exists fixtures_staging, fixtures_active, fixtures_completed, fixtures_live, team_aliases;

-- A goal's state as shown to users.
create or replace function event_status(e events) returns text language sql stable as $$
    select case
        when e.removed_at is not null then 'withdrawn'
        when e.stable_at is null then 'validating'
        when e.download_complete then 'complete'
        when exists (select from videos v where v.event_id = e.id and v.state = 'kept') then 'watching'
        when exists (select from videos v where v.event_id = e.id and v.state in ('staged', 'checked', 'hashed'))
          or exists (select from candidates c where c.event_id = e.id
                     and c.attempt is not null and c.md5 is null and c.rejection_reason is null) then 'extracting'
        else 'watching'
    end
$$;

create or replace function candidate_state(c candidates, v videos) returns text language sql immutable as $$
    select case
        when c.rejection_reason is not null or v.state = 'refused' then 'lost'
        when v.state = 'kept' then 'kept'
        when v.state = 'replaced' then 'duplicate'
        when c.md5 is not null then 'checking'
        when c.attempt is not null then 'downloading'
        else 'waiting'
    end
$$;

-- Text of a stored fingerprint, as `Fingerprint.to_text` writes it: dense:<step>:<seconds>=<64 bits>,…
create or replace function fingerprint_text(stored bytea) returns text language sql immutable strict as $$
    with header as (
        select (get_byte(stored, 2) + 256 * get_byte(stored, 3)) / 1000.0 as step,
            get_byte(stored, 4) + 256 * (get_byte(stored, 5) + 256 * get_byte(stored, 6)) as places),
    hashes as (
        select n * step as seconds, 8 + (places + 7) / 8 + 8 * (row_number() over (order by n) - 1)::int as at
        from header, generate_series(0, places - 1) as n
        where get_bit(stored, 8 * (8 + n / 8) + 7 - n % 8) = 1),
    entries as (
        select seconds, (select string_agg(lpad(to_hex(get_byte(stored, at + byte)), 2, '0'), '' order by byte desc)
            from generate_series(0, 7) as byte) as hash
        from hashes)
    select 'dense:' || trim_scale(step) || ':' || coalesce(
        (select string_agg(trim_scale(seconds) || '=' || hash, ',' order by seconds) from entries), '')
    from header
$$;

-- Each document is built in one place, for the views, the API and the command line. The functions return tables, so that
-- the planner can inline them: a list is one plan, not one plan per row, and a part that is switched off costs nothing.

-- Merge two JSON objects as text. Neither may be empty.
create or replace function merge_json(one json, other json) returns text language sql immutable parallel safe as $$
    select left(one::text, -1) || ', ' || substr(other::text, 2)
$$;

-- Clips of a goal: published ones, and copies merged into them.
create or replace function clips_of(event text, with_hashes boolean)
returns table (id text, state text, rank int, clip json) language sql stable as $$
    select v.id, v.state, v.rank, case when with_hashes
        then merge_json(c.clip, json_build_object('perceptual_hash', fingerprint_text(v.fingerprint)))::json else c.clip end
    from videos v
    left join (
        select coalesce(o.replaced_by, o.md5) as md5, json_agg(c.key order by c.posted_at, c.key) as keys,
            (array_agg(c.url order by c.posted_at, c.key) filter (where o.replaced_by is null))[1] as url
        from candidates c join videos o on o.event_id = c.event_id and o.md5 = c.md5
        where c.event_id = event group by 1) as p on p.md5 = v.md5
    left join (
        select o.replaced_by as md5, json_agg(json_build_object(
            'id', o.id, 'md5', o.md5, 'offset_seconds', o.offset_seconds, 'mirrored', o.mirrored,
            'duration', o.duration, 'file_size', o.file_size) order by o.md5) as copies
        from videos o where o.event_id = event and o.replaced_by is not null group by 1) as o on o.md5 = v.md5
    cross join lateral (select json_build_object(
        'id', v.id,
        'md5', v.md5,
        's3_url', '/v/' || v.id,
        '_s3_key', split_part(v.event_id, '_', 1) || '/' || v.event_id || '/' || v.md5 || '.mp4',
        'hash_version', 'dense/1',
        'rank', v.rank,
        'popularity', v.popularity,
        'timestamp_verified', v.status = 'verified',
        'timestamp_status', v.status,
        'extracted_minute', v.minute,
        'reason', v.reason,
        'duration', v.duration,
        'width', v.width,
        'height', v.height,
        'aspect_ratio', v.aspect,
        'resolution_score', v.width * v.height,
        'fps', v.fps,
        'bitrate', v.bit_rate,
        'file_size', v.file_size,
        'published_at', v.published_at,
        'source_url', p.url,
        'source_posts', coalesce(p.keys, '[]'),
        'copies', coalesce(o.copies, '[]')) as clip) as c
    where v.event_id = event and v.state in ('kept', 'replaced')
$$;

-- Workflows, searches and posts of a goal.
create or replace function searches_of(e events) returns table (searches json) language sql stable as $$
    select json_build_object(
        '_monitor_workflows', coalesce(w.monitor, '[]'),
        '_search_workflows', coalesce(w.search, '[]'),
        '_download_workflows', coalesce(w.download, '[]'),
        '_searches', coalesce(s.searches, '[]'),
        '_search_sources', coalesce(n.sources, '{}'),
        '_discovered_videos', coalesce(p.posts, '[]'))
    from (
        select json_agg(workflow_id order by added_at, workflow_id) filter (where kind = 'monitor') as monitor,
            json_agg(workflow_id order by added_at, workflow_id) filter (where kind = 'search') as search,
            json_agg(workflow_id order by added_at, workflow_id) filter (where kind = 'download') as download
        from event_workflows x where x.event_id = e.id) as w
    cross join (
        select json_agg(json_build_object('attempt', attempt, 'at', at, 'sources', sources) order by attempt) as searches
        from (
            select attempt, min(at) as at, json_object_agg(source, case when error_kind is null
                then json_build_object('found', found)
                else json_build_object('error', json_build_object('class', error_kind, 'message', error_message)) end
            ) as sources
            from searches x where x.event_id = e.id group by attempt) as each) as s
    -- Answered and failed searches per source.
    cross join (
        select json_object_agg(source, json_build_object('answered', answered, 'failed', failed)) as sources
        from (
            select source, count(*) filter (where error_kind is null) as answered,
                count(*) filter (where error_kind is not null) as failed
            from searches x where x.event_id = e.id group by source) as each) as n
    cross join (
        select json_agg(json_build_object(
            'key', c.key,
            'source', c.source,
            'url', c.url,
            'author', c.author,
            'text', c.text,
            'posted_at', c.posted_at,
            'found_at', c.found_at,
            'duration', c.duration,
            'attempt', c.attempt,
            'md5', c.md5,
            'state', candidate_state(c, v),
            'loss', coalesce(c.rejection_reason, v.rejection_reason),
            'loss_detail', coalesce(c.rejection_detail, v.rejection_detail),
            'clip', case when v.state = 'kept' then v.md5 else v.replaced_by end
        ) order by c.found_at, c.key) as posts
        from candidates c left join videos v on v.event_id = c.event_id and v.md5 = c.md5
        where c.event_id = e.id) as p
$$;

create or replace function goal_document(e events, with_searches boolean, with_hashes boolean)
returns table (goal json) language sql stable as $$
    select case when with_searches then merge_json(g.goal, s.searches)::json else g.goal end
    from (select json_build_object(
        '_event_id', e.id,
        'status', event_status(e),
        'time', json_build_object('elapsed', e.elapsed, 'extra', e.extra, 'innings', e.innings),
        'team', json_build_object('id', e.team_id, 'name', e.team_name),
        'player', json_build_object('id', e.player_id, 'name', e.player_name),
        'assist', json_build_object('id', e.assist_id, 'name', e.assist_name),
        'type', e.type,
        'detail', e.kind,
        '_scoring_team', e.side,
        '_score_before', json_build_object('home', e.home_before, 'away', e.away_before),
        '_score_after', json_build_object('home', e.home_after, 'away', e.away_after),
        '_first_seen', e.first_seen,
        '_stable_count', e.seen,
        '_missing_count', e.missing,
        '_debounce_complete', e.stable_at is not null,
        '_stable_at', e.stable_at,
        '_removed', e.removed_at is not null,
        '_removed_at', e.removed_at,
        '_removed_reason', e.removed_reason,
        '_monitor_complete', e.monitor_complete,
        '_download_complete', e.download_complete,
        '_twitter_aliases', e.aliases,
        '_search_query', e.search_query,
        '_feeds', e.feeds,
        '_s3_videos', coalesce((
            select json_agg(c.clip order by c.rank) from clips_of(e.id, with_hashes) as c
            where c.state = 'kept' and e.removed_at is null), '[]'),
        '_attributions', coalesce((
            select json_agg(json_build_object('at', a.at, 'poll_id', a.poll_id, 'changed', a.changed) order by a.at)
            from event_attributions a where a.event_id = e.id), '[]')) as goal) as g
    left join lateral searches_of(e) as s on with_searches
$$;

-- The match of a goal.
create or replace function goal_fixture(f fixtures) returns json language sql stable as $$
    select json_build_object(
        'id', f.id, 'home', f.home_name, 'away', f.away_name, 'league', f.league_name, 'date', f.kickoff,
        'stage', f.stage, 'status', f.status, 'sport', f.sport, 'heard_at', f.last_poll_at)
$$;

-- The goal and the links of a clip.
create or replace function clip_goal(e events, f fixtures, clip text) returns json language sql stable as $$
    select json_build_object(
        'event_id', e.id, 'fixture_id', f.id, 'home', f.home_name, 'away', f.away_name, 'player', e.player_name,
        'minute', e.elapsed, 'extra', e.extra, 'innings', e.innings, 'url', '/v/' || clip,
        'poster', '/v/' || clip || '/poster.jpg')
$$;

create or replace function match_document(f fixtures, with_searches boolean, with_hashes boolean)
returns table (match json) language sql stable as $$
    select json_build_object(
        '_id', f.id,
        'feed', f.feed,
        'sport', f.sport,
        'stage', f.stage,
        'fixture', json_build_object(
            'id', f.id, 'date', f.kickoff,
            'status', json_build_object('short', f.status, 'elapsed', f.elapsed, 'extra', f.extra)),
        'league', json_build_object(
            'id', f.league_id, 'name', f.league_name, 'country', f.country, 'season', f.season, 'round', f.round),
        'teams', json_build_object(
            'home', json_build_object('id', f.home_id, 'name', f.home_name, 'short', f.home_short),
            'away', json_build_object('id', f.away_id, 'name', f.away_name, 'short', f.away_short)),
        'goals', json_build_object('home', f.home_goals, 'away', f.away_goals),
        'score', json_build_object(
            'penalty', json_build_object('home', f.home_penalties, 'away', f.away_penalties)),
        'innings', f.innings,
        'toss', f.toss,
        'venue', f.venue,
        'last_event', f.last_event,
        'details', f.details,
        '_feeds', coalesce((
            select json_agg(json_build_object('feed', l.feed, 'id', l.feed_id, 'founding', l.founding)
                order by l.founding desc, l.feed)
            from listings l where l.fixture_id = f.id), '[]'),
        'activated_at', f.activated_at,
        'completed_at', f.completed_at,
        'last_poll_at', f.last_poll_at,
        'error', case when f.error_kind is not null then json_build_object(
            'class', f.error_kind, 'message', f.error_message, 'at', f.error_at) end,
        'events', coalesce((
            select json_agg(g.goal order by e.innings nulls first, e.elapsed, e.extra nulls first, e.first_seen, e.id)
            from events e cross join lateral goal_document(e, with_searches, with_hashes) as g where e.fixture_id = f.id), '[]'))
$$;

-- Age of a match's data; null unless the match is polled.
create or replace function fixture_freshness(f fixtures, at timestamptz, stale_after double precision, over_statuses text[]) returns json
language sql stable as $$
    select json_build_object('heard_at', f.last_poll_at, 'age_seconds', a.age, 'stale', coalesce(a.age > stale_after, false))
    from (select case
        when f.stage = 'active' and f.status <> all(over_statuses) and f.kickoff <= at
        then round(greatest(0, extract(epoch from at - coalesce(f.last_poll_at, f.kickoff)))::numeric, 1)
        end as age) as a
$$;

create or replace function fixture_document(f fixtures) returns jsonb language sql stable as $$
    select match::jsonb from match_document(f, with_searches => true, with_hashes => true)
$$;

create view fixtures_staging as
    select f.id as _id, fixture_document(f) as document from fixtures f where f.stage = 'staging';

create view fixtures_active as
    select f.id as _id, fixture_document(f) as document from fixtures f where f.stage = 'active';

create view fixtures_completed as
    select f.id as _id, fixture_document(f) as document from fixtures f where f.stage = 'completed';

create view fixtures_live as
    select fixture_id as _id, poll_id, stored_at, raw as document from live_snapshots;

create view team_aliases as
    select team_id as _id, team_name, aliases, resolved_at from known_team_aliases;
