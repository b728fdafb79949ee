-- Search by name: accents, case and common spelling variants are ignored, and words match as prefixes.
-- The functions are immutable, because generated columns and indexes use them.

-- Lower case, without accents; letters that have no base letter become their usual replacement.
create function fold_text(value text) returns text language sql immutable parallel safe as $$
    select replace(replace(replace(replace(
        translate(
            lower(regexp_replace(normalize(value, nfkd), '[\u0300-\u036f]', '', 'g')),
            'øłđðħıŧŋ''’‘`´', 'olddhitn'),  -- the last five characters are removed
        'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
$$;

-- The distinct words of the first 300 characters, each truncated to 40.
create function split_words(value text) returns text[] language sql immutable parallel safe as $$
    select coalesce(array_agg(distinct left(word, 40)), '{}')
    from regexp_split_to_table(fold_text(left(value, 300)), '[^[:alnum:]]+') as word
    where word <> ''
$$;

-- Spell out umlauts: Müller as mueller, Ødegaard as oedegaard.
create function expand_umlauts(value text) returns text language sql immutable parallel safe as $$
    select fold_text(replace(replace(replace(replace(replace(
        lower(normalize(value, nfkc)), 'ä', 'ae'), 'ö', 'oe'), 'ø', 'oe'), 'ü', 'ue'), 'å', 'aa'))
$$;

-- The reverse, mueller as muller; not at the end of a word, which may be a prefix, and not in Michael, Samuel or Noel.
create function contract_umlauts(word text) returns text language sql immutable parallel safe as $$
    select regexp_replace(word, '([aou])e(?=.)(?!l$)|(a)a(?=.)', '\1\2', 'g')
$$;

-- Every spelling of every word.
create function spelling_variants(value text) returns text[] language sql immutable parallel safe as $$
    select coalesce(array_agg(distinct form), '{}')
    from (
        select unnest(array[word, contract_umlauts(word)]) as form from unnest(split_words(value)) as word
        union all
        select unnest(split_words(expand_umlauts(left(value, 300))))) as forms
$$;

-- Each word twice: plain, and prefixed with the letter of its kind, so that a query can be limited to a kind.
create function labelled_words(kind text, value text) returns tsvector language sql immutable parallel safe as $$
    select array_to_tsvector(words || array(select kind || '.' || word from unnest(words) as word))
    from (select spelling_variants(value) as words) as found
$$;

-- A query for texts that contain all words as prefixes; null if there are none.
create function prefix_query(value text, kind text default null) returns tsquery
language sql immutable parallel safe as $$
    select string_agg(
        case when contract_umlauts(word) = word then format('''%s%s'':*', prefix, word)
            else format('(''%1$s%2$s'':* | ''%1$s%3$s'':*)', prefix, word, contract_umlauts(word)) end, ' & ')::tsquery
    from (select word, coalesce(kind || '.', '') as prefix from unnest(split_words(value)) as word limit 8) as first
$$;

-- All filters of a search for matches or goals as one query; null if no words are given.
create function search_query(anything text, side text, team text, player text, competition text) returns tsquery
language sql immutable parallel safe as $$
    select nullif(
        coalesce(prefix_query(anything), '') && coalesce(prefix_query(team, side), '')
        && coalesce(prefix_query(player, 'p'), '') && coalesce(prefix_query(competition, 'c'), ''), '')
$$;
