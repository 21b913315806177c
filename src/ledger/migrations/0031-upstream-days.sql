-- Sums of call_hourly by upstream, of days that are over: months by upstream in a few hundred rows.

create table upstream_daily (
  day           date not null,
  upstream_id   text not null,
  calls         bigint not null,
  errors        bigint not null,
  input_tokens  bigint not null,
  output_tokens bigint not null,
  charged_micro_vnd bigint not null,
  upstream_cost_micro_vnd bigint not null,
  upstream_cost_calls bigint not null,
  primary key (day, upstream_id)
);

alter table call_roll_up
  add column upstreams_summed_before date not null default '-infinity';        -- all days before are in upstream_daily
