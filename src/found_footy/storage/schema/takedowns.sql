-- Takedowns: what an operator removed or hid, why, and what restores hidden clips. Never deleted.

-- Normalized name of an account: @Name, u/Name and name are the same.
create function account_name(author text) returns text language sql immutable parallel safe as $$
    select regexp_replace(lower(btrim(author)), '^(@|/?u/)', '')
$$;

create table takedowns (
    id bigint generated always as identity primary key,
    kind text not null check (kind in ('remove', 'hide')),
    scope text not null check (scope in ('clip', 'goal', 'account')),
    -- The id of a clip or goal, or the name of an account.
    target text not null check (length(target) between 1 and 200),
    -- Source of the account; null for every source.
    source text,
    -- Reason, shown to anyone who follows a link to the clip.
    reason text not null check (length(reason) between 1 and 300),
    at timestamptz not null,
    -- The name of the token, or `cli`.
    by text not null check (length(by) between 1 and 100),
    clips int not null default 0,
    posts int not null default 0,
    library int not null default 0,
    -- When the files were deleted or moved; null while the object store is unavailable.
    files_done_at timestamptz,
    lifted_at timestamptz,
    lifted_by text,
    check (source is null or scope = 'account'),
    check ((lifted_at is null) = (lifted_by is null))
);
create index takedowns_of_accounts on takedowns (target) where scope = 'account' and lifted_at is null;
create index takedowns_of_goals on takedowns (target) where scope = 'goal' and lifted_at is null;
create index takedowns_with_files on takedowns (id) where files_done_at is null;

-- The files that a takedown covers. No reference: the same file stays blocked when the match is past retention.
create table takedown_videos (
    takedown_id bigint not null references takedowns,
    event_id text not null,
    md5 text not null,
    -- What a lifted takedown restores.
    saved jsonb not null,
    primary key (takedown_id, event_id, md5)
);
create index takedown_videos_by_content on takedown_videos (md5);
create index takedown_videos_of_event on takedown_videos (event_id);

-- Posts of an account that were blanked. Their text is kept only if the account is hidden.
create table takedown_posts (
    takedown_id bigint not null references takedowns,
    event_id text not null,
    key text not null,
    saved jsonb,
    primary key (takedown_id, event_id, key)
);

create function is_blocked_account(source text, author text) returns boolean language sql stable as $$
    select author <> '' and exists (
        select from takedowns t where t.scope = 'account' and t.lifted_at is null and t.target = account_name(author)
            and (t.source is null or t.source = is_blocked_account.source))
$$;

-- Return why a file of a goal must not be published; null if it may be.
create function takedown_reason(event text, content text) returns text language sql stable as $$
    select t.reason from takedowns t
    where t.lifted_at is null and (
        (t.scope = 'goal' and t.target = event)
        or exists (select from takedown_videos v where v.takedown_id = t.id and v.md5 = content)
        or (t.scope = 'account' and exists (
            select from candidates c
            where c.event_id = event and c.md5 = content and (
                (account_name(c.author) = t.target and (t.source is null or t.source = c.source))
                or exists (
                    select from takedown_posts p
                    where p.takedown_id = t.id and p.event_id = c.event_id and p.key = c.key)))))
    order by t.id limit 1
$$;
