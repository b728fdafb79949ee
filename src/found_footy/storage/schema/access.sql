-- Access: tokens, the sessions opened with them, and failed logins.

-- Only the hash of a token's secret is stored. The secret is 256 random bits, so a plain hash is enough.
create table tokens (
    id text primary key check (id ~ '^[a-z0-9]{8}$'),
    name text not null check (length(name) between 1 and 100),
    role text not null check (role in ('reader', 'editor', 'operator')),
    hash bytea not null check (length(hash) = 32),
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
);

-- Logins on the pages. A session never outlives its token.
create table sessions (
    hash bytea primary key check (length(hash) = 32),
    token_id text not null references tokens on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null
);
create index sessions_by_end on sessions (expires_at);
create index sessions_by_token on sessions (token_id);

-- Failed logins of the last 15 minutes, up to the limit per client.
create table login_failures (
    client text not null,
    at timestamptz not null
);
create index login_failures_by_client on login_failures (client, at);
create index login_failures_by_time on login_failures (at);
