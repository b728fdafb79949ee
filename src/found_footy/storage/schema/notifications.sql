-- Subscriptions, and the delivery of each message to a subscriber.

create table subscriptions (
    id bigint generated always as identity primary key,
    name text not null,
    kind text not null check (kind in ('webhook', 'notify')),
    target text not null,          -- may contain a secret: shown masked
    secret text,                   -- key that signs a webhook's messages
    topics text[] not null check (cardinality(topics) > 0),
    teams bigint[] not null default '{}',
    leagues bigint[] not null default '{}',
    verified_only boolean not null default false,
    delay_seconds double precision not null default 0 check (delay_seconds >= 0),
    no_score boolean not null default false,
    from_position bigint not null, -- only later messages are reported
    created_at timestamptz not null default now(),
    paused_at timestamptz,
    paused_reason text,
    check ((kind = 'webhook') = (secret is not null)),
    check ((paused_at is null) = (paused_reason is null))
);

create table deliveries (
    id bigint generated always as identity primary key,
    subscription_id bigint not null references subscriptions on delete cascade,
    position bigint,               -- of the outbox message; null for a test
    topic text not null,
    fixture_id bigint,
    event_id text,
    thread text not null generated always as (coalesce(event_id, fixture_id::text, '')) stored,
    body json not null,            -- exactly as it is sent
    state text not null default 'pending' check (state in ('pending', 'sending', 'delivered', 'dead', 'cancelled')),
    due_at timestamptz not null,
    attempts int not null default 0,
    possibly_delivered boolean not null default false,
    claim text,                    -- fan-out round that claimed it
    reclaim_at timestamptz,  -- when another round may claim it, in case its workflow is lost
    busy_until timestamptz,        -- until then it occupies one of its subscription's slots
    error_kind text,
    error_message text,
    created_at timestamptz not null default now(),
    delivered_at timestamptz,
    unique (subscription_id, position),
    check ((state = 'delivered') = (delivered_at is not null)),
    check ((error_kind is null) = (error_message is null))
);
create index deliveries_open on deliveries (due_at) where state in ('pending', 'sending');
create index deliveries_in_order on deliveries (subscription_id, thread, position) where state in ('pending', 'sending');
create index deliveries_of_event on deliveries (event_id) where event_id is not null;
create index deliveries_by_subscription on deliveries (subscription_id, id);
create index deliveries_by_age on deliveries (created_at);

-- The outbox position up to which deliveries were created; locked while more are created.
create table outbox_fanned_out (
    id boolean primary key default true check (id),  -- one row
    position bigint not null
);
insert into outbox_fanned_out (position) select last from outbox_last_position;
