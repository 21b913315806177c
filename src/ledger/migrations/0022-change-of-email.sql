-- An account's new address is proved by a link to it; an account may be deleted, its books stay.

alter table email_token
  drop constraint email_token_purpose_check,
  drop constraint email_token_check1,
  add constraint email_token_purpose_check check (purpose between 1 and 3),       -- 1 registration, 2 password reset, 3 change of address
  add constraint email_token_check1 check ((purpose = 1) = (account_id is null));

alter table account
  add column deleted_at timestamptz;                                            -- set: erased, blocked for good, nobody's
