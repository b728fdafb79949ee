-- Changes that subscribers can receive, written in the transaction of the change itself.
--
-- Ids are assigned before commit, so a reader that remembers an id can miss a transaction that commits later with a
-- smaller one. Positions are assigned afterwards, to committed rows, by one reader at a time.

create table outbox (
    id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    topic text not null,
    fixture_id bigint,
    event_id text,
    payload jsonb not null default '{}',
    position bigint
);
create index outbox_by_fixture on outbox (fixture_id, id);
create unique index outbox_by_position on outbox (position);
create index outbox_without_position on outbox (id) where position is null;

create table outbox_last_position (
    id boolean primary key default true check (id),  -- one row
    last bigint not null default 0
);
insert into outbox_last_position default values;

-- Assigns the next positions to all rows without one, and returns the last.
create function assign_outbox_positions() returns bigint language plpgsql as $$
declare
    place bigint;
begin
    if not exists (select from outbox where position is null) then
        return (select last from outbox_last_position);
    end if;
    -- A concurrent call waits here; its next statement sees what the first one has committed.
    select last into place from outbox_last_position for update;
    with placed as (
        update outbox o set position = place + waiting.number
        from (select id, row_number() over (order by id) as number from outbox where position is null) as waiting
        where o.id = waiting.id
        returning o.position)
    select coalesce(max(position), place) into place from placed;
    update outbox_last_position set last = place where last <> place;
    return place;
end
$$;

create function notify_outbox() returns trigger language plpgsql as $$
begin
    perform pg_notify('outbox', '');
    return null;
end
$$;
create trigger outbox_notifies after insert on outbox for each statement execute function notify_outbox();
