-- The schema after all migrations. Written by the tests: npm run -s test -- test/ledger/schema.test.ts -u

create table account (
  account_id bigint not null generated always as identity,
  email text not null,
  email_key text generated always as (lower(email)) stored,
  email_verified_at timestamp with time zone,
  password_phc text,
  created_at timestamp with time zone not null default now(),
  constraint account_email_key_key UNIQUE (email_key),
  constraint account_pkey PRIMARY KEY (account_id),
  constraint account_email_check CHECK ((octet_length(email) <= 254))
);

create table api_key (
  account_id bigint not null,
  key_id bigint not null generated always as identity,
  key_hash bytea not null,
  pepper_id smallint not null,
  label text not null default ''::text,
  last4 text not null default ''::text,
  encryption_id smallint,
  encryption_iv bytea,
  ciphertext bytea,
  created_at timestamp with time zone not null default now(),
  revoked_at timestamp with time zone,
  rate_limit_per_minute integer,
  constraint api_key_pkey PRIMARY KEY (account_id, key_id),
  constraint api_key_check CHECK ((((encryption_id IS NULL) = (encryption_iv IS NULL)) AND ((encryption_id IS NULL) = (ciphertext IS NULL)))),
  constraint api_key_check1 CHECK (((revoked_at IS NULL) OR (ciphertext IS NULL))),
  constraint api_key_encryption_iv_check CHECK ((octet_length(encryption_iv) = 12)),
  constraint api_key_key_hash_check CHECK ((octet_length(key_hash) = 32)),
  constraint api_key_label_check CHECK ((octet_length(label) <= 400)),
  constraint api_key_rate_limit_per_minute_check CHECK ((rate_limit_per_minute >= 0))
);
CREATE UNIQUE INDEX api_key_hash ON public.api_key USING btree (key_hash) INCLUDE (account_id, key_id, revoked_at);

create table credit (
  account_id bigint not null,
  seq bigint not null,
  amount_micro_vnd bigint not null,
  kind smallint not null,
  reference text not null,
  balance_after_micro_vnd bigint not null,
  note text,
  at timestamp with time zone not null default now(),
  constraint credit_account_id_kind_reference_key UNIQUE (account_id, kind, reference),
  constraint credit_pkey PRIMARY KEY (account_id, seq),
  constraint credit_amount_micro_vnd_check CHECK ((amount_micro_vnd <> 0)),
  constraint credit_balance_after_micro_vnd_check CHECK ((balance_after_micro_vnd >= 0)),
  constraint credit_kind_check CHECK (((kind >= 1) AND (kind <= 3)))
);
CREATE TRIGGER credit_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.credit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table gateway_instance (
  instance_id bigint not null generated always as identity,
  name text not null,
  started_at timestamp with time zone not null default now(),
  last_seen timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint gateway_instance_pkey PRIMARY KEY (instance_id)
);
CREATE INDEX gateway_instance_running ON public.gateway_instance USING btree (name) WHERE (ended_at IS NULL);

create table hold (
  account_id bigint not null,
  call_id uuid not null,
  key_id bigint not null,
  entry_id text not null,
  requested_name text,
  endpoint smallint not null,
  amount_micro_vnd bigint not null,
  instance_id bigint not null,
  opened_at timestamp with time zone not null default now(),
  constraint hold_pkey PRIMARY KEY (account_id, call_id),
  constraint hold_amount_micro_vnd_check CHECK ((amount_micro_vnd > 0))
) with (fillfactor=60,autovacuum_vacuum_scale_factor=0.0,autovacuum_vacuum_threshold=2000);
CREATE INDEX hold_instance ON public.hold USING btree (instance_id);

create table maintenance (
  singleton boolean not null default true,
  enabled boolean not null,
  retry_after_seconds integer not null,
  changed_at timestamp with time zone not null default now(),
  constraint maintenance_pkey PRIMARY KEY (singleton),
  constraint maintenance_retry_after_seconds_check CHECK (((retry_after_seconds >= 1) AND (retry_after_seconds <= 86400))),
  constraint maintenance_singleton_check CHECK (singleton)
);

create table migration (
  number integer not null,
  name text not null,
  digest text not null,
  applied_at timestamp with time zone not null default now(),
  constraint migration_pkey PRIMARY KEY (number)
);

create table process_status (
  name text not null,
  seen_at timestamp with time zone not null default now(),
  status jsonb not null,
  constraint process_status_pkey PRIMARY KEY (name)
) with (fillfactor=50);

create table rate_window (
  key_id bigint not null,
  started_at timestamp with time zone not null,
  used integer not null,
  previous integer not null,
  allowed integer not null,
  constraint rate_window_pkey PRIMARY KEY (key_id),
  constraint rate_window_allowed_check CHECK ((allowed > 0)),
  constraint rate_window_previous_check CHECK ((previous >= 0)),
  constraint rate_window_used_check CHECK ((used >= 0))
) with (fillfactor=50);

create table usage (
  account_id bigint not null,
  seq bigint not null,
  call_id uuid not null,
  key_id bigint not null,
  entry_id text not null,
  requested_name text,
  endpoint smallint not null,
  status smallint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_input_tokens bigint not null,
  reasoning_tokens bigint not null,
  images integer not null,
  price_vnd bigint not null,
  price_per smallint not null,
  cost_micro_vnd bigint not null,
  charged_micro_vnd bigint not null,
  balance_after_micro_vnd bigint not null,
  first_byte_ms integer,
  latency_ms integer not null,
  streamed boolean not null,
  estimated boolean not null,
  opened_at timestamp with time zone not null,
  closed_at timestamp with time zone not null default now(),
  constraint usage_pkey PRIMARY KEY (account_id, seq),
  constraint usage_balance_after_micro_vnd_check CHECK ((balance_after_micro_vnd >= 0)),
  constraint usage_cached_input_tokens_check CHECK ((cached_input_tokens >= 0)),
  constraint usage_check CHECK (((charged_micro_vnd >= 0) AND (charged_micro_vnd <= cost_micro_vnd))),
  constraint usage_cost_is_price_times_units CHECK (((cost_micro_vnd = 0) OR (cost_micro_vnd =
CASE price_per
    WHEN 1 THEN (price_vnd * (input_tokens + output_tokens))
    WHEN 2 THEN (price_vnd * 1000000)
    WHEN 3 THEN ((price_vnd * 1000000) * images)
    ELSE NULL::bigint
END))),
  constraint usage_cost_micro_vnd_check CHECK ((cost_micro_vnd >= 0)),
  constraint usage_first_byte_ms_check CHECK ((first_byte_ms >= 0)),
  constraint usage_images_check CHECK ((images >= 0)),
  constraint usage_input_tokens_check CHECK ((input_tokens >= 0)),
  constraint usage_latency_ms_check CHECK ((latency_ms >= 0)),
  constraint usage_output_tokens_check CHECK ((output_tokens >= 0)),
  constraint usage_price_per_check CHECK (((price_per >= 1) AND (price_per <= 3))),
  constraint usage_price_vnd_check CHECK ((price_vnd >= 0)),
  constraint usage_reasoning_tokens_check CHECK ((reasoning_tokens >= 0)),
  constraint usage_uncollected_at_zero CHECK (((charged_micro_vnd = cost_micro_vnd) OR (balance_after_micro_vnd = 0)))
);
CREATE INDEX usage_time ON public.usage USING btree (account_id, closed_at);
CREATE UNIQUE INDEX usage_call ON public.usage USING btree (call_id, account_id);
CREATE TRIGGER usage_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.usage FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table usage_daily (
  account_id bigint not null,
  day date not null,
  key_id bigint not null,
  entry_id text not null,
  calls bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  images bigint not null,
  cost_micro_vnd bigint not null,
  charged_micro_vnd bigint not null,
  constraint usage_daily_pkey PRIMARY KEY (account_id, day, key_id, entry_id)
) with (fillfactor=50);

create table wallet (
  account_id bigint not null,
  balance_micro_vnd bigint not null default 0,
  held_micro_vnd bigint not null default 0,
  seq bigint not null default 0,
  constraint wallet_pkey PRIMARY KEY (account_id),
  constraint wallet_balance_micro_vnd_check CHECK ((balance_micro_vnd >= 0)),
  constraint wallet_held_micro_vnd_check CHECK ((held_micro_vnd >= 0)),
  constraint wallet_seq_check CHECK ((seq >= 0))
) with (fillfactor=25);

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only', tg_table_name using errcode = '42501';
end
$function$;
