-- name: video
-- Where a video's link leads: over any number of merges to the clip that stays, with the seconds to add to its times.
with recursive way as (
    select v.event_id, v.md5, v.replaced_by, v.offset_seconds, 0::double precision as moved, 0 as steps
    from videos v where v.id = %(id)s
    union all
    select v.event_id, v.md5, v.replaced_by, v.offset_seconds, way.moved + way.offset_seconds, way.steps + 1
    from way join videos v on v.event_id = way.event_id and v.md5 = way.replaced_by
    where way.steps < 1000)
select v.id, v.event_id, v.md5, v.state, v.file_size, v.duration, v.proof, e.fixture_id, e.removed_at, e.removed_reason,
    e.player_name, e.elapsed, e.extra, f.home_name, f.away_name, way.moved
from way
join videos v on v.event_id = way.event_id and v.md5 = way.md5
join events e on e.id = v.event_id
join fixtures f on f.id = e.fixture_id
where way.replaced_by is null;

-- name: ended
select reason from ended_links where path = %(path)s;

-- name: fingerprints
select md5, fingerprint from videos where event_id = %(id)s and state = 'kept' and fingerprint is not null;
