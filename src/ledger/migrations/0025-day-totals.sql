-- Sums of usage_daily over all keys of all accounts, of days that are over: figures of the whole business in a few thousand rows.

create table entry_daily (
  day           date not null,
  entry_id      text not null,
  calls         bigint not null,
  errors        bigint not null,
  input_tokens  bigint not null,
  output_tokens bigint not null,
  images        bigint not null,
  cost_micro_vnd bigint not null,
  charged_micro_vnd bigint not null,
  upstream_cost_micro_vnd bigint not null,
  upstream_cost_calls bigint not null,
  primary key (day, entry_id)
);

create table account_daily (
  day           date not null,
  account_id    bigint not null,
  calls         bigint not null,
  errors        bigint not null,
  input_tokens  bigint not null,
  output_tokens bigint not null,
  images        bigint not null,
  cost_micro_vnd bigint not null,
  charged_micro_vnd bigint not null,
  upstream_cost_micro_vnd bigint not null,
  upstream_cost_calls bigint not null,
  primary key (day, account_id)
);

alter table call_roll_up
  add column days_summed_before date not null default '-infinity';            -- all days before are in the two tables above
