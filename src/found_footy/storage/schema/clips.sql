-- From a stable goal to its clips: searches, posts found, files downloaded, and dead links.

-- One row per search and source: the number of posts, or the error.
create table searches (
    event_id text not null references events on delete cascade,
    attempt int not null check (attempt > 0),
    source text not null,
    at timestamptz not null,
    found int,
    error_kind text,
    error_message text,
    primary key (event_id, attempt, source),
    check ((found is null) = (error_kind is not null))
);
create index searches_by_time on searches (at);

-- One row per file of an event, identified by its content.
create table videos (
    event_id text not null references events on delete cascade,
    md5 text not null check (md5 ~ '^[0-9a-f]{32}$'),
    state text not null check (state in ('staged', 'checked', 'hashed', 'kept', 'replaced', 'refused')),
    duration double precision not null,
    width int not null,
    height int not null,
    aspect double precision not null,
    fps double precision not null,
    bit_rate bigint not null,
    file_size bigint not null,
    codec text not null,
    status text check (status in ('verified', 'unverified', 'rejected')),
    reason text,
    minute int,
    proof jsonb,
    fingerprint bytea,
    rejection_reason text,
    rejection_detail text,
    replaced_by text,
    offset_seconds double precision,
    mirrored boolean not null default false,
    popularity int not null default 0,
    rank int,
    staged_at timestamptz not null,
    published_at timestamptz,
    -- The public id: short and permanent.
    id text not null generated always as (substr(md5(event_id || '/' || md5), 1, 16)) stored,
    primary key (event_id, md5),
    foreign key (event_id, replaced_by) references videos (event_id, md5) deferrable initially deferred,
    check ((state = 'replaced') = (replaced_by is not null)),
    check ((state = 'refused') = (rejection_reason is not null)),
    check ((state = 'kept') = (rank is not null)),
    check (state in ('staged', 'refused') or status in ('verified', 'unverified')),
    check (state not in ('hashed', 'kept', 'replaced') or fingerprint is not null)
);
create unique index videos_have_one_rank_each on videos (event_id, rank) where rank is not null;
create unique index videos_by_id on videos (id);
create index videos_in_work on videos (event_id) where state in ('staged', 'checked', 'hashed');
create index videos_published on videos (published_at) where state = 'kept';
create index videos_kept on videos (status) where state = 'kept';

-- Frames of clips by fixture: frames that occur in several fixtures are title cards and the like. Bounded (clips/common_frames.py).
create table frame_sightings (
    hash bigint not null,
    fixture_id bigint not null,
    seen_at timestamptz not null default now(),
    primary key (hash, fixture_id)
);
create index frame_sightings_by_age on frame_sightings (seen_at);

-- One row per post. A rejection belongs to the post itself or to its file.
create table candidates (
    event_id text not null references events on delete cascade,
    key text not null,
    source text not null,
    url text not null,
    media_url text not null,
    author text not null,
    text text not null,
    posted_at timestamptz not null,
    found_at timestamptz not null,
    duration double precision,
    attempt int,
    md5 text,
    rejection_reason text,
    rejection_detail text,
    primary key (event_id, key),
    foreign key (event_id, md5) references videos (event_id, md5) deferrable initially deferred,
    check (rejection_reason is null or md5 is null)
);
create index candidates_by_content on candidates (event_id, md5);
create index candidates_in_work on candidates (event_id) where attempt is not null and md5 is null and rejection_reason is null;
create index candidates_by_time on candidates (found_at);

-- Why a link is dead; `path` is `v/{video}` or `g/{event}`.
create table ended_links (
    path text primary key,
    reason text not null,
    ended_at timestamptz not null
);
