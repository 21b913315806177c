-- Names of models that clients asked for and nothing has, by day of Vietnam: missing aliases, and slips.

create table unknown_model (
  day       date not null,
  name      text not null check (char_length(name) <= 256),
  fell_back bigint not null check (fell_back >= 0),                            -- calls that the fallback served
  refused   bigint not null check (refused >= 0),                              -- calls on endpoints without one
  last_at   timestamptz not null default now(),
  primary key (day, name)
);
