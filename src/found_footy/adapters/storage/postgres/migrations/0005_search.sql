-- Finding matches, goals and clips by words. Accents and case do not matter, and a word finds what begins with it.

create function folded(said text) returns text language sql immutable parallel safe as $$
    select replace(replace(replace(replace(
        translate(
            lower(regexp_replace(normalize(said, nfkd), '[\u0300-\u036f]', '', 'g')),
            'øłđðħıŧŋ''’‘`´', 'olddhitn'),  -- the last five have no counterpart: they go
        'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
$$;

-- Of the first 300 characters: nobody's name is longer, whatever a stranger calls himself.
create function words_of(said text) returns text[] language sql immutable parallel safe as $$
    select coalesce(array_agg(distinct left(word, 40)), '{}')
    from regexp_split_to_table(folded(left(said, 300)), '[^[:alnum:]]+') as word
    where word <> ''
$$;

-- Each word twice: as it is, and with a letter before it that says what it names, so that one can ask for that alone.
create function named(kind text, said text) returns tsvector language sql immutable parallel safe as $$
    select array_to_tsvector(words || array(select kind || '.' || word from unnest(words) as word))
    from (select words_of(said) as words) as found
$$;

-- What has all these words, or the beginnings of them; null where there is none to look for.
create function beginning_with(said text, kind text default null) returns tsquery
language sql immutable parallel safe as $$
    select string_agg('''' || coalesce(kind || '.', '') || word || ''':*', ' & ')::tsquery
    from (select word from unnest(words_of(said)) as word limit 8) as first
$$;

-- t: a team of the match, c: its competition, s: the side that scored, p: the scorer.
alter table fixtures add column words tsvector not null generated always as (
    named('t', home_name) || named('t', away_name) || named('c', league_name || ' ' || coalesce(country, ''))) stored;
create index fixtures_by_words on fixtures using gin (words);

-- With the words of its match, so that "salah city" is one question to one index.
alter table events add column words tsvector not null default '';

create function goal_words(e events) returns tsvector language sql stable as $$
    select named('p', coalesce(e.player_name, '')) || named('s', e.team_name) || f.words
    from fixtures f where f.id = e.fixture_id
$$;
update events e set words = goal_words(e);
create index events_by_words on events using gin (words);

create function set_goal_words() returns trigger language plpgsql as $$
begin
    new.words := coalesce(goal_words(new), '');
    return new;
end
$$;
create trigger events_have_words before insert on events for each row execute function set_goal_words();
create trigger events_change_words before update on events for each row
    when (old.player_name is distinct from new.player_name or old.team_name <> new.team_name)
    execute function set_goal_words();

create function pass_words_on() returns trigger language plpgsql as $$
begin
    update events e set words = goal_words(e) where e.fixture_id = new.id;
    return null;
end
$$;
create trigger fixtures_pass_words_on after update on fixtures for each row
    when (old.words <> new.words) execute function pass_words_on();

create index events_by_first_sight on events (first_seen, id);
create index candidates_by_time on candidates (found_at);

-- All that is asked for, as one question; null where no words are given.
create function looking_for(anything text, side text, team text, player text, competition text) returns tsquery
language sql immutable parallel safe as $$
    select nullif(
        coalesce(beginning_with(anything), '') && coalesce(beginning_with(team, side), '')
        && coalesce(beginning_with(player, 'p'), '') && coalesce(beginning_with(competition, 'c'), ''), '')
$$;

-- The documents of lists. They have the shape of `event_document` and `videos_of` without what only a page of one goal
-- needs, and they are tables of one row, so that the planner sees through them: a list is one plan, not one a row.

-- Two objects as one, written down. Neither may be empty.
create function joined(one json, other json) returns text language sql immutable parallel safe as $$
    select left(one::text, -1) || ', ' || substr(other::text, 2)
$$;

create function clips_of(event text) returns table (id text, state text, rank int, clip json) language sql stable as $$
    select v.id, v.state, v.rank, json_build_object(
        'id', v.id,
        'md5', v.md5,
        '_s3_key', split_part(v.event_id, '_', 1) || '/' || v.event_id || '/' || v.md5 || '.mp4',
        'rank', v.rank,
        'popularity', v.popularity,
        'timestamp_verified', v.status = 'verified',
        'timestamp_status', v.status,
        'extracted_minute', v.minute,
        'reason', v.reason,
        'duration', v.duration,
        'width', v.width,
        'height', v.height,
        'aspect_ratio', v.aspect,
        'resolution_score', v.width * v.height,
        'fps', v.fps,
        'bitrate', v.bit_rate,
        'file_size', v.file_size,
        'published_at', v.published_at,
        'source_url', p.url,
        'source_posts', coalesce(p.keys, '[]'),
        'copies', coalesce(o.copies, '[]'))
    from videos v
    left join (
        select coalesce(o.replaced_by, o.md5) as md5, json_agg(c.key order by c.posted_at, c.key) as keys,
            (array_agg(c.url order by c.posted_at, c.key) filter (where o.replaced_by is null))[1] as url
        from candidates c join videos o on o.event_id = c.event_id and o.md5 = c.md5
        where c.event_id = event group by 1) as p on p.md5 = v.md5
    left join (
        select o.replaced_by as md5, json_agg(json_build_object(
            'id', o.id, 'md5', o.md5, 'offset_seconds', o.offset_seconds, 'mirrored', o.mirrored,
            'duration', o.duration, 'file_size', o.file_size) order by o.md5) as copies
        from videos o where o.event_id = event and o.replaced_by is not null group by 1) as o on o.md5 = v.md5
    where v.event_id = event and v.state in ('kept', 'replaced')
$$;

create function lean_goal(e events) returns table (goal json) language sql stable as $$
    select json_build_object(
        '_event_id', e.id,
        'status', event_status(e),
        'time', json_build_object('elapsed', e.elapsed, 'extra', e.extra),
        'team', json_build_object('id', e.team_id, 'name', e.team_name),
        'player', json_build_object('id', e.player_id, 'name', e.player_name),
        'assist', json_build_object('id', e.assist_id, 'name', e.assist_name),
        'type', e.type,
        'detail', e.kind,
        '_scoring_team', e.side,
        '_score_before', json_build_object('home', e.home_before, 'away', e.away_before),
        '_score_after', json_build_object('home', e.home_after, 'away', e.away_after),
        '_first_seen', e.first_seen,
        '_stable_count', e.seen,
        '_missing_count', e.missing,
        '_debounce_complete', e.stable_at is not null,
        '_stable_at', e.stable_at,
        '_removed', e.removed_at is not null,
        '_removed_at', e.removed_at,
        '_removed_reason', e.removed_reason,
        '_monitor_complete', e.monitor_complete,
        '_download_complete', e.download_complete,
        '_twitter_aliases', e.aliases,
        '_search_query', e.search_query,
        '_s3_videos', coalesce((
            select json_agg(c.clip order by c.rank) from clips_of(e.id) as c
            where c.state = 'kept' and e.removed_at is null), '[]'),
        '_attributions', coalesce((
            select json_agg(json_build_object('at', a.at, 'poll_id', a.poll_id, 'changed', a.changed) order by a.at)
            from event_attributions a where a.event_id = e.id), '[]'))
$$;

create function lean_match(f fixtures) returns table (match json) language sql stable as $$
    select json_build_object(
        '_id', f.id,
        'feed', f.feed,
        'stage', f.stage,
        'fixture', json_build_object(
            'id', f.id, 'date', f.kickoff,
            'status', json_build_object('short', f.status, 'elapsed', f.elapsed, 'extra', f.extra)),
        'league', json_build_object(
            'id', f.league_id, 'name', f.league_name, 'country', f.country, 'season', f.season, 'round', f.round),
        'teams', json_build_object(
            'home', json_build_object('id', f.home_id, 'name', f.home_name),
            'away', json_build_object('id', f.away_id, 'name', f.away_name)),
        'goals', json_build_object('home', f.home_goals, 'away', f.away_goals),
        'score', json_build_object(
            'penalty', json_build_object('home', f.home_penalties, 'away', f.away_penalties)),
        'activated_at', f.activated_at,
        'completed_at', f.completed_at,
        'last_poll_at', f.last_poll_at,
        'error', case when f.error_kind is not null then json_build_object(
            'class', f.error_kind, 'message', f.error_message, 'at', f.error_at) end,
        'events', coalesce((
            select json_agg(g.goal order by e.elapsed, e.extra nulls first, e.first_seen, e.id)
            from events e cross join lateral lean_goal(e) as g where e.fixture_id = f.id), '[]'))
$$;
