-- Webhooks: addresses of customers that get alerts, signed.

create table webhook (
  webhook_id   bigint generated always as identity primary key,
  account_id   bigint not null,
  url          text not null check (octet_length(url) <= 2000),
  kinds        text[] not null,                                                -- the alerts that it gets
  created_at   timestamptz not null default now(),
  delivered_at timestamptz,                                                    -- the last delivery that it took
  disabled_at  timestamptz,
  disabled_for text check (disabled_for in ('owner', 'failures', 'gone')),
  check ((disabled_at is null) = (disabled_for is null))
);
create index webhook_account on webhook (account_id);

create table webhook_secret (
  webhook_id    bigint not null,
  account_id    bigint not null,
  encryption_id smallint not null,
  encryption_iv bytea not null check (octet_length(encryption_iv) = 12),
  ciphertext    bytea not null,
  created_at    timestamptz not null default now(),
  expires_at    timestamptz,                                                   -- of one that was replaced; null: in use
  primary key (webhook_id, encryption_iv)
);
