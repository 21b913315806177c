-- A hold knows the price of its call, and is found by the call alone: a settlement that names another account, key or
-- price is refused.

alter table hold
  add column price_vnd bigint check (price_vnd >= 0),                          -- null: placed by a gateway older than this column
  add column price_per smallint check (price_per between 1 and 3),             -- as in usage
  drop constraint hold_pkey,
  add primary key (call_id, account_id);
