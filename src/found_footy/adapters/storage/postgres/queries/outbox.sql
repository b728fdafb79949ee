-- name: add
insert into outbox (topic, fixture_id, event_id, payload)
select r.topic, r.fixture_id, r.event_id, r.payload
from jsonb_to_recordset(%(rows)s) as r (topic text, fixture_id bigint, event_id text, payload jsonb);

-- name: delete_older_than
delete from outbox where at < %(before)s;

-- name: since
-- Rows in the order of their ids, up to the first that a transaction still open could come before.
select id, at, topic, fixture_id, event_id, payload from outbox
where id > %(after)s and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
order by id limit %(limit)s;
