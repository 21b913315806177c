-- When the transactions of a service were last asked for, so that of several processes one asks.

create table bank_pull (
  source      text primary key,
  claimed_at  timestamptz not null,
  finished_at timestamptz,                                                     -- the last time that all were read
  fault       text                                                             -- why the last time failed
);
