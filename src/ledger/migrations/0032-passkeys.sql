-- Passkeys (WebAuthn): a second factor beside authenticator apps.

create table passkey (
  passkey_id    bigint generated always as identity primary key,
  credential_id bytea not null unique check (octet_length(credential_id) between 1 and 1023), -- chosen by the device
  account_id    bigint not null,
  public_key    bytea not null check (octet_length(public_key) <= 2048),        -- COSE
  sign_count    bigint not null,                                                -- as of its last use; stays 0 where the device does not count
  transports    text not null check (octet_length(transports) <= 200),          -- how browsers reach it, `internal,hybrid`; a hint
  name          text not null check (char_length(name) between 1 and 50),
  created_at    timestamptz not null default now(),
  used_at       timestamptz                                                     -- null: not since it was added
);
create index passkey_account on passkey (account_id);

create table passkey_challenge (                                                -- what a device is to sign; deleted when an answer comes, whatever it is
  session_id bigint not null,
  purpose    smallint not null,                                                 -- 1 a new passkey, 2 the second factor
  challenge  bytea not null check (octet_length(challenge) = 32),
  expires_at timestamptz not null,
  primary key (session_id, purpose)
);
create index passkey_challenge_expires on passkey_challenge (expires_at);
