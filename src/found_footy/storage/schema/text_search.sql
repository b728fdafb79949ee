-- Search by name: accents, case and common spellings do not matter, and a word finds what begins with it.
-- Immutable, since generated columns and indexes of other files use these functions.

-- Lower case, without accents; letters that have no base letter become their usual replacement.
create function fold_text(said text) returns text language sql immutable parallel safe as $$
    select replace(replace(replace(replace(
        translate(
            lower(regexp_replace(normalize(said, nfkd), '[\u0300-\u036f]', '', 'g')),
            'øłđðħıŧŋ''’‘`´', 'olddhitn'),  -- the last five have no counterpart: they go
        'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
$$;

-- The distinct words of the first 300 characters, each cut to 40.
create function split_words(said text) returns text[] language sql immutable parallel safe as $$
    select coalesce(array_agg(distinct left(word, 40)), '{}')
    from regexp_split_to_table(fold_text(left(said, 300)), '[^[:alnum:]]+') as word
    where word <> ''
$$;

-- Spelled without the letter: Müller as mueller, Ødegaard as oedegaard.
create function expand_umlauts(said text) returns text language sql immutable parallel safe as $$
    select fold_text(replace(replace(replace(replace(replace(
        lower(normalize(said, nfkc)), 'ä', 'ae'), 'ö', 'oe'), 'ø', 'oe'), 'ü', 'ue'), 'å', 'aa'))
$$;

-- The reverse, mueller as muller; not at the end of a word, which may go on, and not in Michael, Samuel or Noel.
create function contract_umlauts(word text) returns text language sql immutable parallel safe as $$
    select regexp_replace(word, '([aou])e(?=.)(?!l$)|(a)a(?=.)', '\1\2', 'g')
$$;

-- Every spelling of every word.
create function spelling_variants(said text) returns text[] language sql immutable parallel safe as $$
    select coalesce(array_agg(distinct form), '{}')
    from (
        select unnest(array[word, contract_umlauts(word)]) as form from unnest(split_words(said)) as word
        union all
        select unnest(split_words(expand_umlauts(left(said, 300))))) as forms
$$;

-- Each word twice: as it is, and prefixed with a letter for what it names, so that a query can ask for that alone.
create function labelled_words(kind text, said text) returns tsvector language sql immutable parallel safe as $$
    select array_to_tsvector(words || array(select kind || '.' || word from unnest(words) as word))
    from (select spelling_variants(said) as words) as found
$$;

-- Matches texts that have all these words or words that begin with them; null if there are none.
create function prefix_query(said text, kind text default null) returns tsquery
language sql immutable parallel safe as $$
    select string_agg(
        case when contract_umlauts(word) = word then format('''%s%s'':*', prefix, word)
            else format('(''%1$s%2$s'':* | ''%1$s%3$s'':*)', prefix, word, contract_umlauts(word)) end, ' & ')::tsquery
    from (select word, coalesce(kind || '.', '') as prefix from unnest(split_words(said)) as word limit 8) as first
$$;

-- All filters of a search for matches or goals as one query; null if no words are given.
create function search_query(anything text, side text, team text, player text, competition text) returns tsquery
language sql immutable parallel safe as $$
    select nullif(
        coalesce(prefix_query(anything), '') && coalesce(prefix_query(team, side), '')
        && coalesce(prefix_query(player, 'p'), '') && coalesce(prefix_query(competition, 'c'), ''), '')
$$;
