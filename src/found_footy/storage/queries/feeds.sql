-- name: newest
-- The goals of the latest clips. A goal has a few dozen clips at most, so this many clips are enough for all of them.
select event_id as id from (
    select event_id, published_at from videos where state = 'kept' order by published_at desc limit 40 * %(limit)s
) as latest
group by event_id order by max(published_at) desc, event_id limit %(limit)s;

-- name: newest_of_team
select e.id from fixtures f join events e on e.fixture_id = f.id
join videos v on v.event_id = e.id and v.state = 'kept'
where %(id)s in (f.home_id, f.away_id)
group by e.id order by max(v.published_at) desc, e.id limit %(limit)s;

-- name: newest_of_competition
select e.id from fixtures f join events e on e.fixture_id = f.id
join videos v on v.event_id = e.id and v.state = 'kept'
where f.league_id = %(id)s
group by e.id order by max(v.published_at) desc, e.id limit %(limit)s;

-- name: goals
-- A clip that gave way had been published all the same.
select e.id, e.fixture_id, f.league_name, f.home_name, f.away_name, e.team_name, e.player_name, e.elapsed, e.extra,
    e.innings, e.home_after, e.away_after, e.removed_reason, told.published, told.clips, told.verified,
    greatest(told.last, e.removed_at, (select max(a.at) from event_attributions a where a.event_id = e.id)) as updated,
    best.id as best_id, best.file_size as best_size
from events e
join fixtures f on f.id = e.fixture_id
join videos best on best.event_id = e.id and best.rank = 1
cross join lateral (
    select min(published_at) as published, max(published_at) as last, count(*) filter (where state = 'kept') as clips,
        count(*) filter (where state = 'kept' and status = 'verified') as verified
    from videos v where v.event_id = e.id and v.state in ('kept', 'replaced')) as told
where e.id = any(%(ids)s)
order by updated desc, e.id;

-- name: team
select case when home_id = %(id)s then home_name else away_name end as name
from fixtures where %(id)s in (home_id, away_id) order by kickoff desc limit 1;

-- name: competition
select league_name as name from fixtures where league_id = %(id)s order by kickoff desc limit 1;
