-- name: known_checksums
-- Matches of a feed that are being recorded, with the checksum of the last response.
select l.feed_id, coalesce((
    select a.checksum from recorded_snapshots a where a.fixture_id = l.fixture_id and a.feed = l.feed
    order by a.at desc limit 1), '') as checksum
from listings l join fixtures f on f.id = l.fixture_id
where l.feed = %(feed)s and l.feed_id = any(%(ids)s) and f.stage <> 'completed' and is_recorded(l.fixture_id);

-- name: add_answers
insert into recorded_snapshots (fixture_id, feed, feed_id, at, checksum, body, error_kind, error_message)
select l.fixture_id, l.feed, l.feed_id, r.at, r.checksum, decode(r.body, 'base64'), r.error_kind, r.error_message
from jsonb_to_recordset(%(rows)s) as r (
    feed_id bigint, at timestamptz, checksum text, body text, error_kind text, error_message text)
join listings l on l.feed = %(feed)s and l.feed_id = r.feed_id
on conflict do nothing;

-- name: add_search
insert into recorded_searches (event_id, attempt, fixture_id, at, body)
select e.id, %(attempt)s, e.fixture_id, %(at)s, %(body)s
from events e where e.id = %(event_id)s and is_recorded(e.fixture_id)
on conflict (event_id, attempt) do update set at = excluded.at, body = excluded.body;

-- name: finished_matches
select f.id from fixtures f
where f.stage = 'completed' and f.id <> all(%(without)s::bigint[])
  and exists (select from recorded_snapshots a where a.fixture_id = f.id)
  and not exists (select from recordings r where r.fixture_id = f.id and r.key is not null)
order by f.completed_at, f.id limit %(limit)s;

-- name: fixture
select f.id, f.home_name, f.away_name, f.home_id, f.away_id, fixture_document(f) as document,
    coalesce((select jsonb_agg(jsonb_build_object('feed', l.feed, 'founding', l.founding) order by l.founding desc, l.feed)
        from listings l where l.fixture_id = f.id), '[]') as feeds
from fixtures f where f.id = %(id)s;

-- name: answers
select feed, feed_id, at, checksum, body, error_kind, error_message from recorded_snapshots
where fixture_id = %(id)s order by at, feed, feed_id;

-- name: searches
select event_id, attempt, body from recorded_searches where fixture_id = %(id)s order by at, event_id, attempt;

-- name: downloads
-- Result for each post: its file and the clip that represents it, or why there is none.
select c.event_id, c.key, c.media_url, c.md5, coalesce(c.rejection_reason, v.rejection_reason) as rejection_reason,
    coalesce(c.rejection_detail, v.rejection_detail, '') as detail,
    case when v.state = 'kept' then v.md5 else v.replaced_by end as clip
from candidates c
join events e on e.id = c.event_id
left join videos v on v.event_id = c.event_id and v.md5 = c.md5
where e.fixture_id = %(id)s order by c.event_id, c.key;

-- name: names
select team_id, team_name, aliases from known_team_aliases where team_id = any(%(ids)s) order by team_id;

-- name: seal
insert into recordings (fixture_id, key, bytes, sealed_at)
select f.id, %(key)s, %(bytes)s, %(now)s from fixtures f where f.id = %(id)s
on conflict (fixture_id) do update set key = excluded.key, bytes = excluded.bytes, sealed_at = excluded.sealed_at;

-- name: delete_answers
delete from recorded_snapshots where fixture_id = %(id)s;

-- name: delete_searches
delete from recorded_searches where fixture_id = %(id)s;

-- name: enable_all
update recording_settings set all_matches = %(on)s;

-- name: clear_enabled
update recordings set enabled = null where enabled is not null;

-- name: enable
insert into recordings (fixture_id, enabled)
select f.id, %(on)s from fixtures f where f.id = any(%(ids)s)
on conflict (fixture_id) do update set enabled = excluded.enabled
returning fixture_id;

-- name: all_enabled
select all_matches from recording_settings;

-- name: summaries
select f.id as fixture_id, f.home_name, f.away_name, f.kickoff, f.stage, is_recorded(f.id) as recorded,
    coalesce(a.answers, 0) as answers, coalesce(s.searches, 0) as searches, r.key, r.bytes, r.sealed_at
from fixtures f
left join recordings r on r.fixture_id = f.id
left join (select fixture_id, count(*) as answers from recorded_snapshots group by 1) a on a.fixture_id = f.id
left join (select fixture_id, count(*) as searches from recorded_searches group by 1) s on s.fixture_id = f.id
where r.key is not null or r.enabled is not null or a.answers > 0
order by f.kickoff desc, f.id;
