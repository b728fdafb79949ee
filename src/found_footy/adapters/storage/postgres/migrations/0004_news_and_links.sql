-- What readers need: news in an order that nobody can miss, links that outlive their clips, and a plain status.

-- Ids are handed out before they are committed, so a reader that remembers an id can overtake a transaction that is
-- still open. Positions are given afterwards, to rows that everybody can see, by one reader at a time.
alter table outbox drop column transaction_id, add column position bigint;
create unique index outbox_by_position on outbox (position);
create index outbox_without_place on outbox (id) where position is null;

create table outbox_places (
    id boolean primary key default true check (id),  -- one row
    last bigint not null default 0
);
insert into outbox_places default values;

create function place_news() returns bigint language plpgsql as $$
declare
    place bigint;
begin
    if not exists (select from outbox where position is null) then
        return (select last from outbox_places);
    end if;
    -- Whoever comes second waits here, and the statement after it sees what the first one has committed.
    select last into place from outbox_places for update;
    with placed as (
        update outbox o set position = place + waiting.number
        from (select id, row_number() over (order by id) as number from outbox where position is null) as waiting
        where o.id = waiting.id
        returning o.position)
    select coalesce(max(position), place) into place from placed;
    update outbox_places set last = place where last <> place;
    return place;
end
$$;

create function tell_of_news() returns trigger language plpgsql as $$
begin
    perform pg_notify('news', '');
    return null;
end
$$;
create trigger outbox_tells after insert on outbox for each statement execute function tell_of_news();

-- A video's public name: short, and the same for good.
alter table videos add column id text not null generated always as (substr(md5(event_id || '/' || md5), 1, 16)) stored;
create unique index videos_by_id on videos (id);
create index videos_in_work on videos (event_id) where state in ('staged', 'checked', 'hashed');
create index candidates_in_work on candidates (event_id) where attempt is not null and md5 is null and loss is null;
create index videos_published on videos (published_at) where state = 'kept';

-- What a link that has ended says; `path` is `v/{video}` or `g/{event}`.
create table ended_links (
    path text primary key,
    reason text not null,
    ended_at timestamptz not null
);

create function event_status(e events) returns text language sql stable as $$
    select case
        when e.removed_at is not null then 'withdrawn'
        when e.stable_at is null then 'validating'
        when e.download_complete then 'complete'
        when exists (select from videos v where v.event_id = e.id and v.state in ('staged', 'checked', 'hashed'))
          or exists (select from candidates c where c.event_id = e.id
                     and c.attempt is not null and c.md5 is null and c.loss is null) then 'extracting'
        else 'watching'
    end
$$;

create or replace function videos_of(event text) returns jsonb language sql stable as $$
    select coalesce(jsonb_agg(jsonb_build_object(
        'id', v.id,
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
                'id', o.id, 'md5', o.md5, 'offset_seconds', o.offset_seconds, 'mirrored', o.mirrored,
                'duration', o.duration, 'file_size', o.file_size) order by o.md5)
            from videos o where o.event_id = v.event_id and o.replaced_by = v.md5), '[]')
    ) order by v.rank), '[]')
    from videos v where v.event_id = event and v.state = 'kept'
$$;

create or replace function event_document(e events) returns jsonb language sql stable as $$
    select jsonb_build_object(
        '_event_id', e.id,
        'status', event_status(e),
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
