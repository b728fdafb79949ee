-- Recordings: responses of feeds and sources during a match. After the match they are sealed into one object, and
-- the rows are deleted.

create table recording_settings (
    only_one boolean primary key default true check (only_one),
    all_matches boolean not null
);
comment on table recording_settings is 'Whether matches are recorded unless overridden in recordings.';
insert into recording_settings (all_matches) values (true);

create table recordings (
    fixture_id bigint primary key references fixtures on delete cascade,
    enabled boolean,
    key text,
    bytes bigint,
    sealed_at timestamptz,
    check ((key is null) = (sealed_at is null) and (key is null) = (bytes is null))
);
comment on column recordings.enabled is 'Overrides recording_settings for this match, unless null.';
comment on column recordings.key is 'Object key of the finished recording.';

-- One row per poll, feed and match; the body is stored only if it differs from the previous one.
create table recorded_snapshots (
    fixture_id bigint not null references fixtures on delete cascade,
    feed text not null,
    feed_id bigint not null,
    at timestamptz not null,
    checksum text not null,
    body bytea,
    error_kind text,
    error_message text,
    primary key (fixture_id, feed, at),
    check (body is null or error_kind is null)
);
comment on column recorded_snapshots.body is 'The response in the unified schema, compressed; null if unchanged.';

create table recorded_searches (
    event_id text not null references events on delete cascade,
    attempt int not null,
    fixture_id bigint not null references fixtures on delete cascade,
    at timestamptz not null,
    body bytea not null,
    primary key (event_id, attempt)
);
create index recorded_searches_by_fixture on recorded_searches (fixture_id);

create function is_recorded(fixture bigint) returns boolean language sql stable as $$
    select coalesce(r.enabled, a.all_matches) and r.key is null
    from recording_settings a left join recordings r on r.fixture_id = fixture
$$;
