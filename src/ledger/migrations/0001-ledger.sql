-- The prepaid ledger. Every amount is in micro-dong (1 VND = 1 000 000) as bigint: exact, up to 9.22e12 VND.
-- No foreign keys on the path of a call. Journal rows (usage, credit) are never changed.

create table gateway_instance (
  instance_id bigint generated always as identity primary key,
  name        text not null,                            -- stable name of the process: host and worker
  started_at  timestamptz not null default now(),
  last_seen   timestamptz not null default now(),
  ended_at    timestamptz                               -- set once: at a clean stop, or by whoever swept it
);
create index gateway_instance_running on gateway_instance (name) where ended_at is null;

create table account (
  account_id        bigint generated always as identity primary key,
  email             text not null check (octet_length(email) <= 254),
  email_key         text generated always as (lower(email)) stored unique,
  email_verified_at timestamptz,
  password_phc      text,
  created_at        timestamptz not null default now()
);

create table wallet (
  account_id        bigint primary key,
  balance_micro_vnd bigint not null default 0 check (balance_micro_vnd >= 0), -- sum of credits less sum of charges: the only spendable figure
  held_micro_vnd    bigint not null default 0 check (held_micro_vnd >= 0),    -- sum of open holds; may pass the balance for a while
  seq               bigint not null default 0 check (seq >= 0)                -- journal rows so far, gapless
) with (fillfactor = 25);                                                     -- room to update a hot wallet in place

create table api_key (
  account_id     bigint not null,
  key_id         bigint generated always as identity,
  key_hash       bytea not null check (octet_length(key_hash) = 32),          -- HMAC-SHA-256 under the pepper of that number
  pepper_id      smallint not null,
  label          text not null default '' check (octet_length(label) <= 400),
  last4          text not null default '',
  encryption_id  smallint,                                                    -- AES-256-GCM; all three null: cannot be shown again
  encryption_iv  bytea check (octet_length(encryption_iv) = 12),
  ciphertext     bytea,
  created_at     timestamptz not null default now(),
  revoked_at     timestamptz,
  primary key (account_id, key_id),
  check ((encryption_id is null) = (encryption_iv is null) and (encryption_id is null) = (ciphertext is null)),
  check (revoked_at is null or ciphertext is null)
);
create unique index api_key_hash on api_key (key_hash) include (account_id, key_id, revoked_at);

create table hold (                                                           -- one row per call in flight, nothing else
  account_id       bigint not null,
  call_id          uuid not null,
  key_id           bigint not null,
  entry_id         text not null,
  requested_name   text,
  endpoint         smallint not null,
  amount_micro_vnd bigint not null check (amount_micro_vnd > 0),
  instance_id      bigint not null,
  opened_at        timestamptz not null default now(),
  primary key (account_id, call_id)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000);
create index hold_instance on hold (instance_id);

create table usage (                                                          -- journal row of a finished call: the log and the debit in one
  account_id              bigint not null,
  seq                     bigint not null,
  call_id                 uuid not null,
  key_id                  bigint not null,
  entry_id                text not null,
  requested_name          text,
  endpoint                smallint not null,
  status                  smallint not null,
  input_tokens            bigint not null check (input_tokens >= 0),
  output_tokens           bigint not null check (output_tokens >= 0),
  cached_input_tokens     bigint not null check (cached_input_tokens >= 0),
  reasoning_tokens        bigint not null check (reasoning_tokens >= 0),
  images                  integer not null check (images >= 0),
  price_vnd               bigint not null check (price_vnd >= 0),
  price_per               smallint not null check (price_per between 1 and 3), -- 1 million tokens, 2 request, 3 image
  cost_micro_vnd          bigint not null check (cost_micro_vnd >= 0),
  charged_micro_vnd       bigint not null check (charged_micro_vnd between 0 and cost_micro_vnd),
  balance_after_micro_vnd bigint not null check (balance_after_micro_vnd >= 0),
  first_byte_ms           integer check (first_byte_ms >= 0),
  latency_ms              integer not null check (latency_ms >= 0),
  streamed                boolean not null,
  estimated               boolean not null,
  opened_at               timestamptz not null,
  closed_at               timestamptz not null default now(),
  primary key (account_id, seq),
  constraint usage_uncollected_at_zero check (charged_micro_vnd = cost_micro_vnd or balance_after_micro_vnd = 0),
  constraint usage_cost_is_price_times_units check (
    cost_micro_vnd = 0
    or cost_micro_vnd = case price_per
      when 1 then price_vnd * (input_tokens + output_tokens)
      when 2 then price_vnd * 1000000
      when 3 then price_vnd * 1000000 * images
    end)
);
create unique index usage_call on usage (call_id, account_id);                -- exactly once; call_id first, so that no other index is mistaken for it
create index usage_time on usage (account_id, closed_at);

create table usage_daily (                                                    -- days of Vietnam
  account_id        bigint not null,
  day               date not null,
  key_id            bigint not null,
  entry_id          text not null,
  calls             bigint not null,
  errors            bigint not null,
  input_tokens      bigint not null,
  output_tokens     bigint not null,
  images            bigint not null,
  cost_micro_vnd    bigint not null,
  charged_micro_vnd bigint not null,
  primary key (account_id, day, key_id, entry_id)
) with (fillfactor = 50);

create table credit (                                                         -- journal row of every other movement
  account_id              bigint not null,
  seq                     bigint not null,
  amount_micro_vnd        bigint not null check (amount_micro_vnd <> 0),
  kind                    smallint not null check (kind between 1 and 3),     -- 1 bank top-up, 2 operator's adjustment, 3 refund of a call
  reference               text not null,
  balance_after_micro_vnd bigint not null check (balance_after_micro_vnd >= 0),
  note                    text,
  at                      timestamptz not null default now(),
  primary key (account_id, seq),
  unique (account_id, kind, reference)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = '42501';
end
$$;
create trigger usage_append_only before update or delete or truncate on usage
  for each statement execute function refuse_change();
create trigger credit_append_only before update or delete or truncate on credit
  for each statement execute function refuse_change();
