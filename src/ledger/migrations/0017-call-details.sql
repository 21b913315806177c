-- What operators look up of a call: where it was tried, what went wrong, the id that its client gave it. Never its content.

alter table usage
  add column attempts jsonb,                                                   -- SettledAttempt of types.ts, in order; null: written before this column
  add column error_code text;                                                  -- null: nothing went wrong, the client left, or written before this column

-- Ids that clients gave their requests themselves; every other one holds the call's own. A table of its own: an index on
-- all calls would have to be built while they wait.
create table client_request (
  call_id    uuid not null,
  account_id bigint not null,
  request_id text not null check (octet_length(request_id) <= 128),
  primary key (call_id, account_id)
);
create index client_request_id on client_request (request_id);

-- Calls by the hour in which they ended, rolled up a minute later: figures by upstream, and where a filter finds anything.
create table call_hourly (
  hour          timestamptz not null,
  entry_id      text not null,
  upstream_id   text not null,                                                 -- '': nothing was tried
  status        smallint not null,
  calls         bigint not null,
  input_tokens  bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  images        bigint not null,
  charged_micro_vnd bigint not null,
  upstream_cost_micro_vnd bigint not null,                                     -- of the calls whose cost is known
  upstream_cost_calls bigint not null,
  latency_ms_max integer not null,
  first_call_id uuid not null,                                                 -- ids sort by the time at which calls began
  last_call_id  uuid not null,
  primary key (hour, entry_id, upstream_id, status)
);
create index call_hourly_last_call on call_hourly (last_call_id);

-- Tries of calls, whether they served or failed over, by how they ended.
create table attempt_hourly (
  hour            timestamptz not null,
  upstream_id     text not null,
  outcome         text not null,
  status          smallint not null,                                           -- of the reply that was an error; 0: none
  first_byte_step smallint not null,                                           -- eighths of an octave of ms until the first byte of a stream; -1: unknown
  attempts        bigint not null,
  primary key (hour, upstream_id, outcome, status, first_byte_step)
);

create table call_roll_up (
  one          boolean primary key default true check (one),
  closed_before timestamptz not null default now()                             -- every call that ended before is in the two tables above
);
insert into call_roll_up default values;
