-- What a call cost the operator at its upstream, for margins. It has no part in what customers pay, and they never see it.

alter table usage
  add column cache_write_tokens bigint,                                        -- part of the input that went into the provider's cache; null: written before this column
  add column upstream_cost_micro_vnd bigint,                                   -- null: unknown
  -- Not valid: nobody waits while rows of before are read.
  add constraint usage_cache_write_tokens_check check (cache_write_tokens >= 0) not valid,
  add constraint usage_upstream_cost_check check (upstream_cost_micro_vnd >= 0) not valid;

alter table usage_daily
  add column upstream_cost_micro_vnd bigint not null default 0,                -- of the calls whose cost is known
  add column upstream_cost_calls bigint not null default 0;                    -- how many those are

alter table usage_retired
  add column upstream_cost_micro_vnd bigint not null default 0,
  add column upstream_cost_calls bigint not null default 0;
