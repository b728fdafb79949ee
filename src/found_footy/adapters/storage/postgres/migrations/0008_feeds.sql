-- Several feeds for one match, and a second sport.

alter table fixtures
    add column sport text not null default 'football' check (sport in ('football', 'cricket')),
    add column home_short text,
    add column away_short text,
    add column venue text,
    add column innings jsonb not null default '[]',
    add column toss jsonb,
    add column last_event jsonb,
    add column details jsonb not null default '{}',
    add column origins jsonb not null default '{}';

comment on column fixtures.origins is
    'For each field which feed said it, when, how sure it was, and what the others said.';
comment on column fixtures.home_goals is
    'Goals; in cricket the wickets that the side has taken, the runs are in innings.';

alter table events
    add column innings int,
    add column feeds text[] not null default '{}';

-- Which match of which feed is which of ours. A match is founded by the first feed that lists it, and has its ids.
create table listings (
    feed text not null,
    feed_id bigint not null,
    fixture_id bigint not null references fixtures on delete cascade,
    founding boolean not null,
    swapped boolean not null default false,
    confidence real not null default 1,
    reasons text[] not null default '{}',
    joined_at timestamptz not null,
    primary key (feed, feed_id),
    unique (fixture_id, feed)
);

insert into listings (feed, feed_id, fixture_id, founding, joined_at)
select feed, id, id, true, added_at from fixtures;


-- Pairings that were not made because they are not certain; an operator decides.
create table doubtful_pairings (
    feed text not null,
    feed_id bigint not null,
    fixture_id bigint not null references fixtures on delete cascade,
    home text not null,
    away text not null,
    kickoff timestamptz not null,
    competition text not null,
    swapped boolean not null default false,
    confidence real not null,
    reasons text[] not null,
    first_seen timestamptz not null,
    last_seen timestamptz not null,
    same boolean,
    decided_at timestamptz,
    primary key (feed, feed_id, fixture_id)
);

-- Feeds that said different things of one match. One row a field and set of words; how often and how long.
create table contradictions (
    fixture_id bigint not null references fixtures on delete cascade,
    field text not null,
    said jsonb not null,
    chosen text not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    polls int not null default 1,
    primary key (fixture_id, field, said)
);
create index contradictions_by_time on contradictions (last_at);

create or replace function event_document(e events) returns jsonb language sql stable as $$
    select jsonb_build_object(
        '_event_id', e.id,
        'status', event_status(e),
        'time', jsonb_build_object('elapsed', e.elapsed, 'extra', e.extra, 'innings', e.innings),
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
        '_feeds', to_jsonb(e.feeds),
        -- A withdrawn goal has no clips to show, whatever had been found of it.
        '_s3_videos', case when e.removed_at is null then videos_of(e.id) else '[]' end,
        '_attributions', coalesce((
            select jsonb_agg(jsonb_build_object('at', a.at, 'poll_id', a.poll_id, 'changed', a.changed) order by a.at)
            from event_attributions a where a.event_id = e.id), '[]')
    )
$$;

create or replace function fixture_document(f fixtures) returns jsonb language sql stable as $$
    select jsonb_build_object(
        '_id', f.id,
        'feed', f.feed,
        'sport', f.sport,
        'stage', f.stage,
        'fixture', jsonb_build_object(
            'id', f.id, 'date', f.kickoff,
            'status', jsonb_build_object('short', f.status, 'elapsed', f.elapsed, 'extra', f.extra)),
        'league', jsonb_build_object(
            'id', f.league_id, 'name', f.league_name, 'country', f.country, 'season', f.season, 'round', f.round),
        'teams', jsonb_build_object(
            'home', jsonb_build_object('id', f.home_id, 'name', f.home_name, 'short', f.home_short),
            'away', jsonb_build_object('id', f.away_id, 'name', f.away_name, 'short', f.away_short)),
        'goals', jsonb_build_object('home', f.home_goals, 'away', f.away_goals),
        'score', jsonb_build_object(
            'penalty', jsonb_build_object('home', f.home_penalties, 'away', f.away_penalties)),
        'innings', f.innings,
        'toss', f.toss,
        'venue', f.venue,
        'last_event', f.last_event,
        'details', f.details,
        '_feeds', coalesce((
            select jsonb_agg(jsonb_build_object('feed', l.feed, 'id', l.feed_id, 'founding', l.founding)
                order by l.founding desc, l.feed)
            from listings l where l.fixture_id = f.id), '[]'),
        'activated_at', f.activated_at,
        'completed_at', f.completed_at,
        'last_poll_at', f.last_poll_at,
        'error', case when f.error_kind is not null then jsonb_build_object(
            'class', f.error_kind, 'message', f.error_message, 'at', f.error_at) end,
        'events', coalesce((
            select jsonb_agg(event_document(e) order by e.innings nulls first, e.elapsed, e.extra nulls first, e.first_seen, e.id)
            from events e where e.fixture_id = f.id), '[]')
    )
$$;
