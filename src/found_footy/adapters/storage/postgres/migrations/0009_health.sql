-- The health of the feeds: where its state machine stands, what was measured, and what was done about it.

-- The audit log. An outage has one row, however often something had to be done in it.
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

-- One row. `turn` counts what was saved, so that a watchdog that slept through another one's judgement is refused.
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
    turn bigint not null,
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
