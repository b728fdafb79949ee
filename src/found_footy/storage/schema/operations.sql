-- Health of the feeds, recoveries, checks of outside services, and unexpected answers.

-- The audit log. An outage has one row, however many steps its recovery took.
create table recoveries (
    id text primary key check (length(id) between 1 and 100),
    at timestamptz not null,
    action text not null check (action in ('browser_recycle', 'soft_restart', 'manual_trigger', 'context_pool_reset')),
    trigger text not null,
    before jsonb not null default '{}',
    after jsonb not null default '{}',
    outcome text check (outcome in ('success', 'partial', 'failed')),
    seconds double precision check (seconds >= 0),
    healthy_at timestamptz
);
create index recoveries_by_time on recoveries (at desc);

-- One row. `revision` counts the saves, so that a watchdog cannot overwrite a newer state of another one.
create table health_state (
    only_one boolean primary key default true check (only_one),
    grade text not null check (grade in ('healthy', 'degraded', 'failing', 'recovering')),
    since timestamptz not null,
    good_in_a_row int not null default 0,
    recovery_id text references recoveries,
    recovered_at timestamptz,
    acting_until timestamptz,
    judged_at timestamptz not null,
    resumed_at timestamptz,
    revision bigint not null,
    summary jsonb not null
);

-- Kept for two days.
create table health_samples (
    at timestamptz not null,
    grade text not null,
    median double precision not null,
    p95 double precision not null,
    maximum double precision not null,
    matches int not null,
    failure_ratio double precision not null
);
create index health_samples_by_time on health_samples (at);

-- One row per area of the object store, and one for the database, as of the last daily measurement.
create table storage_usage (
    area text primary key,
    objects bigint not null,
    bytes bigint not null,
    measured_at timestamptz not null
);

-- One row per service: its last result, and since when its state has lasted.
create table service_checks (
    name text primary key check (length(name) between 1 and 100),
    kind text not null check (kind in ('feed', 'source', 'host', 'service')),
    ok boolean not null,
    since timestamptz not null,
    last_ok_at timestamptz,
    checked_at timestamptz not null,
    asked text not null,
    answer text not null,
    error_class text not null default '',
    hint text not null default ''
);

-- Findings of the operations page from their first sight until their end is announced.
create table open_findings (
    key text primary key check (length(key) between 1 and 500),
    kind text not null,
    grade text not null check (grade in ('degraded', 'failed')),
    what text not null,
    since timestamptz,
    advice text not null,
    place text not null,
    event_id text,
    fixture_id bigint,
    subject text not null,
    first_seen timestamptz not null,
    last_seen timestamptz not null,
    announced text check (announced in ('degraded', 'failed'))
);

-- Redacted before it is written. At most 5 rows per name, at most one per name and class in 10 minutes.
create table unexpected_answers (
    id bigint generated always as identity primary key,
    name text not null check (length(name) between 1 and 100),
    at timestamptz not null,
    error_class text not null,
    message text not null check (length(message) <= 1000),
    request text not null check (length(request) <= 2000),
    status int,
    headers jsonb not null default '{}',
    body text not null check (octet_length(body) <= 65536)
);
create index unexpected_answers_by_name on unexpected_answers (name, at desc);
