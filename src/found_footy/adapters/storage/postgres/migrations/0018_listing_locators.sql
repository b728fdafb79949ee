-- Where a feed lists a match, in the feed's own notation: a poll then asks only there, also after a restart.

alter table listings add column locator text not null default '' check (length(locator) <= 200);

comment on column listings.locator is
    'What the feed''s adapter needs to find the match again, such as soccer/eng.1 20261118; empty where it is unknown.';
