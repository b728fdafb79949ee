-- Who may do what: tokens, the logins made with them, and the attempts that failed.

-- Only the hash of a token's secret is kept. The secret is 256 random bits, so a plain hash is enough.
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

-- A login on the pages. It ends with its token, whatever its own time says.
create table sessions (
    hash bytea primary key check (length(hash) = 32),
    token_id text not null references tokens on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null
);
create index sessions_by_end on sessions (expires_at);
create index sessions_by_token on sessions (token_id);

-- Wrong tokens of the last quarter of an hour, no more of one client than are counted.
create table login_failures (
    client text not null,
    at timestamptz not null
);
create index login_failures_by_client on login_failures (client, at);
create index login_failures_by_time on login_failures (at);

-- The operations page asks for the searches of the last day, and counts the published clips.
create index searches_by_time on searches (at);
create index videos_kept on videos (status) where state = 'kept';
