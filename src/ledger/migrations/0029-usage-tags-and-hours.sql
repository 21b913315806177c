-- What customers see of their calls: a tag of their own, and sums by the hour under every filter.

alter table usage
  add column tag text,                                                         -- the client's own; null: none
  -- Not valid: nobody waits while rows of before are read.
  add constraint usage_tag_check check (octet_length(tag) between 1 and 64) not valid;

-- Calls by the hour in which they ended, rolled up a minute later; after some weeks the hours of a day become its first one.
create table usage_hourly (
  account_id    bigint not null,
  hour          timestamptz not null,
  key_id        bigint not null,
  entry_id      text not null,
  status        smallint not null,
  tag           text not null,                                                 -- '': none
  calls         bigint not null,
  input_tokens  bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  images        bigint not null,
  charged_micro_vnd bigint not null,
  primary key (account_id, hour, key_id, entry_id, status, tag)
) with (fillfactor = 80);
create index usage_hourly_forgotten on usage_hourly using brin (hour);
create index usage_hourly_merged on usage_hourly (hour)                        -- those that are no first hour of a day in Vietnam
  where extract(hour from hour at time zone 'Asia/Ho_Chi_Minh') <> 0;

-- Counts from before the first call that is still there; the work of before is done in turns, in the background.
create table usage_roll_up (
  one           boolean primary key default true check (one),
  closed_before timestamptz not null                                           -- every call that ended before is in usage_hourly
);
insert into usage_roll_up (closed_before)
  select coalesce((select opened_at - interval '1 hour' from usage order by call_id limit 1), now());
