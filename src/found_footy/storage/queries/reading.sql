-- What the API answers with, as text that nobody takes apart on its way out.

-- name: version
-- The same as long as the same transactions are visible: then everything else reads the same, too.
select pg_current_snapshot()::text as version;

-- name: dates
-- Newest first. Days are found one by one from the index, so that a page costs its own days only.
with recursive days (day, place) as (
    select (max(kickoff) at time zone 'UTC')::date, 1 from fixtures
    where %(day)s::date is null or kickoff < (%(day)s::date::timestamp at time zone 'UTC')
    union all
    select ((select max(kickoff) from fixtures where kickoff < (d.day::timestamp at time zone 'UTC'))
        at time zone 'UTC')::date, d.place + 1
    from days d where d.day is not null and d.place <= %(limit)s)
select d.day, json_build_object(
    'date', d.day, 'matches', m.matches, 'goals', m.goals, 'clips', m.clips)::text as document
from days d
cross join lateral (
    select count(*) as matches, sum(g.goals)::bigint as goals, sum(g.clips)::bigint as clips
    from fixtures f
    cross join lateral (
        select count(*) as goals, coalesce(sum((
            select count(*) from videos v where v.event_id = e.id and v.rank is not null)), 0) as clips
        from events e where e.fixture_id = f.id and e.stable_at is not null and e.removed_at is null) as g
    where f.kickoff >= (d.day::timestamp at time zone 'UTC')
      and f.kickoff < ((d.day + 1)::timestamp at time zone 'UTC')) as m
where d.day is not null
order by d.day desc limit %(limit)s;

-- name: fixtures
-- In the order of the calendar.
with page as (
    select f.* from fixtures f
    where (%(sport)s::text is null or f.sport = %(sport)s)
      and (%(since)s::timestamptz is null or f.kickoff >= %(since)s)
      and (%(until)s::timestamptz is null or f.kickoff < %(until)s)
      and (%(stage)s::text is null or f.stage = %(stage)s)
      and (%(league_id)s::bigint is null or f.league_id = %(league_id)s)
      and (%(team_id)s::bigint is null or %(team_id)s in (f.home_id, f.away_id))
      and (search_query(%(q)s, 't', %(team)s, null, %(competition)s) is null
           or f.words @@ search_query(%(q)s, 't', %(team)s, null, %(competition)s))
      and (%(kickoff)s::timestamptz is null or (f.kickoff, f.id) > (%(kickoff)s, %(id)s::bigint))
    order by f.kickoff, f.id limit %(limit)s)
select page.kickoff, page.id, merge_json(m.match, fixture_freshness(page, %(at)s, %(stale_after)s, %(over)s)) as document
from page cross join lateral match_summary(page) as m
order by page.kickoff, page.id;

-- name: fixtures_found
-- The newest first; with a scorer, a minute or clips to look for, those with such a goal.
with page as (
    select f.* from fixtures f
    where (%(sport)s::text is null or f.sport = %(sport)s)
      and (%(since)s::timestamptz is null or f.kickoff >= %(since)s)
      and (%(until)s::timestamptz is null or f.kickoff < %(until)s)
      and (%(league_id)s::bigint is null or f.league_id = %(league_id)s)
      and (%(team_id)s::bigint is null or %(team_id)s in (f.home_id, f.away_id))
      and (search_query(null, 't', %(team)s, null, %(competition)s) is null
           or f.words @@ search_query(null, 't', %(team)s, null, %(competition)s))
      and (prefix_query(%(q)s) is null or f.words @@ prefix_query(%(q)s) or f.id = any(array(
            select e.fixture_id from events e where e.words @@ prefix_query(%(q)s) and e.removed_at is null)))
      and (not %(by_goal)s or exists (
            select from events e where e.fixture_id = f.id and e.removed_at is null
              and (%(player_id)s::bigint is null or e.player_id = %(player_id)s)
              and (prefix_query(%(player)s, 'p') is null or e.words @@ prefix_query(%(player)s, 'p'))
              and (%(minute)s::int is null or e.elapsed = %(minute)s)
              and (%(extra)s::int is null or e.extra = %(extra)s)
              and (%(verified)s::boolean is null or %(verified)s = exists (
                    select from videos v where v.event_id = e.id and v.state = 'kept' and v.status = 'verified'))
              and (%(has_clip)s::boolean is null or %(has_clip)s = exists (
                    select from videos v where v.event_id = e.id and v.state = 'kept'))))
      and (%(kickoff)s::timestamptz is null or (f.kickoff, f.id) < (%(kickoff)s, %(id)s::bigint))
    order by f.kickoff desc, f.id desc limit %(limit)s)
select page.kickoff, page.id, merge_json(m.match, fixture_freshness(page, %(at)s, %(stale_after)s, %(over)s)) as document
from page cross join lateral match_summary(page) as m
order by page.kickoff desc, page.id desc;

-- name: events
-- The newest first.
with page as (
    select e as goal, f as match from events e join fixtures f on f.id = e.fixture_id
    where (%(fixture)s::bigint is null or e.fixture_id = %(fixture)s)
      and (%(sport)s::text is null or f.sport = %(sport)s)
      and (%(since)s::timestamptz is null or f.kickoff >= %(since)s)
      and (%(until)s::timestamptz is null or f.kickoff < %(until)s)
      and (%(league_id)s::bigint is null or f.league_id = %(league_id)s)
      and (%(team_id)s::bigint is null or e.team_id = %(team_id)s)
      and (%(player_id)s::bigint is null or e.player_id = %(player_id)s)
      and (%(minute)s::int is null or e.elapsed = %(minute)s)
      and (%(extra)s::int is null or e.extra = %(extra)s)
      and (not %(standing)s or e.removed_at is null)
      and case coalesce(%(status)s::text, 'any')
            when 'any' then true
            when 'withdrawn' then e.removed_at is not null
            when 'validating' then e.removed_at is null and e.stable_at is null
            when 'complete' then e.removed_at is null and e.stable_at is not null and e.download_complete
            else not e.download_complete and event_status(e) = %(status)s
          end
      and (%(verified)s::boolean is null or %(verified)s = exists (
            select from videos v where v.event_id = e.id and v.state = 'kept' and v.status = 'verified'))
      and (%(has_clip)s::boolean is distinct from true or exists (
            select from videos v where v.event_id = e.id and v.rank is not null))
      and (%(has_clip)s::boolean is distinct from false or not exists (
            select from videos v where v.event_id = e.id and v.rank is not null))
      and (search_query(%(q)s, 's', %(team)s, %(player)s, %(competition)s) is null
           or e.words @@ search_query(%(q)s, 's', %(team)s, %(player)s, %(competition)s))
      and (%(first_seen)s::timestamptz is null or (e.first_seen, e.id) < (%(first_seen)s, %(id)s::text))
    order by e.first_seen desc, e.id desc limit %(limit)s)
select (page.goal).first_seen, (page.goal).id, merge_json(g.goal, json_build_object(
    '_fixture', json_build_object(
        'id', (page.match).id, 'home', (page.match).home_name, 'away', (page.match).away_name,
        'league', (page.match).league_name, 'date', (page.match).kickoff, 'stage', (page.match).stage,
        'status', (page.match).status, 'sport', (page.match).sport, 'heard_at', (page.match).last_poll_at))) as document
from page cross join lateral goal_summary(page.goal) as g
order by (page.goal).first_seen desc, (page.goal).id desc;

-- name: videos
-- The clips of goals that stand, the newest first.
with page as (
    select v.published_at, v.id, v.event_id, e.player_name, e.elapsed, e.extra, e.innings, f.id as fixture_id, f.home_name,
        f.away_name
    from videos v join events e on e.id = v.event_id join fixtures f on f.id = e.fixture_id
    where v.state = 'kept' and e.removed_at is null
      and (%(event)s::text is null or v.event_id = %(event)s)
      and (%(fixture)s::bigint is null or e.fixture_id = %(fixture)s)
      and (%(verified)s::boolean is null or %(verified)s = (v.status = 'verified'))
      and (%(since)s::timestamptz is null or v.published_at >= %(since)s)
      and (%(published_at)s::timestamptz is null or (v.published_at, v.id) < (%(published_at)s, %(id)s::text))
    order by v.published_at desc, v.id desc limit %(limit)s)
select page.published_at, page.id, merge_json(json_build_object(
    'event_id', page.event_id, 'fixture_id', page.fixture_id, 'home', page.home_name, 'away', page.away_name,
    'player', page.player_name, 'minute', page.elapsed, 'extra', page.extra, 'innings', page.innings, 'url', '/v/' || page.id,
    'poster', '/v/' || page.id || '/poster.jpg'), c.clip) as document
from page join lateral clips_of(page.event_id) as c on c.id = page.id
order by page.published_at desc, page.id desc;

-- name: clips_found
-- By goals, the newest first; of a goal, by rank.
with page as (
    select e.first_seen, v.event_id, v.id, v.rank, e.player_name, e.elapsed, e.extra, e.innings, f.id as fixture_id, f.home_name,
        f.away_name
    from events e join fixtures f on f.id = e.fixture_id join videos v on v.event_id = e.id
    where v.state = 'kept' and e.removed_at is null
      and (%(sport)s::text is null or f.sport = %(sport)s)
      and (%(since)s::timestamptz is null or f.kickoff >= %(since)s)
      and (%(until)s::timestamptz is null or f.kickoff < %(until)s)
      and (%(league_id)s::bigint is null or f.league_id = %(league_id)s)
      and (%(team_id)s::bigint is null or e.team_id = %(team_id)s)
      and (%(player_id)s::bigint is null or e.player_id = %(player_id)s)
      and (%(minute)s::int is null or e.elapsed = %(minute)s)
      and (%(extra)s::int is null or e.extra = %(extra)s)
      and (%(verified)s::boolean is null or %(verified)s = (v.status = 'verified'))
      and (search_query(%(q)s, 's', %(team)s, %(player)s, %(competition)s) is null
           or e.words @@ search_query(%(q)s, 's', %(team)s, %(player)s, %(competition)s))
      and (%(first_seen)s::timestamptz is null
           or (e.first_seen, v.event_id, -v.rank) < (%(first_seen)s, %(event_id)s::text, -%(rank)s::int))
    order by e.first_seen desc, v.event_id desc, v.rank limit %(limit)s)
select page.first_seen, page.event_id, page.rank, merge_json(json_build_object(
    'event_id', page.event_id, 'fixture_id', page.fixture_id, 'home', page.home_name, 'away', page.away_name,
    'player', page.player_name, 'minute', page.elapsed, 'extra', page.extra, 'innings', page.innings, 'url', '/v/' || page.id,
    'poster', '/v/' || page.id || '/poster.jpg'), c.clip) as document
from page join lateral clips_of(page.event_id) as c on c.id = page.id
order by page.first_seen desc, page.event_id desc, page.rank;

-- name: fixture
select pg_current_snapshot()::text as version,
    merge_json(fixture_document(f)::json, fixture_freshness(f, %(at)s, %(stale_after)s, %(over)s)) as document
from fixtures f where id = %(id)s;

-- name: event
-- As `events.one`, in one plan: the functions of that would be a plan each, for every request.
select pg_current_snapshot()::text as version, merge_json(g.goal, json_build_object(
    '_monitor_workflows', coalesce(w.monitor, '[]'),
    '_search_workflows', coalesce(w.search, '[]'),
    '_download_workflows', coalesce(w.download, '[]'),
    '_searches', coalesce(s.searches, '[]'),
    '_discovered_videos', coalesce(p.posts, '[]'),
    '_fixture', json_build_object(
        'id', f.id, 'home', f.home_name, 'away', f.away_name, 'league', f.league_name, 'date', f.kickoff,
        'stage', f.stage, 'status', f.status, 'sport', f.sport, 'heard_at', f.last_poll_at),
    '_proofs', coalesce((
        select json_object_agg(v.md5, v.proof) from videos v
        where v.event_id = e.id and v.state = 'kept' and v.proof is not null and e.removed_at is null), '{}')))
    as document
from events e join fixtures f on f.id = e.fixture_id
cross join lateral goal_summary(e) as g
cross join lateral (
    select json_agg(workflow_id order by added_at, workflow_id) filter (where kind = 'monitor') as monitor,
        json_agg(workflow_id order by added_at, workflow_id) filter (where kind = 'search') as search,
        json_agg(workflow_id order by added_at, workflow_id) filter (where kind = 'download') as download
    from event_workflows w where w.event_id = e.id) as w
cross join lateral (
    select json_agg(json_build_object('attempt', attempt, 'at', at, 'sources', sources) order by attempt) as searches
    from (
        select attempt, min(at) as at, json_object_agg(source, case when error_kind is null
            then json_build_object('found', found)
            else json_build_object('error', json_build_object('class', error_kind, 'message', error_message)) end
        ) as sources
        from searches x where x.event_id = e.id group by attempt) as each) as s
cross join lateral (
    select json_agg(json_build_object(
        'key', c.key, 'source', c.source, 'url', c.url, 'author', c.author, 'text', c.text, 'posted_at', c.posted_at,
        'found_at', c.found_at, 'duration', c.duration, 'attempt', c.attempt, 'md5', c.md5,
        'state', candidate_state(c, v), 'loss', coalesce(c.loss, v.loss),
        'loss_detail', coalesce(c.loss_detail, v.loss_detail),
        'clip', case when v.state = 'kept' then v.md5 else v.replaced_by end
    ) order by c.found_at, c.key) as posts
    from candidates c left join videos v on v.event_id = c.event_id and v.md5 = c.md5
    where c.event_id = e.id) as p
where e.id = %(id)s;

-- name: video
-- One that gave way to a better copy says which clip stands in its place now, however often that changed.
with recursive way (event_id, md5, replaced_by, step) as (
    select event_id, md5, replaced_by, 1 from videos where id = %(id)s
    union all
    select v.event_id, v.md5, v.replaced_by, way.step + 1 from way
    join videos v on v.event_id = way.event_id and v.md5 = way.replaced_by where way.step < 100)
select pg_current_snapshot()::text as version, e.removed_reason, merge_json(json_build_object(
    'event_id', e.id,
    'fixture_id', f.id,
    'home', f.home_name,
    'away', f.away_name,
    'player', e.player_name,
    'minute', e.elapsed,
    'extra', e.extra,
    'innings', e.innings,
    'url', '/v/' || v.id,
    'poster', '/v/' || v.id || '/poster.jpg',
    'proof', v.proof,
    'leads_to', case when v.state = 'replaced' then json_build_object(
        'id', o.id, 'url', '/v/' || o.id, 'offset_seconds', v.offset_seconds, 'mirrored', v.mirrored) end),
    c.clip) as document
from videos v
join events e on e.id = v.event_id
join fixtures f on f.id = e.fixture_id
join lateral clips_of(v.event_id) as c on c.id = v.id
left join way on way.replaced_by is null
left join videos o on o.event_id = way.event_id and o.md5 = way.md5
where v.id = %(id)s and v.state in ('kept', 'replaced');

-- name: losses
-- Posts by when they were found, goals by when they were certain. Nothing is lost where nothing was posted: such goals
-- are counted by themselves.
with goals as (
    select e.id, e.download_complete, e.stable_at,
        exists (select from candidates c where c.event_id = e.id) as posted,
        exists (select from videos v where v.event_id = e.id and v.state = 'kept') as clips
    from events e
    where e.stable_at >= %(since)s and e.stable_at < %(until)s and e.removed_at is null
      and (%(fixture)s::bigint is null or e.fixture_id = %(fixture)s)
), posts as (
    select c.found_at, candidate_state(c, v) as state, coalesce(c.loss, v.loss) as loss
    from candidates c
    join events e on e.id = c.event_id
    left join videos v on v.event_id = c.event_id and v.md5 = c.md5
    where c.found_at >= %(since)s and c.found_at < %(until)s
      and (%(fixture)s::bigint is null or e.fixture_id = %(fixture)s)
), hours as (
    select date_trunc('hour', found_at, 'UTC') as hour, loss, 1 as lost, 0 as nothing from posts where loss is not null
    union all
    select date_trunc('hour', stable_at, 'UTC'), null, 0, 1 from goals where download_complete and not posted)
select json_build_object(
    'since', %(since)s::timestamptz,
    'until', %(until)s::timestamptz,
    'goals', (select json_build_object(
        'certain', count(*),
        'with_clips', count(*) filter (where clips),
        'searching', count(*) filter (where not clips and not download_complete),
        'nothing_posted', count(*) filter (where download_complete and not posted),
        'all_lost', count(*) filter (where download_complete and posted and not clips)) from goals),
    'posts', (select json_build_object(
        'found', count(*),
        'kept', count(*) filter (where state = 'kept'),
        'duplicate', count(*) filter (where state = 'duplicate'),
        'lost', count(*) filter (where state = 'lost'),
        'in_work', count(*) filter (where state in ('waiting', 'downloading', 'checking'))) from posts),
    'losses', coalesce((
        select json_agg(json_build_object('loss', loss, 'posts', number) order by number desc, loss)
        from (select loss, count(*) as number from posts where loss is not null group by loss) as each), '[]'),
    'hours', coalesce((
        select json_agg(json_build_object(
            'hour', hour, 'nothing_posted', nothing, 'losses', coalesce(losses, '{}')) order by hour)
        from (
            select hour, sum(nothing) as nothing, json_object_agg(loss, lost) filter (where loss is not null) as losses
            from (select hour, loss, sum(lost) as lost, sum(nothing) as nothing from hours group by hour, loss) as each
            group by hour) as buckets), '[]')
    )::text as document;
