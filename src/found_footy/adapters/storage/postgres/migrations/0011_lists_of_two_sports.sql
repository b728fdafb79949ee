-- What lists tell of a match and of its events knows of several feeds and of a second sport, too.

create or replace function lean_goal(e events) returns table (goal json) language sql stable as $$
    select json_build_object(
        '_event_id', e.id,
        'status', event_status(e),
        'time', json_build_object('elapsed', e.elapsed, 'extra', e.extra, 'innings', e.innings),
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
        '_feeds', e.feeds,
        '_s3_videos', coalesce((
            select json_agg(c.clip order by c.rank) from clips_of(e.id) as c
            where c.state = 'kept' and e.removed_at is null), '[]'),
        '_attributions', coalesce((
            select json_agg(json_build_object('at', a.at, 'poll_id', a.poll_id, 'changed', a.changed) order by a.at)
            from event_attributions a where a.event_id = e.id), '[]'))
$$;

create or replace function lean_match(f fixtures) returns table (match json) language sql stable as $$
    select json_build_object(
        '_id', f.id,
        'feed', f.feed,
        'sport', f.sport,
        'stage', f.stage,
        'fixture', json_build_object(
            'id', f.id, 'date', f.kickoff,
            'status', json_build_object('short', f.status, 'elapsed', f.elapsed, 'extra', f.extra)),
        'league', json_build_object(
            'id', f.league_id, 'name', f.league_name, 'country', f.country, 'season', f.season, 'round', f.round),
        'teams', json_build_object(
            'home', json_build_object('id', f.home_id, 'name', f.home_name, 'short', f.home_short),
            'away', json_build_object('id', f.away_id, 'name', f.away_name, 'short', f.away_short)),
        'goals', json_build_object('home', f.home_goals, 'away', f.away_goals),
        'score', json_build_object(
            'penalty', json_build_object('home', f.home_penalties, 'away', f.away_penalties)),
        'innings', f.innings,
        'toss', f.toss,
        'venue', f.venue,
        'last_event', f.last_event,
        'details', f.details,
        '_feeds', coalesce((
            select json_agg(json_build_object('feed', l.feed, 'id', l.feed_id, 'founding', l.founding)
                order by l.founding desc, l.feed)
            from listings l where l.fixture_id = f.id), '[]'),
        'activated_at', f.activated_at,
        'completed_at', f.completed_at,
        'last_poll_at', f.last_poll_at,
        'error', case when f.error_kind is not null then json_build_object(
            'class', f.error_kind, 'message', f.error_message, 'at', f.error_at) end,
        'events', coalesce((
            select json_agg(g.goal order by e.innings nulls first, e.elapsed, e.extra nulls first, e.first_seen, e.id)
            from events e cross join lateral lean_goal(e) as g where e.fixture_id = f.id), '[]'))
$$;

-- How old the news of a match are at a moment; an age only while it is followed at every poll.
create function news_of(f fixtures, at timestamptz, stale_after double precision, over_statuses text[]) returns json
language sql stable as $$
    select json_build_object('heard_at', f.last_poll_at, 'age_seconds', a.age, 'stale', coalesce(a.age > stale_after, false))
    from (select case
        when f.stage = 'active' and f.status <> all(over_statuses) and f.kickoff <= at
        then round(greatest(0, extract(epoch from at - coalesce(f.last_poll_at, f.kickoff)))::numeric, 1)
        end as age) as a
$$;
