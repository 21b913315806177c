-- For many processes at once: which catalogue a call was admitted under, and whose turn it is to tidy up.

create table catalogue (                                                      -- every catalogue that ever took calls
  catalogue_id  integer generated always as identity primary key,
  digest        text not null unique check (octet_length(digest) between 1 and 64),
  first_seen_at timestamptz not null default now()
);

alter table usage add column catalogue_id integer;                            -- null: older than this column, or freed by a sweep

create table housekeeping (                                                   -- one row per task that one process at a time does for all
  task   text primary key,
  ran_at timestamptz not null default now(),
  runs   bigint not null default 1
) with (fillfactor = 50);
