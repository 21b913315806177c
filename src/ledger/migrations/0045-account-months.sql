-- Sums of account_daily over whole months: who paid most in a quarter or a year is read without looking up each of its days.

create table account_monthly (
  month         date not null,                                                 -- its first day
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
  primary key (month, account_id)
);
create index account_monthly_best on account_monthly (month, charged_micro_vnd desc, account_id);

alter table call_roll_up
  add column months_summed_before date not null default '-infinity';           -- all months before are in account_monthly
