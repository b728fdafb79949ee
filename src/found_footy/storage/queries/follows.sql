-- name: changes
select entry, followed, at, by from follows order by at, entry;

-- name: change
insert into follows (entry, followed, at, by)
select distinct entry, %(followed)s::boolean, %(now)s::timestamptz, %(by)s::text
from unnest(%(entries)s::text[]) as entry
where (select count(*) from follows) + cardinality(%(entries)s::text[]) <= %(most)s
    or entry in (select f.entry from follows f)
on conflict (entry) do update set followed = excluded.followed, at = excluded.at, by = excluded.by
returning entry;

-- name: reset
delete from follows returning entry;

-- name: next_kickoff
select id as fixture_id, kickoff, home_name as home, away_name as away, league_name as league
from fixtures
where stage <> 'completed' and kickoff > %(now)s
order by kickoff, id
limit 1;

-- name: day_limits
select feed, (quota ->> 'day_limit')::int as day_limit from feed_states where quota ->> 'day_limit' is not null;
