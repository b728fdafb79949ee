-- Changes of the follow list at run time, relative to the setting FOOTY_FOLLOW.
create table follows (
    -- A preset, the slug of a competition, or the name of a team.
    entry text primary key check (length(entry) between 1 and 100),
    followed boolean not null,
    at timestamptz not null,
    -- The name of the token, or `cli`.
    by text not null default '' check (length(by) <= 100)
);
