-- The key behind the playground: one per account, without a secret, listed nowhere among the customer's keys.

alter table api_key
  add column playground boolean not null default false;
create unique index api_key_playground on api_key (account_id) where playground;
