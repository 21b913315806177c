-- What tells the secrets of this database's keys from others under the same number; no key and no secret can be guessed by it.

create table secret_fingerprint (
  purpose     smallint not null check (purpose in (1, 2)),                     -- 1 KEY_PEPPERS, 2 KEY_ENCRYPTION_KEYS
  secret_id   smallint not null,
  fingerprint bytea not null check (octet_length(fingerprint) = 32),           -- HMAC-SHA-256 of a constant under the secret
  seen_at     timestamptz not null default now(),
  primary key (purpose, secret_id)
);
