-- Signing in with Google and GitHub.

create table identity (
  provider         smallint not null,                                           -- 1 Google, 2 GitHub
  subject          text not null check (octet_length(subject) <= 255),          -- the provider's own id of the person
  account_id       bigint not null,
  email            text not null check (octet_length(email) <= 254),            -- as the provider had verified it when it was linked; '': none
  is_authoritative boolean not null,                                            -- the provider runs that mailbox
  created_at       timestamptz not null default now(),
  primary key (provider, subject)
);
create unique index identity_account on identity (account_id, provider);

create table sign_in_attempt (
  attempt_hash     bytea primary key check (octet_length(attempt_hash) = 32),   -- SHA-256 of what the browser's cookie holds
  provider         smallint not null,
  account_id       bigint,                                                      -- set: its owner is signed in and links the provider to it
  next             text not null check (octet_length(next) <= 2000),
  subject          text check (octet_length(subject) <= 255),                   -- set: the provider has answered; the address has an account whose owner must agree
  email            text check (octet_length(email) <= 254),
  is_authoritative boolean,
  link_hash        bytea check (octet_length(link_hash) = 32),                  -- SHA-256 of the link that was mailed
  expires_at       timestamptz not null
);
create index sign_in_attempt_expires on sign_in_attempt (expires_at);
