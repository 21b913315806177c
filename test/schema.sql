-- The schema after all migrations. Written by the tests: npm run -s test -- test/ledger/schema.test.ts -u

create table account (
  account_id bigint not null generated always as identity,
  email text not null,
  email_key text generated always as (lower(email)) stored,
  email_verified_at timestamp with time zone,
  password_phc text,
  created_at timestamp with time zone not null default now(),
  is_operator boolean not null default false,
  blocked_at timestamp with time zone,
  operator_role smallint,
  deleted_at timestamp with time zone,
  language text,
  constraint account_email_key_key UNIQUE (email_key),
  constraint account_pkey PRIMARY KEY (account_id),
  constraint account_email_check CHECK ((octet_length(email) <= 254)),
  constraint account_operator_role_check CHECK (((operator_role >= 1) AND (operator_role <= 4)))
);
CREATE INDEX account_created ON public.account USING btree (created_at);
CREATE INDEX account_email_start ON public.account USING btree (email_key text_pattern_ops, account_id);
CREATE INDEX account_operator ON public.account USING btree (account_id) WHERE is_operator;
CREATE INDEX account_squeezed ON public.account USING btree (upper(regexp_replace(email, '[^A-Za-z0-9]'::text, ''::text, 'g'::text)) text_pattern_ops);

create table account_daily (
  day date not null,
  account_id bigint not null,
  calls bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  images bigint not null,
  cost_micro_vnd bigint not null,
  charged_micro_vnd bigint not null,
  upstream_cost_micro_vnd bigint not null,
  upstream_cost_calls bigint not null,
  constraint account_daily_pkey PRIMARY KEY (day, account_id)
);
CREATE INDEX account_daily_best ON public.account_daily USING btree (day, charged_micro_vnd DESC, account_id);

create table account_monthly (
  month date not null,
  account_id bigint not null,
  calls bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  images bigint not null,
  cost_micro_vnd bigint not null,
  charged_micro_vnd bigint not null,
  upstream_cost_micro_vnd bigint not null,
  upstream_cost_calls bigint not null,
  constraint account_monthly_pkey PRIMARY KEY (month, account_id)
);
CREATE INDEX account_monthly_best ON public.account_monthly USING btree (month, charged_micro_vnd DESC, account_id);

create table alert (
  alert_id uuid not null default uuidv7(),
  account_id bigint not null,
  kind text not null,
  reference text not null,
  data jsonb not null,
  at timestamp with time zone not null default now(),
  constraint alert_account_id_kind_reference_key UNIQUE (account_id, kind, reference),
  constraint alert_pkey PRIMARY KEY (alert_id),
  constraint alert_kind_check CHECK ((octet_length(kind) <= 40)),
  constraint alert_reference_check CHECK ((octet_length(reference) <= 300))
);
CREATE INDEX alert_at ON public.alert USING btree (at);

create table alert_balance (
  account_id bigint not null,
  level smallint not null,
  credit_seq bigint not null,
  crossings bigint not null,
  constraint alert_balance_pkey PRIMARY KEY (account_id),
  constraint alert_balance_level_check CHECK (((level >= 0) AND (level <= 2)))
);

create table alert_delivery (
  delivery_id bigint not null generated always as identity,
  alert_id uuid not null,
  account_id bigint not null,
  webhook_id bigint,
  state smallint not null default 0,
  tries smallint not null default 0,
  next_at timestamp with time zone not null default now(),
  tried_at timestamp with time zone,
  status smallint,
  fault text,
  constraint alert_delivery_pkey PRIMARY KEY (delivery_id),
  constraint alert_delivery_fault_check CHECK ((octet_length(fault) <= 40)),
  constraint alert_delivery_state_check CHECK (((state >= 0) AND (state <= 3)))
);
CREATE INDEX alert_delivery_alert ON public.alert_delivery USING btree (alert_id);
CREATE INDEX alert_delivery_due ON public.alert_delivery USING btree (next_at) WHERE (state = 0);
CREATE INDEX alert_delivery_webhook ON public.alert_delivery USING btree (webhook_id, delivery_id) WHERE (webhook_id IS NOT NULL);

create table alert_scan (
  one boolean not null default true,
  scanned_at timestamp with time zone not null default now(),
  constraint alert_scan_pkey PRIMARY KEY (one),
  constraint alert_scan_one_check CHECK (one)
);

create table alert_settings (
  account_id bigint not null,
  mail jsonb not null default '{}'::jsonb,
  low_vnd bigint,
  changed_at timestamp with time zone not null default now(),
  constraint alert_settings_pkey PRIMARY KEY (account_id),
  constraint alert_settings_low_vnd_check CHECK (((low_vnd >= 1) AND (low_vnd <= 1000000000)))
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
  monthly_cap_micro_vnd bigint,
  suspended_at timestamp with time zone,
  submission uuid,
  concurrency_max integer,
  disabled_at timestamp with time zone,
  expires_at timestamp with time zone,
  allowed_models text[],
  limit_reset text default 'monthly'::text,
  counted_micro_vnd bigint not null default 0,
  counted_before date,
  rotations integer not null default 0,
  rotated_at timestamp with time zone,
  replaced_hash bytea,
  replaced_pepper_id smallint,
  replaced_until timestamp with time zone,
  playground boolean not null default false,
  constraint api_key_pkey PRIMARY KEY (account_id, key_id),
  constraint api_key_check CHECK ((((encryption_id IS NULL) = (encryption_iv IS NULL)) AND ((encryption_id IS NULL) = (ciphertext IS NULL)))),
  constraint api_key_check1 CHECK (((revoked_at IS NULL) OR (ciphertext IS NULL))),
  constraint api_key_concurrency_max_check CHECK ((concurrency_max >= 0)) NOT VALID,
  constraint api_key_encryption_iv_check CHECK ((octet_length(encryption_iv) = 12)),
  constraint api_key_key_hash_check CHECK ((octet_length(key_hash) = 32)),
  constraint api_key_label_check CHECK ((octet_length(label) <= 400)),
  constraint api_key_limit_reset_check CHECK ((limit_reset = ANY (ARRAY['daily'::text, 'weekly'::text, 'monthly'::text]))) NOT VALID,
  constraint api_key_monthly_cap_micro_vnd_check CHECK ((monthly_cap_micro_vnd > 0)),
  constraint api_key_rate_limit_per_minute_check CHECK ((rate_limit_per_minute >= 0)),
  constraint api_key_replaced_check CHECK ((num_nulls(replaced_hash, replaced_pepper_id, replaced_until) = ANY (ARRAY[0, 3]))) NOT VALID
);
CREATE INDEX api_key_created ON public.api_key USING btree (created_at);
CREATE INDEX api_key_last4 ON public.api_key USING btree (last4);
CREATE INDEX api_key_number ON public.api_key USING btree (key_id);
CREATE INDEX api_key_revoked ON public.api_key USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
CREATE UNIQUE INDEX api_key_hash ON public.api_key USING btree (key_hash) INCLUDE (account_id, key_id, revoked_at);
CREATE UNIQUE INDEX api_key_playground ON public.api_key USING btree (account_id) WHERE playground;
CREATE UNIQUE INDEX api_key_replaced_hash ON public.api_key USING btree (replaced_hash) WHERE (replaced_hash IS NOT NULL);
CREATE UNIQUE INDEX api_key_submission ON public.api_key USING btree (account_id, submission) WHERE (submission IS NOT NULL);
CREATE TRIGGER key_changed AFTER DELETE OR UPDATE OF key_hash, revoked_at, suspended_at, disabled_at, expires_at, allowed_models, monthly_cap_micro_vnd, limit_reset ON public.api_key FOR EACH ROW EXECUTE FUNCTION note_key_change();

create table attempt_hourly (
  hour timestamp with time zone not null,
  upstream_id text not null,
  outcome text not null,
  status smallint not null,
  first_byte_step smallint not null,
  attempts bigint not null,
  constraint attempt_hourly_pkey PRIMARY KEY (hour, upstream_id, outcome, status, first_byte_step)
);

create table audit_point (
  account_id bigint not null,
  seq bigint not null,
  balance_micro_vnd bigint not null,
  retired_seq bigint not null,
  calls bigint not null,
  uncollected_micro_vnd bigint not null,
  days_from date not null,
  day_calls bigint not null,
  day_errors bigint not null,
  day_input_tokens bigint not null,
  day_output_tokens bigint not null,
  day_images bigint not null,
  day_cost_micro_vnd bigint not null,
  day_charged_micro_vnd bigint not null,
  day_upstream_cost_micro_vnd bigint not null,
  day_upstream_cost_calls bigint not null,
  constraint audit_point_pkey PRIMARY KEY (account_id)
) with (fillfactor=80);

create table audit_result (
  one boolean not null default true,
  audited_at timestamp with time zone not null default now(),
  differences jsonb not null,
  full_at timestamp with time zone,
  full_differences jsonb,
  full_basis jsonb,
  constraint audit_result_pkey PRIMARY KEY (one),
  constraint audit_result_one_check CHECK (one)
);

create table bank_notification (
  notification_id bigint not null generated always as identity,
  provider text not null,
  digest bytea not null,
  body text not null,
  fault text,
  received_at timestamp with time zone not null default now(),
  constraint bank_notification_provider_digest_key UNIQUE (provider, digest),
  constraint bank_notification_pkey PRIMARY KEY (notification_id),
  constraint bank_notification_digest_check CHECK ((octet_length(digest) = 32))
);
CREATE TRIGGER bank_notification_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.bank_notification FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table bank_pull (
  source text not null,
  finished_at timestamp with time zone,
  fault text,
  constraint bank_pull_pkey PRIMARY KEY (source)
);

create table bank_txn (
  bank_txn_id bigint not null generated always as identity,
  provider text not null,
  provider_ref text not null,
  bank_ref text,
  account_no text not null,
  amount_vnd bigint not null,
  direction smallint not null,
  content text not null,
  booked_at timestamp with time zone,
  received_at timestamp with time zone not null default now(),
  via smallint not null,
  notification_id bigint,
  order_code text,
  account_id bigint,
  state smallint not null default 0,
  reason smallint,
  state_at timestamp with time zone,
  state_by text,
  alias_of bigint,
  payer text,
  buyer jsonb,
  constraint bank_txn_provider_provider_ref_key UNIQUE (provider, provider_ref),
  constraint bank_txn_pkey PRIMARY KEY (bank_txn_id),
  constraint bank_txn_amount_vnd_check CHECK ((amount_vnd > 0)),
  constraint bank_txn_check CHECK (((state <> 1) OR (account_id IS NOT NULL))),
  constraint bank_txn_check1 CHECK (((state = 6) = (alias_of IS NOT NULL))),
  constraint bank_txn_check2 CHECK (((state = 0) = (state_at IS NULL))),
  constraint bank_txn_direction_check CHECK ((direction = ANY (ARRAY[1, '-1'::integer]))),
  constraint bank_txn_payer_check CHECK ((octet_length(payer) <= 800)),
  constraint bank_txn_state_check CHECK ((state = ANY (ARRAY[0, 1, 2, 3, 4, 6]))),
  constraint bank_txn_via_check CHECK (((via >= 1) AND (via <= 4)))
);
CREATE INDEX bank_txn_account ON public.bank_txn USING btree (account_id, bank_txn_id) WHERE (account_id IS NOT NULL);
CREATE INDEX bank_txn_alias ON public.bank_txn USING btree (alias_of) WHERE (alias_of IS NOT NULL);
CREATE INDEX bank_txn_amount ON public.bank_txn USING btree (amount_vnd, bank_txn_id);
CREATE INDEX bank_txn_bank_ref ON public.bank_txn USING btree (account_no, bank_ref, amount_vnd) WHERE (bank_ref IS NOT NULL);
CREATE INDEX bank_txn_bank_ref_start ON public.bank_txn USING btree (lower(bank_ref) text_pattern_ops, bank_txn_id) WHERE (bank_ref IS NOT NULL);
CREATE INDEX bank_txn_order_start ON public.bank_txn USING btree (lower(order_code) text_pattern_ops, bank_txn_id) WHERE (order_code IS NOT NULL);
CREATE INDEX bank_txn_provider_ref_start ON public.bank_txn USING btree (lower(provider_ref) text_pattern_ops, bank_txn_id);
CREATE INDEX bank_txn_settled ON public.bank_txn USING btree (state, bank_txn_id) WHERE (state > 2);
CREATE INDEX bank_txn_undecided ON public.bank_txn USING btree (bank_txn_id) WHERE (state = 0);
CREATE INDEX bank_txn_unmatched ON public.bank_txn USING btree (bank_txn_id) WHERE (state = 2);

create table banner (
  singleton boolean not null default true,
  text_vi text not null,
  text_en text not null,
  until timestamp with time zone not null,
  changed_at timestamp with time zone not null default now(),
  constraint banner_pkey PRIMARY KEY (singleton),
  constraint banner_singleton_check CHECK (singleton),
  constraint banner_text_en_check CHECK ((char_length(text_en) <= 300)),
  constraint banner_text_vi_check CHECK ((char_length(text_vi) <= 300))
);

create table call_hourly (
  hour timestamp with time zone not null,
  entry_id text not null,
  upstream_id text not null,
  status smallint not null,
  calls bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  images bigint not null,
  charged_micro_vnd bigint not null,
  upstream_cost_micro_vnd bigint not null,
  upstream_cost_calls bigint not null,
  latency_ms_max integer not null,
  first_call_id uuid not null,
  last_call_id uuid not null,
  constraint call_hourly_pkey PRIMARY KEY (hour, entry_id, upstream_id, status)
);
CREATE INDEX call_hourly_last_call ON public.call_hourly USING btree (last_call_id);

create table call_roll_up (
  one boolean not null default true,
  closed_before timestamp with time zone not null default now(),
  days_summed_before date not null default '-infinity'::date,
  upstreams_summed_before date not null default '-infinity'::date,
  credits_summed_before date not null default '-infinity'::date,
  months_summed_before date not null default '-infinity'::date,
  constraint call_roll_up_pkey PRIMARY KEY (one),
  constraint call_roll_up_one_check CHECK (one)
);

create table catalogue (
  catalogue_id integer not null generated always as identity,
  digest text not null,
  first_seen_at timestamp with time zone not null default now(),
  constraint catalogue_digest_key UNIQUE (digest),
  constraint catalogue_pkey PRIMARY KEY (catalogue_id),
  constraint catalogue_digest_check CHECK (((octet_length(digest) >= 1) AND (octet_length(digest) <= 64)))
);

create table client_request (
  call_id uuid not null,
  account_id bigint not null,
  request_id text not null,
  constraint client_request_pkey PRIMARY KEY (call_id, account_id),
  constraint client_request_request_id_check CHECK ((octet_length(request_id) <= 128))
);
CREATE INDEX client_request_id ON public.client_request USING btree (request_id);

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
CREATE INDEX credit_time ON public.credit USING btree (at) INCLUDE (kind, amount_micro_vnd);
CREATE TRIGGER credit_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.credit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table credit_daily (
  day date not null,
  kind smallint not null,
  credits bigint not null,
  amount_micro_vnd numeric not null,
  constraint credit_daily_pkey PRIMARY KEY (day, kind)
);

create table database_identity (
  one boolean not null default true,
  database_id uuid not null default gen_random_uuid(),
  constraint database_identity_pkey PRIMARY KEY (one),
  constraint database_identity_one_check CHECK (one)
);

create table database_timeline (
  timeline text not null,
  begun_at timestamp with time zone not null default now(),
  constraint database_timeline_pkey PRIMARY KEY (timeline)
);

create table email_token (
  token_hash bytea not null,
  purpose smallint not null,
  email text not null,
  email_key text generated always as (lower(email)) stored,
  account_id bigint,
  password_phc text,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint email_token_pkey PRIMARY KEY (token_hash),
  constraint email_token_check CHECK (((purpose = 1) = (password_phc IS NOT NULL))),
  constraint email_token_check1 CHECK (((purpose = 1) = (account_id IS NULL))),
  constraint email_token_email_check CHECK ((octet_length(email) <= 254)),
  constraint email_token_purpose_check CHECK (((purpose >= 1) AND (purpose <= 3))),
  constraint email_token_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
CREATE INDEX email_token_email ON public.email_token USING btree (email_key, purpose);
CREATE INDEX email_token_expires ON public.email_token USING btree (expires_at);

create table entry_daily (
  day date not null,
  entry_id text not null,
  calls bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  images bigint not null,
  cost_micro_vnd bigint not null,
  charged_micro_vnd bigint not null,
  upstream_cost_micro_vnd bigint not null,
  upstream_cost_calls bigint not null,
  constraint entry_daily_pkey PRIMARY KEY (day, entry_id)
);

create table first_byte_hourly (
  hour timestamp with time zone not null,
  entry_id text not null,
  first_byte_step smallint not null,
  calls bigint not null,
  constraint first_byte_hourly_pkey PRIMARY KEY (hour, entry_id, first_byte_step)
);

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
  price_vnd bigint,
  price_per smallint,
  constraint hold_pkey PRIMARY KEY (call_id, account_id),
  constraint hold_amount_micro_vnd_check CHECK ((amount_micro_vnd > 0)),
  constraint hold_price_per_check CHECK (((price_per >= 1) AND (price_per <= 3))),
  constraint hold_price_vnd_check CHECK ((price_vnd >= 0))
) with (fillfactor=60,autovacuum_vacuum_scale_factor=0.0,autovacuum_vacuum_threshold=2000);
CREATE INDEX hold_instance ON public.hold USING btree (instance_id);

create table housekeeping (
  task text not null,
  ran_at timestamp with time zone not null default now(),
  runs bigint not null default 1,
  finished_at timestamp with time zone not null default now(),
  constraint housekeeping_pkey PRIMARY KEY (task)
) with (fillfactor=50);

create table identity (
  provider smallint not null,
  subject text not null,
  account_id bigint not null,
  email text not null,
  is_authoritative boolean not null,
  created_at timestamp with time zone not null default now(),
  constraint identity_pkey PRIMARY KEY (provider, subject),
  constraint identity_email_check CHECK ((octet_length(email) <= 254)),
  constraint identity_subject_check CHECK ((octet_length(subject) <= 255))
);
CREATE UNIQUE INDEX identity_account ON public.identity USING btree (account_id, provider);

create table invoice_details (
  account_id bigint not null,
  name text not null,
  tax_code text not null,
  address text not null,
  email text not null,
  wanted boolean not null,
  changed_at timestamp with time zone not null default now(),
  constraint invoice_details_pkey PRIMARY KEY (account_id),
  constraint invoice_details_address_check CHECK ((char_length(address) <= 300)),
  constraint invoice_details_email_check CHECK ((octet_length(email) <= 254)),
  constraint invoice_details_name_check CHECK ((char_length(name) <= 200)),
  constraint invoice_details_tax_code_check CHECK ((char_length(tax_code) <= 20))
);

create table key_flight (
  key_id bigint not null,
  allowed integer not null,
  asked integer not null,
  own_share integer not null,
  shares jsonb not null,
  constraint key_flight_pkey PRIMARY KEY (key_id),
  constraint key_flight_allowed_check CHECK ((allowed > 0)),
  constraint key_flight_asked_check CHECK ((asked >= 0)),
  constraint key_flight_own_share_check CHECK ((own_share >= 0))
);

create table mail_sent (
  mail_id bigint not null generated always as identity,
  email text not null,
  email_key text generated always as (lower(email)) stored,
  subject text not null,
  failed boolean not null,
  sent_at timestamp with time zone not null default now(),
  constraint mail_sent_pkey PRIMARY KEY (mail_id),
  constraint mail_sent_email_check CHECK ((octet_length(email) <= 254)),
  constraint mail_sent_subject_check CHECK ((octet_length(subject) <= 800))
);
CREATE INDEX mail_sent_at ON public.mail_sent USING btree (sent_at);
CREATE INDEX mail_sent_email ON public.mail_sent USING btree (email_key, mail_id);

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

create table new_device (
  session_id bigint not null,
  account_id bigint not null,
  device text not null,
  at timestamp with time zone not null default now(),
  constraint new_device_pkey PRIMARY KEY (session_id),
  constraint new_device_device_check CHECK ((octet_length(device) <= 400))
);
CREATE INDEX new_device_account ON public.new_device USING btree (account_id);
CREATE INDEX new_device_at ON public.new_device USING btree (at);

create table operator_action (
  action_id bigint not null generated always as identity,
  at timestamp with time zone not null default now(),
  operator_account_id bigint,
  operator_name text not null,
  action text not null,
  account_id bigint,
  subject text not null default ''::text,
  reason text not null default ''::text,
  constraint operator_action_pkey PRIMARY KEY (action_id)
);
CREATE INDEX operator_action_account ON public.operator_action USING btree (account_id, action_id) WHERE (account_id IS NOT NULL);
CREATE TRIGGER operator_action_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.operator_action FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table passkey (
  passkey_id bigint not null generated always as identity,
  credential_id bytea not null,
  account_id bigint not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text not null,
  name text not null,
  created_at timestamp with time zone not null default now(),
  used_at timestamp with time zone,
  constraint passkey_credential_id_key UNIQUE (credential_id),
  constraint passkey_pkey PRIMARY KEY (passkey_id),
  constraint passkey_credential_id_check CHECK (((octet_length(credential_id) >= 1) AND (octet_length(credential_id) <= 1023))),
  constraint passkey_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 50))),
  constraint passkey_public_key_check CHECK ((octet_length(public_key) <= 2048)),
  constraint passkey_transports_check CHECK ((octet_length(transports) <= 200))
);
CREATE INDEX passkey_account ON public.passkey USING btree (account_id);

create table passkey_challenge (
  session_id bigint not null,
  purpose smallint not null,
  challenge bytea not null,
  expires_at timestamp with time zone not null,
  constraint passkey_challenge_pkey PRIMARY KEY (session_id, purpose),
  constraint passkey_challenge_challenge_check CHECK ((octet_length(challenge) = 32))
);
CREATE INDEX passkey_challenge_expires ON public.passkey_challenge USING btree (expires_at);

create table process_status (
  name text not null,
  seen_at timestamp with time zone not null default now(),
  status jsonb not null,
  constraint process_status_pkey PRIMARY KEY (name)
) with (fillfactor=50);

create table rate_grant (
  key_id bigint not null,
  granted_at timestamp with time zone[] not null,
  totals bigint[] not null,
  total_before bigint not null,
  granted bigint not null,
  allowed bigint not null,
  constraint rate_grant_pkey PRIMARY KEY (key_id),
  constraint rate_grant_allowed_check CHECK ((allowed > 0)),
  constraint rate_grant_granted_check CHECK ((granted >= 0))
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

create table recovery_code (
  account_id bigint not null,
  code_hash bytea not null,
  used_at timestamp with time zone,
  constraint recovery_code_pkey PRIMARY KEY (account_id, code_hash),
  constraint recovery_code_code_hash_check CHECK ((octet_length(code_hash) = 32))
);

create table secret_fingerprint (
  purpose smallint not null,
  secret_id smallint not null,
  fingerprint bytea not null,
  seen_at timestamp with time zone not null default now(),
  constraint secret_fingerprint_pkey PRIMARY KEY (purpose, secret_id),
  constraint secret_fingerprint_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
  constraint secret_fingerprint_purpose_check CHECK ((purpose = ANY (ARRAY[1, 2])))
);

create table session (
  session_hash bytea not null,
  session_id bigint not null generated always as identity,
  account_id bigint not null,
  device text not null,
  created_at timestamp with time zone not null default now(),
  seen_at timestamp with time zone not null default now(),
  password_checked_at timestamp with time zone not null default now(),
  second_factor_at timestamp with time zone,
  new_device boolean not null default false,
  constraint session_session_id_key UNIQUE (session_id),
  constraint session_pkey PRIMARY KEY (session_hash),
  constraint session_device_check CHECK ((octet_length(device) <= 400)),
  constraint session_session_hash_check CHECK ((octet_length(session_hash) = 32))
);
CREATE INDEX session_account ON public.session USING btree (account_id, seen_at);
CREATE INDEX session_seen ON public.session USING btree (seen_at);

create table sign_in_attempt (
  attempt_hash bytea not null,
  provider smallint not null,
  account_id bigint,
  next text not null,
  subject text,
  email text,
  is_authoritative boolean,
  link_hash bytea,
  expires_at timestamp with time zone not null,
  constraint sign_in_attempt_pkey PRIMARY KEY (attempt_hash),
  constraint sign_in_attempt_attempt_hash_check CHECK ((octet_length(attempt_hash) = 32)),
  constraint sign_in_attempt_email_check CHECK ((octet_length(email) <= 254)),
  constraint sign_in_attempt_link_hash_check CHECK ((octet_length(link_hash) = 32)),
  constraint sign_in_attempt_next_check CHECK ((octet_length(next) <= 2000)),
  constraint sign_in_attempt_subject_check CHECK ((octet_length(subject) <= 255))
);
CREATE INDEX sign_in_attempt_expires ON public.sign_in_attempt USING btree (expires_at);

create table spool_set_aside (
  name text not null,
  folder text not null,
  lines integer not null,
  files integer not null,
  seen_at timestamp with time zone not null default now(),
  constraint spool_set_aside_pkey PRIMARY KEY (name),
  constraint spool_set_aside_files_check CHECK ((files >= 0)),
  constraint spool_set_aside_lines_check CHECK ((lines >= 0))
);

create table throttle (
  kind smallint not null,
  subject text not null,
  attempts integer not null,
  at timestamp with time zone not null default now(),
  blocked_until timestamp with time zone,
  constraint throttle_pkey PRIMARY KEY (kind, subject),
  constraint throttle_subject_check CHECK ((octet_length(subject) <= 300))
);
CREATE INDEX throttle_at ON public.throttle USING btree (at);

create table topup_order (
  order_code text not null,
  account_id bigint not null,
  amount_vnd bigint not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  cancelled_at timestamp with time zone,
  paid_vnd bigint not null default 0,
  first_paid_at timestamp with time zone,
  constraint topup_order_pkey PRIMARY KEY (order_code),
  constraint topup_order_amount_vnd_check CHECK ((amount_vnd >= 50000)),
  constraint topup_order_check CHECK (((paid_vnd > 0) = (first_paid_at IS NOT NULL))),
  constraint topup_order_order_code_check CHECK ((order_code ~ '^ST[0-9A-HJKMNP-TV-Z]{10}$'::text)),
  constraint topup_order_paid_vnd_check CHECK ((paid_vnd >= 0))
);
CREATE INDEX topup_order_account ON public.topup_order USING btree (account_id, created_at);
CREATE INDEX topup_order_cancelled ON public.topup_order USING btree (created_at, order_code) WHERE ((paid_vnd = 0) AND (cancelled_at IS NOT NULL));
CREATE INDEX topup_order_created ON public.topup_order USING btree (created_at);
CREATE INDEX topup_order_start ON public.topup_order USING btree (order_code text_pattern_ops);
CREATE INDEX topup_order_waiting ON public.topup_order USING btree (expires_at) WHERE ((paid_vnd = 0) AND (cancelled_at IS NULL));

create table totp (
  account_id bigint not null,
  encryption_id smallint not null,
  encryption_iv bytea not null,
  ciphertext bytea not null,
  last_step bigint not null,
  created_at timestamp with time zone not null default now(),
  constraint totp_pkey PRIMARY KEY (account_id),
  constraint totp_encryption_iv_check CHECK ((octet_length(encryption_iv) = 12))
);

create table unknown_model (
  day date not null,
  name text not null,
  fell_back bigint not null,
  refused bigint not null,
  last_at timestamp with time zone not null default now(),
  constraint unknown_model_pkey PRIMARY KEY (day, name),
  constraint unknown_model_fell_back_check CHECK ((fell_back >= 0)),
  constraint unknown_model_name_check CHECK ((char_length(name) <= 256)),
  constraint unknown_model_refused_check CHECK ((refused >= 0))
);

create table upstream_daily (
  day date not null,
  upstream_id text not null,
  calls bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  charged_micro_vnd bigint not null,
  upstream_cost_micro_vnd bigint not null,
  upstream_cost_calls bigint not null,
  constraint upstream_daily_pkey PRIMARY KEY (day, upstream_id)
);

create table upstream_out (
  upstream_id text not null,
  out_until timestamp with time zone not null,
  reason text not null,
  by_name text not null,
  since timestamp with time zone not null default now(),
  constraint upstream_out_pkey PRIMARY KEY (upstream_id),
  constraint upstream_out_upstream_id_check CHECK ((octet_length(upstream_id) <= 100))
);

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
  catalogue_id integer,
  extras_vnd bigint not null default 0,
  cache_write_tokens bigint,
  upstream_cost_micro_vnd bigint,
  attempts jsonb,
  error_code text,
  tag text,
  constraint usage_pkey PRIMARY KEY (account_id, seq),
  constraint usage_balance_after_micro_vnd_check CHECK ((balance_after_micro_vnd >= 0)),
  constraint usage_cache_write_tokens_check CHECK ((cache_write_tokens >= 0)) NOT VALID,
  constraint usage_cached_input_tokens_check CHECK ((cached_input_tokens >= 0)),
  constraint usage_check CHECK (((charged_micro_vnd >= 0) AND (charged_micro_vnd <= cost_micro_vnd))),
  constraint usage_cost_is_price_times_units_and_extras CHECK (((cost_micro_vnd = 0) OR (cost_micro_vnd = ((extras_vnd * 1000000) +
CASE price_per
    WHEN 1 THEN (price_vnd * (input_tokens + output_tokens))
    WHEN 2 THEN (price_vnd * 1000000)
    WHEN 3 THEN ((price_vnd * 1000000) * images)
    ELSE NULL::bigint
END)))) NOT VALID,
  constraint usage_cost_micro_vnd_check CHECK ((cost_micro_vnd >= 0)),
  constraint usage_extras_vnd_check CHECK ((extras_vnd >= 0)) NOT VALID,
  constraint usage_first_byte_ms_check CHECK ((first_byte_ms >= 0)),
  constraint usage_images_check CHECK ((images >= 0)),
  constraint usage_input_tokens_check CHECK ((input_tokens >= 0)),
  constraint usage_latency_ms_check CHECK ((latency_ms >= 0)),
  constraint usage_output_tokens_check CHECK ((output_tokens >= 0)),
  constraint usage_price_per_check CHECK (((price_per >= 1) AND (price_per <= 3))),
  constraint usage_price_vnd_check CHECK ((price_vnd >= 0)),
  constraint usage_reasoning_tokens_check CHECK ((reasoning_tokens >= 0)),
  constraint usage_settled_in_time CHECK ((closed_at < (opened_at + '90 days'::interval))) NOT VALID,
  constraint usage_tag_check CHECK (((octet_length(tag) >= 1) AND (octet_length(tag) <= 64))) NOT VALID,
  constraint usage_uncollected_at_zero CHECK (((charged_micro_vnd = cost_micro_vnd) OR (balance_after_micro_vnd = 0))),
  constraint usage_upstream_cost_check CHECK ((upstream_cost_micro_vnd >= 0)) NOT VALID
);
CREATE INDEX usage_time ON public.usage USING btree (account_id, closed_at);
CREATE UNIQUE INDEX usage_call ON public.usage USING btree (call_id, account_id);
CREATE TRIGGER usage_append_only BEFORE UPDATE OR TRUNCATE ON public.usage FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER usage_deleted_when_retired AFTER DELETE ON public.usage REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION refuse_unretired();

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
  upstream_cost_micro_vnd bigint not null default 0,
  upstream_cost_calls bigint not null default 0,
  constraint usage_daily_pkey PRIMARY KEY (account_id, day, key_id, entry_id)
) with (fillfactor=50);
CREATE INDEX usage_daily_day ON public.usage_daily USING btree (day);

create table usage_hourly (
  account_id bigint not null,
  hour timestamp with time zone not null,
  key_id bigint not null,
  entry_id text not null,
  status smallint not null,
  tag text not null,
  calls bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  images bigint not null,
  charged_micro_vnd bigint not null,
  constraint usage_hourly_pkey PRIMARY KEY (account_id, hour, key_id, entry_id, status, tag)
) with (fillfactor=80,autovacuum_vacuum_insert_scale_factor=0.02);
CREATE INDEX usage_hourly_forgotten ON public.usage_hourly USING brin (hour);
CREATE INDEX usage_hourly_merged ON public.usage_hourly USING btree (hour) WHERE (EXTRACT(hour FROM (hour AT TIME ZONE 'Asia/Ho_Chi_Minh'::text)) <> (0)::numeric);

create table usage_retired (
  account_id bigint not null,
  upto_seq bigint not null,
  balance_after_micro_vnd bigint not null,
  calls bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  images bigint not null,
  cost_micro_vnd bigint not null,
  charged_micro_vnd bigint not null,
  retired_at timestamp with time zone not null default now(),
  upstream_cost_micro_vnd bigint not null default 0,
  upstream_cost_calls bigint not null default 0,
  constraint usage_retired_pkey PRIMARY KEY (account_id),
  constraint usage_retired_balance_after_micro_vnd_check CHECK ((balance_after_micro_vnd >= 0)),
  constraint usage_retired_calls_check CHECK ((calls > 0)),
  constraint usage_retired_upto_seq_check CHECK ((upto_seq > 0))
);

create table usage_roll_up (
  one boolean not null default true,
  closed_before timestamp with time zone not null,
  constraint usage_roll_up_pkey PRIMARY KEY (one),
  constraint usage_roll_up_one_check CHECK (one)
);

create table wallet (
  account_id bigint not null,
  balance_micro_vnd bigint not null default 0,
  held_micro_vnd bigint not null default 0,
  seq bigint not null default 0,
  keys_version bigint not null default 0,
  constraint wallet_pkey PRIMARY KEY (account_id),
  constraint wallet_balance_micro_vnd_check CHECK ((balance_micro_vnd >= 0)),
  constraint wallet_held_micro_vnd_check CHECK ((held_micro_vnd >= 0)),
  constraint wallet_seq_check CHECK ((seq >= 0))
) with (fillfactor=25);

create table webhook (
  webhook_id bigint not null generated always as identity,
  account_id bigint not null,
  url text not null,
  kinds text[] not null,
  created_at timestamp with time zone not null default now(),
  delivered_at timestamp with time zone,
  disabled_at timestamp with time zone,
  disabled_for text,
  constraint webhook_pkey PRIMARY KEY (webhook_id),
  constraint webhook_check CHECK (((disabled_at IS NULL) = (disabled_for IS NULL))),
  constraint webhook_disabled_for_check CHECK ((disabled_for = ANY (ARRAY['owner'::text, 'failures'::text, 'gone'::text]))),
  constraint webhook_url_check CHECK ((octet_length(url) <= 2000))
);
CREATE INDEX webhook_account ON public.webhook USING btree (account_id);

create table webhook_secret (
  webhook_id bigint not null,
  account_id bigint not null,
  encryption_id smallint not null,
  encryption_iv bytea not null,
  ciphertext bytea not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  constraint webhook_secret_pkey PRIMARY KEY (webhook_id, encryption_iv),
  constraint webhook_secret_encryption_iv_check CHECK ((octet_length(encryption_iv) = 12))
);

v database_history;

CREATE OR REPLACE FUNCTION public.key_by_hash(bytea)
 RETURNS SETOF api_key
 LANGUAGE sql
 STABLE
AS $function$
  select * from api_key where key_hash = $1
   union all
  select * from api_key where replaced_hash = $1 and replaced_until > now()
   limit 1
$function$;

CREATE OR REPLACE FUNCTION public.key_standing(account bigint, key bigint)
 RETURNS bigint[]
 LANGUAGE sql
AS $function$
  select array[
    monthly_cap_micro_vnd,
    case when limit_reset is null then counted_micro_vnd else 0 end + (
      select coalesce(sum(charged_micro_vnd), 0) from usage_daily daily
       where daily.account_id = account and daily.key_id = key
         and daily.day >= coalesce(limit_began(limit_reset), counted_before, '-infinity')),
    (select coalesce(sum(amount_micro_vnd), 0) from hold where hold.account_id = account and hold.key_id = key)]::bigint[]
    from api_key where account_id = account and key_id = key
$function$;

CREATE OR REPLACE FUNCTION public.key_standings(accounts bigint[], keys bigint[])
 RETURNS TABLE(account_id bigint, key_id bigint, standing bigint[])
 LANGUAGE sql
 ROWS 50
AS $function$
  select k.account_id, k.key_id, array[
    k.monthly_cap_micro_vnd,
    case when k.limit_reset is null then k.counted_micro_vnd else 0 end + (
      select coalesce(sum(charged_micro_vnd), 0) from usage_daily daily
       where daily.account_id = given.account and daily.key_id = given.key
         and daily.day >= coalesce(limit_began(k.limit_reset), k.counted_before, '-infinity')),
    coalesce(held.micro_vnd, 0)]::bigint[]
    from unnest(accounts, keys) as given (account, key)
    join api_key k on k.account_id = given.account and k.key_id = given.key
    left join (
      select hold.account_id, hold.key_id, sum(amount_micro_vnd) as micro_vnd from hold
       where hold.key_id in (select unnest(keys)) group by hold.account_id, hold.key_id) held
      on held.account_id = given.account and held.key_id = given.key
$function$;

CREATE OR REPLACE FUNCTION public.key_state(revoked_at timestamp with time zone, suspended_at timestamp with time zone, disabled_at timestamp with time zone, expires_at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE
RETURN CASE WHEN (revoked_at IS NOT NULL) THEN 'revoked'::text WHEN (suspended_at IS NOT NULL) THEN 'blocked'::text WHEN (disabled_at IS NOT NULL) THEN 'disabled'::text WHEN (expires_at <= now()) THEN 'expired'::text ELSE 'active'::text END;

CREATE OR REPLACE FUNCTION public.limit_began(limit_reset text)
 RETURNS date
 LANGUAGE sql
 STABLE
RETURN CASE limit_reset WHEN 'daily'::text THEN ((now() AT TIME ZONE 'Asia/Ho_Chi_Minh'::text))::date WHEN 'weekly'::text THEN (date_trunc('week'::text, (now() AT TIME ZONE 'Asia/Ho_Chi_Minh'::text)))::date WHEN 'monthly'::text THEN (date_trunc('month'::text, (now() AT TIME ZONE 'Asia/Ho_Chi_Minh'::text)))::date ELSE NULL::date END;

CREATE OR REPLACE FUNCTION public.must_be(actual bigint, expected bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if actual is distinct from expected then
    raise exception 'found % of % rows', actual, expected using errcode = 'GW001';
  end if;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.note_key_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update wallet set keys_version = keys_version + 1 + floor(random() * 1000000)::bigint where account_id = old.account_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only', tg_table_name using errcode = '42501';
end
$function$;

CREATE OR REPLACE FUNCTION public.refuse_unretired()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from gone left join usage_retired r using (account_id) where gone.seq > coalesce(r.upto_seq, 0)) then
    raise exception 'usage is append-only: only retired rows may be deleted' using errcode = '42501';
  end if;
  return null;
end
$function$;
