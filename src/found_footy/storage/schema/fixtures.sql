-- Fixtures, their events (goals and wickets), team aliases and the follow list.

create table fixtures (
    id bigint primary key,
    feed text not null,
    stage text not null check (stage in ('staging', 'active', 'completed')),
    status text not null,
    elapsed int,
    extra int,
    kickoff timestamptz not null,
    league_id bigint not null,
    league_name text not null,
    country text,
    season int,
    round text,
    home_id bigint not null,
    home_name text not null,
    away_id bigint not null,
    away_name text not null,
    home_goals int check (home_goals >= 0),
    away_goals int check (away_goals >= 0),
    home_penalties int check (home_penalties >= 0),
    away_penalties int check (away_penalties >= 0),
    added_at timestamptz not null,
    activated_at timestamptz,
    completed_at timestamptz,
    staging_polled_at timestamptz,
    last_poll_id text,
    last_poll_at timestamptz,
    over_since timestamptz,
    over_polls int not null default 0,
    error_kind text,
    error_message text,
    error_at timestamptz,
    sport text not null default 'football' check (sport in ('football', 'cricket')),
    home_short text,
    away_short text,
    venue text,
    innings jsonb not null default '[]',
    toss jsonb,
    last_event jsonb,
    details jsonb not null default '{}',
    origins jsonb not null default '{}',
    clock_moved_at timestamptz,
    -- t: a team of the match, c: its competition
    words tsvector not null generated always as (
        labelled_words('t', home_name) || labelled_words('t', away_name) || labelled_words('c', league_name || ' ' || coalesce(country, ''))) stored,
    check (stage <> 'active' or activated_at is not null),
    check (stage <> 'completed' or completed_at is not null)
);
create index fixtures_by_stage on fixtures (stage, kickoff);
create index fixtures_by_kickoff on fixtures (kickoff);
create index fixtures_by_words on fixtures using gin (words);

comment on table fixtures is
    'One row per match. The stage is a column, so a match is in exactly one stage at every moment.';
comment on column fixtures.home_goals is
    'Goals; in cricket the wickets that the side has taken. The runs are in innings.';
comment on column fixtures.origins is
    'Per field: the feed it came from, when, with which confidence, and what the other feeds reported.';
comment on column fixtures.clock_moved_at is
    'When the match clock last moved or the status changed. Detects a feed that keeps repeating the same response.';

-- The raw response of the last poll, overwritten by the next. Fixtures and events are only updated in place.
create table live_snapshots (
    fixture_id bigint primary key references fixtures on delete cascade,
    poll_id text not null,
    stored_at timestamptz not null,
    raw jsonb not null
);

create table events (
    id text primary key,
    fixture_id bigint not null references fixtures on delete cascade,
    team_id bigint not null,
    team_name text not null,
    side text not null check (side in ('home', 'away')),
    player_id bigint,
    player_name text,
    assist_id bigint,
    assist_name text,
    type text not null,
    kind text not null,
    elapsed int not null,
    extra int,
    seq int not null check (seq > 0),
    home_before int not null,
    away_before int not null,
    home_after int not null,
    away_after int not null,
    first_seen timestamptz not null,
    seen int not null,
    missing int not null,
    stable_at timestamptz,
    removed_at timestamptz,
    removed_reason text,
    monitor_complete boolean not null default false,
    download_complete boolean not null default false,
    searched_at timestamptz,
    search_query text,
    aliases text[] not null default '{}',
    innings int,
    feeds text[] not null default '{}',
    -- p: the scorer, s: the side that scored, and the words of the match, so that `salah city` is one index lookup
    words tsvector not null default '',
    check (home_after + away_after = home_before + away_before + 1),
    check (not monitor_complete or stable_at is not null),
    check ((removed_at is null) = (removed_reason is null))
);
create index events_by_fixture on events (fixture_id);
create index events_waiting_for_search on events (id)
    where stable_at is not null and not download_complete;
create index events_by_words on events using gin (words);
create index events_by_first_sight on events (first_seen, id);

comment on column events.searched_at is 'Last activity of the search; a search without any is restarted.';

create function event_search_vector(e events) returns tsvector language sql stable as $$
    select labelled_words('p', coalesce(e.player_name, '')) || labelled_words('s', e.team_name) || f.words
    from fixtures f where f.id = e.fixture_id
$$;

create function set_event_words() returns trigger language plpgsql as $$
begin
    new.words := coalesce(event_search_vector(new), '');
    return new;
end
$$;
create trigger events_insert_words before insert on events for each row execute function set_event_words();
create trigger events_update_words before update on events for each row
    when (old.player_name is distinct from new.player_name or old.team_name <> new.team_name)
    execute function set_event_words();

create function refresh_event_words() returns trigger language plpgsql as $$
begin
    update events e set words = event_search_vector(e) where e.fixture_id = new.id;
    return null;
end
$$;
create trigger fixtures_refresh_event_words after update on fixtures for each row
    when (old.words <> new.words) execute function refresh_event_words();

-- Earlier attributions of an event.
create table event_attributions (
    event_id text not null references events on delete cascade,
    poll_id text not null,
    at timestamptz not null,
    changed jsonb not null,
    primary key (event_id, poll_id)
);

-- Workflows that worked on an event. A set per kind: adding one twice changes nothing.
create table event_workflows (
    event_id text not null references events on delete cascade,
    kind text not null check (kind in ('monitor', 'search', 'download', 'upload')),
    workflow_id text not null,
    added_at timestamptz not null default now(),
    primary key (event_id, kind, workflow_id)
);

create table known_team_aliases (
    team_id bigint primary key,
    team_name text not null,
    aliases text[] not null default '{}',
    resolved_at timestamptz not null default now()
);

-- Changes of the follow list at run time, relative to the setting FOOTY_FOLLOW.
create table follows (
    -- A preset, the slug of a competition, or the name of a team.
    entry text primary key check (length(entry) between 1 and 100),
    followed boolean not null,
    at timestamptz not null,
    -- The name of the token, or `cli`.
    by text not null default '' check (length(by) <= 100)
);
