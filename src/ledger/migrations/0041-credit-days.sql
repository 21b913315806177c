-- Sums of credits by kind, of days that are over: what was credited in months, in a few hundred rows.

create table credit_daily (
  day           date not null,
  kind          smallint not null,
  credits       bigint not null,
  amount_micro_vnd numeric not null,   -- may exceed a bigint, because corrections of a trillion dong are allowed
  primary key (day, kind)
);

alter table call_roll_up
  add column credits_summed_before date not null default '-infinity';          -- all days before are in credit_daily
