-- name: lock
-- Serialize registrations: two concurrent ones could create a fixture twice.
select pg_advisory_xact_lock(hashtext('found-footy pairing'));

-- name: known
select feed_id, fixture_id, founding from listings where feed = %(feed)s and feed_id = any(%(ids)s);

-- name: candidates
select f.id, f.sport, f.kickoff, f.league_name as competition,
    array_remove(array[f.home_name, f.home_short], null) || coalesce(h.aliases, '{}') as home,
    array_remove(array[f.away_name, f.away_short], null) || coalesce(a.aliases, '{}') as away,
    array(select l.feed from listings l where l.fixture_id = f.id) as feeds
from fixtures f
left join known_team_aliases h on h.team_id = f.home_id
left join known_team_aliases a on a.team_id = f.away_id
where f.kickoff between %(since)s and %(until)s
order by f.kickoff, f.id;

-- name: decided
select feed_id, fixture_id, same from doubtful_pairings
where feed = %(feed)s and feed_id = any(%(ids)s) and same is not null;

-- name: taken
select id from fixtures where id = any(%(ids)s);

-- name: join
insert into listings (feed, feed_id, fixture_id, founding, swapped, confidence, reasons, joined_at)
select r.feed, r.feed_id, r.fixture_id, r.founding, r.swapped, r.confidence, r.reasons, %(now)s
from jsonb_to_recordset(%(rows)s) as r (
    feed text, feed_id bigint, fixture_id bigint, founding boolean, swapped boolean, confidence real, reasons text[])
join fixtures f on f.id = r.fixture_id
on conflict do nothing
returning feed, feed_id;

-- name: locate
update listings l set locator = r.locator
from jsonb_to_recordset(%(rows)s) as r (feed_id bigint, locator text)
where l.feed = %(feed)s and l.feed_id = r.feed_id and l.locator <> r.locator;

-- name: settle_doubts
delete from doubtful_pairings where feed = %(feed)s and feed_id = any(%(ids)s) and same is distinct from false;

-- name: doubt
insert into doubtful_pairings (
    feed, feed_id, fixture_id, home, away, kickoff, competition, swapped, confidence, reasons, first_seen, last_seen)
select r.feed, r.feed_id, r.fixture_id, r.home, r.away, r.kickoff, r.competition, r.swapped, r.confidence, r.reasons,
    %(now)s, %(now)s
from jsonb_to_recordset(%(rows)s) as r (
    feed text, feed_id bigint, fixture_id bigint, home text, away text, kickoff timestamptz, competition text,
    swapped boolean, confidence real, reasons text[])
on conflict (feed, feed_id, fixture_id) do update set
    home = excluded.home, away = excluded.away, kickoff = excluded.kickoff, competition = excluded.competition,
    confidence = excluded.confidence, reasons = excluded.reasons, last_seen = excluded.last_seen;

-- name: doubtful
select d.feed, d.feed_id, d.fixture_id, d.home, d.away, d.kickoff, d.competition, d.confidence, d.reasons, d.first_seen,
    d.last_seen, f.home_name as our_home, f.away_name as our_away, f.kickoff as our_kickoff,
    f.league_name as our_competition
from doubtful_pairings d join fixtures f on f.id = d.fixture_id
where d.same is null
order by d.kickoff, d.feed, d.feed_id, d.fixture_id;

-- name: decide
update doubtful_pairings set same = %(same)s, decided_at = %(now)s
where feed = %(feed)s and feed_id = %(feed_id)s and fixture_id = %(fixture_id)s
returning feed, feed_id, fixture_id, swapped, confidence, reasons;

-- name: followed
select f.id, f.stage, f.status, f.kickoff, f.completed_at, f.home_id, f.home_name, f.home_short, f.away_id,
    f.away_name, f.away_short, f.last_poll_at, f.staging_polled_at, f.activated_at, f.league_id, f.league_name,
    f.country, f.season, f.round,
    jsonb_agg(jsonb_build_object(
        'feed', l.feed, 'feed_id', l.feed_id, 'swapped', l.swapped, 'founding', l.founding, 'locator', l.locator)
        order by l.founding desc, l.feed) as listings
from fixtures f join listings l on l.fixture_id = f.id
where (f.stage = any(%(stages)s) and (f.stage <> 'completed' or f.completed_at >= %(since)s))
  and (%(feed)s::text is null or exists (
    select from listings x where x.fixture_id = f.id and x.feed = %(feed)s))
group by f.id
order by f.id;
