-- Sources leave the library, too: their film when the last of their clips is archived, all of them when somebody wants it.

alter table library_sources
    add column film_deleted_at timestamptz,  -- what is known of its master stays: its clips are counted in its frames
    add column known_as text;                -- the address or the content, as a second one of it is recognised by
create index library_sources_by_known on library_sources (known_as) where known_as is not null;
create index library_sources_by_md5 on library_sources (file_md5) where file_md5 is not null;

-- A video of a goal that somebody removed before it had clips is not taken in again.
create table library_refusals (
    event_id text not null,
    video_md5 text not null,
    refused_at timestamptz not null,
    primary key (event_id, video_md5)
);

-- As addresses are written mostly; those of today are put in order before they are compared.
update library_sources set known_as = regexp_replace(url, '#.*$', '') where url is not null;

-- Those whose clips were all thrown away before this was known.
with emptied as (
    update library_sources s set film_deleted_at = now()
    where s.file_md5 is not null
        and exists (select from library_clips c where c.source_id = s.id)
        and not exists (select from library_clips c where c.source_id = s.id and c.state <> 'archived')
    returning s.id)
insert into library_deletions (key) select 'library/' || id || '/master.mp4' from emptied on conflict do nothing;
