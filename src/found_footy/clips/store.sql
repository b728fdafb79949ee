-- name: goal
-- A goal with all fields that search, verification and upload need.
select e.id, e.fixture_id, e.team_id, e.team_name, e.side, e.player_name, e.kind, e.elapsed, e.extra,
    e.home_before, e.away_before, e.home_after, e.away_after, e.stable_at, e.removed_at, e.download_complete,
    e.type, e.assist_name, e.innings as of_innings, f.innings, f.kickoff, f.home_short, f.away_short,
    f.home_id, f.home_name, f.away_id, f.away_name, f.league_name, f.country,
    coalesce(h.aliases, '{}') as home_aliases, coalesce(a.aliases, '{}') as away_aliases
from events e
join fixtures f on f.id = e.fixture_id
left join known_team_aliases h on h.team_id = f.home_id
left join known_team_aliases a on a.team_id = f.away_id
where e.id = %(id)s;

-- name: lock_goal
select id, fixture_id, team_name, player_name, removed_at from events where id = %(id)s for update;

-- name: touch
update events set searched_at = %(now)s where id = %(id)s;

-- name: save_search
update events set searched_at = %(now)s, search_query = %(query)s, aliases = %(aliases)s where id = %(id)s
returning fixture_id;

-- name: add_searches
insert into searches (event_id, attempt, source, at, found, error_kind, error_message)
select %(id)s, %(attempt)s, r.source, %(now)s, r.found, r.error_kind, r.error_message
from jsonb_to_recordset(%(rows)s) as r (source text, found int, error_kind text, error_message text)
on conflict (event_id, attempt, source) do update set
    at = excluded.at, found = excluded.found, error_kind = excluded.error_kind, error_message = excluded.error_message
returning (xmax = 0) as is_new;

-- name: add_candidates
insert into candidates (event_id, key, source, url, media_url, author, text, posted_at, found_at, duration)
select %(id)s, r.key, r.source, r.url, r.media_url, r.author, r.text, r.posted_at, %(now)s, r.duration
from jsonb_to_recordset(%(rows)s) as r (
    key text, source text, url text, media_url text, author text, text text, posted_at timestamptz,
    duration double precision)
order by r.key
on conflict do nothing;

-- name: block_candidates
-- Posts of blocked accounts and goals are counted, but their content is not stored.
update candidates c set rejection_reason = 'taken down', rejection_detail = '',
    author = '', text = '', url = '', media_url = ''
where event_id = %(id)s and md5 is null and rejection_reason is null
    and (is_blocked_account(c.source, c.author) or takedown_reason(c.event_id, '') is not null);

-- name: blocked_videos
select md5, takedown_reason(event_id, md5) as reason from videos
where event_id = %(id)s and state in ('staged', 'checked', 'hashed') and takedown_reason(event_id, md5) is not null;

-- name: taken_down_fingerprints
select md5, fingerprint, rejection_detail as reason from videos
where event_id = %(id)s and rejection_reason = 'taken down' and fingerprint is not null;

-- name: search_progress
select coalesce(max(attempt), 0) as attempts, coalesce((
    select jsonb_object_agg(source, number) from (
        select source, count(*) as number from searches
        where event_id = %(id)s and error_kind is null and (%(before)s::int is null or attempt < %(before)s)
        group by source) as each), '{}') as answered
from (
    select attempt from searches where event_id = %(id)s
    union all
    select attempt from candidates where event_id = %(id)s) as made
where %(before)s::int is null or attempt < %(before)s;

-- name: abandoned_candidates
-- Posts of earlier attempts whose download never started.
select c.key from candidates c
where c.event_id = %(id)s and c.attempt < %(attempt)s and c.md5 is null and c.rejection_reason is null
  and not exists (
    select from event_workflows w
    where w.event_id = c.event_id and w.kind = 'download'
      and w.workflow_id = 'download-' || c.event_id || '-' || c.attempt)
order by c.key;

-- name: candidates_of_attempt
select key from candidates where event_id = %(id)s and attempt = %(attempt)s order by key;

-- name: pending_posts
select key, posted_at, duration from candidates
where event_id = %(id)s and attempt is null and md5 is null and rejection_reason is null;

-- name: take_candidates
update candidates set attempt = %(attempt)s where event_id = %(id)s and key = any(%(keys)s);

-- name: reject_candidates
update candidates set rejection_reason = %(rejection)s, rejection_detail = %(detail)s
where event_id = %(id)s and key = any(%(keys)s) and md5 is null and rejection_reason is null;

-- name: candidate
select key, source, media_url, md5, rejection_reason from candidates where event_id = %(id)s and key = %(key)s;

-- name: link_candidate
update candidates set md5 = %(md5)s, rejection_reason = null, rejection_detail = null where event_id = %(id)s and key = %(key)s;

-- name: add_video
insert into videos (event_id, md5, state, duration, width, height, aspect, fps, bit_rate, file_size, codec, staged_at)
values (%(id)s, %(md5)s, 'staged', %(duration)s, %(width)s, %(height)s, %(aspect)s, %(fps)s, %(bit_rate)s,
    %(file_size)s, %(codec)s, %(now)s)
on conflict do nothing;

-- name: video
select state, status from videos where event_id = %(id)s and md5 = %(md5)s;

-- name: first_posted_at
select min(posted_at) as posted_at from candidates where event_id = %(id)s and md5 = %(md5)s;

-- name: save_verification
update videos set state = 'checked', status = %(status)s, reason = %(reason)s, minute = %(minute)s, proof = %(proof)s
where event_id = %(id)s and md5 = %(md5)s and state = 'staged';

-- name: reject_videos
update videos set state = 'refused', rejection_reason = %(rejection)s, rejection_detail = %(detail)s,
    status = coalesce(%(status)s, status), reason = coalesce(%(reason)s, reason), minute = coalesce(%(minute)s, minute), proof = coalesce(%(proof)s, proof)
where event_id = %(id)s and md5 = any(%(md5s)s) and state in ('staged', 'checked', 'hashed');

-- name: outdated_rejections
-- Goals of current matches that the feed has corrected since it caused clips to be rejected.
select distinct e.id
from fixtures f
join events e on e.fixture_id = f.id
join videos v on v.event_id = e.id
cross join lateral (select v.proof -> 'expectation' as was) as expectation
where (f.stage = 'active' or f.completed_at > %(since)s)
  and e.removed_at is null and v.state = 'refused' and v.rejection_reason = any(%(reasons)s) and v.proof is not null
  and ((was ->> 'elapsed')::int <> e.elapsed
    or (was ->> 'extra')::int is distinct from e.extra
    or (was ->> 'home') is distinct from f.home_name
    or (was ->> 'away') is distinct from f.away_name
    or (was ->> 'innings')::int is distinct from e.innings
    or (was ->> 'score_before') <> e.home_before || '-' || e.away_before
    or (was ->> 'score_after') <> e.home_after || '-' || e.away_after)
order by e.id;

-- name: reverifiable_videos
select md5, proof from videos
where event_id = %(id)s and state = 'refused' and rejection_reason = any(%(reasons)s) and proof is not null
order by md5;

-- name: accept_rejected_video
update videos set state = 'checked', rejection_reason = null, rejection_detail = null, status = %(status)s,
    reason = %(reason)s, minute = %(minute)s, proof = %(proof)s
where event_id = %(id)s and md5 = %(md5)s and state = 'refused';

-- name: update_rejection
update videos set rejection_reason = %(rejection)s, rejection_detail = %(detail)s, status = %(status)s,
    reason = %(reason)s, minute = %(minute)s, proof = %(proof)s
where event_id = %(id)s and md5 = %(md5)s and state = 'refused';

-- name: save_fingerprint
update videos set state = 'hashed', fingerprint = %(fingerprint)s
where event_id = %(id)s and md5 = %(md5)s and state = 'checked';

-- name: record_frames
insert into frame_sightings (hash, fixture_id)
select unnest(%(hashes)s::bigint[]), fixture_id from events where id = %(id)s
on conflict (hash, fixture_id) do nothing;

-- name: trim_frames
delete from frame_sightings
where seen_at < (select seen_at from frame_sightings order by seen_at desc offset %(limit)s limit 1);

-- name: common_frames
select hash from frame_sightings group by hash having count(*) >= %(fixtures)s;

-- name: pool
-- A pool's published clips, its new videos, and the duplicates of the published clips.
select md5, state, duration, file_size, fingerprint, replaced_by, offset_seconds, mirrored from videos
where event_id = %(id)s and status = %(pool)s and state in ('hashed', 'kept', 'replaced')
order by md5;

-- name: videos_to_settle
select md5, state, status, file_size, popularity, rank from videos
where event_id = %(id)s and state in ('hashed', 'kept', 'replaced') for update;

-- name: replace
update videos v set state = 'replaced', rank = null, popularity = 0, replaced_by = r.of,
    offset_seconds = r.offset_seconds, mirrored = r.mirrored
from jsonb_to_recordset(%(rows)s) as r (md5 text, of text, offset_seconds double precision, mirrored boolean)
where v.event_id = %(id)s and v.md5 = r.md5;

-- name: popularity
select coalesce(v.replaced_by, v.md5) as md5, count(*) as posts
from candidates c join videos v on v.event_id = c.event_id and v.md5 = c.md5
where c.event_id = %(id)s group by 1;

-- name: clear_ranks
update videos set rank = null, state = 'hashed' where event_id = %(id)s and state = 'kept';

-- name: keep
update videos v set state = 'kept', rank = r.rank, popularity = r.popularity,
    published_at = coalesce(v.published_at, %(now)s)
from jsonb_to_recordset(%(rows)s) as r (md5 text, rank int, popularity int)
where v.event_id = %(id)s and v.md5 = r.md5;

-- name: open_work
select
    (select count(*) from candidates c where c.event_id = %(id)s and c.attempt is not null
        and c.md5 is null and c.rejection_reason is null) as downloading,
    (select count(*) from videos v where v.event_id = %(id)s and v.state in ('staged', 'checked')) as checking,
    (select count(*) from videos v where v.event_id = %(id)s and v.state = 'hashed') as waiting;

-- name: reject_open
update candidates set rejection_reason = case when attempt is null then 'passed over' else %(rejection)s end,
    rejection_detail = %(detail)s
where event_id = %(id)s and md5 is null and rejection_reason is null;

-- name: states
select md5, state from videos where event_id = %(id)s;

-- name: aliases
select team_id, aliases from known_team_aliases where team_id = any(%(ids)s);

-- name: save_aliases
insert into known_team_aliases (team_id, team_name, aliases, resolved_at)
values (%(team_id)s, %(team_name)s, %(aliases)s, %(now)s)
on conflict (team_id) do update set
    team_name = excluded.team_name, aliases = excluded.aliases, resolved_at = excluded.resolved_at;

-- name: teams_without_aliases
-- Football teams of unfinished matches, by kick-off.
select team_id, min(name) as name, min(country) as country, min(league) as league from (
    select home_id as team_id, home_name as name, country, league_name as league, kickoff from fixtures
    where stage <> 'completed' and sport = 'football'
    union all
    select away_id, away_name, country, league_name, kickoff from fixtures
    where stage <> 'completed' and sport = 'football') as teams
where not exists (select 1 from known_team_aliases k where k.team_id = teams.team_id)
group by team_id order by min(kickoff), team_id limit %(limit)s;

-- name: list
select merge_json(clip_goal(e, f, c.id), c.clip)::json as document
from events e
join fixtures f on f.id = e.fixture_id
cross join lateral clips_of(e.id, with_hashes => true) as c
where c.state = 'kept' and e.removed_at is null
  and (%(fixture)s::bigint is null or f.id = %(fixture)s)
  and (%(event)s::text is null or e.id = %(event)s)
  and (not %(verified)s or c.clip ->> 'timestamp_verified' = 'true')
order by f.kickoff, f.id, e.innings nulls first, e.elapsed, e.extra nulls first, e.id, c.rank
limit %(limit)s;

-- name: linked_video
-- Follow a video's link over any number of merges to the published clip, with the seconds to add to its times.
with recursive chain as (
    select v.event_id, v.md5, v.replaced_by, v.offset_seconds, 0::double precision as total_offset, 0 as steps
    from videos v where v.id = %(id)s
    union all
    select v.event_id, v.md5, v.replaced_by, v.offset_seconds, chain.total_offset + chain.offset_seconds, chain.steps + 1
    from chain join videos v on v.event_id = chain.event_id and v.md5 = chain.replaced_by
    where chain.steps < 1000)
select v.id, v.event_id, v.md5, v.state, v.rejection_reason, v.rejection_detail, v.file_size, v.duration, v.proof, e.fixture_id, e.removed_at, e.removed_reason,
    e.player_name, e.elapsed, e.extra, f.home_name, f.away_name, chain.total_offset
from chain
join videos v on v.event_id = chain.event_id and v.md5 = chain.md5
join events e on e.id = v.event_id
join fixtures f on f.id = e.fixture_id
where chain.replaced_by is null;

-- name: ended
select reason from ended_links where path = %(path)s;

-- name: linked_fingerprints
select md5, fingerprint from videos where event_id = %(id)s and state = 'kept' and fingerprint is not null;

-- name: add_download
insert into event_workflows (event_id, kind, workflow_id, added_at)
values (%(event_id)s, 'download', %(workflow_id)s, now())
on conflict do nothing;

-- name: set_download_complete
update events e set download_complete = true from events old
where e.id = %(id)s and old.id = e.id
returning e.fixture_id, old.download_complete as was_complete;
