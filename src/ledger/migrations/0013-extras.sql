-- Uses of tools that a provider runs and sells by the use are part of a call's cost, beside its price times its units.

alter table usage
  add column extras_vnd bigint not null default 0,
  -- Not valid: rows of before have 0, and nobody waits while they are read.
  add constraint usage_extras_vnd_check check (extras_vnd >= 0) not valid,
  drop constraint usage_cost_is_price_times_units,
  add constraint usage_cost_is_price_times_units_and_extras check (
    cost_micro_vnd = 0
    or cost_micro_vnd = extras_vnd * 1000000 + case price_per
      when 1 then price_vnd * (input_tokens + output_tokens)
      when 2 then price_vnd * 1000000
      when 3 then price_vnd * 1000000 * images
    end) not valid;
