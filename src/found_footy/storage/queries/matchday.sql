-- name: matches
-- The matches of a span of time, or the one of that id, each with its goals and the best clip of each. What is not
-- asked for is null, and costs nothing.
with chosen as (
    (select * from fixtures where id = %(id)s::bigint)
    union all
    (select * from fixtures
     where kickoff >= %(start)s::timestamptz and kickoff < %(end)s::timestamptz
     order by kickoff, id limit %(most)s::int)
)
select f.id, f.stage, f.status, f.elapsed, f.extra, f.kickoff, f.league_id, f.league_name, f.country, f.round,
    f.home_id, f.home_name, f.away_id, f.away_name, f.home_goals, f.away_goals, f.home_penalties, f.away_penalties,
    f.last_poll_at, f.error_kind, f.error_message, f.sport, f.innings, f.toss, f.venue, f.last_event, f.details,
    coalesce(g.goals, '[]') as goals
from chosen f
left join lateral (
    select json_agg(json_build_object(
        'id', e.id,
        'status', event_status(e),
        'side', e.side,
        'team', e.team_name,
        'player', e.player_name,
        'assist', e.assist_name,
        'kind', e.kind,
        'elapsed', e.elapsed,
        'extra', e.extra,
        'innings', e.innings,
        'home', e.home_after,
        'away', e.away_after,
        'seen', e.seen,
        'removed_reason', e.removed_reason,
        'searches', (select coalesce(max(s.attempt), 0) from searches s where s.event_id = e.id),
        'clips', c.clips,
        'verified', c.verified,
        'best', c.best
    ) order by e.innings nulls first, e.elapsed, e.extra nulls first, e.first_seen, e.id) as goals
    from events e
    -- A withdrawn goal has no clips to show. Those that are kept are the ones with a rank.
    left join lateral (
        select count(*) as clips, count(*) filter (where v.status = 'verified') as verified,
            (json_agg(json_build_object(
                'id', v.id, 'verified', v.status = 'verified', 'duration', v.duration, 'width', v.width,
                'height', v.height, 'popularity', v.popularity)) filter (where v.rank = 1)) -> 0 as best
        from videos v
        where v.event_id = e.id and v.rank is not null and e.removed_at is null
    ) c on true
    where e.fixture_id = f.id
) g on true
order by f.kickoff, f.id;

-- name: days
-- How many matches the days around a day have, and the last before and the first after it.
select
    -- News up to here are part of what is read after this.
    (select last from outbox_last_position) as position,
    (select max(kickoff) from fixtures where kickoff < %(start)s) as before,
    (select min(kickoff) from fixtures where kickoff >= %(end)s) as after,
    coalesce((
        select json_object_agg(day, matches) from (
            select (kickoff at time zone 'UTC')::date as day, count(*) as matches from fixtures
            where kickoff >= %(first)s and kickoff < %(last)s group by 1) as each), '{}') as counts;

-- name: heard
-- When the matches of a span of time that are followed at every poll were last heard of.
select id, last_poll_at as heard_at from fixtures
where kickoff >= %(start)s and kickoff < %(end)s and stage = 'active' and last_poll_at is not null
order by id limit %(most)s;
