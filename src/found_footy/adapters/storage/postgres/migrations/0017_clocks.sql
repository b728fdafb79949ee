-- When the clock of a match last moved, or its status changed: a feed that repeats one answer for ever is heard of, and
-- tells nothing.
alter table fixtures add column clock_moved_at timestamptz;
