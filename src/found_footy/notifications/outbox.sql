-- name: add
insert into outbox (topic, fixture_id, event_id, payload)
select r.topic, r.fixture_id, r.event_id, r.payload
from jsonb_to_recordset(%(rows)s) as r (topic text, fixture_id bigint, event_id text, payload jsonb);

-- name: delete_older_than
-- Also deletes their deliveries, except those that are being sent.
with old as (delete from deliveries where created_at < %(before)s and state <> 'sending')
delete from outbox where at < %(before)s;

-- name: place
-- Assigns positions to rows without one and returns the last position.
select assign_outbox_positions() as last;

-- name: oldest
-- The first position within retention.
select min(position) as position from outbox;

-- name: since
select position, at, topic, fixture_id, event_id, payload from outbox
where position > %(after)s
order by position limit %(limit)s;
