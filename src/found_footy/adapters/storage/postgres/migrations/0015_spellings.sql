-- Names are found in each of their spellings, in the search for goals and in the library's: Müller is also Mueller and
-- Muller, Ødegaard is Oedegaard and Odegaard. And a film is found by the team that an editor told of it.

-- As people write it whose keyboard lacks the letter. What is left then is folded as ever.
create function spelt_out(said text) returns text language sql immutable parallel safe as $$
    select folded(replace(replace(replace(replace(replace(
        lower(normalize(said, nfkc)), 'ä', 'ae'), 'ö', 'oe'), 'ø', 'oe'), 'ü', 'ue'), 'å', 'aa'))
$$;

-- The way back, where it may be one: not at the end, where more of the word may be to come, and not in names such as
-- Michael, Samuel and Noel, who are not Michał.
create function spelt_short(word text) returns text language sql immutable parallel safe as $$
    select regexp_replace(word, '([aou])e(?=.)(?!l$)|(a)a(?=.)', '\1\2', 'g')
$$;

create function spellings_of(said text) returns text[] language sql immutable parallel safe as $$
    select coalesce(array_agg(distinct form), '{}')
    from (
        select unnest(array[word, spelt_short(word)]) as form from unnest(words_of(said)) as word
        union all
        select unnest(words_of(spelt_out(left(said, 300))))) as forms
$$;

create or replace function named(kind text, said text) returns tsvector language sql immutable parallel safe as $$
    select array_to_tsvector(words || array(select kind || '.' || word from unnest(words) as word))
    from (select spellings_of(said) as words) as found
$$;

create or replace function beginning_with(said text, kind text default null) returns tsquery
language sql immutable parallel safe as $$
    select string_agg(
        case when spelt_short(word) = word then format('''%s%s'':*', prefix, word)
            else format('(''%1$s%2$s'':* | ''%1$s%3$s'':*)', prefix, word, spelt_short(word)) end, ' & ')::tsquery
    from (select word, coalesce(kind || '.', '') as prefix from unnest(words_of(said)) as word limit 8) as first
$$;

-- p: the scorer, a: who set it up, t: a team of the match or the one that is seen, c: its competition, k: the kind.
create or replace function library_words(title text, facts jsonb) returns tsvector
language sql immutable parallel safe as $$
    select array_to_tsvector(spellings_of(title)) || named('p', facts ->> 'player') || named('a', facts ->> 'assist')
        || named('t', facts ->> 'team') || named('t', facts ->> 'home') || named('t', facts ->> 'away')
        || named('c', concat_ws(' ', facts ->> 'competition', facts ->> 'country'))
        || named('k', facts ->> 'kind') || array_to_tsvector(minute_words(facts ->> 'minute'))
$$;

-- What is there already, where it says something else now. A match passes its words on to its goals.
update fixtures set home_name = home_name
where words is distinct from
    named('t', home_name) || named('t', away_name) || named('c', league_name || ' ' || coalesce(country, ''));
update events e set words = coalesce(goal_words(e), '') where words is distinct from coalesce(goal_words(e), '');
update library_sources set title = title where words is distinct from library_words(title, facts);
