-- Search by name: accents, case and common spellings do not matter, and a word finds what begins with it.
-- Immutable, since generated columns and indexes of other files use these functions.

-- Lower case, without accents; letters that have no base letter become their usual replacement.
create function folded(said text) returns text language sql immutable parallel safe as $$
    select replace(replace(replace(replace(
        translate(
            lower(regexp_replace(normalize(said, nfkd), '[\u0300-\u036f]', '', 'g')),
            'øłđðħıŧŋ''’‘`´', 'olddhitn'),  -- the last five have no counterpart: they go
        'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
$$;

-- The distinct words of the first 300 characters, each cut to 40.
create function words_of(said text) returns text[] language sql immutable parallel safe as $$
    select coalesce(array_agg(distinct left(word, 40)), '{}')
    from regexp_split_to_table(folded(left(said, 300)), '[^[:alnum:]]+') as word
    where word <> ''
$$;

-- Spelled without the letter: Müller as mueller, Ødegaard as oedegaard.
create function spelt_out(said text) returns text language sql immutable parallel safe as $$
    select folded(replace(replace(replace(replace(replace(
        lower(normalize(said, nfkc)), 'ä', 'ae'), 'ö', 'oe'), 'ø', 'oe'), 'ü', 'ue'), 'å', 'aa'))
$$;

-- The reverse, mueller as muller; not at the end of a word, which may go on, and not in Michael, Samuel or Noel.
create function spelt_short(word text) returns text language sql immutable parallel safe as $$
    select regexp_replace(word, '([aou])e(?=.)(?!l$)|(a)a(?=.)', '\1\2', 'g')
$$;

-- Every spelling of every word.
create function spellings_of(said text) returns text[] language sql immutable parallel safe as $$
    select coalesce(array_agg(distinct form), '{}')
    from (
        select unnest(array[word, spelt_short(word)]) as form from unnest(words_of(said)) as word
        union all
        select unnest(words_of(spelt_out(left(said, 300))))) as forms
$$;

-- Each word twice: as it is, and prefixed with a letter for what it names, so that a query can ask for that alone.
create function named(kind text, said text) returns tsvector language sql immutable parallel safe as $$
    select array_to_tsvector(words || array(select kind || '.' || word from unnest(words) as word))
    from (select spellings_of(said) as words) as found
$$;

-- Matches texts that have all these words or words that begin with them; null if there are none.
create function beginning_with(said text, kind text default null) returns tsquery
language sql immutable parallel safe as $$
    select string_agg(
        case when spelt_short(word) = word then format('''%s%s'':*', prefix, word)
            else format('(''%1$s%2$s'':* | ''%1$s%3$s'':*)', prefix, word, spelt_short(word)) end, ' & ')::tsquery
    from (select word, coalesce(kind || '.', '') as prefix from unnest(words_of(said)) as word limit 8) as first
$$;

-- All filters of a search for matches or goals as one query; null if no words are given.
create function looking_for(anything text, side text, team text, player text, competition text) returns tsquery
language sql immutable parallel safe as $$
    select nullif(
        coalesce(beginning_with(anything), '') && coalesce(beginning_with(team, side), '')
        && coalesce(beginning_with(player, 'p'), '') && coalesce(beginning_with(competition, 'c'), ''), '')
$$;
