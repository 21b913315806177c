-- How many calls of a key may run at the same time, and how many of them each process has taken for itself.

alter table api_key
  add column concurrency_max integer,                                          -- null: as the catalogue says; 0: no limit
  add constraint api_key_concurrency_max_check check (concurrency_max >= 0) not valid;

create unlogged table key_flight (                                             -- keys with many calls in flight; empty after a crash
  key_id      bigint primary key,
  allowed     integer not null check (allowed > 0),                            -- of the whole key
  asked       integer not null check (asked >= 0),                             -- by the process that wrote last
  own_share   integer not null check (own_share >= 0),                         -- what each process may use without a row
  shares      jsonb not null                                                   -- by process: [calls, end in seconds since 1970]
);
