-- The clip library: sources, the clips that tile them, review actions, keyframes, embeddings and deletions.

create extension if not exists vector;

-- The attributes of a goal that may change after its search has ended.
create function goal_attributes(goal events) returns jsonb language sql immutable parallel safe as $$
    select jsonb_build_array(goal.player_name, goal.assist_name, goal.team_name, goal.kind, goal.elapsed, goal.extra,
        goal.innings, goal.home_after, goal.away_after, goal.removed_at is not null)
$$;

-- Time of the event: the kick-off if it is known and valid, otherwise when the source was added.
create function library_source_time(facts jsonb, created timestamptz) returns timestamptz
language plpgsql immutable parallel safe as $$
begin
    -- A time zone is required; without one, the result would depend on the session.
    if facts ->> 'kickoff' ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{5,15}(Z|[+-][0-9]{2}:?[0-9]{2})$' then
        return (facts ->> 'kickoff')::timestamptz;
    end if;
    return created;
exception when data_exception then
    return created;
end
$$;

-- The minute as search terms: 90+3 matches 90 and 90+3, but no number in a name.
create function minute_terms(value text) returns text[] language sql immutable parallel safe as $$
    select coalesce((
        select array_remove(array['m.' || parts[1]::int, 'm.' || parts[1]::int || parts[2] || parts[3]::int], null)
        from regexp_match(value, '^\s*([0-9]{1,3})(?:([+.])([0-9]{1,2}))?(?![0-9])') as parts), '{}')
$$;

-- p: the scorer, a: the assist, t: a team of the match or the one in the picture, c: the competition, k: the kind.
create function library_search_vector(title text, facts jsonb) returns tsvector
language sql immutable parallel safe as $$
    select array_to_tsvector(spelling_variants(title)) || labelled_words('p', facts ->> 'player') || labelled_words('a', facts ->> 'assist')
        || labelled_words('t', facts ->> 'team') || labelled_words('t', facts ->> 'home') || labelled_words('t', facts ->> 'away')
        || labelled_words('c', concat_ws(' ', facts ->> 'competition', facts ->> 'country'))
        || labelled_words('k', facts ->> 'kind') || array_to_tsvector(minute_terms(facts ->> 'minute'))
$$;

create table library_sources (
    id bigint generated always as identity primary key,
    kind text not null check (kind in ('goal', 'url', 'file')),
    state text not null check (state in (
        'new', 'downloading', 'downloaded', 'splicing', 'spliced', 'download_failed', 'splicing_failed')),
    title text not null,
    facts jsonb not null default '{}',
    event_id text,
    video_md5 text,
    goal_snapshot jsonb,              -- goal_attributes() when facts were written
    url text,
    upload_key text,
    frames int check (frames > 0 and frames < 16777216),
    rate_num int check (rate_num > 0),
    rate_den int check (rate_den > 0),
    width int check (width > 0),
    height int check (height > 0),
    audio boolean,
    file_size bigint check (file_size > 0),
    file_md5 text,
    progress real check (progress between 0 and 1),
    error text,
    error_kind text,
    failures int not null default 0,
    retry_at timestamptz,
    stage text,              -- the running or failed one
    began_at timestamptz,    -- of the running stage
    failed_at timestamptz,   -- last failure of the stage; null once it is done
    submitted_by text not null default '',
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now(),
    -- No reference: the library outlives the match.
    words tsvector not null generated always as (library_search_vector(title, facts)) stored,
    happened_at timestamptz not null generated always as (library_source_time(facts, created_at)) stored,
    film_deleted_at timestamptz,
    accounts text[] not null default '{}',  -- that posted the video, as source/name
    unique (event_id, video_md5),
    check ((kind = 'goal') = (event_id is not null and video_md5 is not null)),
    check (num_nonnulls(frames, rate_num, rate_den, width, height) in (0, 5)),
    check (kind <> 'url' or url is not null),
    check (kind <> 'file' or upload_key is not null)
);
create index library_sources_by_state on library_sources (state, id);
create index library_sources_by_words on library_sources using gin (words);
create index library_sources_by_time on library_sources (happened_at, id);

comment on column library_sources.film_deleted_at is
    'The master file is deleted with the last of its clips; its measures stay, since clips are counted in its frames.';

-- Goal videos that an editor removed before they had clips; they are not imported again.
create table library_blocked_clips (
    event_id text not null,
    video_md5 text not null,
    blocked_at timestamptz not null,
    primary key (event_id, video_md5)
);

-- Scene cuts by content, so that the same film is analysed once.
create table library_scenes (
    file_md5 text not null,
    detector text not null,  -- name and version
    cuts int[] not null,
    found_at timestamptz not null default now(),
    primary key (file_md5, detector)
);

-- Runs of each stage, for metrics, and to distinguish an outage from a failing item: if the stage has succeeded for other
-- items since, the item is the cause.
create table library_stage_totals (
    stage text primary key,
    done bigint not null default 0,
    failed bigint not null default 0,
    seconds double precision not null default 0,  -- of the runs that are done
    last_done_at timestamptz
);

create table library_actions (
    id bigint generated always as identity primary key,
    kind text not null check (kind in ('approve', 'skip', 'archive', 'group', 'merge', 'split', 'move_cut')),
    reviewer text not null,  -- the browser window that acted
    name text not null,      -- display name
    at timestamptz not null,
    settles_at timestamptz not null,
    before jsonb not null,   -- clip id to its state
    after jsonb not null,
    made bigint[] not null default '{}',
    undone_at timestamptz,
    settled_at timestamptz,
    check (undone_at is null or settled_at is null)
);
create index library_actions_of on library_actions (reviewer, id desc);
create index library_actions_open on library_actions (settles_at)
    where kind in ('merge', 'split', 'move_cut') and undone_at is null and settled_at is null;

create table library_clips (
    id bigint generated always as identity primary key,
    source_id bigint not null references library_sources on delete cascade,
    first_frame int not null check (first_frame >= 0),
    end_frame int not null check (end_frame > first_frame and end_frame < 16777216),
    state text not null check (state in (
        'edit_pending', 'spliced', 'generating_sprite', 'pending_review', 'review_approved', 'review_skipped',
        'review_archived', 'keyframing', 'keyframed', 'embedding', 'embedded', 'cleaning', 'archived', 'sprite_failed',
        'keyframe_failed', 'embedding_failed', 'cleaning_failed')),
    live boolean not null default true,
    grouped_with bigint references library_clips on delete set null,
    settles_at timestamptz,
    made_by bigint references library_actions,
    reviewed_by text,
    reviewed_at timestamptz,
    claimed_by text,
    claimed_until timestamptz,
    has_file boolean not null default false,
    sprite jsonb,
    fingerprint bytea,
    progress real check (progress between 0 and 1),
    error text,
    error_kind text,
    failures int not null default 0,
    retry_at timestamptz,
    stage text,              -- the running or failed one: two stages use the state `embedding`
    began_at timestamptz,    -- of the running stage
    failed_at timestamptz,   -- last failure of the stage; null once it is done
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now(),
    -- No two clips share a frame. The source is part of the number: an index of pairs would need btree_gist.
    constraint library_clips_do_not_overlap exclude using gist (
        int8range(source_id * 16777216 + first_frame, source_id * 16777216 + end_frame) with &&) where (live)
);
create index library_clips_of_source on library_clips (source_id, first_frame);
create index library_clips_by_end on library_clips (source_id, end_frame) where live;
create index library_clips_by_state on library_clips (state, id);
create index library_clips_to_review on library_clips (source_id, first_frame) where live and state = 'pending_review';
create index library_clips_to_count on library_clips (state) where live;
create index library_clips_of_group on library_clips (grouped_with) where grouped_with is not null;
create index library_clips_by_claim on library_clips (claimed_by) where claimed_by is not null;

-- The clips of a source tile it: every frame belongs to a clip. Checked at the end of the transaction, so that an edit may
-- take several statements. Overlaps are excluded above, so it is enough that each new clip has a neighbour at both edges,
-- and that another clip begins where one was removed; long sources are checked without reading all of their clips.
create function library_clips_tile_their_source() returns trigger language plpgsql as $$
declare
    source bigint := coalesce(new.source_id, old.source_id);
    film int;
    gap int;
begin
    if tg_op = 'UPDATE' and new.source_id <> old.source_id then
        raise exception 'clip % cannot move to another source', new.id
            using errcode = 'check_violation', constraint = 'library_clips_tile_their_source';
    end if;
    -- Wait for other edits of this source to end.
    select frames into film from library_sources where id = source for no key update;
    if not found then
        return null;  -- the source was deleted too
    end if;
    if tg_op <> 'DELETE' and exists (
        -- Its state at the end of the transaction.
        select from library_clips c where c.id = new.id and c.live
            and c.first_frame = new.first_frame and c.end_frame = new.end_frame)
    then
        if film is null then
            gap := new.first_frame;
        elsif new.first_frame > 0 and not exists (
            select from library_clips c where c.source_id = source and c.live and c.end_frame = new.first_frame)
        then
            gap := new.first_frame - 1;
        elsif new.end_frame <> film and not exists (
            select from library_clips c where c.source_id = source and c.live and c.first_frame = new.end_frame)
        then
            gap := new.end_frame;
        end if;
    end if;
    if tg_op <> 'INSERT' and gap is null and old.live and old.first_frame >= coalesce((
        select c.end_frame from library_clips c
        where c.source_id = source and c.live and c.first_frame <= old.first_frame
        order by c.first_frame desc limit 1), 0)
    then
        gap := old.first_frame;
    end if;
    if gap is not null then
        raise exception 'the clips of source % do not tile its % frames: gap at frame %', source, film, gap
            using errcode = 'check_violation', constraint = 'library_clips_tile_their_source';
    end if;
    return null;
end
$$;
create constraint trigger library_clips_tile
after insert or delete or update of source_id, first_frame, end_frame, live on library_clips
deferrable initially deferred for each row execute function library_clips_tile_their_source();

create function library_sources_keep_their_length() returns trigger language plpgsql as $$
begin
    if exists (select from library_clips where source_id = new.id) then
        raise exception 'source % has clips that tile its % frames; its length cannot change to %',
            new.id, old.frames, new.frames
            using errcode = 'check_violation', constraint = 'library_clips_tile_their_source';
    end if;
    return new;
end
$$;
create trigger library_sources_keep_length before update of frames on library_sources for each row
when (old.frames is distinct from new.frames) execute function library_sources_keep_their_length();

create table library_keyframes (
    clip_id bigint not null references library_clips on delete cascade,
    number int not null,
    frame int not null,      -- of the source
    chosen_by text not null, -- the strategy
    width int not null,
    height int not null,
    primary key (clip_id, number)
);

-- One row per clip. Each model has a column for its vector and one for the version that made it.
create table library_embeddings (
    clip_id bigint primary key references library_clips on delete cascade,
    mobilenet_v3_small vector(576),
    mobilenet_v3_small_version text
);
-- Stored in the row: fetching it from TOAST costs more than comparing it.
alter table library_embeddings alter column mobilenet_v3_small set storage main;
-- Half precision: a third of the size with the same results.
create index library_embeddings_mobilenet_v3_small on library_embeddings
    using hnsw ((mobilenet_v3_small::halfvec(576)) halfvec_cosine_ops);
create index library_embeddings_mobilenet_v3_small_version on library_embeddings (mobilenet_v3_small_version);

-- Clips of one goal with similar fingerprints.
create table library_duplicates (
    one bigint not null references library_clips on delete cascade,
    other bigint not null references library_clips on delete cascade,
    primary key (one, other),
    check (one < other)
);
create index library_duplicates_of_other on library_duplicates (other);

create table library_verdicts (
    one bigint not null references library_clips on delete cascade,
    other bigint not null references library_clips on delete cascade,
    same boolean not null,
    said_by text not null,
    said_at timestamptz not null,
    primary key (one, other),
    check (one < other)
);
create index library_verdicts_of_other on library_verdicts (other);

-- Objects to delete. Rows are deleted first, so that no row refers to a missing object.
create table library_deletions (
    key text primary key,
    asked_at timestamptz not null default now(),
    tries int not null default 0,
    error text
);

-- A number is a minute or the start of a word, such as 96 in a club's name; with + or . it is a minute only.
create function minute_query(value text) returns tsquery language sql immutable parallel safe as $$
    select case when value ~ '^[0-9]{1,3}$' then format('''m.%1$s'' | ''%1$s'':*', value)
        when value ~ '^[0-9]{1,3}[+.][0-9]{1,2}$' then format('''m.%s''', value) end::tsquery
$$;

-- All filters of a library search as one query; null if there are none.
create function library_search_query(
    anything text, minutes text[], team text, player text, competition text, kind text) returns tsquery
language sql immutable parallel safe as $$
    select nullif(
        coalesce(prefix_query(anything), '') && coalesce(prefix_query(team, 't'), '')
        && coalesce(prefix_query(player, 'p'), '') && coalesce(prefix_query(competition, 'c'), '')
        && coalesce(prefix_query(kind, 'k'), '')
        && coalesce((select string_agg('(' || minute_query(each)::text || ')', ' & ')::tsquery
                     from unnest(minutes) as each), ''), '')
$$;

-- The clips that match all filters; null disables a filter. A set-returning function, so that the planner can inline it.
create function library_matching(
    states text[], query tsquery, since timestamptz, until timestamptz, proven boolean, game text, only_source bigint)
returns table (id bigint, source_id bigint, first_frame int, event_id text, happened_at timestamptz)
language sql stable as $$
    select c.id, c.source_id, c.first_frame, s.event_id, s.happened_at
    from library_clips c join library_sources s on s.id = c.source_id
    where c.live and c.state = any(states)
      and (query is null or s.words @@ query)
      and (since is null or s.happened_at >= since)
      and (until is null or s.happened_at < until)
      and (proven is null or (coalesce(s.facts ->> 'verified', '') = 'true') = proven)
      and (game is null or s.facts ->> 'sport' = game)
      and (only_source is null or c.source_id = only_source)
$$;
