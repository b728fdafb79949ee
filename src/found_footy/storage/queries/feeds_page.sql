-- name: match
-- One match, and which feed said what of it.
select id, home_name, away_name, stage, status, kickoff, sport, last_poll_at, origins from fixtures where id = %(id)s;
