-- When calls of limited keys were granted. `rate_window` goes when no process of the previous version can run any more;
-- while some do, each version counts for itself.

create unlogged table rate_grant (                                            -- one row per limited key; empty after a crash
  key_id       bigint primary key,
  granted_at   timestamptz[] not null,                                        -- moments or seconds of the last minute, in order
  totals       bigint[] not null,                                             -- all calls ever granted, up to each of them
  total_before bigint not null,                                               -- and up to before the first
  granted      bigint not null check (granted >= 0),                          -- calls granted when it was asked last
  allowed      bigint not null check (allowed > 0)                            -- limit when it was asked last
) with (fillfactor = 50);
