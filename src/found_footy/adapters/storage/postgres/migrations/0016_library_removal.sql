-- Sources leave the library, too: their film when the last of their clips is archived, all of them when somebody wants it.

-- What is known of its master stays: its clips are counted in its frames.
alter table library_sources add column film_deleted_at timestamptz;

-- A video of a goal that somebody removed before it had clips is not taken in again.
create table library_refusals (
    event_id text not null,
    video_md5 text not null,
    refused_at timestamptz not null,
    primary key (event_id, video_md5)
);

-- Those whose clips were all thrown away before this was known.
with emptied as (
    update library_sources s set film_deleted_at = now()
    where s.file_md5 is not null
        and exists (select from library_clips c where c.source_id = s.id)
        and not exists (select from library_clips c where c.source_id = s.id and c.state <> 'archived')
    returning s.id)
insert into library_deletions (key) select 'library/' || id || '/master.mp4' from emptied on conflict do nothing;
