-- Documents in the shape that readers of the first system know, and its five collections as views.

create function workflows_of(event text, of_kind text) returns jsonb language sql stable as $$
    select coalesce(jsonb_agg(workflow_id order by added_at, workflow_id), '[]')
    from event_workflows where event_id = event and kind = of_kind
$$;

create function event_document(e events) returns jsonb language sql stable as $$
    select jsonb_build_object(
        '_event_id', e.id,
        'time', jsonb_build_object('elapsed', e.elapsed, 'extra', e.extra),
        'team', jsonb_build_object('id', e.team_id, 'name', e.team_name),
        'player', jsonb_build_object('id', e.player_id, 'name', e.player_name),
        'assist', jsonb_build_object('id', e.assist_id, 'name', e.assist_name),
        'type', e.type,
        'detail', e.kind,
        '_scoring_team', e.side,
        '_score_before', jsonb_build_object('home', e.home_before, 'away', e.away_before),
        '_score_after', jsonb_build_object('home', e.home_after, 'away', e.away_after),
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
        '_monitor_workflows', workflows_of(e.id, 'monitor'),
        '_search_workflows', workflows_of(e.id, 'search'),
        '_download_workflows', workflows_of(e.id, 'download'),
        '_attributions', coalesce((
            select jsonb_agg(jsonb_build_object('at', a.at, 'poll_id', a.poll_id, 'changed', a.changed) order by a.at)
            from event_attributions a where a.event_id = e.id), '[]')
    )
$$;

create function fixture_document(f fixtures) returns jsonb language sql stable as $$
    select jsonb_build_object(
        '_id', f.id,
        'feed', f.feed,
        'stage', f.stage,
        'fixture', jsonb_build_object(
            'id', f.id, 'date', f.kickoff,
            'status', jsonb_build_object('short', f.status, 'elapsed', f.elapsed, 'extra', f.extra)),
        'league', jsonb_build_object(
            'id', f.league_id, 'name', f.league_name, 'country', f.country, 'season', f.season, 'round', f.round),
        'teams', jsonb_build_object(
            'home', jsonb_build_object('id', f.home_id, 'name', f.home_name),
            'away', jsonb_build_object('id', f.away_id, 'name', f.away_name)),
        'goals', jsonb_build_object('home', f.home_goals, 'away', f.away_goals),
        'score', jsonb_build_object(
            'penalty', jsonb_build_object('home', f.home_penalties, 'away', f.away_penalties)),
        'activated_at', f.activated_at,
        'completed_at', f.completed_at,
        'last_poll_at', f.last_poll_at,
        'error', case when f.error_kind is not null then jsonb_build_object(
            'class', f.error_kind, 'message', f.error_message, 'at', f.error_at) end,
        'events', coalesce((
            select jsonb_agg(event_document(e) order by e.elapsed, e.extra nulls first, e.first_seen, e.id)
            from events e where e.fixture_id = f.id), '[]')
    )
$$;

create view fixtures_staging as
    select f.id as _id, fixture_document(f) as document from fixtures f where f.stage = 'staging';

create view fixtures_active as
    select f.id as _id, fixture_document(f) as document from fixtures f where f.stage = 'active';

create view fixtures_completed as
    select f.id as _id, fixture_document(f) as document from fixtures f where f.stage = 'completed';

create view fixtures_live as
    select fixture_id as _id, poll_id, stored_at, raw as document from live_snapshots;

create view team_aliases as
    select team_id as _id, team_name, aliases, resolved_at from known_team_aliases;
