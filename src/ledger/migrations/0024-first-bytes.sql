-- How long customers waited for the first byte of streams, by model: for the median on the model's page.

create table first_byte_hourly (
  hour            timestamptz not null,
  entry_id        text not null,
  first_byte_step smallint not null,                                           -- eighths of an octave of ms, as in attempt_hourly, from the call's beginning
  calls           bigint not null,
  primary key (hour, entry_id, first_byte_step)
);
