-- Sign-ins on devices that had never signed in to the account, kept until their alerts have been recorded: the sessions themselves may
-- have ended by then.
create table new_device (
  session_id bigint primary key,
  account_id bigint not null,
  device     text not null check (octet_length(device) <= 400),
  at         timestamptz not null default now()
);
create index new_device_at on new_device (at);
create index new_device_account on new_device (account_id);
