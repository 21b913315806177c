-- People, and money that comes in by bank transfer.

alter table account
  add column is_operator boolean not null default false,
  add column blocked_at  timestamptz;                                          -- set: no session, no key works

create table session (
  session_hash        bytea primary key check (octet_length(session_hash) = 32), -- SHA-256 of what the cookie holds
  session_id          bigint generated always as identity unique,
  account_id          bigint not null,
  device              text not null check (octet_length(device) <= 400),       -- such as `Chrome, Windows`
  created_at          timestamptz not null default now(),
  seen_at             timestamptz not null default now(),
  password_checked_at timestamptz not null default now()
);
create index session_account on session (account_id, seen_at);
create index session_seen on session (seen_at);

create table email_token (                                                     -- a link that was sent; deleted when it is used
  token_hash   bytea primary key check (octet_length(token_hash) = 32),        -- SHA-256
  purpose      smallint not null check (purpose between 1 and 2),              -- 1 registration, 2 password reset
  email        text not null check (octet_length(email) <= 254),
  email_key    text generated always as (lower(email)) stored,
  account_id   bigint,
  password_phc text,                                                           -- chosen at registration; becomes the account's
  created_at   timestamptz not null default now(),
  expires_at   timestamptz not null,
  check ((purpose = 1) = (password_phc is not null)),
  check ((purpose = 2) = (account_id is not null))
);
create index email_token_email on email_token (email_key, purpose);
create index email_token_expires on email_token (expires_at);

create table throttle (                                                        -- attempts, so that limits hold across processes
  kind          smallint not null,
  subject       text not null check (octet_length(subject) <= 300),            -- an address, a network, an account
  attempts      integer not null,
  at            timestamptz not null default now(),                            -- last attempt, or begin of the hour that is counted
  blocked_until timestamptz,
  primary key (kind, subject)
);
create index throttle_at on throttle (at);

create table operator_action (                                                 -- what operators did, and why
  action_id           bigint generated always as identity primary key,
  at                  timestamptz not null default now(),
  operator_account_id bigint,                                                  -- null: the command line
  operator_name       text not null,
  action              text not null,
  account_id          bigint,                                                  -- whom it concerned
  subject             text not null default '',
  reason              text not null default ''
);
create index operator_action_account on operator_action (account_id, action_id) where account_id is not null;
create trigger operator_action_append_only before update or delete or truncate on operator_action
  for each statement execute function refuse_change();

alter table api_key
  add column monthly_cap_micro_vnd bigint check (monthly_cap_micro_vnd > 0),   -- null: no cap; months of Vietnam
  add column suspended_at timestamptz,                                         -- set while its account is blocked
  add column submission uuid;                                                  -- the form that made it, so that a double submit makes one
create unique index api_key_submission on api_key (account_id, submission) where submission is not null;

create table topup_order (
  order_code    text primary key check (order_code ~ '^ST[0-9A-HJKMNP-TV-Z]{10}$'),
  account_id    bigint not null,
  amount_vnd    bigint not null check (amount_vnd >= 50000),
  created_at    timestamptz not null default now(),
  expires_at    timestamptz not null,
  cancelled_at  timestamptz,
  paid_vnd      bigint not null default 0 check (paid_vnd >= 0),               -- what arrived: paid > cancelled > expired > open
  first_paid_at timestamptz,
  check ((paid_vnd > 0) = (first_paid_at is not null))
);
create index topup_order_account on topup_order (account_id, created_at);
create index topup_order_created on topup_order (created_at);

create table bank_notification (                                               -- every authentic notification as it came
  notification_id bigint generated always as identity primary key,
  provider        text not null,
  digest          bytea not null check (octet_length(digest) = 32),            -- SHA-256 of the body: repeats are kept once
  body            text not null,
  fault           text,                                                        -- set: it could not be read
  received_at     timestamptz not null default now(),
  unique (provider, digest)
);
create trigger bank_notification_append_only before update or delete or truncate on bank_notification
  for each statement execute function refuse_change();

create table bank_txn (                                                        -- every movement that was reported, whatever became of it
  bank_txn_id     bigint generated always as identity primary key,
  provider        text not null,
  provider_ref    text not null,
  bank_ref        text,
  account_no      text not null,
  amount_vnd      bigint not null check (amount_vnd > 0),
  direction       smallint not null check (direction in (1, -1)),              -- 1 in, -1 out
  content         text not null,
  booked_at       timestamptz,
  received_at     timestamptz not null default now(),
  via             smallint not null check (via between 1 and 4),               -- 1 webhook, 2 pull, 3 entered by hand, 4 simulated
  notification_id bigint,
  order_code      text,
  account_id      bigint,
  state           smallint not null default 0 check (state in (0, 1, 2, 3, 4, 6)), -- 0 received, 1 credited, 2 unmatched, 3 ignored, 4 returned, 6 alias
  reason          smallint,                                                    -- why it is unmatched: 1 no code, 2 unknown code, 3 two owners, 4 amount over limit
  state_at        timestamptz,
  state_by        text,
  alias_of        bigint,                                                      -- the same transfer as another provider reported it
  unique (provider, provider_ref),
  check (state <> 1 or account_id is not null),
  check ((state = 6) = (alias_of is not null)),
  check ((state = 0) = (state_at is null))
);
create index bank_txn_bank_ref on bank_txn (account_no, bank_ref, amount_vnd) where bank_ref is not null; -- not unique: a bank may reuse a number
create index bank_txn_alias on bank_txn (alias_of) where alias_of is not null;
create index bank_txn_undecided on bank_txn (bank_txn_id) where state = 0;
create index bank_txn_unmatched on bank_txn (bank_txn_id) where state = 2;
create index bank_txn_account on bank_txn (account_id, bank_txn_id) where account_id is not null;
