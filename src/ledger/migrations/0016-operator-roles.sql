-- What each operator may do, and their second factor.

alter table account
  add column operator_role smallint check (operator_role between 1 and 4);      -- 1 owner, 2 finance, 3 support, 4 read-only; null with is_operator: an owner from before roles

alter table session
  add column second_factor_at timestamptz;                                      -- when it was last given in this session

create table totp (                                                             -- an authenticator that has proved itself by a code
  account_id    bigint primary key,
  encryption_id smallint not null,                                              -- AES-256-GCM, bound to the account
  encryption_iv bytea not null check (octet_length(encryption_iv) = 12),
  ciphertext    bytea not null,
  last_step     bigint not null,                                                -- of the last code that was taken; none of this step or before is taken again
  created_at    timestamptz not null default now()
);

create table recovery_code (
  account_id bigint not null,
  code_hash  bytea not null check (octet_length(code_hash) = 32),               -- SHA-256 of 80 random bits
  used_at    timestamptz,                                                       -- each works once
  primary key (account_id, code_hash)
);
