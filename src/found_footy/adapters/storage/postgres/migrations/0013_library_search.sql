-- Finding clips of the library by words: what is known of their source, in the manner of migration 5.

-- When it happened: the kick-off, where one is known that can be read, or else when the source came.
create function library_moment(facts jsonb, created timestamptz) returns timestamptz
language plpgsql immutable parallel safe as $$
begin
    -- Without a zone it would mean another moment in each session.
    if facts ->> 'kickoff' ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{5,15}(Z|[+-][0-9]{2}:?[0-9]{2})$' then
        return (facts ->> 'kickoff')::timestamptz;
    end if;
    return created;
exception when data_exception then
    return created;
end
$$;

-- The minute as words of their own: 90+3 is found as 90 and as 90+3, and is no number in a name.
create function minute_words(said text) returns text[] language sql immutable parallel safe as $$
    select coalesce((
        select array_remove(array['m.' || parts[1]::int, 'm.' || parts[1]::int || parts[2] || parts[3]::int], null)
        from regexp_match(said, '^\s*([0-9]{1,3})(?:([+.])([0-9]{1,2}))?(?![0-9])') as parts), '{}')
$$;

-- p: the scorer, a: who set it up, s: the side that scored, t: a team of the match, c: its competition, k: the kind.
create function library_words(title text, facts jsonb) returns tsvector language sql immutable parallel safe as $$
    select array_to_tsvector(words_of(title)) || named('p', facts ->> 'player') || named('a', facts ->> 'assist')
        || named('s', facts ->> 'team') || named('t', facts ->> 'home') || named('t', facts ->> 'away')
        || named('c', concat_ws(' ', facts ->> 'competition', facts ->> 'country'))
        || named('k', facts ->> 'kind') || array_to_tsvector(minute_words(facts ->> 'minute'))
$$;

alter table library_sources
    add column words tsvector not null generated always as (library_words(title, facts)) stored,
    add column happened_at timestamptz not null generated always as (library_moment(facts, created_at)) stored;
create index library_sources_by_words on library_sources using gin (words);
create index library_sources_by_time on library_sources (happened_at, id);
create index library_pairs_back on library_pairs (other);
create index library_verdicts_back on library_verdicts (other);

-- A number is a minute, or the beginning of a word such as the 96 of a club; with a sign in it, only a minute.
create function minute_asked(said text) returns tsquery language sql immutable parallel safe as $$
    select case when said ~ '^[0-9]{1,3}$' then format('''m.%1$s'' | ''%1$s'':*', said)
        when said ~ '^[0-9]{1,3}[+.][0-9]{1,2}$' then format('''m.%s''', said) end::tsquery
$$;

-- All that is asked for, as one question; null where nothing is.
create function library_looking_for(
    anything text, minutes text[], team text, player text, competition text, kind text) returns tsquery
language sql immutable parallel safe as $$
    select nullif(
        coalesce(beginning_with(anything), '') && coalesce(beginning_with(team, 't'), '')
        && coalesce(beginning_with(player, 'p'), '') && coalesce(beginning_with(competition, 'c'), '')
        && coalesce(beginning_with(kind, 'k'), '')
        && coalesce((select string_agg('(' || minute_asked(each)::text || ')', ' & ')::tsquery
                     from unnest(minutes) as each), ''), '')
$$;

-- The clips that are wanted; null does not filter. A table of one query, so that the planner sees through it.
create function library_fitting(
    states text[], looking tsquery, since timestamptz, until timestamptz, proven boolean, game text)
returns table (id bigint, source_id bigint, first_frame int, event_id text, happened_at timestamptz)
language sql stable as $$
    select c.id, c.source_id, c.first_frame, s.event_id, s.happened_at
    from library_clips c join library_sources s on s.id = c.source_id
    where c.live and c.state = any(states)
      and (looking is null or s.words @@ looking)
      and (since is null or s.happened_at >= since)
      and (until is null or s.happened_at < until)
      and (proven is null or (coalesce(s.facts ->> 'verified', '') = 'true') = proven)
      and (game is null or s.facts ->> 'sport' = game)
$$;

-- Beside the rest of its row: to look elsewhere for each vector costs more than to compare it.
alter table library_embeddings alter column mobilenet_v3_small set storage main;

-- Over numbers of half the length: a third of the size, and it finds as well.
drop index library_embeddings_mobilenet_v3_small;
create index library_embeddings_mobilenet_v3_small on library_embeddings
    using hnsw ((mobilenet_v3_small::halfvec(576)) halfvec_cosine_ops);
