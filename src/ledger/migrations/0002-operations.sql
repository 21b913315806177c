-- What operators set while gateways run, and what running gateways say of themselves.

create table maintenance (                                                    -- one row
  singleton           boolean primary key default true check (singleton),
  enabled             boolean not null,
  retry_after_seconds integer not null check (retry_after_seconds between 1 and 86400),
  changed_at          timestamptz not null default now()
);
insert into maintenance (enabled, retry_after_seconds) values (false, 60);

create table process_status (                                                 -- one row per running process
  name    text primary key,
  seen_at timestamptz not null default now(),
  status  jsonb not null
) with (fillfactor = 50);

alter table api_key
  add column rate_limit_per_minute integer check (rate_limit_per_minute >= 0); -- null: the catalogue's; 0: none

create unlogged table rate_window (                                           -- calls of a limited key; empty after a crash
  key_id     bigint primary key,
  started_at timestamptz not null,                                            -- minute that `used` counts
  used       integer not null check (used >= 0),
  previous   integer not null check (previous >= 0),                          -- calls of the minute before
  allowed    integer not null check (allowed > 0)                             -- limit when it was last counted
) with (fillfactor = 50);
