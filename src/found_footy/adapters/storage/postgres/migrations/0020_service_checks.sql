-- Live checks of outside services, and answers of a form that an adapter does not know.

-- One row per service: its last result, and when its present state began.
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
