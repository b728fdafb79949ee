-- Fixtures, their events and the outbox.

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
    check (stage <> 'active' or activated_at is not null),
    check (stage <> 'completed' or completed_at is not null)
);
create index fixtures_by_stage on fixtures (stage, kickoff);
create index fixtures_by_kickoff on fixtures (kickoff);

comment on table fixtures is
    'One row a match; its stage is a column, so it is in exactly one stage at every moment.';

-- The raw answer of the last poll, overwritten by each; kept apart from what we know, which is only ever updated.
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
    check (home_after + away_after = home_before + away_before + 1),
    check (not monitor_complete or stable_at is not null),
    check ((removed_at is null) = (removed_reason is null))
);
create index events_by_fixture on events (fixture_id);
create index events_waiting_for_search on events (id)
    where stable_at is not null and removed_at is null and not download_complete;

-- What a feed said of an event before it said something else.
create table event_attributions (
    event_id text not null references events on delete cascade,
    poll_id text not null,
    at timestamptz not null,
    changed jsonb not null,
    primary key (event_id, poll_id)
);

-- Which workflows worked on an event: a set for each kind, so that adding twice is adding once.
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

-- Each change that somebody may want to hear of, written in the transaction of the change itself.
-- Ids are handed out before they are committed: a reader that remembers an id must stop before the first
-- transaction that is still open, which `transaction_id` tells it.
create table outbox (
    id bigint generated always as identity primary key,
    transaction_id xid8 not null default pg_current_xact_id(),
    at timestamptz not null default now(),
    topic text not null,
    fixture_id bigint,
    event_id text,
    payload jsonb not null default '{}'
);
create index outbox_by_fixture on outbox (fixture_id, id);

create table feed_states (
    feed text primary key,
    asked_at timestamptz not null,
    answered_at timestamptz,
    error text,
    quota jsonb
);
