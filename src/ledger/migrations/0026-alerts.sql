-- Alerts: what happened that somebody wants to hear of, and each way in which they are told. Never the content of a call.

alter table account
  add column language text;                                                    -- of mails: the pages' language at the last sign-in; null: Vietnamese
alter table session
  add column new_device boolean not null default false;                        -- opened on a device that had never signed in to this account

create index api_key_created on api_key (created_at);
create index api_key_revoked on api_key (revoked_at) where revoked_at is not null;

create table alert_settings (
  account_id bigint primary key,
  mail       jsonb not null default '{}',                                      -- {"balance.low": false}: kinds that differ from their default
  low_vnd    bigint check (low_vnd between 1 and 1000000000),                  -- balance that counts as low; null: the default
  changed_at timestamptz not null default now()
);

create table alert_balance (                                                   -- wallets that have been looked at
  account_id bigint primary key,
  level      smallint not null check (level between 0 and 2),                  -- 0 fine, 1 low, 2 empty
  credit_seq bigint not null,                                                  -- the latest top-up by then: only a newer one lowers the level
  crossings  bigint not null
);

create table alert_scan (
  one        boolean primary key default true check (one),
  scanned_at timestamptz not null default now()                                -- what was committed before has been found
);
insert into alert_scan default values;

create table alert (
  alert_id   uuid primary key default uuidv7(),
  account_id bigint not null,
  kind       text not null check (octet_length(kind) <= 40),
  reference  text not null check (octet_length(reference) <= 300),             -- the occasion: each is reported once
  data       jsonb not null,
  at         timestamptz not null default now(),
  unique (account_id, kind, reference)
);
create index alert_at on alert (at);

create table alert_delivery (
  delivery_id bigint generated always as identity primary key,
  alert_id    uuid not null,
  account_id  bigint not null,
  webhook_id  bigint,                                                          -- null: by mail
  state       smallint not null default 0 check (state between 0 and 3),       -- 0 waiting, 1 delivered, 2 given up, 3 called off
  tries       smallint not null default 0,
  next_at     timestamptz not null default now(),
  tried_at    timestamptz,
  status      smallint,                                                        -- of the last answer; null: there was none
  fault       text check (octet_length(fault) <= 40)                           -- of the last try
);
create index alert_delivery_due on alert_delivery (next_at) where state = 0;
create index alert_delivery_alert on alert_delivery (alert_id);
create index alert_delivery_webhook on alert_delivery (webhook_id, delivery_id) where webhook_id is not null;
