-- Score feeds: their state, which match of which feed is which fixture, and where feeds disagree.

create table feed_states (
    feed text primary key,
    asked_at timestamptz not null,
    answered_at timestamptz,
    error text,
    quota jsonb
);

-- The feed that lists a match first creates the fixture, which gets that feed's ids (founding).
create table listings (
    feed text not null,
    feed_id bigint not null,
    fixture_id bigint not null references fixtures on delete cascade,
    founding boolean not null,
    swapped boolean not null default false,
    confidence real not null default 1,
    reasons text[] not null default '{}',
    joined_at timestamptz not null,
    locator text not null default '' check (length(locator) <= 200),
    primary key (feed, feed_id),
    unique (fixture_id, feed)
);

comment on column listings.locator is
    'Locates the match in the feed, such as soccer/eng.1 20261118; empty if unknown.';

-- Pairings that are too uncertain to be made automatically; an operator decides.
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

-- Feeds that report different values for a field. One row per field and set of values, with count and time span.
create table contradictions (
    fixture_id bigint not null references fixtures on delete cascade,
    field text not null,
    reported jsonb not null,
    chosen text not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    polls int not null default 1,
    primary key (fixture_id, field, reported)
);
create index contradictions_by_time on contradictions (last_at);
