-- From a certain goal to its clips: what was searched, what was found, and what became of it.

alter table events
    add column searched_at timestamptz,     -- the search's last sign of life
    add column search_query text,
    add column aliases text[] not null default '{}';

-- Each search of each source: an answer, or the reason why there was none.
create table searches (
    event_id text not null references events on delete cascade,
    attempt int not null check (attempt > 0),
    source text not null,
    at timestamptz not null,
    found int,
    error_kind text,
    error_message text,
    primary key (event_id, attempt, source),
    check ((found is null) = (error_kind is not null))
);

-- Each file of an event, known by its content: from staging to a clip, a copy of one, or a refusal.
create table videos (
    event_id text not null references events on delete cascade,
    md5 text not null check (md5 ~ '^[0-9a-f]{32}$'),
    state text not null check (state in ('staged', 'checked', 'hashed', 'kept', 'replaced', 'refused')),
    duration double precision not null,
    width int not null,
    height int not null,
    aspect double precision not null,
    fps double precision not null,
    bit_rate bigint not null,
    file_size bigint not null,
    codec text not null,
    status text check (status in ('verified', 'unverified', 'rejected')),
    reason text,
    minute int,
    proof jsonb,
    fingerprint bytea,
    loss text,
    loss_detail text,
    replaced_by text,
    offset_seconds double precision,
    mirrored boolean not null default false,
    popularity int not null default 0,
    rank int,
    staged_at timestamptz not null,
    published_at timestamptz,
    primary key (event_id, md5),
    foreign key (event_id, replaced_by) references videos (event_id, md5) deferrable initially deferred,
    check ((state = 'replaced') = (replaced_by is not null)),
    check ((state = 'refused') = (loss is not null)),
    check ((state = 'kept') = (rank is not null)),
    check (state in ('staged', 'refused') or status in ('verified', 'unverified')),
    check (state not in ('hashed', 'kept', 'replaced') or fingerprint is not null)
);
create unique index videos_have_one_rank_each on videos (event_id, rank) where rank is not null;

-- Each post that was found. Its end is its own loss, or that of its file.
create table candidates (
    event_id text not null references events on delete cascade,
    key text not null,
    source text not null,
    url text not null,
    media_url text not null,
    author text not null,
    text text not null,
    posted_at timestamptz not null,
    found_at timestamptz not null,
    duration double precision,
    attempt int,
    md5 text,
    loss text,
    loss_detail text,
    primary key (event_id, key),
    foreign key (event_id, md5) references videos (event_id, md5) deferrable initially deferred,
    check (loss is null or md5 is null)
);
create index candidates_by_content on candidates (event_id, md5);

create function videos_of(event text) returns jsonb language sql stable as $$
    select coalesce(jsonb_agg(jsonb_build_object(
        'md5', v.md5,
        '_s3_key', split_part(v.event_id, '_', 1) || '/' || v.event_id || '/' || v.md5 || '.mp4',
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
        'source_url', (
            select c.url from candidates c where c.event_id = v.event_id and c.md5 = v.md5
            order by c.posted_at, c.key limit 1),
        'source_posts', coalesce((
            select jsonb_agg(c.key order by c.posted_at, c.key)
            from candidates c join videos o on o.event_id = c.event_id and o.md5 = c.md5
            where c.event_id = v.event_id and coalesce(o.replaced_by, o.md5) = v.md5), '[]'),
        'copies', coalesce((
            select jsonb_agg(jsonb_build_object(
                'md5', o.md5, 'offset_seconds', o.offset_seconds, 'mirrored', o.mirrored, 'duration', o.duration,
                'file_size', o.file_size) order by o.md5)
            from videos o where o.event_id = v.event_id and o.replaced_by = v.md5), '[]')
    ) order by v.rank), '[]')
    from videos v where v.event_id = event and v.state = 'kept'
$$;

create function candidate_state(c candidates, v videos) returns text language sql immutable as $$
    select case
        when c.loss is not null or v.state = 'refused' then 'lost'
        when v.state = 'kept' then 'kept'
        when v.state = 'replaced' then 'duplicate'
        when c.md5 is not null then 'checking'
        when c.attempt is not null then 'downloading'
        else 'waiting'
    end
$$;

create function candidates_of(event text) returns jsonb language sql stable as $$
    select coalesce(jsonb_agg(jsonb_build_object(
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
        'loss', coalesce(c.loss, v.loss),
        'loss_detail', coalesce(c.loss_detail, v.loss_detail),
        'clip', case when v.state = 'kept' then v.md5 else v.replaced_by end
    ) order by c.found_at, c.key), '[]')
    from candidates c left join videos v on v.event_id = c.event_id and v.md5 = c.md5
    where c.event_id = event
$$;

create function searches_of(event text) returns jsonb language sql stable as $$
    select coalesce(jsonb_agg(jsonb_build_object(
        'attempt', attempt, 'at', at, 'sources', sources) order by attempt), '[]')
    from (
        select attempt, min(at) as at, jsonb_object_agg(source, case when error_kind is null
            then jsonb_build_object('found', found)
            else jsonb_build_object('error', jsonb_build_object('class', error_kind, 'message', error_message)) end
        ) as sources
        from searches where event_id = event group by attempt) as each
$$;

create or replace function event_document(e events) returns jsonb language sql stable as $$
    select jsonb_build_object(
        '_event_id', e.id,
        'time', jsonb_build_object('elapsed', e.elapsed, 'extra', e.extra),
        'team', jsonb_build_object('id', e.team_id, 'name', e.team_name),
        'player', jsonb_build_object('id', e.player_id, 'name', e.player_name),
        'assist', jsonb_build_object('id', e.assist_id, 'name', e.assist_name),
        'type', e.type,
        'detail', e.kind,
        '_scoring_team', e.side,
        '_score_before', jsonb_build_object('home', e.home_before, 'away', e.away_before),
        '_score_after', jsonb_build_object('home', e.home_after, 'away', e.away_after),
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
        '_monitor_workflows', workflows_of(e.id, 'monitor'),
        '_search_workflows', workflows_of(e.id, 'search'),
        '_download_workflows', workflows_of(e.id, 'download'),
        '_twitter_aliases', to_jsonb(e.aliases),
        '_search_query', e.search_query,
        '_searches', searches_of(e.id),
        '_discovered_videos', candidates_of(e.id)
    ) || jsonb_build_object(
        -- A withdrawn goal has no clips to show, whatever had been found of it.
        '_s3_videos', case when e.removed_at is null then videos_of(e.id) else '[]' end,
        '_attributions', coalesce((
            select jsonb_agg(jsonb_build_object('at', a.at, 'poll_id', a.poll_id, 'changed', a.changed) order by a.at)
            from event_attributions a where a.event_id = e.id), '[]')
    )
$$;
